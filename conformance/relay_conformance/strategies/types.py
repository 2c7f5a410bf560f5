"""Types of drawn programs: a subset of Relay's, with a name for each dimension that is known only at run time.

Two dimensions of one name have one size, which makes an operation on both valid by construction; in Relay's
text each of them is ``?``.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import assert_never

Dim = int | str


@dataclass(frozen=True)
class Tensor:
    shape: tuple[Dim, ...]
    dtype: str

    @property
    def is_integer(self) -> bool:
        return self.dtype.startswith(("int", "uint"))

    @property
    def bits(self) -> int:
        """Of one element of an integer type."""
        return int(self.dtype.lstrip("uint"))


@dataclass(frozen=True)
class Tuple:
    fields: tuple[Type, ...]


@dataclass(frozen=True)
class Data:
    """An algebraic data type; ``syntax.DATA_TYPES`` declares them."""

    name: str


@dataclass(frozen=True)
class Ref:
    value: Type


@dataclass(frozen=True)
class Func:
    parameters: tuple[Type, ...]
    result: Type


Type = Tensor | Tuple | Data | Ref | Func

INT = Tensor((), "int32")
BOOL = Tensor((), "bool")
CELL = Tensor((1, 1), "int32")


def show(type_: Type) -> str:
    """The type as Relay writes it."""
    match type_:
        case Tensor((), dtype):
            return dtype
        case Tensor(shape, dtype):
            sizes = ", ".join("?" if isinstance(size, str) else str(size) for size in shape)
            return f"Tensor[({sizes}{',' if len(shape) == 1 else ''}), {dtype}]"
        case Tuple(fields):
            return f"({', '.join(map(show, fields))}{',' if len(fields) == 1 else ''})"
        case Data(name):
            return name
        case Ref(value):
            return f"ref({show(value)})"
        case Func(parameters, result):
            return f"fn ({', '.join(map(show, parameters))}) -> {show(result)}"
        case _:
            assert_never(type_)
