"""A register-based virtual machine for TVM's Relay.

Importing this package loads TVM so that it can share the process with TensorFlow, in either order.
"""

import regvm.tvm_loading  # noqa: F401 - before anything that imports TVM
from regvm.api import Executable, compile, load
from regvm.compat.compiler import VMCompiler
from regvm.compat.executor import VMExecutor, create_executor
from regvm.runtime.machine import VirtualMachine

__all__ = [
    "Executable",
    "VMCompiler",
    "VMExecutor",
    "VirtualMachine",
    "compile",
    "create_executor",
    "load",
]
