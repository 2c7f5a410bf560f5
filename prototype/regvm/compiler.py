"""The pipeline: a Relay module becomes a verified executable, one pass after the other."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial

from regvm import executable, ir, isa, verifier
from regvm.codegen.emit import emit
from regvm.executable import Program
from regvm.ir.forward_shapes import forward_shapes
from regvm.ir.wellformed import assert_well_formed
from regvm.memory import escape, placement, placement_checker
from regvm.memory.grouping import group_dynamic_tensors
from regvm.memory.loop_exits import copy_out_of_loops
from regvm.memory.planner import plan
from regvm.regalloc import allocation, checker, intervals, liveness


@dataclass(frozen=True)
class Options:
    """How to generate code.

    ``check`` runs the checkers of allocation and storage on the result; ``register_limit`` is the number of
    registers that a function may use, beyond which values are spilled. ``storage_strategy`` names how offsets in
    the arena are chosen, one of ``memory.strategies``.
    """

    check: bool = True
    register_limit: int | None = None
    storage_strategy: str = "default"


def generate(module: ir.Module, options: Options) -> Program:
    """Registers, storage and bytecode for every function; the result is verified."""
    module, escapes = _prepare_storage(module)
    claims = placement_checker.Claims([e.parameters for e in escapes])
    functions = tuple(
        _generate_function(function, number, escapes[number], claims, options)
        for number, function in enumerate(module.functions)
    )
    program = Program(functions, module.constants, module.kernels)
    verifier.assert_verified(program)
    return program


@dataclass(frozen=True)
class PlacedFunction:
    """A function as code is generated from it, its live intervals, and the places of its tensors."""

    function: ir.Function
    intervals: intervals.Intervals
    placement: placement.Placement


def place_functions(module: ir.Module, planner: placement.Planner = plan) -> tuple[PlacedFunction, ...]:
    """The storage of every function, as ``generate`` plans it; for reports on planning."""
    module, escapes = _prepare_storage(module)
    spans = [intervals_of(f)[1] for f in module.functions]
    return tuple(
        PlacedFunction(f, s, _place(f, e, s, planner))
        for f, e, s in zip(module.functions, escapes, spans, strict=True)
    )


def place_module(module: ir.Module) -> list[placement.Placement]:
    """The same without the functions."""
    return [placed.placement for placed in place_functions(module)]


def _prepare_storage(module: ir.Module) -> tuple[ir.Module, tuple[escape.Escape, ...]]:
    """The module as its storage is planned, and which of its tensors escape."""
    module = dataclasses.replace(module, functions=tuple(map(forward_shapes, module.functions)))
    escapes = escape.analyse(module)
    copied = copy_out_of_loops(module, escapes)
    if copied is not module:
        escapes = escape.analyse(copied)
    # Grouping names the same values, so what is known of them stays true.
    grouped = [group_dynamic_tensors(f, e.escaping) for f, e in zip(copied.functions, escapes, strict=True)]
    return dataclasses.replace(copied, functions=tuple(grouped)), escapes


def intervals_of(function: ir.Function) -> tuple[liveness.Liveness, intervals.Intervals]:
    """Liveness and intervals of a function."""
    live = liveness.analyse(function)
    return live, intervals.build(function, live)


def _place(
    function: ir.Function,
    escaped: escape.Escape,
    spans: intervals.Intervals,
    planner: placement.Planner = plan,
) -> placement.Placement:
    return placement.place(function, escaped, spans.ranges, spans.starts, planner)


def _generate_function(
    function: ir.Function,
    number: int,
    escaped: escape.Escape,
    claims: placement_checker.Claims,
    options: Options,
) -> executable.Function:
    assert_well_formed(function)
    live, spans = intervals_of(function)
    placed = _place(function, escaped, spans, partial(plan, strategy=options.storage_strategy))
    allocated = allocation.allocate(function, live, spans, _owning(function, placed), options.register_limit)
    if options.check:
        checker.assert_allocation(function, allocated.blocks, allocated.num_registers, allocated.num_slots)
        places = {row: (offsets, function.tensors[row].num_bytes) for row, offsets in placed.offsets.items()}
        regions = placement_checker.Regions(placed.regions, placed.within)
        placement_checker.assert_placement(function, number, places, placed.storage_bytes, claims, regions)
    return emit(
        function,
        allocated.blocks,
        num_registers=allocated.num_registers,
        num_slots=allocated.num_slots,
        max_live=allocated.max_live,
        offsets=placed.offsets,
        storage_bytes=placed.storage_bytes,
        regions=placed.regions,
        within=placed.within,
        num_regions=placed.num_regions,
    )


def _owning(function: ir.Function, placed: placement.Placement) -> frozenset[int]:
    """Values that may keep memory from being freed: not those of the arena, nor constants."""
    owning = {p for block in function.blocks for p in block.parameters}
    for block in function.blocks:
        for instruction in block.instructions:
            if not isinstance(instruction, isa.LoadConst):
                owning.update(isa.defs(instruction))
    return frozenset(owning - placed.in_arena)
