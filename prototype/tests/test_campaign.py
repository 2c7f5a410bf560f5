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


@cache
def campaign() -> Tally:
    tally = Tally()
    run(range(PROGRAMS), tally)
    return tally


def test_every_promise_holds_for_every_program() -> None:
    assert sum(campaign().made.values()) > PROGRAMS


@pytest.mark.parametrize(
    "kind", [*register_damage.Damage, *storage_damage.Damage], ids=lambda k: k.name.lower()
)
def test_damage_that_changes_a_program_is_rejected(kind: enum.Enum) -> None:
    tally = campaign()
    assert tally.made[kind] > 0
    assert tally.share_rejected(kind) >= 0.99, (tally.changed[kind], tally.rejected[kind])
    assert kind in HARMLESS or tally.changed[kind] > 0


@pytest.mark.parametrize("kind", HARMLESS)
def test_damage_that_only_keeps_values_longer_changes_nothing(kind: enum.Enum) -> None:
    assert campaign().changed[kind] == 0


def test_a_seed_gives_the_same_program_again() -> None:
    assert module_of(7) == module_of(7)
    assert module_of(7) != module_of(8)
