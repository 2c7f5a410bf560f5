"""A register-based virtual machine for Relay."""

from regvm import tvm_loading as tvm_loading
