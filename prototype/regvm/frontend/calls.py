"""Translate calls of kernels: static ones, ones whose shapes are computed first, and reshapes that share storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regvm import isa
from regvm.errors import UnsupportedError
from regvm.executable import ParamType, TensorType, TupleType
from regvm.frontend import types
from regvm.frontend.bindings import Binding, Value
from regvm.frontend.objects import Objects
from regvm.frontend.program import ProgramBuilder
from regvm.ir.builder import Builder

_NEEDS_DATA = 1
_NEEDS_SHAPE = 2


class KernelCalls:
    """Emits calls of kernels into the builder's current block."""

    def __init__(self, program: ProgramBuilder, builder: Builder, objects: Objects, where: str) -> None:
        self._program = program
        self._builder = builder
        self._objects = objects
        self._where = where

    def call(self, call: Any, value: Callable[[Any], Binding]) -> Binding:
        """``call_lowered(@kernel, (arguments))``; raises UnsupportedError where no shape function exists."""
        kernel, arguments = call.args[0], call.args[1]
        metadata = call.attrs.metadata if call.attrs is not None else {}
        operands = [(value(a), types.convert(a.checked_type, self._where)) for a in arguments.fields]
        result = types.convert(call.checked_type, self._where)
        dynamic = any(not t.is_static for t in _tensors(result))
        shapes = self._shapes(kernel, operands, metadata) if dynamic else None
        if "relay.reshape_only" in metadata:
            return self._reshape(operands, result, shapes)
        leaves = [v for binding, type_ in operands for v in self._objects.flatten(binding, type_)]
        outs = (
            self._static(kernel, leaves, result)
            if shapes is None
            else self._dynamic(kernel, leaves, result, shapes)
        )
        return self._objects.unflatten(result, iter(outs))

    def _static(self, kernel: Any, leaves: list[int], result: ParamType) -> list[int]:
        tensors = _tensors(result)
        outs = tuple(isa.Out(self._builder.new_value(), self._builder.tensor(t)) for t in tensors)
        number = self._program.kernel(kernel, len(leaves), len(outs))
        self._builder.emit(isa.Invoke(number, _uses(leaves), outs))
        return [o.register for o in outs]

    def _dynamic(self, kernel: Any, leaves: list[int], result: ParamType, shapes: list[int]) -> list[int]:
        dests: list[int] = []
        for tensor, shape in zip(_tensors(result), shapes, strict=True):
            dests.append(self._builder.new_value())
            self._builder.emit(isa.AllocTensor(dests[-1], isa.Use(shape), tensor.dtype))
        number = self._program.kernel(kernel, len(leaves), len(dests))
        self._builder.emit(isa.InvokeInto(number, _uses(leaves), _uses(dests)))
        return dests

    def _reshape(
        self, operands: list[tuple[Binding, ParamType]], result: ParamType, shapes: list[int] | None
    ) -> Binding:
        if not isinstance(result, TensorType):
            raise UnsupportedError(f"{self._where}: a reshape to {result} is not supported")
        source = isa.Use(self._objects.flatten(*operands[0])[0])
        dst = self._builder.new_value()
        if shapes is None:
            self._builder.emit(isa.Reshape(dst, source, self._builder.tensor(result)))
        else:
            self._builder.emit(isa.ReshapeTo(dst, source, isa.Use(shapes[0])))
        return Value(dst)

    def _shapes(self, kernel: Any, operands: list[tuple[Binding, ParamType]], metadata: Any) -> list[int]:
        """Call the shape function that belongs to a kernel; returns one int64 vector for each result."""
        if "prim_shape_fn_var" not in metadata:
            raise UnsupportedError(
                f"{self._where}: kernel {kernel.name_hint} gives a shape that is known only at run time "
                "and has no shape function"
            )
        leaves: list[int] = []
        for (binding, type_), state in zip(operands, metadata["prim_shape_fn_states"], strict=True):
            for leaf in self._objects.flatten(binding, type_):
                leaves.extend(self._shape_operands(leaf, int(state)))
        function = metadata["prim_shape_fn_var"]
        return self._static(function, leaves, types.convert(function.checked_type.ret_type, self._where))

    def _shape_operands(self, leaf: int, state: int) -> list[int]:
        operands = []
        if state & _NEEDS_DATA:
            operands.append(leaf)
        if state & _NEEDS_SHAPE:
            shape = self._builder.new_value()
            self._builder.emit(isa.ShapeOf(shape, isa.Use(leaf)))
            operands.append(shape)
        return operands


def _uses(values: list[int]) -> tuple[isa.Use, ...]:
    return tuple(isa.Use(v) for v in values)


def _tensors(type_: ParamType) -> list[TensorType]:
    """The tensors of a kernel's result, tuples taken apart."""
    match type_:
        case TensorType():
            return [type_]
        case TupleType(fields):
            return [t for f in fields for t in _tensors(f)]
        case _:
            raise UnsupportedError(f"a kernel cannot give a value of type {type_}")
