"""The cases, a family a file, each with its ``CASES``."""
