"""Fuzzing: draw Relay programs, run them on every executor and in NumPy, class what comes back, shrink failures."""
