"""Programs by number: profile, seed and number name one program, on every machine with the same Hypothesis.

Programs are drawn in chunks, each from a seed of its own, so that one is found again without drawing all
before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count as natural
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase

from relay_conformance.strategies import FuzzProgram, programs

CHUNK = 100
_MOST_CHUNKS = 2**32


def draw_programs(profile: str, seed: int, limit: int | None = None) -> Iterator[FuzzProgram]:
    """The programs 0, 1, 2, … of a profile and a seed, up to ``limit`` of them."""
    drawn = 0
    for chunk in natural():
        for program in _chunk(profile, seed, chunk):
            if drawn == limit:
                return
            drawn += 1
            yield program


def draw_program(profile: str, seed: int, number: int) -> FuzzProgram:
    """Program ``number`` alone."""
    return _chunk(profile, seed, number // CHUNK)[number % CHUNK]


@lru_cache(maxsize=8)
def _chunk(profile: str, seed: int, chunk: int) -> tuple[FuzzProgram, ...]:
    """Always ``CHUNK`` programs: where Hypothesis finds fewer different ones, they repeat."""
    found: list[FuzzProgram] = []

    def keep(program: FuzzProgram) -> None:
        found.append(program)

    run(profile, seed, chunk, keep, shrinking=False)
    return tuple(found[number % len(found)] for number in range(CHUNK))


def run(
    profile: str, seed: int, chunk: int, test: Callable[[FuzzProgram], None], *, shrinking: bool
) -> None:
    """Give ``test`` the programs of one chunk; raises what it raises, on the smallest program if ``shrinking``."""
    phases = [Phase.generate, Phase.shrink] if shrinking else [Phase.generate]
    settings = hypothesis.settings(
        max_examples=CHUNK,
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
    hypothesis.seed(seed * _MOST_CHUNKS + chunk)(settings(wrapped))()
