"""Each promise of the register VM, on drawn programs of each profile; the long runs are the command's."""

import pytest

from relay_conformance.fuzzing.draws import draw_program, draw_programs
from relay_conformance.fuzzing.properties import PROPERTIES
from relay_conformance.strategies import PROFILES

pytestmark = pytest.mark.thorough

SEED = 11
EXAMPLES = 3


@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize("profile", PROFILES)
def test_property(profile: str, name: str) -> None:
    for number, program in enumerate(draw_programs(profile, SEED, EXAMPLES)):
        # Shown by pytest beside a failure: what draws the program again.
        print(f"relay-conformance fuzz --profile {profile} --seed {SEED} --example {number}")
        PROPERTIES[name](program)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize("profile", PROFILES)
def test_property_on_many_programs(profile: str, name: str) -> None:
    for number, program in enumerate(draw_programs(profile, SEED + 1, 300)):
        print(f"relay-conformance fuzz --profile {profile} --seed {SEED + 1} --example {number}")
        PROPERTIES[name](program)


def test_a_program_is_found_again_by_its_number() -> None:
    assert draw_program("control", SEED, 104) == list(draw_programs("control", SEED, 5, first=100))[-1]
