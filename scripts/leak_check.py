"""Show that running programs leaves nothing behind: resident memory over thousands of invocations.

The program builds and drops lists, closures, references (in cycles too) and tensors of sizes that change, and
returns a result that is dropped as well. Exits with 1 if memory grows past the tolerance once warmed up.

    python scripts/leak_check.py --invocations 10000
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import tvm
from tvm import relay

import regvm

PROGRAM = """#[version = "0.0.5"]
type L { Cons(Tensor[(?), float32], L), Nil }
def @build(%n: int32, %x: Tensor[(?), float32]) -> L {
  if (%n < 1) { Nil } else { Cons(%x * cast(%n, dtype="float32"), @build(%n - 1, %x)) }
}
def @fold(%f: fn (float32, Tensor[(?), float32]) -> float32, %z: float32, %l: L) -> float32 {
  match (%l) { Cons(%h, %t) => @fold(%f, %f(%z, %h), %t), Nil => %z }
}
def @main(%n: int32, %x: Tensor[(?), float32]) -> (float32, L) {
  let %count = ref(0f);
  let %f = fn (%a: float32, %b: Tensor[(?), float32]) -> float32 {
    let %_ = ref_write(%count, ref_read(%count) + 1f);
    %a + sum(%b)
  };
  let %knot = ref(fn (%v: int32) -> int32 { %v });
  let %around = fn (%v: int32) -> int32 {
    let %g = ref_read(%knot);
    if (%v < 1) { 0 } else { %g(%v - 1) }
  };
  let %_ = ref_write(%knot, %around);
  let %zero = %around(%n);
  (@fold(%f, cast(%zero, dtype="float32"), @build(%n, concatenate((%x, %x)))) + ref_read(%count), @build(%n, %x))
}
"""
SAMPLES = 10
MEBIBYTE = 1 << 20


def resident_bytes() -> int:
    """Resident memory of this process, as Linux counts it."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def expected(length: int, size: int) -> float:
    """What the program computes over ones: each of the numbers up to ``length``, twice ``size`` times."""
    return length * (length + 1) / 2 * 2 * size + length


def measure(invocations: int) -> Iterator[tuple[int, int]]:
    """Run the program; yields invocations so far and resident bytes, the first time once warmed up."""
    machine = regvm.VirtualMachine(regvm.compile(relay.fromtext(PROGRAM), "llvm"), tvm.cpu())
    warm_up = max(invocations // SAMPLES, 1)
    for run in range(warm_up + invocations):
        if run >= warm_up and (run - warm_up) % warm_up == 0:
            yield run - warm_up, resident_bytes()
        length, size = 1 + run % 5, 1 + run % 7
        value = machine.invoke("main", length, np.ones(size, "float32"))
        if float(value[0].numpy()) != expected(length, size):
            raise click.ClickException(f"run {run}: {value[0].numpy()} in place of {expected(length, size)}")
    yield invocations, resident_bytes()


@click.command(help=__doc__)
@click.option("--invocations", type=click.IntRange(min=10), default=10_000, show_default=True)
@click.option("--tolerance", type=float, default=4.0, show_default=True, help="MiB that memory may grow by.")
def main(invocations: int, tolerance: float) -> None:
    """Measure and print; see the module."""
    first = last = 0
    for done, resident in measure(invocations):
        first, last = first or resident, resident
        click.echo(
            f"{done:>7} invocations  {resident / MEBIBYTE:8.2f} MiB  {(resident - first) / MEBIBYTE:+6.2f}"
        )
    if last - first > tolerance * MEBIBYTE:
        click.echo(f"memory grew by more than {tolerance} MiB", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
