"""Ways to damage a placement of tensors."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from regvm import isa
from regvm.executable import InRegion
from regvm.ir import Function
from regvm.memory.placement_checker import Regions
from regvm_testing.storage import Spans


class Damage(enum.Enum):
    """What goes wrong."""

    SHIFTED = "an offset shifted by a multiple of the alignment"
    MISALIGNED = "an offset off the alignment"
    SHARED = "two tensors at one place"
    OFFSETS_SWAPPED = "the places of two tensors swapped"
    TURN_LEFT_OUT = "one buffer fewer than instances"
    TURNS_ALIASED = "two buffers of a tensor at one place"
    ESCAPING_PLACED = "a tensor that owned its storage put into the arena"
    ARENA_TOO_SMALL = "an arena that ends early"
    SLOT_SHARED = "two tensors of a region in one slot"
    NEGATIVE = "an offset before the arena"


@dataclass(frozen=True)
class Storage:
    """Where tensors are, and how large the arena is."""

    spans: Spans
    storage_bytes: int
    regions: Regions = field(default_factory=Regions)


def damaged(random: Random, function: Function, storage: Storage) -> Iterator[tuple[Damage, Storage]]:
    """For each kind of damage one random instance, where the placement has a place for it."""
    spans, size = dict(storage.spans), storage.storage_bytes
    rows = sorted(spans)
    if rows:
        row = random.choice(rows)
        offsets, length = spans[row]
        turn = random.randrange(len(offsets))

        def moved(offset: int) -> Spans:
            return {**spans, row: ((*offsets[:turn], offset, *offsets[turn + 1 :]), length)}

        shifted = 64 * random.randrange(max(1, size // 64))
        yield Damage.SHIFTED, Storage(moved(shifted), max(size, shifted + length), storage.regions)
        yield (
            Damage.MISALIGNED,
            Storage(moved(offsets[turn] + random.randrange(1, 64)), size + 64, storage.regions),
        )
        yield Damage.NEGATIVE, Storage(moved(-64), size, storage.regions)
        yield Damage.ARENA_TOO_SMALL, Storage(spans, size - random.randint(1, 128), storage.regions)
        other = random.choice(rows)
        place = spans[other][0][0]
        yield Damage.SHARED, Storage(moved(place), max(size, place + length), storage.regions)
        yield (
            Damage.OFFSETS_SWAPPED,
            dataclasses.replace(_swapped(spans, row, other, size), regions=storage.regions),
        )
    if turning := [r for r in rows if len(spans[r][0]) > 1]:
        row = random.choice(turning)
        offsets, length = spans[row]
        yield Damage.TURN_LEFT_OUT, Storage({**spans, row: (offsets[:-1], length)}, size, storage.regions)
        yield (
            Damage.TURNS_ALIASED,
            Storage({**spans, row: ((*offsets[:-1], offsets[0]), length)}, size, storage.regions),
        )
    places = storage.regions.places
    if pairs := [(r, o) for r in places for o in places if _are_apart(places[r], places[o])]:
        row, other = random.choice(pairs)
        moved_places = {**places, row: places[other]}
        yield Damage.SLOT_SHARED, Storage(spans, size, Regions(storage.regions.of_group, moved_places))
    created = [
        o.tensor for b in function.blocks for i in b.instructions if isinstance(i, isa.Invoke) for o in i.outs
    ]
    if owning := [r for r in created if r not in spans and r not in places]:
        row = random.choice(owning)
        start = (size + 63) // 64 * 64
        length = function.tensors[row].num_bytes
        yield (
            Damage.ESCAPING_PLACED,
            Storage({**spans, row: ((start,), length)}, start + length, storage.regions),
        )


def _are_apart(one: InRegion, other: InRegion) -> bool:
    return one.region == other.region and one.slot != other.slot


def _swapped(spans: Spans, row: int, other: int, size: int) -> Storage:
    (a, length), (b, other_length) = spans[row], spans[other]
    needed = max(size, *(o + length for o in b), *(o + other_length for o in a))
    return Storage({**spans, row: (b, length), other: (a, other_length)}, needed)
