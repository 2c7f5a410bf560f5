"""Give tensors that meet in one block parameter one buffer, as the results of the branches of an ``if`` do.

Each of them is live as long as the parameter is, so the planner alone would hold both apart. They may share if,
wherever one is created, nothing that may be another is live; whichever arrives, the buffer then holds it. (The
coalescing of phi-related variables of Sreedhar, Ju, Gillies and Santhanam, 1999, for storage.)
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from regvm import isa
from regvm.ir.function import Function
from regvm.memory.escape import Roots

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Tensor:
    """A tensor with one buffer: the index of the instruction that creates it, its bytes, and where it is live."""

    value: int
    index: int
    size: int
    spans: Spans


@dataclass(frozen=True)
class Shared:
    """Tensors of equal size in one buffer, and where any of them is live."""

    tensors: tuple[Tensor, ...]
    spans: Spans


def coalesce(function: Function, roots: Roots, tensors: Mapping[int, Tensor]) -> list[Shared]:
    """The tensors, those together that meet and may share, in the order of the first of each."""
    group = {value: Shared((tensor,), tensor.spans) for value, tensor in tensors.items()}
    for first, second in _meetings(function, roots, tensors):
        a, b = group[first], group[second]
        if a is b or a.tensors[0].size != b.tensors[0].size or _conflict(a, b) or _conflict(b, a):
            continue
        joined = Shared(a.tensors + b.tensors, merge_spans([*a.spans, *b.spans]))
        group.update((t.value, joined) for t in joined.tensors)
    return list({id(group[value]): group[value] for value in tensors}.values())


def merge_spans(spans: list[tuple[int, int]]) -> Spans:
    """The same positions as sorted spans that neither overlap nor touch."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def _meetings(function: Function, roots: Roots, tensors: Mapping[int, Tensor]) -> Iterator[tuple[int, int]]:
    """Pairs of tensors that flow into one parameter over different edges: of each edge the newest, for speed."""
    arriving: dict[int, list[int]] = {}
    for block in function.blocks:
        if isinstance(block.terminator, isa.Jump):
            parameters = function.blocks[block.terminator.target].parameters
            for parameter, argument in zip(parameters, block.arguments, strict=True):
                found = [r for r in roots.get(argument, ()) if r in tensors]
                if found:
                    arriving.setdefault(parameter, []).append(max(found, key=lambda r: tensors[r].index))
    for first, *others in arriving.values():
        yield from ((first, other) for other in others)


def _conflict(created: Shared, live: Shared) -> bool:
    """Whether creating one of ``created`` may write over what of ``live`` is read then or later."""
    return any(_covers(live.spans, 2 * t.index, 2 * t.index + 2) for t in created.tensors)


def _covers(spans: Spans, begin: int, end: int) -> bool:
    after = bisect.bisect_left(spans, (end, 0))
    return after > 0 and spans[after - 1][1] > begin
