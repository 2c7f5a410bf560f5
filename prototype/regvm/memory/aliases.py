"""Which values may share storage: a graph of aliases, from tensors and parameters to all that they are called later.

A reshape shares with its source, a block parameter with every argument that a jump passes. A function's own tensors
and parameters are the *roots*; each value has the roots that lead to it. Where an ``if`` after the other passes its
tensor on, the last value has as many roots as there are tensors, so the sets are never written down for all values:
what is asked of them is answered along the graph, in the time that its edges take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from regvm import isa
from regvm.ir.components import strong_components
from regvm.ir.function import Function

T = TypeVar("T")


@dataclass(frozen=True)
class Aliases:
    """``targets[v]`` are the values that are ``v`` under another name, one step on."""

    roots: frozenset[int]
    targets: Mapping[int, Sequence[int]]

    @cached_property
    def sources(self) -> Mapping[int, Sequence[int]]:
        """The same steps backwards."""
        found: dict[int, list[int]] = {}
        for value, targets in self.targets.items():
            for target in targets:
                found.setdefault(target, []).append(value)
        return found

    @cached_property
    def components(self) -> list[tuple[int, ...]]:
        """Values that are each other's aliases together, each group after all that it leads to."""
        return strong_components(sorted(self.roots), self.targets)

    def roots_of(self, values: Iterable[int]) -> frozenset[int]:
        """The tensors and parameters that these values may be."""
        return frozenset(_reached(values, self.sources)) & self.roots

    def names_of(self, values: Iterable[int]) -> frozenset[int]:
        """All that these values may be called, themselves included."""
        return frozenset(_reached(values, self.targets))

    def forward(self, own: Callable[[int], Iterable[T]], join: Callable[[list[T]], T]) -> dict[int, T]:
        """For each value that has a root what ``join`` makes of its own facts and those of all values before it."""
        return _solve(reversed(self.components), self.sources, own, join)

    def backward(self, own: Callable[[int], Iterable[T]], join: Callable[[list[T]], T]) -> dict[int, T]:
        """The same of all values after it."""
        return _solve(self.components, self.targets, own, join)


def aliases_of(function: Function) -> Aliases:
    """The aliases of a function."""
    roots = set(function.blocks[0].parameters)
    targets: dict[int, list[int]] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            match instruction:
                case isa.Invoke(outs=outs):
                    roots.update(o.register for o in outs)
                case isa.AllocTensor(dst):
                    roots.add(dst)
                case isa.Reshape(dst, src) | isa.ReshapeTo(dst, src):
                    targets.setdefault(src.register, []).append(dst)
        if isinstance(block.terminator, isa.Jump):
            parameters = function.blocks[block.terminator.target].parameters
            for parameter, argument in zip(parameters, block.arguments, strict=True):
                targets.setdefault(argument, []).append(parameter)
    return Aliases(frozenset(roots), targets)


def _reached(values: Iterable[int], steps: Mapping[int, Sequence[int]]) -> set[int]:
    found = set(values)
    pending = list(found)
    while pending:
        for value in steps.get(pending.pop(), ()):
            if value not in found:
                found.add(value)
                pending.append(value)
    return found


def _solve(
    components: Iterable[tuple[int, ...]],
    steps: Mapping[int, Sequence[int]],
    own: Callable[[int], Iterable[T]],
    join: Callable[[list[T]], T],
) -> dict[int, T]:
    found: dict[int, T] = {}
    for component in components:
        facts = [f for v in component for f in own(v)]
        facts += [found[n] for v in component for n in steps.get(v, ()) if n in found]
        found.update(dict.fromkeys(component, join(facts)))
    return found
