"""Decode a program from bytes; whatever the bytes are, the answer is a program or a FormatError with the offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from regvm import isa
from regvm.binary import layout
from regvm.errors import FormatError
from regvm.executable import (
    Constant,
    Function,
    InRegion,
    Kernel,
    ObjectType,
    Parameter,
    ParamType,
    Program,
    TensorSlot,
    TensorType,
    TupleType,
    is_dtype,
)
from regvm.isa import Kind

_T = TypeVar("_T")
_MAX_NESTING = 64


def decode(data: bytes) -> Program:
    """The program that ``encode`` wrote. Raises FormatError; what it returns is still to be verified."""
    reader = _Reader(data)
    if reader.raw(len(layout.MAGIC)) != layout.MAGIC:
        raise FormatError("offset 0: these bytes are not a register VM executable")
    major, minor = reader.unsigned(), reader.unsigned()
    if major != layout.VERSION[0] or minor > layout.VERSION[1]:
        ours = ".".join(map(str, layout.VERSION))
        raise FormatError(
            f"offset {len(layout.MAGIC)}: format {major}.{minor} is not readable by this version ({ours})"
        )
    functions = reader.items(reader.function)
    constants = reader.items(reader.constant)
    kernels = reader.items(reader.kernel)
    if reader.position != len(data):
        raise FormatError(f"offset {reader.position}: {len(data) - reader.position} bytes follow the program")
    return Program(functions, constants, kernels)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def raw(self, count: int) -> bytes:
        if count > len(self._data) - self.position:
            raise FormatError(f"offset {self.position}: {count} bytes are missing; the file is truncated")
        self.position += count
        return self._data[self.position - count : self.position]

    def unsigned(self) -> int:
        start, (value, _) = self.position, self._groups()
        return self._within_64_bits(start, value, value >> 64 == 0)

    def signed(self) -> int:
        start, (value, bits) = self.position, self._groups()
        value -= (value >> (bits - 1)) << bits
        return self._within_64_bits(start, value, -1 <= value >> 63 <= 0)

    def size(self) -> int:
        """A dimension or length, which TVM keeps in 64 signed bits."""
        start, value = self.position, self.unsigned()
        return self._within_64_bits(start, value, value >> 63 == 0)

    def _within_64_bits(self, start: int, value: int, fits: bool) -> int:
        if not fits:
            raise FormatError(f"offset {start}: a number is longer than 64 bits")
        return value

    def _groups(self) -> tuple[int, int]:
        start, value, bits = self.position, 0, 0
        while bits < 70:
            byte = self.raw(1)[0]
            value |= (byte & 0x7F) << bits
            bits += 7
            if byte < 0x80:
                return value, bits
        raise FormatError(f"offset {start}: a number is longer than 64 bits")

    def flag(self) -> bool:
        start, value = self.position, self.unsigned()
        if value > 1:
            raise FormatError(f"offset {start}: {value} is neither 0 nor 1")
        return value == 1

    def data(self) -> bytes:
        return self.raw(self.unsigned())

    def string(self) -> str:
        start = self.position
        try:
            return self.data().decode()
        except UnicodeDecodeError:
            raise FormatError(f"offset {start}: a name is not UTF-8") from None

    def items(self, read: Callable[[], _T]) -> tuple[_T, ...]:
        start, count = self.position, self.unsigned()
        if count > len(self._data):
            raise FormatError(f"offset {start}: {count} items cannot fit into this file")
        return tuple(read() for _ in range(count))

    def function(self) -> Function:
        name = self.string()
        parameters = self.items(self.parameter)
        registers, slots, storage, live, regions = (self.unsigned() for _ in range(5))
        tensors = self.items(self.tensor_slot)
        instructions = self.items(self.instruction)
        return Function(name, parameters, registers, instructions, tensors, storage, slots, live, regions)

    def parameter(self) -> Parameter:
        return Parameter(self.string(), self.type())

    def type(self, depth: int = 0) -> ParamType:
        start, tag = self.position, self.unsigned()
        if depth > _MAX_NESTING:
            raise FormatError(f"offset {start}: tuple types nest deeper than {_MAX_NESTING}")
        if tag == layout.TENSOR:
            return self.tensor_type()
        if tag == layout.TUPLE:
            return TupleType(self.items(lambda: self.type(depth + 1)))
        if tag == layout.OBJECT:
            return ObjectType(self.string())
        raise FormatError(f"offset {start}: there is no type with tag {tag}")

    def tensor_type(self) -> TensorType:
        dtype = self.dtype()
        return TensorType(self.items(self.dimension), dtype)

    def dtype(self) -> str:
        start, dtype = self.position, self.string()
        if not is_dtype(dtype):
            raise FormatError(f"offset {start}: {dtype!r} is no data type")
        return dtype

    def dimension(self) -> int | None:
        start, value = self.position, self.signed()
        if value < layout.UNKNOWN_DIMENSION:
            raise FormatError(f"offset {start}: {value} is no dimension")
        return None if value == layout.UNKNOWN_DIMENSION else value

    def tensor_slot(self) -> TensorSlot:
        type_, offsets = self.tensor_type(), self.items(self.unsigned)
        return TensorSlot(type_, offsets, InRegion(self.unsigned(), self.unsigned()) if self.flag() else None)

    def constant(self) -> Constant:
        start = self.position
        dtype, shape, name = self.dtype(), self.items(self.size), self.string()
        held = self.data() if self.flag() else None
        constant = Constant(dtype, shape, held, name)
        if held is not None and len(held) != TensorType(shape, dtype).num_bytes:
            raise FormatError(f"offset {start}: {constant!r} does not hold as many bytes as its type says")
        return constant

    def kernel(self) -> Kernel:
        return Kernel(self.string(), self.unsigned(), self.unsigned())

    def instruction(self) -> isa.Instruction:
        start, opcode = self.position, self.unsigned()
        if opcode >= len(isa.ROWS):
            raise FormatError(f"offset {start}: there is no instruction with opcode {opcode}")
        row = isa.ROWS[opcode]
        return row.cls(*(self.field(kind) for _, kind in row.fields))

    def field(self, kind: Kind) -> Any:
        match kind:
            case Kind.USE:
                return self.use()
            case Kind.USES:
                return self.items(self.use)
            case Kind.OUTS:
                return self.items(lambda: isa.Out(self.unsigned(), self.unsigned()))
            case Kind.TENSORS:
                return self.items(self.unsigned)
            case Kind.DTYPE:
                return self.dtype()
            case Kind.TAG:
                return self.signed()
            case _:
                return self.unsigned()

    def use(self) -> isa.Use:
        value = self.unsigned()
        return isa.Use(value >> 1, bool(value & 1))
