"""Measure that recursion in tail position runs in constant memory, each program in a process of its own.

Prints a table of iterations, time, and how far resident memory grew while the program ran. Exit status 1 if a
tail-recursive program grew by more than the limit.

    python scripts/measure_recursion.py [--iterations N] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROTOTYPE = Path(__file__).parents[1] / "prototype"

GROWTH_LIMIT = 8 << 20
"""Bytes: what the allocator and Python's free lists may keep."""

PROGRAMS = {
    "self tail call": """
def @loop(%i: int32, %n: int32, %acc: int32, %x: int32) -> int32 {
  if (less(%i, %n)) { @loop(add(%i, 1), %n, add(%acc, %x), %x) } else { %acc }
}
def @main(%n: int32, %x: int32) -> int32 { @loop(0, %n, 0, %x) }
""",
    "mutual tail calls": """
def @ping(%i: int32, %acc: int32, %x: int32) -> int32 {
  if (equal(%i, 0)) { %acc } else { @pong(subtract(%i, 1), add(%acc, %x), %x) }
}
def @pong(%i: int32, %acc: int32, %x: int32) -> int32 {
  if (equal(%i, 0)) { %acc } else { @ping(subtract(%i, 1), add(%acc, %x), %x) }
}
def @main(%n: int32, %x: int32) -> int32 { @ping(%n, 0, %x) }
""",
    "tail call of a closure": """
def @go(%f: fn (int32) -> int32, %i: int32, %acc: int32) -> int32 {
  if (equal(%i, 0)) { %acc } else { @go(%f, subtract(%i, 1), %f(%acc)) }
}
def @main(%n: int32, %x: int32) -> int32 { @go(fn (%a: int32) -> int32 { add(%a, %x) }, %n, 0) }
""",
}

CHILD = """
import json, sys, time
import numpy as np
import regvm
from tvm import relay

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

text, iterations = sys.stdin.read(), int(sys.argv[1])
machine = regvm.VirtualMachine(regvm.compile(relay.fromtext('#[version = "0.0.5"]' + text)), engine=sys.argv[2])
machine.run(np.int32(1000), np.int32(3))
before, started = resident(), time.perf_counter()
result = machine.run(np.int32(iterations), np.int32(3))
seconds, growth = time.perf_counter() - started, resident() - before
assert int(result.numpy()) == 3 * iterations
print(json.dumps({"iterations": iterations, "seconds": seconds, "growth_bytes": growth}))
"""


def measure(text: str, iterations: int, engine: str) -> dict[str, Any]:
    """Run a program in a fresh process; raises CalledProcessError if it fails or its result is wrong."""
    finished = subprocess.run(
        [sys.executable, "-c", CHILD, str(iterations), engine],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        cwd=PROTOTYPE,
    )
    record: dict[str, Any] = json.loads(finished.stdout)
    return record


def main() -> int:
    """Measure every program; 1 if one grew past the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=1_000_000)
    parser.add_argument("--engine", default="interpreter")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    records = {name: measure(text, options.iterations, options.engine) for name, text in PROGRAMS.items()}
    if options.json:
        print(json.dumps(records, indent=2))
    else:
        print(f"{'program':24} {'iterations':>12} {'seconds':>9} {'us/iteration':>13} {'growth':>12}")
        for name, r in records.items():
            each = r["seconds"] / r["iterations"] * 1e6
            print(
                f"{name:24} {r['iterations']:12,} {r['seconds']:9.2f} {each:13.2f} {r['growth_bytes']:10,} B"
            )
    return int(any(r["growth_bytes"] > GROWTH_LIMIT for r in records.values()))


if __name__ == "__main__":
    sys.exit(main())
