"""Measure each part of the evidence; each gives plain data that JSON holds.

Times are medians of repeats and quoted as ratios of one run; bytes are counted, not estimated.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from scripts.evidence import example, planning, population, resident
from tvm import relay

import regvm
from regvm import compiler, isa, memory
from regvm.compiler import place_module
from regvm.frontend import source, translate
from relay_conformance.compare import Settings, compare
from relay_conformance.models import BUILT_IN, load_built_in
from relay_conformance.report import as_json

Results = dict[str, Any]

LOOP = """#[version = "0.0.5"]
def @loop(%i: int32, %n: int32, %acc: Tensor[(1, 1), float32], %x: Tensor[(1, 1), float32])
    -> Tensor[(1, 1), float32] {
  if (less(%i, %n)) { @loop(add(%i, 1), %n, add(%acc, %x), %x) } else { %acc }
}
def @main(%n: int32, %x: Tensor[(1, 1), float32]) -> Tensor[(1, 1), float32] { @loop(0, %n, %x, %x) }
"""
LOOP_TURNS = 10_000
STRATEGIES = ("none", "exact", "coalesce", "greedy_by_size", "greedy_by_conflicts", "default")


def comparison(name: str) -> Results:
    """A built-in, compared on TensorFlow (or NumPy), the reference and the register VM."""
    return as_json(compare(load_built_in(name, 1), {}, Settings()))


def code(name: str) -> Results:
    """Of a built-in: instructions by kind, moves, registers against the largest live set, own compile time."""
    program = load_built_in(name, 1).program
    with tvm.transform.PassContext(opt_level=3):
        start = time.perf_counter()
        lowered = source.lower(program.module, "llvm", None, dict(program.params))
        relay_passes = time.perf_counter() - start
    module, _ = translate.translate(lowered.module)
    generated = compiler.generate(module, compiler.Options(check=False))
    translating = _median(lambda: translate.translate(lowered.module))
    unchecked = _median(lambda: compiler.generate(module, compiler.Options(check=False)))
    checked = _median(lambda: compiler.generate(module, compiler.Options(check=True)))
    instructions = [i for f in generated.functions for i in f.instructions]
    return {
        "instructions": len(instructions),
        "moves": sum(isinstance(i, isa.Move) for i in instructions),
        "functions": len(generated.functions),
        "above_bound": {f.name: f.num_registers - f.max_live for f in generated.functions},
        "registers": max(f.num_registers for f in generated.functions),
        "relay_passes_s": relay_passes,
        "own_s": translating + unchecked,
        "checking_s": checked - unchecked,
        "storage": _storage(module),
    }


def _median(run: Callable[[], object]) -> float:
    """The median time of five calls, in seconds, after one that is not counted."""
    run()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _storage(module: Any) -> Results:
    """Bytes of the frames' arenas by strategy, and the bound: the largest sum of sizes live at once."""
    placements = place_module(module)
    found = {s: sum(memory.plan(p.requests, s).bytes for p in placements) for s in STRATEGIES}
    return found | {"bound": sum(memory.lower_bound(p.requests) for p in placements)}


def graph_plan(name: str) -> int:
    """What TVM's graph executor plans for the intermediates of a static model, in bytes."""
    program = load_built_in(name, 1).program
    with tvm.transform.PassContext(opt_level=3):
        built = relay.build(program.module, target="llvm", params=dict(program.params))
    graph = json.loads(built.get_graph_json())
    inputs = set(graph["arg_nodes"])
    storage_of = graph["attrs"]["storage_id"][1]
    shapes, dtypes = graph["attrs"]["shape"][1], graph["attrs"]["dltype"][1]
    rows = graph["node_row_ptr"]
    taken = {storage_of[rows[n]] for n in inputs}
    sizes: dict[int, int] = {}
    for node in range(len(graph["nodes"])):
        for row in range(rows[node], rows[node + 1]):
            bytes_ = int(np.prod(shapes[row])) * regvm.executable.dtype_bytes(dtypes[row])
            sizes[storage_of[row]] = max(sizes.get(storage_of[row], 0), bytes_)
    return sum(memory.round_up(size, 64) for number, size in sizes.items() if number not in taken)


def loop() -> Results:
    """The tail-recursive loop: microseconds an iteration, and what a million iterations add to resident memory."""
    mod = relay.parse(LOOP)
    with tvm.transform.PassContext(opt_level=3):
        reference = tvm.runtime.vm.VirtualMachine(relay.vm.compile(mod, "llvm"), tvm.cpu())
        machine = regvm.VirtualMachine(regvm.compile(mod), engine="interpreter")
    n = 10_000
    pairs = [(_seconds(machine, n), _seconds(reference, n)) for _ in range(9)]
    ours, theirs = (statistics.median(side) / n * 1e6 for side in zip(*pairs, strict=True))
    return {
        "n": n,
        "interpreter_us": ours,
        "reference_us": theirs,
        "ratio": statistics.median(a / b for a, b in pairs),
        "growth_bytes_10k": _growth("regvm", 10_000),
        "growth_bytes_1m": _growth("regvm", 1_000_000),
        "reference_growth_bytes_10k": _growth("reference", 10_000),
        "reference_growth_bytes_50k": _growth("reference", 50_000),
    }


def _seconds(machine: Any, n: int) -> float:
    x = tvm.nd.array(np.array([[1.5]], dtype="float32"))
    count = tvm.nd.array(np.array(n, dtype="int32"))
    start = time.perf_counter()
    machine.invoke("main", count, x)
    return time.perf_counter() - start


def _growth(which: str, n: int) -> int:
    """Growth of the peak resident set over one run, in a process of its own, in bytes."""
    code_ = f"from scripts.evidence.growth import growth; print(growth({which!r}, {n}))"
    done = subprocess.run([sys.executable, "-c", code_], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


def determinism() -> Results:
    """Whether two processes compile the same program to the same bytes, by machine."""
    return {which: len({_digest(which) for _ in range(2)}) == 1 for which in ("regvm", "reference")}


def _digest(which: str) -> str:
    code_ = f"from scripts.evidence.determinism import digest; print(digest({which!r}))"
    done = subprocess.run([sys.executable, "-c", code_], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.split()[-1]


def machine() -> Results:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "arch": platform.machine(),
        "cores": os.cpu_count(),
    }


def resident_memory(name: str) -> Results:
    """What one invocation of a built-in adds to a process that runs it, by machine; loops turn 10,000 times."""
    model = load_built_in(name, 1)
    inputs = dict(model.seeded_inputs(0))
    if name == "while_loop":
        inputs["n"] = np.array(LOOP_TURNS, np.int32)
    return resident.measure(model.program, inputs)


@dataclass(frozen=True)
class ModelPart:
    """A part that is measured model by model."""

    measure: Callable[[str], Any]
    models: tuple[str, ...]


STATIC = ("mobilenet_v1", "mobilenet_v2", "resnet50_v2", "resnet_model")
MODEL_PARTS = {
    "code": ModelPart(code, tuple(BUILT_IN)),
    "graph_plan": ModelPart(graph_plan, STATIC),
    "models": ModelPart(comparison, tuple(BUILT_IN)),
    "resident": ModelPart(resident_memory, ("mobilenet_v1", "resnet50_v2", "while_loop", "lstm")),
}
PARTS: dict[str, Callable[[], Results]] = {
    "example": example.follow,
    "loop": loop,
    "machine": machine,
    "minimalloc": planning.minimalloc,
    "plan_time": planning.plan_time,
    "determinism": determinism,
    "population": population.measure,
    "published": planning.published,
}
