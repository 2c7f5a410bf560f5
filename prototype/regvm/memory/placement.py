"""Where each tensor of a function lives: in the frame's arena, or in storage of its own.

A tensor goes into the arena if it does not escape. Its lifetime is that of all its aliases, and begins with the
instruction that writes it, so that a kernel never writes over its own inputs. Where an alias of an earlier
instance is still live when the tensor is written again (a loop carries it into the next round), it gets as many
buffers, which take turns, as instances can be live. (A copy into a buffer of its own would take as many bytes, and
time in every round, so turns always cost less.) Tensors that meet in a block parameter share one buffer where
they may.

Of a tensor whose size is known only at run time the plan says a region and a slot (see ``region_slots``); that
needs no buffers that take turns, since a region is never placed over storage that something refers to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from regvm import isa
from regvm.executable import InRegion
from regvm.ir.components import loops_of_blocks
from regvm.ir.function import Function
from regvm.memory.coalescing import Lifetimes, Tensor, coalesce
from regvm.memory.escape import Escape
from regvm.memory.instances import live_instances
from regvm.memory.region_slots import plan_regions
from regvm.memory.request import Plan, Request

Ranges = Mapping[int, tuple[tuple[int, int], ...]]
Planner = Callable[[Sequence[Request]], Plan]

MAX_BUFFERS = 4
"""A tensor of which more instances can be live owns its storage instead."""


@dataclass(frozen=True)
class Placement:
    """Offsets in bytes by row of the tensor table (rows that own their storage are absent), and the arena's size.

    ``in_arena`` are the values that live in the arena, ``requests`` what the planner was asked, ``plan`` what it
    answered. Of each tensor of the arena ``buffers`` are the ids of its requests, in the order in which they take
    turns, and ``lifetimes`` the ranges in which it is live itself; several tensors may share one request.

    Of dynamic tensors, ``regions`` says the region of each group, and ``within`` the place of each row.
    """

    offsets: Mapping[int, tuple[int, ...]]
    storage_bytes: int
    in_arena: frozenset[int]
    requests: tuple[Request, ...]
    plan: Plan
    buffers: Mapping[int, tuple[str, ...]]
    lifetimes: Ranges
    regions: Mapping[int, int] = field(default_factory=dict)
    within: Mapping[int, InRegion] = field(default_factory=dict)
    num_regions: int = 0


def place(
    function: Function, escape: Escape, ranges: Ranges, starts: Sequence[int], planner: Planner
) -> Placement:
    """Place every tensor that an ``invoke`` of the function creates.

    ``ranges`` and ``starts`` are the live intervals of the function's values and the numbering that they use.
    """
    aliases = escape.aliases
    lifetimes = Lifetimes(aliases, ranges)
    loops = loops_of_blocks(function)
    rows: dict[int, int] = {}
    single: dict[int, Tensor] = {}
    ids: dict[int, list[str]] = {}
    placed: dict[int, Tensor] = {}
    requests: list[Request] = []
    dynamic: list[Tensor] = []
    for block, index, out in _created(function, starts):
        type_ = function.tensors[out.tensor]
        tensor = Tensor(out.register, index, type_.num_bytes)
        if out.register in escape.escaping:
            continue
        if not type_.is_static:
            dynamic.append(tensor)
            placed[tensor.value] = tensor
            continue
        count = 1
        # Only in a loop can an instance be live where the tensor is created anew.
        if loops[block] is not None:
            names = aliases.names_of([tensor.value])
            count = live_instances(function, tensor.value, index, names, ranges, starts, MAX_BUFFERS)
        if count > MAX_BUFFERS:
            continue
        rows[tensor.value] = out.tensor
        placed[tensor.value] = tensor
        if count == 1:
            single[tensor.value] = tensor
        else:
            ids[tensor.value] = [f"{tensor.value}.{n}" for n in range(count)]
            requests.extend(Request(i, tensor.size, lifetimes.of(tensor)) for i in ids[tensor.value])
    for shared in coalesce(function, aliases, single, lifetimes):
        name = f"{shared.tensors[0].value}.0"
        requests.append(Request(name, shared.tensors[0].size, shared.spans))
        ids.update((t.value, [name]) for t in shared.tensors)
    rows = {value: row for value, row in rows.items() if value in ids}
    placed = {value: tensor for value, tensor in placed.items() if value in ids or value not in single}
    requests.sort(key=lambda r: (r.first, str(r.id)))
    plan = planner(requests)
    offsets = {row: tuple(plan.offsets[i] for i in ids[value]) for value, row in rows.items()}
    outside = aliases.names_of(aliases.roots - rows.keys())
    inside = aliases.names_of(rows) - outside
    buffers = {value: tuple(ids[value]) for value in rows}
    spans = {value: lifetimes.of(tensor) for value, tensor in placed.items()}
    regions = plan_regions(function, starts, {t.value: spans[t.value] for t in dynamic})
    return Placement(
        offsets,
        plan.bytes,
        inside,
        tuple(requests),
        plan,
        buffers,
        spans,
        regions.regions,
        regions.places,
        regions.num_regions,
    )


def _created(function: Function, starts: Sequence[int]) -> list[tuple[int, int, isa.Out]]:
    """Each tensor that an invoke creates, with its block, and its index in the numbering of the intervals."""
    return [
        (number, index, out)
        for number, (start, block) in enumerate(zip(starts, function.blocks, strict=True))
        for index, instruction in enumerate(block.instructions, start + 1)
        if isinstance(instruction, isa.Invoke)
        for out in instruction.outs
    ]
