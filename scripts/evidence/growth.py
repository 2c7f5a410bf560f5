"""How much one run of the loop adds to a process's resident memory while it runs.

Linux forgets the peak of a process where 5 is written to its ``clear_refs``.
"""

from pathlib import Path

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
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    machine.invoke("main", tvm.nd.array(np.array(n, dtype="int32")), x)
    return _peak() - before


def _peak() -> int:
    """The largest resident set since the peak was last forgotten, in bytes."""
    (line,) = (s for s in Path("/proc/self/status").read_text().splitlines() if s.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024
