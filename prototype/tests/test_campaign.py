"""A short run of the campaign over random programs; ``python -m regvm_testing --programs N`` is the long one.

All that is promised of a program is checked, and damage that changes it is rejected.
"""

import enum
import os
from functools import cache

import pytest

from regvm_testing import register_damage, storage_damage
from regvm_testing.campaign import Tally, run
from regvm_testing.programs import module_of

pytestmark = pytest.mark.thorough

PROGRAMS = int(os.environ.get("REGVM_PROGRAMS", "20"))
HARMLESS = (register_damage.Damage.DROP_LEFT_OUT, register_damage.Damage.MARK_LEFT_OUT)


SPILLING = (
    register_damage.Damage.SLOT_REUSED,
    register_damage.Damage.SLOT_MISREAD,
    register_damage.Damage.SPILL_DROPPED,
    register_damage.Damage.RELOAD_DROPPED,
)


@cache
def campaign() -> tuple[Tally, Tally]:
    """Of programs with as many registers as they ask for, and with as few as can be."""
    tallies = Tally(), Tally()
    run(range(PROGRAMS), *tallies)
    return tallies


def test_every_promise_holds_for_every_program() -> None:
    assert sum(campaign()[0].made.values()) > PROGRAMS


UNLIMITED = [k for k in (*register_damage.Damage, *storage_damage.Damage) if k not in SPILLING]
CASES = [(0, kind) for kind in UNLIMITED] + [(1, kind) for kind in register_damage.Damage]


@pytest.mark.parametrize(
    ("spilled", "kind"), CASES, ids=lambda c: c.name.lower() if isinstance(c, enum.Enum) else str(c)
)
def test_damage_that_changes_a_program_is_rejected(spilled: int, kind: enum.Enum) -> None:
    tally = campaign()[spilled]
    assert tally.made[kind] > 0
    assert tally.share_rejected(kind) >= 0.99, (tally.changed[kind], tally.rejected[kind])
    assert kind in HARMLESS or tally.changed[kind] > 0


@pytest.mark.parametrize("spilled", [0, 1])
def test_damage_that_is_accepted_is_harmless(spilled: int) -> None:
    tally = campaign()[spilled]
    assert tally.changed == tally.rejected
    assert sum(tally.made.values()) > sum(tally.changed.values())


@pytest.mark.parametrize("spilled", [0, 1])
@pytest.mark.parametrize("kind", HARMLESS)
def test_damage_that_only_keeps_values_longer_changes_nothing(spilled: int, kind: enum.Enum) -> None:
    assert campaign()[spilled].changed[kind] == 0


def test_a_seed_gives_the_same_program_again() -> None:
    assert module_of(7) == module_of(7)
    assert module_of(7) != module_of(8)
