"""How much one run of the loop adds to a process's peak resident memory."""

import resource

import numpy as np
import tvm
from tvm import relay

import regvm


def growth(which: str, n: int) -> int:
    """Bytes that ``n`` iterations add on top of a run of 100, on ``regvm``'s interpreter or on the reference."""
    from scripts.evidence.measure import LOOP

    mod = relay.parse(LOOP)
    with tvm.transform.PassContext(opt_level=3):
        if which == "regvm":
            machine = regvm.VirtualMachine(regvm.compile(mod), engine="interpreter")
        else:
            machine = tvm.runtime.vm.VirtualMachine(relay.vm.compile(mod, "llvm"), tvm.cpu())
    x = tvm.nd.array(np.array([[1.5]], dtype="float32"))
    machine.invoke("main", tvm.nd.array(np.array(100, dtype="int32")), x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    machine.invoke("main", tvm.nd.array(np.array(n, dtype="int32")), x)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
