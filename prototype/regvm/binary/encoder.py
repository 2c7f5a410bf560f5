"""Encode a program as bytes: the same program gives the same bytes, in every process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regvm import isa
from regvm.binary import layout
from regvm.executable import (
    Constant,
    Function,
    Kernel,
    ObjectType,
    Parameter,
    ParamType,
    Program,
    TensorSlot,
    TensorType,
    TupleType,
)
from regvm.isa import Kind


def encode(program: Program) -> bytes:
    """The bytes of a program; ``decode`` gives it back."""
    writer = _Writer()
    writer.raw(layout.MAGIC)
    for part in layout.VERSION:
        writer.unsigned(part)
    writer.items(program.functions, writer.function)
    writer.items(program.constants, writer.constant)
    writer.items(program.kernels, writer.kernel)
    return bytes(writer.bytes)


class _Writer:
    def __init__(self) -> None:
        self.bytes = bytearray()

    def raw(self, data: bytes) -> None:
        self.bytes += data

    def unsigned(self, value: int) -> None:
        while value >= 0x80:
            self.bytes.append(value & 0x7F | 0x80)
            value >>= 7
        self.bytes.append(value)

    def signed(self, value: int) -> None:
        while not -0x40 <= value < 0x40:
            self.bytes.append(value & 0x7F | 0x80)
            value >>= 7
        self.bytes.append(value & 0x7F)

    def data(self, data: bytes) -> None:
        self.unsigned(len(data))
        self.raw(data)

    def string(self, text: str) -> None:
        self.data(text.encode())

    def items(self, items: tuple[Any, ...], write: Callable[[Any], None]) -> None:
        self.unsigned(len(items))
        for item in items:
            write(item)

    def function(self, function: Function) -> None:
        self.string(function.name)
        self.items(function.parameters, self.parameter)
        for count in (
            function.num_registers,
            function.num_slots,
            function.storage_bytes,
            function.max_live,
            function.num_regions,
        ):
            self.unsigned(count)
        self.items(function.tensors, self.tensor_slot)
        self.items(function.instructions, self.instruction)

    def parameter(self, parameter: Parameter) -> None:
        self.string(parameter.name)
        self.type(parameter.type)

    def type(self, type_: ParamType) -> None:
        match type_:
            case TensorType():
                self.unsigned(layout.TENSOR)
                self.tensor_type(type_)
            case TupleType(fields):
                self.unsigned(layout.TUPLE)
                self.items(fields, self.type)
            case ObjectType(name):
                self.unsigned(layout.OBJECT)
                self.string(name)

    def tensor_type(self, type_: TensorType) -> None:
        self.string(type_.dtype)
        self.items(type_.shape, lambda d: self.signed(layout.UNKNOWN_DIMENSION if d is None else d))

    def tensor_slot(self, slot: TensorSlot) -> None:
        self.tensor_type(slot.type)
        self.items(slot.offsets, self.unsigned)
        self.unsigned(0 if slot.within is None else 1)
        if slot.within is not None:
            self.unsigned(slot.within.region)
            self.unsigned(slot.within.slot)

    def constant(self, constant: Constant) -> None:
        self.string(constant.dtype)
        self.items(constant.shape, self.unsigned)
        self.string(constant.name)
        self.unsigned(0 if constant.data is None else 1)
        if constant.data is not None:
            self.data(constant.data)

    def kernel(self, kernel: Kernel) -> None:
        self.string(kernel.name)
        self.unsigned(kernel.num_inputs)
        self.unsigned(kernel.num_outputs)

    def instruction(self, instruction: isa.Instruction) -> None:
        row = isa.row_of(instruction)
        self.unsigned(row.opcode)
        for name, kind in row.fields:
            self.field(kind, getattr(instruction, name))

    def field(self, kind: Kind, value: Any) -> None:
        match kind:
            case Kind.USE:
                self.use(value)
            case Kind.USES:
                self.items(value, self.use)
            case Kind.OUTS:
                self.items(value, self.out)
            case Kind.TENSORS:
                self.items(value, self.unsigned)
            case Kind.DTYPE:
                self.string(value)
            case Kind.TAG:
                self.signed(value)
            case _:
                self.unsigned(value)

    def use(self, use: isa.Use) -> None:
        self.unsigned(use.register << 1 | use.last)

    def out(self, out: isa.Out) -> None:
        self.unsigned(out.register)
        self.unsigned(out.tensor)
