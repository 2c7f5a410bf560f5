"""Values into objects of the machine, and back.

Nothing of a machine's heap survives a run: arguments are copied in, results are copied out, tensors without their
elements. What the user handed in keeps its identity, references above all, whose new contents are written back.
Data may nest as deep as a list is long, so nothing here recurses.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from regvm.executable import TensorType
from regvm.native.layout import DLTENSOR, WORD, Cell, Fields, Object, ObjectKind, Tensor
from regvm.runtime import values
from regvm.runtime.kernels import native as tvm_native
from regvm.runtime.kernels import tensors
from regvm.runtime.kernels.owned import OwnedStorage
from regvm.runtime.values import Value


class Importer:
    """Makes the objects of one run's arguments."""

    def __init__(self, context: int, entry: Any) -> None:
        self._context = context
        self._entry = entry
        self._objects: dict[int, int] = {}
        self._values: dict[int, Value] = {}
        self.tensors: dict[int, values.Tensor] = {}

    def argument(self, value: Value) -> int:
        """A value as ``start`` takes it, with a reference of its own."""
        if isinstance(value, values.Tensor):
            self.tensors[value.handle] = value
            return value.handle | 1
        made = self._object(value)
        Object.from_address(made).count += 1
        return made

    @property
    def done(self) -> dict[int, Value]:
        """The values of the objects made here, by address."""
        return dict(self._values)

    @property
    def cells(self) -> dict[int, values.Ref]:
        """The references among them."""
        return {a: v for a, v in self._values.items() if isinstance(v, values.Ref)}

    def release(self) -> None:
        """Let go of the objects made here; what the run still holds stays."""
        for made in self._objects.values():
            self._entry.drop_value(self._context, made)

    def _object(self, value: Value) -> int:
        """The object of a value; objects are made first and filled later, since references may form cycles."""
        pending = [value]
        self._made(value)
        while pending:
            current = pending.pop()
            parts = _parts(current)
            target = self._objects[id(current)]
            for number, part in enumerate(parts):
                if id(part) not in self._objects:
                    self._made(part)
                    pending.append(part)
                held = self._objects[id(part)]
                Object.from_address(held).count += 1
                ctypes.c_void_p.from_address(_first(current, target) + WORD * number).value = held
        return self._objects[id(value)]

    def _made(self, value: Value) -> None:
        if id(value) in self._objects:
            return
        match value:
            case values.Tensor():
                self.tensors[value.handle] = value
                made = self._entry.external(self._context, value.handle)
            case values.Adt(tag, fields):
                made = self._entry.make_fields(self._context, ObjectKind.ADT, tag, len(fields))
            case values.Closure(function, captured):
                made = self._entry.make_fields(self._context, ObjectKind.CLOSURE, function, len(captured))
            case values.Ref():
                made = self._entry.make_cell(self._context, None)
        if not made:
            raise MemoryError("no memory for an argument")
        self._objects[id(value)] = made
        self._values[made] = value


def _parts(value: Value) -> tuple[Value, ...]:
    match value:
        case values.Adt(_, fields):
            return fields
        case values.Closure(_, captured):
            return captured
        case values.Ref():
            return (value.value,)
        case _:
            return ()


def _first(value: Value, address: int) -> int:
    """Where the parts of a value's object stand."""
    return address + (Cell.value.offset if isinstance(value, values.Ref) else ctypes.sizeof(Fields))


class Exporter:
    """Makes the values of one run's result.

    ``known`` gives the tensor of a handle that the machine got from Python; ``pool_type`` the type of a pool by
    address; ``done`` are values whose objects are alive already.
    """

    def __init__(
        self,
        known: Callable[[int], values.Tensor],
        pool_type: Callable[[int], TensorType],
        storage: OwnedStorage,
        done: dict[int, Value],
    ) -> None:
        self._known = known
        self._pool_type = pool_type
        self._storage = storage
        self._done = done

    def value(self, address: int) -> Value:
        """The value of an object, and of all that it refers to."""
        cells = self._values(address)
        while cells:
            cell = cells.pop()
            content = Cell.from_address(cell).value or 0
            cells += self._values(content)
            ref = self._done[cell]
            assert isinstance(ref, values.Ref)
            ref.value = self._done[content]
        return self._done[address]

    def _values(self, address: int) -> list[int]:
        """Make a value, parts first; returns the cells met, whose contents are still to be filled in."""
        cells: list[int] = []
        pending = [address]
        while pending:
            current = pending[-1]
            missing = [] if current in self._done else [p for p in _needed(current) if p not in self._done]
            if missing:
                pending += missing
                continue
            pending.pop()
            if current not in self._done:
                self._done[current] = self._make(current)
                if isinstance(self._done[current], values.Ref):
                    cells.append(current)
        return cells

    def _make(self, address: int) -> Value:
        object_ = Object.from_address(address)
        match object_.kind:
            case ObjectKind.ADT:
                return values.Adt(object_.tag, tuple(self._done[p] for p in _needed(address)))
            case ObjectKind.CLOSURE:
                return values.Closure(object_.tag, tuple(self._done[p] for p in _needed(address)))
            case ObjectKind.REF:
                return values.Ref(values.Adt(0, ()))
            case _:
                return self._tensor(Tensor.from_address(address))

    def _tensor(self, tensor: Tensor) -> values.Tensor:
        address = ctypes.addressof(tensor)
        match tensor.object.kind:
            case ObjectKind.OWNED:
                array = tensor.owner
                tensor.owner = None
                type_ = self._pool_type(tensor.pool) if tensor.pool else tvm_native.type_at(array)
                return tvm_native.adopt(array, type_, self._storage)
            case ObjectKind.EXTERNAL:
                return self._known(tensor.owner)
            case ObjectKind.VIEW:
                source = self._done[tensor.owner]
                assert isinstance(source, values.Tensor)
                shape = tvm_native.type_at(address + DLTENSOR).shape
                return tensors.reshape(source, tuple(d or 0 for d in shape))
            case _:
                return self._copy(address + DLTENSOR)

    def _copy(self, header: int) -> values.Tensor:
        copied = self._storage.allocate(tvm_native.type_at(header))
        ctypes.memmove(copied.data, tvm_native.data_at(header), copied.type.num_bytes)
        return copied


def _needed(address: int) -> list[int]:
    """The objects whose values an object's value is made of; a cell is filled in later."""
    match Object.from_address(address).kind:
        case ObjectKind.ADT | ObjectKind.CLOSURE:
            size = Fields.from_address(address).size
            return list((ctypes.c_uint64 * size).from_address(address + ctypes.sizeof(Fields)))
        case ObjectKind.VIEW:
            return [Tensor.from_address(address).owner]
        case _:
            return []
