"""How many instances of one tensor can be live at once.

Each time a tensor is created it is a new instance; a loop may still read the instance of the round before. A
forward dataflow holds, for each alias, how many creations ago its instance was made (its age, the largest over
all paths). An alias that is live where the tensor is created anew, at age a, needs a + 2 buffers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from regvm import isa
from regvm.ir.dataflow import solve_forward
from regvm.ir.function import Function

Ranges = Mapping[int, tuple[tuple[int, int], ...]]
_Ages = dict[int, int]


def live_instances(
    function: Function,
    tensor: int,
    index: int,
    aliases: Set[int],
    ranges: Ranges,
    starts: Sequence[int],
    limit: int,
) -> int:
    """The number of buffers that ``tensor`` needs, 1 or more; ``limit + 1`` stands for any larger number.

    ``index`` is that of the instruction which creates it, in the numbering of the ranges; ``aliases`` are the
    values that may share its storage, itself included.
    """
    if not any(v != tensor and _is_live(ranges.get(v, ()), index) for v in aliases):
        return 1
    needed = 1

    def run(number: int, entry: _Ages) -> list[tuple[int, _Ages]]:
        nonlocal needed
        ages, here = _run(function, number, entry, tensor, aliases, ranges, starts[number], limit)
        needed = max(needed, here)
        return _edges(function, number, ages, aliases)

    nothing: _Ages = {}
    solve_forward(nothing, run, _join)
    return min(needed, limit + 1)


def _run(
    function: Function,
    number: int,
    entry: _Ages,
    tensor: int,
    aliases: Set[int],
    ranges: Ranges,
    start: int,
    limit: int,
) -> tuple[_Ages, int]:
    """Ages at the end of a block, and the number of buffers that its creations ask for."""
    ages = dict(entry)
    needed = 1
    for index, instruction in enumerate(function.blocks[number].instructions, start + 1):
        if tensor in isa.defs(instruction):
            ages = {v: min(age + 1, limit) for v, age in ages.items() if v != tensor}
            live = [age for v, age in ages.items() if _is_live(ranges.get(v, ()), index)]
            needed = max([needed, *(age + 1 for age in live)])
            ages[tensor] = 0
        elif isinstance(instruction, isa.Reshape | isa.ReshapeTo) and instruction.dst in aliases:
            ages.pop(instruction.dst, None)
            if instruction.src.register in ages:
                ages[instruction.dst] = ages[instruction.src.register]
    return ages, needed


def _edges(function: Function, number: int, ages: _Ages, aliases: Set[int]) -> list[tuple[int, _Ages]]:
    block = function.blocks[number]
    if not isinstance(block.terminator, isa.Jump):
        return [(s, ages) for s in block.successors]
    target = block.terminator.target
    passed = zip(function.blocks[target].parameters, block.arguments, strict=True)
    after = dict(ages)
    for parameter, argument in passed:
        after.pop(parameter, None)
        if parameter in aliases and argument in ages:
            after[parameter] = ages[argument]
    return [(target, after)]


def _is_live(ranges: tuple[tuple[int, int], ...], index: int) -> bool:
    """Whether a value with these ranges is read by the instruction at ``index``, or later."""
    return any(begin < 2 * index + 2 and 2 * index < end for begin, end in ranges)


def _join(a: _Ages, b: _Ages) -> _Ages:
    return {v: max(a.get(v, 0), b.get(v, 0)) for v in sorted(a.keys() | b.keys())}
