"""The storage of one function as Relay: ``Storage`` values, and the arithmetic of sizes and offsets.

An offset is written as the end of the tensor that lies below, which is where a planner puts it; one that has no
such neighbour is a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from regvm import isa
from regvm.executable import ALIGNMENT, TensorType
from regvm.ir.function import Function
from regvm.memory.placement import Placement
from regvm.memory.request import Request, round_up
from regvm.text.arithmetic import Expression, Number, Term, add, divide, multiply, rounded_up
from regvm.text.relay_names import show_tuple

Bind = Callable[[str, Expression], None]
"""Gives a value a name; where arithmetic is folded, a number gets none."""

DEVICE = "meta[VirtualDevice][0]"
ANY = "meta[tir.Any][0]"

METADATA = """#[metadata]
{
  "root": 1,
  "nodes": [
    {"type_key": ""},
    {"type_key": "Map", "keys": ["VirtualDevice", "tir.Any"], "data": [2, 5]},
    {"type_key": "Array", "data": [3]},
    {
      "type_key": "VirtualDevice",
      "attrs": {"device_type_int": "-1", "memory_scope": "4", "target": "0", "virtual_device_id": "-1"}
    },
    {"type_key": "runtime.String"},
    {"type_key": "Array", "data": [6]},
    {"type_key": "tir.Any", "attrs": {"dtype": "int32", "span": "0"}}
  ],
  "b64ndarrays": [],
  "attrs": {"tvm_version": "0.19.0"}
}"""
"""What DEVICE and ANY stand for: the attribute of a device that is not decided, and a dimension that is not
known. The text form of neither can be read by Relay's parser."""


@dataclass(frozen=True)
class Buffer:
    """A place of the arena: its suffix in names, its tensor, and where it lies in bytes."""

    suffix: str
    value: int
    type: TensorType
    request: Request
    offset: int

    @property
    def end(self) -> int:
        return self.offset + round_up(self.request.size, ALIGNMENT)


@dataclass(frozen=True)
class DynamicRow:
    """What the text knows of a tensor whose shape is set: names of its shape, its region, its offset there."""

    shape: str
    dtype: str
    region: str = ""
    offset: str = ""


def largest(sizes: Sequence[str]) -> Expression:
    """The largest of some named sizes."""
    text = sizes[0]
    for size in sizes[1:]:
        text = f"maximum({text}, {size})"
    return Term(text)


def buffers_of(function: Function, placement: Placement) -> dict[int, tuple[Buffer, ...]]:
    """The buffers of each value that lives in the arena, in the order in which they take turns."""
    requests = {r.id: r for r in placement.requests}
    found: dict[int, tuple[Buffer, ...]] = {}
    for out in created(function):
        ids = placement.buffers.get(out.register, ())
        found[out.register] = tuple(
            Buffer(
                f"{out.register}_{n}" if len(ids) > 1 else str(out.register),
                out.register,
                function.tensors[out.tensor],
                requests[id_],
                placement.plan.offsets[id_],
            )
            for n, id_ in enumerate(ids)
        )
    return {value: buffers for value, buffers in found.items() if buffers}


def bind_arena(buffers: Mapping[int, Sequence[Buffer]], storage_bytes: int, bind: Bind) -> Expression:
    """Name sizes and offsets, in an order in which each uses earlier ones only; returns the arena's size."""
    listed = [b for group in buffers.values() for b in group]
    for value, group in buffers.items():
        bind_size(str(value), static_bytes(group[0].type), bind)
    for buffer in sorted(listed, key=lambda b: b.offset):
        bind(f"%offset_{buffer.suffix}", _offset(buffer, listed))
    top = next((b for b in listed if b.end == storage_bytes), None)
    return Number(storage_bytes) if top is None else _end(top)


def bind_size(suffix: str, num_bytes: Expression, bind: Bind) -> Expression:
    """Name a tensor's bytes, and the bytes that its storage takes; returns the latter."""
    bind(f"%bytes_{suffix}", num_bytes)
    bind(f"%size_{suffix}", rounded_up(Term(f"%bytes_{suffix}"), ALIGNMENT))
    return Term(f"%size_{suffix}")


def static_bytes(type_: TensorType) -> Expression:
    """The bytes of a tensor whose shape is known, as a product."""
    factors = [Number(d or 0) for d in type_.shape]
    return _product(factors, type_.dtype)


def dynamic_bytes(shape: str, dtype: str) -> Expression:
    """The bytes of a tensor whose shape the variable ``shape`` holds."""
    return _product([Term(f"prod({shape})")], dtype)


def shape_vector(type_: TensorType) -> str:
    """A static shape as an expression that gives an int64 vector."""
    if not type_.shape:
        return 'zeros(shape=[0], dtype="int64")'
    return f"stack({show_tuple([f'{d}i64' for d in type_.shape])}, axis=0)"


def alloc_storage(size: str, shape: str, dtype: str) -> str:
    """The operator with its attributes."""
    return f'memory.alloc_storage({size}, {shape}, {ALIGNMENT}i64, dtype="{dtype}", virtual_device={DEVICE})'


def alloc_tensor(storage: str, offset: str, shape: str, dtype: str, dims: Sequence[int | None] | None) -> str:
    """The operator with its attributes; a variable must carry the type, since the operator leaves it open.

    ``dims`` is None where not even the rank is known.
    """
    asserted = "None" if dims is None else f"[{', '.join(ANY if d is None else str(d) for d in dims)}]"
    return (
        f"memory.alloc_tensor({storage}, {offset}, {shape}, const_shape=None, assert_shape={asserted}, "
        f'dtype="{dtype}")'
    )


def created(function: Function) -> list[isa.Out]:
    """Each tensor that an invoke creates, with its row."""
    return [o for b in function.blocks for i in b.instructions if isinstance(i, isa.Invoke) for o in i.outs]


def _product(factors: Sequence[Expression], dtype: str) -> Expression:
    scalar, _, lanes = dtype.partition("x")
    bits = 8 if scalar == "bool" else int("".join(c for c in scalar if c.isdigit()) or 64)
    width: Expression = multiply(Number(bits), Number(int(lanes))) if lanes else Number(bits)
    element = divide(add(width, Number(7)), Number(8))
    if not factors:
        return element
    product = factors[0]
    for factor in factors[1:]:
        product = multiply(product, factor)
    return multiply(product, element)


def _offset(buffer: Buffer, buffers: Sequence[Buffer]) -> Expression:
    """The end of a neighbour, best of one that lives at the same time."""
    if buffer.offset == 0:
        return Number(0)
    below = [b for b in buffers if b.end == buffer.offset and b.offset < buffer.offset]
    if not below:
        return Number(buffer.offset)
    return _end(next((b for b in below if _meet(b.request, buffer.request)), below[0]))


def _end(buffer: Buffer) -> Expression:
    return add(Term(f"%offset_{buffer.suffix}"), Term(f"%size_{buffer.value}"))


def _meet(one: Request, other: Request) -> bool:
    return any(a < d and c < b for a, b in one.ranges for c, d in other.ranges)
