"""What a Relay variable stands for while a function is translated.

Tuples and functions that never leave their function need no object: their parts stay in registers of their
own, and an object is made only where one is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """A virtual register."""

    number: int


@dataclass(frozen=True)
class Fields:
    """A tuple in parts."""

    parts: tuple[Binding, ...]


@dataclass(frozen=True)
class Code:
    """A function of the program with values for its last parameters."""

    function: int
    captured: tuple[Binding, ...] = ()


Binding = Value | Fields | Code


def leaves(binding: Binding) -> list[int]:
    """The registers that a binding is made of, each once, in order."""
    match binding:
        case Value(number):
            return [number]
        case Fields(parts) | Code(captured=parts):
            return list(dict.fromkeys(n for p in parts for n in leaves(p)))


def renamed(binding: Binding, names: Mapping[int, int]) -> Binding:
    """The same binding over other registers."""
    match binding:
        case Value(number):
            return Value(names[number])
        case Fields(parts):
            return Fields(tuple(renamed(p, names) for p in parts))
        case Code(function, captured):
            return Code(function, tuple(renamed(c, names) for c in captured))
