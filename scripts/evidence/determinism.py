"""The bytecode of one program with a closure, as a digest, to be compared between processes."""

import hashlib

import tvm
from tvm import relay

import regvm

PROGRAM = """#[version = "0.0.5"]
def @twice(%f: fn (float32) -> float32, %x: float32) -> float32 { %f(%f(%x)) }
def @main(%x: float32, %y: float32) -> float32 { @twice(fn (%z: float32) -> float32 { %z * %y + %x }, %x) }
"""


def digest(which: str) -> str:
    """Of ``regvm``'s bytecode or of the reference's."""
    module = relay.parse(PROGRAM)
    with tvm.transform.PassContext(opt_level=3):
        executable = regvm.compile(module) if which == "regvm" else relay.vm.compile(module, "llvm")
    return hashlib.sha256(executable.save()[0]).hexdigest()
