"""A module taken through the passes under test, with all that the passes found on the way."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from regvm.ir import Function, Module
from regvm.memory import escape, placement
from regvm.memory.placement_checker import Claims, Regions, check_placement
from regvm.memory.planner import plan
from regvm.regalloc import allocation, intervals, liveness, spilling
from regvm.regalloc.checker import check_allocation
from regvm_testing.register_damage import Blocks
from regvm_testing.storage import run_placed
from regvm_testing.storage_damage import Storage
from regvm_testing.symbolic import Path, Trace, run_code, run_function


@dataclass(frozen=True)
class Compiled:
    """One function of a module; ``number`` is its place there."""

    function: Function
    number: int
    live: liveness.Liveness
    intervals: intervals.Intervals
    allocated: allocation.Allocation
    storage: Storage
    claims: Claims

    def expected(self, path: Path) -> Trace:
        """What the function does on a path."""
        return run_function(self.function, path)

    def run_code(self, path: Path, blocks: Blocks | None = None) -> Trace:
        """What allocated code does on a path: its own, or ``blocks`` in its place."""
        code = self.allocated.blocks if blocks is None else blocks
        return run_code(code, len(self.function.parameters), self.allocated.num_registers, path)

    def objections(self, blocks: Blocks | None = None) -> list[str]:
        """What the allocation checker says of the code, or of ``blocks`` in its place."""
        code = self.allocated.blocks if blocks is None else blocks
        allocated = self.allocated
        found = check_allocation(self.function, code, allocated.num_registers, allocated.num_slots)
        return [str(v) for v in found]

    def spilled(self) -> Compiled | None:
        """The same in as few registers as its widest instruction needs; None where that spills nothing."""
        limit, _ = spilling.smallest_limit(self.function)
        owning = frozenset(range(self.function.num_values))
        allocated = allocation.allocate(self.function, self.live, self.intervals, owning, limit)
        return dataclasses.replace(self, allocated=allocated) if allocated.num_slots else None

    def expected_bytes(self, path: Path) -> Trace:
        """What the function reads on a path if every tensor owns its storage."""
        return run_placed(self.function, {}, 0, self.claims.escaping, path)

    def run_placed(self, path: Path, storage: Storage | None = None) -> Trace:
        """What it reads with its tensors in the arena."""
        used = storage or self.storage
        size = max(0, used.storage_bytes)
        return run_placed(self.function, used.spans, size, self.claims.escaping, path, used.regions)

    def storage_objections(self, storage: Storage | None = None) -> list[str]:
        """What the placement checker says of the placement."""
        used = storage or self.storage
        return check_placement(
            self.function, self.number, used.spans, used.storage_bytes, self.claims, used.regions
        )


def compile_module(module: Module) -> list[Compiled]:
    """Allocate registers and storage for every function; nothing is checked."""
    escapes = escape.analyse(module)
    claims = Claims([e.parameters for e in escapes])
    return [_compile(f, n, escapes[n], claims) for n, f in enumerate(module.functions)]


def _compile(function: Function, number: int, escaped: escape.Escape, claims: Claims) -> Compiled:
    live = liveness.analyse(function)
    found = intervals.build(function, live)
    # Every value may keep storage alive, so that every drop that can be written is.
    owning = frozenset(range(function.num_values))
    allocated = allocation.allocate(function, live, found, owning)
    placed = placement.place(function, escaped, found.ranges, found.starts, plan)
    spans = {row: (offsets, function.tensors[row].num_bytes) for row, offsets in placed.offsets.items()}
    storage = Storage(spans, placed.storage_bytes, Regions(placed.regions, placed.within))
    return Compiled(function, number, live, found, allocated, storage, claims)
