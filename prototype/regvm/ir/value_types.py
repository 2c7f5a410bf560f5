"""The types of values, as far as a module's own tables and parameters say, for printing.

The instructions carry types only where code generation needs them. What an object's field or an indirect call
gives has no type here, and what depends on such a value has none either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regvm import isa
from regvm.executable import ParamType, TensorType, TupleType
from regvm.ir.function import Function, Module


@dataclass(frozen=True)
class FunctionTypes:
    """``values`` by number, those of unknown type left out; ``result`` is None where it is unknown."""

    values: Mapping[int, ParamType]
    result: ParamType | None


def infer(module: Module) -> tuple[FunctionTypes, ...]:
    """The types of every function of the module; dimensions known only at run time are None."""
    found = [FunctionTypes({}, None)] * len(module.functions)
    # A result may have to travel through every function once.
    for _ in range(len(module.functions) + 1):
        before, found = found, [_Inference(module, f, found).run() for f in module.functions]
        if found == before:
            break
    return tuple(found)


class _Inference:
    def __init__(self, module: Module, function: Function, known: Sequence[FunctionTypes]) -> None:
        self._module = module
        self._function = function
        self._known = known
        self._values: dict[int, ParamType] = {}
        self._disputed: set[int] = set()
        self._results: list[ParamType] = []

    def run(self) -> FunctionTypes:
        entry = self._function.blocks[0].parameters
        for value, declared in zip(entry, self._function.parameters, strict=True):
            self._define(value, declared.type)
        # A loop's parameters have the types of its first arguments, so one pass in dominance order is enough.
        for block in self._function.blocks:
            for instruction in block.instructions:
                self._run(instruction)
            if isinstance(block.terminator, isa.Jump):
                parameters = self._function.blocks[block.terminator.target].parameters
                for parameter, argument in zip(parameters, block.arguments, strict=True):
                    self._join(parameter, self._values.get(argument))
        result = self._results[0] if self._results else None
        for other in self._results[1:]:
            result = _joined(result, other)
        return FunctionTypes(self._values, result)

    def _define(self, value: int, type_: ParamType | None) -> None:
        if type_ is not None:
            self._values[value] = type_

    def _join(self, value: int, type_: ParamType | None) -> None:
        """One more of the types that reach a block's parameter; an unknown one says nothing against the others."""
        known = self._values.get(value, type_)
        joined = known if type_ is None else _joined(known, type_)
        if joined is None and known is not None:
            self._values.pop(value, None)
            self._disputed.add(value)
        elif value not in self._disputed:
            self._define(value, joined)

    def _run(self, instruction: isa.Instruction) -> None:
        match instruction:
            case isa.Invoke(outs=outs):
                for out in outs:
                    self._define(out.register, self._function.tensors[out.tensor])
            case isa.LoadConst(dst, number):
                constant = self._module.constants[number]
                self._define(dst, TensorType(constant.shape, constant.dtype))
            case isa.AllocTensor(dst, shape, dtype):
                self._define(dst, self._shaped_by(shape, dtype))
            case isa.ShapeOf(dst, src):
                source = self._values.get(src.register)
                if isinstance(source, TensorType):
                    # Of a scalar an int64 scalar, not an empty vector.
                    self._define(dst, TensorType((len(source.shape),) if source.shape else (), "int64"))
            case isa.Reshape(dst, _, row):
                self._define(dst, self._function.tensors[row])
            case isa.ReshapeTo(dst, src, shape):
                source = self._values.get(src.register)
                if isinstance(source, TensorType):
                    self._define(dst, self._shaped_by(shape, source.dtype))
            case isa.Copy(dst, src) | isa.DeviceCopy(dst, src) | isa.Move(dst, src):
                self._define(dst, self._values.get(src.register))
            case isa.MakeAdt(dst, 0, fields):
                types = [self._values.get(f.register) for f in fields]
                self._define(dst, TupleType(tuple(t for t in types if t is not None)) if all(types) else None)
            case isa.GetField(dst, src, index):
                source = self._values.get(src.register)
                # Tag 0 is not a tuple's alone.
                if isinstance(source, TupleType) and index < len(source.fields):
                    self._define(dst, source.fields[index])
            case isa.Call(dst, callee, _):
                self._define(dst, self._known[callee].result)
            case isa.TailCall(callee, _):
                self._result(self._known[callee].result)
            case isa.Ret(src):
                self._result(self._values.get(src.register))
            case _:
                pass

    def _result(self, type_: ParamType | None) -> None:
        if type_ is not None:
            self._results.append(type_)

    def _shaped_by(self, shape: isa.Use, dtype: str) -> ParamType | None:
        vector = self._values.get(shape.register)
        if not isinstance(vector, TensorType):
            return None
        rank = vector.shape[0] if vector.shape else 0
        return None if rank is None else TensorType((None,) * rank, dtype)


def _joined(one: ParamType | None, other: ParamType | None) -> ParamType | None:
    """The type of a value that may be of either type: of a dimension that differs nothing is known."""
    if one is None or other is None or one == other:
        return one if one == other else None
    if (
        isinstance(one, TensorType)
        and isinstance(other, TensorType)
        and one.dtype == other.dtype
        and len(one.shape) == len(other.shape)
    ):
        pairs = zip(one.shape, other.shape, strict=True)
        return TensorType(tuple(a if a == b else None for a, b in pairs), one.dtype)
    if isinstance(one, TupleType) and isinstance(other, TupleType) and len(one.fields) == len(other.fields):
        fields = [_joined(a, b) for a, b in zip(one.fields, other.fields, strict=True)]
        return TupleType(tuple(f for f in fields if f is not None)) if all(fields) else None
    return None
