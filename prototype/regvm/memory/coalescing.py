"""Give tensors that meet in one block parameter one buffer, as the results of the branches of an ``if`` do.

Each of them is live as long as the parameter is, so the planner alone would hold both apart. They may share if,
wherever one is created, nothing that may be another is live; whichever arrives, the buffer then holds it. (The
coalescing of phi-related variables of Sreedhar, Ju, Gillies and Santhanam, 1999, for storage.)

Tensors that meet, and those that meet these, make a family. Up to a size its members join one by one, where they
may. In a larger one, such as that of an ``if`` after the other, each passing its tensor on, each member has as many
names as the family. Those that may be live where another is created would all need a place of their own, of which
few hold anything at a time; they are left out, to own their storage, and the rest shares.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from regvm import isa
from regvm.ir.function import Function
from regvm.memory.aliases import Aliases

Spans = tuple[tuple[int, int], ...]
Ranges = Mapping[int, Spans]

SMALL_FAMILY = 64
"""Up to so many tensors are joined one by one."""

MAX_SPANS = 64
"""A lifetime has no more spans than these: where an ``if`` follows the other, it would have one for each."""


@dataclass(frozen=True)
class Tensor:
    """A tensor with one buffer: the index of the instruction that creates it, and its bytes."""

    value: int
    index: int
    size: int

    @property
    def creation(self) -> tuple[int, int]:
        """The positions of the instruction that creates it, where its inputs are still read."""
        return 2 * self.index, 2 * self.index + 2


@dataclass(frozen=True)
class Shared:
    """Tensors of equal size in one buffer, and where any of them is live."""

    tensors: tuple[Tensor, ...]
    spans: Spans


class Lifetimes:
    """Where tensors are live, by whatever name; ``ranges`` are the live ranges of values."""

    def __init__(self, aliases: Aliases, ranges: Ranges) -> None:
        self.aliases = aliases
        self.ranges = ranges
        self._spans = aliases.backward(lambda v: [ranges.get(v, ())], _union)

    def of(self, tensor: Tensor) -> Spans:
        """It begins with the instruction that creates the tensor."""
        return _union([(tensor.creation,), self._spans[tensor.value]])

    def of_any(self, tensors: Sequence[Tensor]) -> Spans:
        """Where any of the tensors is live."""
        names = self.aliases.names_of(t.value for t in tensors)
        return _union([tuple(t.creation for t in tensors), *(self.ranges.get(v, ()) for v in names)])


def coalesce(
    function: Function, aliases: Aliases, tensors: Mapping[int, Tensor], lifetimes: Lifetimes
) -> list[Shared]:
    """The tensors, those together that meet and may share, in the order of the first of each.

    Of a large family those that conflict are left out.
    """
    meetings = [
        pair
        for pair in _meetings(function, aliases, tensors)
        if tensors[pair[0]].size == tensors[pair[1]].size
    ]
    families = _Forest(tensors)
    for first, second in meetings:
        families.join(first, second)
    pairs: dict[int, list[tuple[int, int]]] = {}
    for first, second in meetings:
        pairs.setdefault(families.find(first), []).append((first, second))
    shared: list[Shared] = []
    for root, members in families.members().items():
        family = [tensors[v] for v in members]
        if len(family) > SMALL_FAMILY:
            shared += _share_all(family, lifetimes)
        else:
            shared += _share_in_pairs(family, pairs.get(root, []), lifetimes)
    order = {value: place for place, value in enumerate(tensors)}
    return sorted(shared, key=lambda s: order[s.tensors[0].value])


def _union(found: Sequence[Spans]) -> Spans:
    """All positions of some spans; of too many the shortest holes are filled, which only makes them longer."""
    spans = merge_spans([span for one in found for span in one])
    if len(spans) <= MAX_SPANS:
        return spans
    holes = sorted(range(1, len(spans)), key=lambda n: spans[n][0] - spans[n - 1][1])
    kept = [0, *sorted(holes[len(spans) - MAX_SPANS :]), len(spans)]
    return tuple((spans[a][0], spans[b - 1][1]) for a, b in pairwise(kept))


def merge_spans(spans: list[tuple[int, int]]) -> Spans:
    """The same positions as sorted spans that neither overlap nor touch."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def _share_in_pairs(
    family: Sequence[Tensor], pairs: Sequence[tuple[int, int]], lifetimes: Lifetimes
) -> list[Shared]:
    group = {t.value: Shared((t,), lifetimes.of(t)) for t in family}
    for first, second in pairs:
        a, b = group[first], group[second]
        if a is b or _writes_over(a, b) or _writes_over(b, a):
            continue
        joined = Shared(a.tensors + b.tensors, merge_spans([*a.spans, *b.spans]))
        group.update((t.value, joined) for t in joined.tensors)
    return list({id(group[t.value]): group[t.value] for t in family}.values())


def _share_all(family: Sequence[Tensor], lifetimes: Lifetimes) -> list[Shared]:
    sharing = list(family)
    while conflicting := _conflicting(sharing, lifetimes):
        sharing = [t for t in sharing if t.value not in conflicting]
    return [Shared(tuple(sharing), lifetimes.of_any(sharing))] if sharing else []


def _conflicting(tensors: Sequence[Tensor], lifetimes: Lifetimes) -> set[int]:
    """The tensors that are created where something else that may be one of the tensors is live."""
    names = lifetimes.aliases.names_of(t.value for t in tensors)
    live = [(begin, end, v) for v in names for begin, end in lifetimes.ranges.get(v, ())]
    live = sorted([*live, *((*t.creation, t.value) for t in tensors)], reverse=True)
    active: list[tuple[int, int]] = []
    found: set[int] = set()
    for tensor in sorted(tensors, key=lambda t: t.index):
        begin, end = tensor.creation
        while live and live[-1][0] < end:
            _, until, value = live.pop()
            heapq.heappush(active, (until, value))
        while active[0][0] <= begin:
            heapq.heappop(active)
        # What is live here ends later than the creation begins, so the tensor itself is all that there may be.
        if any(value != tensor.value for _, value in active[:2]) or len(active) > 2:
            found.add(tensor.value)
    return found


class _Forest:
    """Disjoint sets of values, each with a root."""

    def __init__(self, values: Mapping[int, Tensor]) -> None:
        self._parent = {value: value for value in values}

    def join(self, first: int, second: int) -> None:
        self._parent[self.find(second)] = self.find(first)

    def find(self, value: int) -> int:
        root = value
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[value] != root:
            self._parent[value], value = root, self._parent[value]
        return root

    def members(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for value in self._parent:
            found.setdefault(self.find(value), []).append(value)
        return found


_NONE = (-1, -1)


def _meetings(
    function: Function, aliases: Aliases, tensors: Mapping[int, Tensor]
) -> Iterator[tuple[int, int]]:
    """Pairs of tensors that flow into one parameter over different edges: of each edge the newest, for speed."""
    newest: dict[int, tuple[int, int]] = aliases.forward(
        lambda v: [(tensors[v].index, v)] if v in tensors else [], lambda found: max(found, default=_NONE)
    )
    arriving: dict[int, list[int]] = {}
    for block in function.blocks:
        if isinstance(block.terminator, isa.Jump):
            parameters = function.blocks[block.terminator.target].parameters
            for parameter, argument in zip(parameters, block.arguments, strict=True):
                tensor = newest.get(argument, _NONE)
                if tensor != _NONE:
                    arriving.setdefault(parameter, []).append(tensor[1])
    for first, *others in arriving.values():
        yield from ((first, other) for other in others)


def _covers(spans: Sequence[tuple[int, int]], begin: int, end: int) -> bool:
    after = bisect.bisect_left(spans, (end, 0))
    return after > 0 and spans[after - 1][1] > begin


def _writes_over(created: Shared, live: Shared) -> bool:
    """Whether creating one of ``created`` may write over what of ``live`` is read then or later."""
    return any(_covers(live.spans, *t.creation) for t in created.tensors)
