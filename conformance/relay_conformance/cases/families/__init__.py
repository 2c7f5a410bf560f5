"""One module a family of operators; each gives its ``CASES``."""
