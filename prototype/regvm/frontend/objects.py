"""Make objects of bindings where one is asked for, and take objects apart."""

from __future__ import annotations

from collections.abc import Iterator

from regvm import isa
from regvm.executable import ParamType, TupleType
from regvm.frontend.bindings import Binding, Code, Fields, Value
from regvm.ir.builder import Builder

_TUPLE_TAG = 0


class Objects:
    """Emits into the builder's current block; an object made there is made once."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._made: dict[tuple[int, Binding], int] = {}

    def register(self, binding: Binding) -> int:
        """The value itself, or an object made of the parts of a tuple or of a function."""
        if isinstance(binding, Value):
            return binding.number
        key = (self._builder.current, binding)
        if key not in self._made:
            self._made[key] = self._make(binding)
        return self._made[key]

    def _make(self, binding: Fields | Code) -> int:
        match binding:
            case Fields(parts):
                fields = tuple(isa.Use(self.register(p)) for p in parts)
                dst = self._builder.new_value()
                self._builder.emit(isa.MakeAdt(dst, _TUPLE_TAG, fields))
            case Code(function, captured):
                bound = tuple(isa.Use(self.register(c)) for c in captured)
                dst = self._builder.new_value()
                self._builder.emit(isa.MakeClosure(dst, function, bound))
        return dst

    def field(self, binding: Binding, index: int) -> Binding:
        """One field of a tuple or of algebraic data."""
        if isinstance(binding, Fields):
            return binding.parts[index]
        source = isa.Use(self.register(binding))
        dst = self._builder.new_value()
        self._builder.emit(isa.GetField(dst, source, index))
        return Value(dst)

    def flatten(self, binding: Binding, type_: ParamType) -> list[int]:
        """The registers of all leaves of a tuple, in order; of anything else the value itself."""
        if not isinstance(type_, TupleType):
            return [self.register(binding)]
        parts = (self.field(binding, n) for n in range(len(type_.fields)))
        return [v for p, t in zip(parts, type_.fields, strict=True) for v in self.flatten(p, t)]

    def unflatten(self, type_: ParamType, leaves: Iterator[int]) -> Binding:
        """The reverse of ``flatten``."""
        if isinstance(type_, TupleType):
            return Fields(tuple(self.unflatten(f, leaves) for f in type_.fields))
        return Value(next(leaves))
