"""Measure every engine on the same programs, each engine in a process of its own; see ``__main__``."""
