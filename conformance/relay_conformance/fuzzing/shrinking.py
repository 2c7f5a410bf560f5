"""Find the smallest program that shows what a drawn one showed, with Hypothesis's own shrinker.

The failing program is drawn again by its number, and from it on each candidate that Hypothesis tries is judged.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from relay_conformance.fuzzing.draws import SIMPLEST_COMES_FIRST, run
from relay_conformance.fuzzing.verdict import Verdict
from relay_conformance.strategies import FuzzProgram, render

Judge = Callable[[FuzzProgram], Verdict]


class _Shown(Exception):  # noqa: N818
    """A candidate shows the same as the first one."""


def shrink(
    profile: str, seed: int, number: int, judge: Judge, seconds: float = 120.0
) -> tuple[FuzzProgram, Verdict]:
    """The smallest program with a verdict of the same kind and executor as program ``number``, and its verdict.

    After ``seconds`` the smallest so far is taken.

    Raises:
        LookupError: judged by itself, the program shows nothing.
    """
    search = _Search(judge, time.monotonic() + seconds)
    with contextlib.suppress(_Shown):
        run(profile, seed, number, search.test, shrinking=True)
    if search.smallest is None:
        raise LookupError(f"program {number} shows nothing when it is run by itself")
    return search.smallest


class _Search:
    def __init__(self, judge: Judge, end: float) -> None:
        self._skipped = SIMPLEST_COMES_FIRST
        self._judge = judge
        self._end = end
        self._verdicts: dict[FuzzProgram, Verdict | None] = {}
        self._wanted: tuple[object, str] | None = None
        self.smallest: tuple[FuzzProgram, Verdict] | None = None

    def test(self, program: FuzzProgram) -> None:
        if self._skipped > 0:
            self._skipped -= 1
            return
        verdict = self._verdict(program)
        if verdict is None:
            return
        if self._wanted is None:
            if not verdict.executor:
                # Only the wanted program may start the search, and it shows nothing.
                self._end = 0.0
                return
            self._wanted = verdict.kind, verdict.executor
        if (verdict.kind, verdict.executor) == self._wanted:
            if self.smallest is None or _size(program) <= _size(self.smallest[0]):
                self.smallest = program, verdict
            raise _Shown

    def _verdict(self, program: FuzzProgram) -> Verdict | None:
        """``None`` when time is up; the same for the same program, or Hypothesis would call the test flaky."""
        if program not in self._verdicts:
            late = self._wanted is not None and time.monotonic() > self._end
            self._verdicts[program] = None if late or self._end == 0.0 else self._judge(program)
        return self._verdicts[program]


def _size(program: FuzzProgram) -> tuple[int, int]:
    text = render(program)
    return text.count("\n"), len(text)
