"""Measure the suite's power: plant faults in the register VM, one at a time, and see whether it notices."""
