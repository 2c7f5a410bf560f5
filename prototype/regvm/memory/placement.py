"""Where each tensor of a function lives: in the frame's arena, or in storage of its own.

A tensor goes into the arena if it does not escape. Its lifetime is that of all its aliases, and begins with the
instruction that writes it, so that a kernel never writes over its own inputs. Where an alias of an earlier
instance is still live when the tensor is written again (a loop carries it into the next round), it gets as many
buffers, which take turns, as instances can be live. Tensors that meet in a block parameter share one buffer where
they may.

Of a tensor whose size is known only at run time the plan says a region and a slot (see ``region_slots``); that
needs no buffers that take turns, since a region is never placed over storage that something refers to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from regvm import isa
from regvm.executable import InRegion
from regvm.ir.function import Function
from regvm.memory.coalescing import Tensor, coalesce, merge_spans
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
    aliases: dict[int, list[int]] = {}
    for value, roots in escape.roots.items():
        for root in roots:
            aliases.setdefault(root, []).append(value)
    rows: dict[int, int] = {}
    single: dict[int, Tensor] = {}
    ids: dict[int, list[str]] = {}
    lifetimes: dict[int, tuple[tuple[int, int], ...]] = {}
    requests: list[Request] = []
    dynamic: list[int] = []
    for index, out in _created(function, starts):
        if out.register in escape.escaping:
            continue
        names = frozenset(aliases[out.register])
        if not function.tensors[out.tensor].is_static:
            lifetimes[out.register] = _lifetime(index, names, ranges)
            dynamic.append(out.register)
            continue
        count = live_instances(function, out.register, index, names, ranges, starts, MAX_BUFFERS)
        if count > MAX_BUFFERS:
            continue
        spans = _lifetime(index, names, ranges)
        size = function.tensors[out.tensor].num_bytes
        rows[out.register] = out.tensor
        lifetimes[out.register] = spans
        if count == 1:
            single[out.register] = Tensor(out.register, index, size, spans)
        else:
            ids[out.register] = [f"{out.register}.{n}" for n in range(count)]
            requests.extend(Request(i, size, spans) for i in ids[out.register])
    for shared in coalesce(function, escape.roots, single):
        name = f"{shared.tensors[0].value}.0"
        requests.append(Request(name, shared.tensors[0].size, shared.spans))
        ids.update((t.value, [name]) for t in shared.tensors)
    requests.sort(key=lambda r: (r.first, str(r.id)))
    plan = planner(requests)
    offsets = {row: tuple(plan.offsets[i] for i in ids[value]) for value, row in rows.items()}
    inside = frozenset(v for v, roots in escape.roots.items() if roots and roots <= rows.keys())
    buffers = {value: tuple(ids[value]) for value in rows}
    regions = plan_regions(function, starts, {v: lifetimes[v] for v in dynamic})
    return Placement(
        offsets,
        plan.bytes,
        inside,
        tuple(requests),
        plan,
        buffers,
        lifetimes,
        regions.regions,
        regions.places,
        regions.num_regions,
    )


def _lifetime(index: int, names: frozenset[int], ranges: Ranges) -> tuple[tuple[int, int], ...]:
    """Where a tensor or one of its aliases is live; it begins with the instruction that creates the tensor."""
    return merge_spans([(2 * index, 2 * index + 2), *(r for v in names for r in ranges.get(v, ()))])


def _created(function: Function, starts: Sequence[int]) -> list[tuple[int, isa.Out]]:
    """Each tensor that an invoke creates, with the instruction's index in the numbering of the intervals."""
    return [
        (index, out)
        for start, block in zip(starts, function.blocks, strict=True)
        for index, instruction in enumerate(block.instructions, start + 1)
        if isinstance(instruction, isa.Invoke)
        for out in instruction.outs
    ]
