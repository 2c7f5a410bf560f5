"""Where each tensor of a function lives: in the frame's arena, or in storage of its own.

A tensor goes into the arena if it does not escape. Its lifetime is that of all its aliases, and begins with the
instruction that writes it, so that a kernel never writes over its own inputs. Where an alias of an earlier
instance is still live when the tensor is written again (a loop carries it into the next round), it gets as many
buffers, which take turns, as instances can be live.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from regvm import isa
from regvm.ir.function import Function
from regvm.memory.escape import Escape
from regvm.memory.instances import live_instances
from regvm.memory.request import Plan, Request

Ranges = Mapping[int, tuple[tuple[int, int], ...]]
Planner = Callable[[Sequence[Request]], Plan]

MAX_BUFFERS = 4
"""A tensor of which more instances can be live owns its storage instead."""


@dataclass(frozen=True)
class Placement:
    """Offsets in bytes by row of the tensor table (rows that own their storage are absent), and the arena's size.

    ``in_arena`` are the values that live in the arena, ``requests`` what the planner was asked, ``plan`` what it
    answered; buffer ``n`` of the tensor ``%v`` has the id ``v.n``.
    """

    offsets: Mapping[int, tuple[int, ...]]
    storage_bytes: int
    in_arena: frozenset[int]
    requests: tuple[Request, ...]
    plan: Plan


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
    buffers: dict[int, tuple[isa.Out, list[str]]] = {}
    requests: list[Request] = []
    for index, out in _created(function, starts):
        if out.register in escape.escaping:
            continue
        names = frozenset(aliases[out.register])
        count = live_instances(function, out.register, index, names, ranges, starts, MAX_BUFFERS)
        if count > MAX_BUFFERS:
            continue
        spans = _merge([(2 * index, 2 * index + 2), *(r for v in sorted(names) for r in ranges.get(v, ()))])
        ids = [buffer_id(out.register, n) for n in range(count)]
        buffers[out.register] = out, ids
        size = function.tensors[out.tensor].num_bytes
        requests.extend(Request(i, size, spans) for i in ids)
    plan = planner(requests)
    offsets = {out.tensor: tuple(plan.offsets[i] for i in ids) for out, ids in buffers.values()}
    inside = frozenset(v for v, roots in escape.roots.items() if roots and roots <= buffers.keys())
    return Placement(offsets, plan.bytes, inside, tuple(requests), plan)


def buffer_id(value: int, number: int) -> str:
    """The id under which the planner knows a buffer of the tensor ``value``."""
    return f"{value}.{number}"


def _created(function: Function, starts: Sequence[int]) -> list[tuple[int, isa.Out]]:
    """Each tensor that an invoke creates, with the instruction's index in the numbering of the intervals."""
    return [
        (index, out)
        for start, block in zip(starts, function.blocks, strict=True)
        for index, instruction in enumerate(block.instructions, start + 1)
        if isinstance(instruction, isa.Invoke)
        for out in instruction.outs
    ]


def _merge(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)
