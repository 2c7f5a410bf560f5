"""Ways to damage a placement of tensors."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from regvm import isa
from regvm.ir import Function
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
    NEGATIVE = "an offset before the arena"


@dataclass(frozen=True)
class Storage:
    """Where tensors are, and how large the arena is."""

    spans: Spans
    storage_bytes: int


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
        yield Damage.SHIFTED, Storage(moved(shifted), max(size, shifted + length))
        yield Damage.MISALIGNED, Storage(moved(offsets[turn] + random.randrange(1, 64)), size + 64)
        yield Damage.NEGATIVE, Storage(moved(-64), size)
        yield Damage.ARENA_TOO_SMALL, Storage(spans, size - random.randint(1, 128))
        other = random.choice(rows)
        place = spans[other][0][0]
        yield Damage.SHARED, Storage(moved(place), max(size, place + length))
        yield Damage.OFFSETS_SWAPPED, _swapped(spans, row, other, size)
    if turning := [r for r in rows if len(spans[r][0]) > 1]:
        row = random.choice(turning)
        offsets, length = spans[row]
        yield Damage.TURN_LEFT_OUT, Storage({**spans, row: (offsets[:-1], length)}, size)
        yield Damage.TURNS_ALIASED, Storage({**spans, row: ((*offsets[:-1], offsets[0]), length)}, size)
    created = [
        o.tensor for b in function.blocks for i in b.instructions if isinstance(i, isa.Invoke) for o in i.outs
    ]
    if owning := [r for r in created if r not in spans]:
        row = random.choice(owning)
        start = (size + 63) // 64 * 64
        length = function.tensors[row].num_bytes
        yield Damage.ESCAPING_PLACED, Storage({**spans, row: ((start,), length)}, start + length)


def _swapped(spans: Spans, row: int, other: int, size: int) -> Storage:
    (a, length), (b, other_length) = spans[row], spans[other]
    needed = max(size, *(o + length for o in b), *(o + other_length for o in a))
    return Storage({**spans, row: (b, length), other: (a, other_length)}, needed)
