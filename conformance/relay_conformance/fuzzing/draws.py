"""Programs by number: profile, seed and number name one program, on every machine with the same Hypothesis.

Each program is drawn from a seed of its own: in a longer run Hypothesis varies what it has drawn before, so
that many programs would be nearly the same, and none could be found again without all before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count as natural
from itertools import islice
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase

from relay_conformance.strategies import FuzzProgram, programs

_MOST_PROGRAMS = 2**32
SIMPLEST_COMES_FIRST = 1
"""Programs that Hypothesis draws before the first one that depends on the seed."""


def draw_programs(profile: str, seed: int, limit: int | None = None, first: int = 0) -> Iterator[FuzzProgram]:
    """The programs ``first``, ``first + 1``, … of a profile and a seed, ``limit`` of them or without end."""
    return (draw_program(profile, seed, number) for number in islice(natural(first), limit))


def draw_program(profile: str, seed: int, number: int) -> FuzzProgram:
    """Program ``number`` alone."""
    found: list[FuzzProgram] = []
    run(profile, seed, number, found.append, shrinking=False)
    return found[-1]


def run(
    profile: str, seed: int, number: int, test: Callable[[FuzzProgram], None], *, shrinking: bool
) -> None:
    """Give ``test`` the simplest program, then program ``number``, then, if it raises and ``shrinking``, smaller ones.

    Raises what ``test`` raises on the smallest program.
    """
    phases = [Phase.generate, Phase.shrink] if shrinking else [Phase.generate]
    settings = hypothesis.settings(
        max_examples=SIMPLEST_COMES_FIRST + 1,
        database=None,
        deadline=None,
        derandomize=False,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )

    def property_(program: Any) -> None:
        test(program)

    wrapped = hypothesis.given(programs(profile))(property_)
    hypothesis.seed(seed * _MOST_PROGRAMS + number)(settings(wrapped))()
