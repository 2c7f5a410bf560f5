"""What a register can hold: tensors, tuples and algebraic data, closures, references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from regvm.executable import TensorType


class Tensor:
    """A tensor as kernels take it.

    ``handle`` is the address of its DLTensor, ``data`` that of its elements; ``owner`` keeps both alive.
    """

    __slots__ = ("data", "handle", "owner", "type")

    def __init__(self, handle: int, data: int, type_: TensorType, owner: Any) -> None:
        self.handle = handle
        self.data = data
        self.type = type_
        self.owner = owner


@dataclass(frozen=True, eq=False, slots=True)
class Adt:
    """A tuple (tag 0) or a constructor's value."""

    tag: int
    fields: tuple[Value, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Closure:
    """A function with values for its last parameters."""

    function: int
    captured: tuple[Value, ...]


@dataclass(eq=False, slots=True)
class Ref:
    """A cell that can be written."""

    value: Value


Value = Tensor | Adt | Closure | Ref


def tensors_in(value: Value) -> Iterator[Tensor]:
    """The tensors of a value, depth first; closures and references are not looked into."""
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, Tensor):
            yield current
        elif isinstance(current, Adt):
            pending.extend(reversed(current.fields))
