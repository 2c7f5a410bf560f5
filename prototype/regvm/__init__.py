"""A register-based virtual machine for Relay."""
