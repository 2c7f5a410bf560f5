"""Compile the patterns of a ``match`` to tests and field reads."""

from __future__ import annotations

from typing import Any

from tvm import relay

from regvm import isa
from regvm.errors import UnsupportedError
from regvm.frontend.bindings import Binding
from regvm.frontend.objects import Objects
from regvm.ir.builder import Builder


class Matching:
    """Emits the tests of one pattern at a time; a failed test goes to the block given."""

    def __init__(self, builder: Builder, objects: Objects) -> None:
        self._builder = builder
        self._objects = objects

    def test(self, pattern: Any, subject: Binding, otherwise: int | None) -> list[tuple[Any, Binding]]:
        """Go on in a new block where ``subject`` fits ``pattern``; returns what the pattern's variables stand for.

        Without ``otherwise`` the pattern is known to fit and nothing is tested.
        """
        bound: list[tuple[Any, Binding]] = []
        self._test(pattern, subject, otherwise, bound)
        return bound

    def _test(
        self, pattern: Any, subject: Binding, otherwise: int | None, bound: list[tuple[Any, Binding]]
    ) -> None:
        match pattern:
            case relay.PatternWildcard():
                return
            case relay.PatternVar():
                bound.append((pattern.var, subject))
                return
            case relay.PatternConstructor():
                self._test_tag(subject, int(pattern.constructor.tag), otherwise)
            case relay.PatternTuple():
                pass
            case _:
                raise UnsupportedError(f"pattern {type(pattern).__name__} is not supported")
        for index, inner in enumerate(pattern.patterns):
            if not isinstance(inner, relay.PatternWildcard):
                self._test(inner, self._objects.field(subject, index), otherwise, bound)

    def _test_tag(self, subject: Binding, tag: int, otherwise: int | None) -> None:
        if otherwise is None:
            return
        fits = self._builder.new_block()
        source = isa.Use(self._objects.register(subject))
        self._builder.emit(isa.BranchTag(source, tag, fits, otherwise))
        self._builder.enter(fits)
