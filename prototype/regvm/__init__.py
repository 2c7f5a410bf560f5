"""A register-based virtual machine for TVM's Relay.

Importing this package loads TVM so that it can share the process with TensorFlow, in either order.
"""

import regvm.tvm_loading  # noqa: F401 - before anything that imports TVM
from regvm.api import Executable, VMExecutor, compile, create_executor, load
from regvm.runtime.machine import VirtualMachine

__all__ = ["Executable", "VMExecutor", "VirtualMachine", "compile", "create_executor", "load"]
