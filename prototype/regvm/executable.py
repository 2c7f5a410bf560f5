"""What the compiler makes and a machine runs: functions, constants and kernel names, all immutable.

An executable may be shared by any number of machines and threads. It knows nothing of TVM: kernels are
names with a signature, and the library that holds them rides along as an opaque object.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from regvm.isa import Instruction

ALIGNMENT = 64
"""Bytes: TVM's kernels may assume this alignment of a tensor's data."""


_DTYPE = re.compile(r"(bool|handle|(u?int|b?float)[1-9][0-9]{0,2})(x[1-9][0-9]{0,3})?", re.ASCII)


def is_dtype(text: str) -> bool:
    """Whether ``text`` names a data type, such as ``float32``, ``bool`` or ``int8x4``."""
    return _DTYPE.fullmatch(text) is not None


def round_up(size: int) -> int:
    """A size in bytes as storage is given out, rounded up to a multiple of ``ALIGNMENT``."""
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def dtype_bytes(dtype: str) -> int:
    """Bytes of one element of a TVM data type, such as ``float32``, ``bool`` or ``float32x4``."""
    base, _, lanes = dtype.partition("x")
    bits = 8 if base == "bool" else 64 if base == "handle" else int("".join(c for c in base if c.isdigit()))
    return (bits * int(lanes or 1) + 7) // 8


@dataclass(frozen=True)
class TensorType:
    """Shape and data type of a tensor; ``None`` is a dimension that is known only when the program runs."""

    shape: tuple[int | None, ...]
    dtype: str

    @property
    def is_static(self) -> bool:
        """Whether every dimension is known."""
        return None not in self.shape

    @property
    def num_bytes(self) -> int:
        """Bytes of a static tensor, row-major and without padding."""
        return math.prod(d or 0 for d in self.shape) * dtype_bytes(self.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join('?' if d is None else str(d) for d in self.shape)}]"


@dataclass(frozen=True)
class TupleType:
    """The type of a parameter that is a tuple."""

    fields: tuple[ParamType, ...]

    def __str__(self) -> str:
        return f"({', '.join(str(f) for f in self.fields)})"


@dataclass(frozen=True)
class ObjectType:
    """The type of a parameter that is neither tensor nor tuple: algebraic data, a function, a reference."""

    name: str

    def __str__(self) -> str:
        return self.name


ParamType = TensorType | TupleType | ObjectType


class InRegion(NamedTuple):
    """A place in a region of the frame, whose size is computed when the program runs.

    A region is a stack of slots. A slot is as large as the largest of the tensors that ``place_tensors`` puts into
    it, each rounded up by ``(size + 63) // 64 * 64``, and begins where the slot below ends.
    """

    region: int
    slot: int


@dataclass(frozen=True)
class TensorSlot:
    """A row of a function's tensor table: a tensor's type and where it lives.

    ``offsets`` are in bytes from the start of the frame's arena. With one, the tensor always lives there; with
    several, they take turns each time the tensor is created, so that what a loop carries into its next round
    is not written over; with none, the tensor owns its storage, because it may outlive the frame. ``within`` is
    the place of a tensor whose size is known only at run time, and which does not outlive the frame.
    """

    type: TensorType
    offsets: tuple[int, ...] = ()
    within: InRegion | None = None


@dataclass(frozen=True)
class Parameter:
    """A parameter: its name in the Relay program and the type that arguments must have."""

    name: str
    type: ParamType


@dataclass(frozen=True)
class Function:
    """Code of one function. Parameters arrive in the first registers."""

    name: str
    parameters: tuple[Parameter, ...]
    num_registers: int
    instructions: tuple[Instruction, ...]
    tensors: tuple[TensorSlot, ...] = ()
    storage_bytes: int = 0
    num_slots: int = 0
    max_live: int = 0
    num_regions: int = 0

    @property
    def params(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(p.name for p in self.parameters)


@dataclass(frozen=True)
class Kernel:
    """A kernel's name in the library, and how many tensors it reads and writes."""

    name: str
    num_inputs: int
    num_outputs: int


@dataclass(frozen=True)
class Constant:
    """A constant tensor, row-major bytes in the machine's byte order; without data it is bound when loaded."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | None
    name: str = ""

    def __repr__(self) -> str:
        held = f"{len(self.data)} bytes" if self.data is not None else f"late-bound {self.name!r}"
        return f"Constant({self.dtype}{list(self.shape)}, {held})"


@dataclass(frozen=True)
class Program:
    """The part of an executable that is plain data: what is encoded, listed and verified."""

    functions: tuple[Function, ...]
    constants: tuple[Constant, ...]
    kernels: tuple[Kernel, ...]

    def index_of(self) -> Mapping[str, int]:
        """Function names with their numbers."""
        return {f.name: i for i, f in enumerate(self.functions)}

    def with_function(self, index: int, **changes: Any) -> Program:
        """The same program with one function changed."""
        functions = list(self.functions)
        functions[index] = dataclasses.replace(functions[index], **changes)
        return dataclasses.replace(self, functions=tuple(functions))
