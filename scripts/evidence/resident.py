"""How much one invocation adds to a process's resident memory, in a process that only loads and runs.

    python -m scripts.evidence.resident MACHINE FOLDER

FOLDER holds what ``save`` wrote. The parent sets ``ENVIRONMENT``, under which malloc gives nothing back to the
system by itself, so that what is resident after a run is all that the run ever touched: the reference keeps its
pool, the register VM its arenas, and malloc what was freed in between.
"""

import ctypes
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tvm

import regvm
from regvm.runtime.kernels import library
from relay_conformance.executors.reference_cache import compile_reference
from relay_conformance.program import Array, Program

ENVIRONMENT = {
    # Chunks that are freed join their neighbours at once. Otherwise malloc takes small ones from all over the heap
    # in turn, and so touches again the pages that were given back between samples, whatever the program needs.
    "GLIBC_TUNABLES": "glibc.malloc.mxfast=0:glibc.malloc.tcache_count=0",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(2**62),
    "TVM_NUM_THREADS": "1",
}
MACHINES = ("interpreter", "native", "reference")
REPEATS = 7
_SET_THP_DISABLE = 41


def measure(program: Program, inputs: Mapping[str, Array]) -> dict[str, Any]:
    """Bytes that one invocation adds on each machine, of them the result's, and what the register VM counts itself."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(program, inputs, folder)
        return {machine: _in_a_process(machine, folder) for machine in MACHINES}


def save(program: Program, inputs: Mapping[str, Array], folder: Path) -> None:
    """Compile for both machines, and write what they load."""
    with tvm.transform.PassContext(opt_level=3):
        regvm.compile(program.module, params=dict(program.params)).export(folder / "regvm")
        reference = compile_reference(program.module, "llvm", program.params)
    code, kernels = reference.save()
    (folder / "reference").write_bytes(code)
    (folder / "kernels.json").write_text(json.dumps(library.to_text(kernels)))
    (folder / "inputs").mkdir()
    for number, spec in enumerate(program.inputs):
        np.save(folder / "inputs" / f"{number}.npy", inputs[spec.name])


def _in_a_process(machine: str, folder: Path) -> dict[str, int]:
    command = [sys.executable, "-m", "scripts.evidence.resident", machine, str(folder)]
    done = subprocess.run(
        command, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE, text=True, check=True
    )
    result: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return result


def run(machine: str, folder: Path) -> dict[str, int]:
    """The median over repeats, each on a new machine, after one run that loads kernels and warms the allocators."""
    ctypes.CDLL(None).prctl(_SET_THP_DISABLE, 1, 0, 0, 0)
    files = sorted((folder / "inputs").iterdir(), key=lambda path: int(path.stem))
    arguments = [tvm.nd.array(np.load(path)) for path in files]
    make = _loader(machine, folder)
    make().invoke("main", *arguments)
    samples = [_sample(make(), arguments) for _ in range(REPEATS)]
    return {key: int(statistics.median(sample[key] for sample in samples)) for key in samples[0]}


def _loader(machine: str, folder: Path) -> Callable[[], Any]:
    """Makes machines over one executable, with its constants loaded."""
    if machine == "reference":
        kernels = library.from_text(json.loads((folder / "kernels.json").read_text()))
        code = bytearray((folder / "reference").read_bytes())
        reference = tvm.runtime.vm.Executable.load_exec(code, kernels)
        return lambda: tvm.runtime.vm.VirtualMachine(reference, tvm.cpu())
    executable = regvm.load(folder / "regvm")
    return lambda: regvm.VirtualMachine(executable, tvm.cpu(), engine=machine)


def _sample(machine: Any, arguments: list[Any]) -> dict[str, int]:
    _settle()
    before = resident()
    result = machine.invoke("main", *arguments)
    growth = resident() - before
    found = {"growth_bytes": growth, "result_bytes": result.numpy().nbytes}
    if isinstance(machine, regvm.VirtualMachine):
        found["counted_bytes"] = machine.peak_intermediate_bytes
    return found


def _settle() -> None:
    """Give back to the system what earlier runs left: the reference's pool, and what malloc holds free."""
    gc.collect()
    tvm.get_global_func("vm.builtin.memory_manager.clear")()
    ctypes.CDLL(None).malloc_trim(0)


def resident() -> int:
    """Anonymous memory of this process that is resident, in bytes: page by page, unlike the peak that Linux keeps."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith("Anonymous:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], Path(sys.argv[2]))))
