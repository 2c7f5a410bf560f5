"""Which dynamic tensors share a slot of their region, and which groups share a region.

Sizes are not known, lifetimes are. A tensor takes the slot of one that is dead, best of one of the same shape
vector and element size, which is as large; so there are as many slots as tensors are live at once, and a region is
as large as its slots. (The linear scan of Poletto and Sarkar, 1999, with slots in place of registers.)

Groups of which none holds a live tensor where the other is placed share a region. That only saves memory: a
machine never places tensors over storage that something refers to, it then takes other storage.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from regvm import isa
from regvm.executable import InRegion, dtype_bytes
from regvm.ir.function import Function

Spans = tuple[tuple[int, int], ...]
_SizeKey = tuple[int, int]

_LOOK_BACK = 8
"""How many regions, and of each how many groups, are looked at for one that is free: planning stays linear."""


@dataclass(frozen=True)
class RegionPlan:
    """For each group its region, for each row its place, and the number of regions."""

    regions: Mapping[int, int]
    places: Mapping[int, InRegion]
    num_regions: int


@dataclass(frozen=True)
class _Tensor:
    row: int
    index: int
    spans: Spans
    size: _SizeKey


@dataclass(frozen=True)
class _Group:
    number: int
    index: int
    tensors: tuple[_Tensor, ...]

    @property
    def first(self) -> int:
        return min((t.spans[0][0] for t in self.tensors), default=2 * self.index)

    @property
    def last(self) -> int:
        return max((t.spans[-1][1] for t in self.tensors), default=2 * self.index)

    def live_at(self, index: int) -> bool:
        """Whether one of its tensors is live at an instruction."""
        return any(begin < 2 * index + 2 and 2 * index < end for t in self.tensors for begin, end in t.spans)


def plan_regions(function: Function, starts: Sequence[int], lifetimes: Mapping[int, Spans]) -> RegionPlan:
    """``lifetimes`` are those of the tensors by value, aliases included, in the numbering of ``starts``."""
    groups = list(_groups(function, starts, lifetimes))
    regions: list[_Region] = []
    found: dict[int, int] = {}
    for group in groups:
        recent = range(max(0, len(regions) - _LOOK_BACK), len(regions))
        free = next((n for n in recent if regions[n].takes(group)), len(regions))
        if free == len(regions):
            regions.append(_Region())
        regions[free].groups.append(group)
        regions[free].last = max(regions[free].last, group.last)
        found[group.number] = free
    places = {row: InRegion(found[g.number], slot) for g in groups for row, slot in _slots(g)}
    return RegionPlan(found, places, len(regions))


@dataclass
class _Region:
    """Groups in the order of the code, and the position after which no tensor of them is live."""

    groups: list[_Group] = field(default_factory=list)
    last: int = 0

    def takes(self, group: _Group) -> bool:
        """Whether no tensor of the group is live where the region's groups are placed, and the other way round."""
        if self.last <= 2 * group.index and group.first >= 2 * group.index:
            return True
        others = self.groups
        return len(others) <= _LOOK_BACK and not any(
            other.live_at(group.index) or group.live_at(other.index) for other in others
        )


def _groups(function: Function, starts: Sequence[int], lifetimes: Mapping[int, Spans]) -> Iterator[_Group]:
    shapes: dict[int, int] = {}
    for start, block in zip(starts, function.blocks, strict=True):
        open_groups: list[tuple[int, int, tuple[int, ...]]] = []
        made: dict[int, _Tensor] = {}
        for index, instruction in enumerate(block.instructions, start + 1):
            match instruction:
                case isa.SetShape(row, shape):
                    shapes[row] = shape.register
                case isa.PlaceTensors(number, rows):
                    open_groups.append((number, index, rows))
                case isa.Invoke(outs=outs):
                    for out in outs:
                        if out.tensor in shapes and out.register in lifetimes:
                            key = (shapes[out.tensor], dtype_bytes(function.tensors[out.tensor].dtype))
                            made[out.tensor] = _Tensor(out.tensor, index, lifetimes[out.register], key)
                case _:
                    pass
        for number, index, rows in open_groups:
            yield _Group(number, index, tuple(sorted((made[r] for r in rows), key=lambda t: t.index)))


def _slots(group: _Group) -> Iterator[tuple[int, int]]:
    """A slot for each row. Within a block a tensor that is dead stays dead, whatever its aliases are elsewhere."""
    taken: list[tuple[int, int]] = []
    free: set[int] = set()
    by_size: dict[_SizeKey, list[int]] = {}
    released: list[int] = []
    sizes: list[_SizeKey] = []
    for tensor in group.tensors:
        while taken and taken[0][0] <= 2 * tensor.index:
            slot = heapq.heappop(taken)[1]
            free.add(slot)
            released.append(slot)
            by_size.setdefault(sizes[slot], []).append(slot)
        found = _free_slot(free, by_size.get(tensor.size, []), released)
        slot = len(sizes) if found is None else found
        if found is None:
            sizes.append(tensor.size)
        free.discard(slot)
        heapq.heappush(taken, (_end_of_life(tensor), slot))
        yield tensor.row, slot


def _free_slot(free: set[int], of_size: list[int], released: list[int]) -> int | None:
    """One that was given back, of the same size if there is one; lists may name slots that are taken again."""
    for slots in (of_size, released):
        while slots:
            slot = slots.pop()
            if slot in free:
                return slot
    return None


def _end_of_life(tensor: _Tensor) -> int:
    """Where the lifetime that begins with the tensor's creation ends."""
    return next(end for begin, end in tensor.spans if begin <= 2 * tensor.index < end)
