"""Run a function with real bytes, its tensors where a placement puts them, and write down what is read.

A kernel's result is a digest of what it read. It first fills its outputs with junk, and a frame that ends
leaves junk in its arena and its regions; so whatever reads storage that is not its own any more reads other bytes.
Each placing of a region gives it fresh memory, since a machine takes none that something refers to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from regvm import isa
from regvm.executable import InRegion, TensorType
from regvm.ir import Function
from regvm.memory.placement_checker import Regions
from regvm_testing.symbolic import MAX_BLOCKS, Path, Trace, follow, shape_of

Spans = Mapping[int, tuple[tuple[int, ...], int]]
"""For a row of the tensor table its offsets, which take turns, and its size in bytes."""


@dataclass(frozen=True)
class _View:
    """A tensor: bytes of the frame's arena or of ``memory``, or its own."""

    start: int
    size: int
    own: bytes | None = None
    memory: bytearray | None = None


@dataclass(eq=False)
class _Object:
    """A tuple, closure or cell, and what it holds."""

    name: str
    held: list[_Value]


_Value = _View | _Object


_SLOT = 8
"""Bytes of a dynamic tensor: sizes do not matter where slots are apart."""


class UnsafeError(Exception):
    """A tensor is where none may be."""


@dataclass
class _Frame:
    spans: Spans
    arena: bytearray
    turn: dict[int, int]
    alignment: int
    regions: Regions
    memory: dict[int, bytearray] = field(default_factory=dict)
    used: list[bytearray] = field(default_factory=list)
    kept: list[_Value] = field(default_factory=list)
    events: list[object] = field(default_factory=list)

    def contents(self, value: _Value, depth: int = 4) -> bytes:
        """A digest of all that a value holds; a cell may hold itself, hence the limit."""
        if isinstance(value, _View):
            memory = self.arena if value.memory is None else value.memory
            return bytes(memory[value.start : value.start + value.size]) if value.own is None else value.own
        held = [self.contents(v, depth - 1) for v in value.held] if depth else []
        return _digest(value.name, held, 16)

    def place(self, row: int, size: int) -> _View:
        """Storage for a new tensor of a row."""
        if row in self.regions.places:
            return self._in_region(self.regions.places[row])
        if row not in self.spans:
            return _View(0, size, b"")
        offsets, length = self.spans[row]
        turn = self.turn[row] = (self.turn.get(row, 0) + 1) % len(offsets)
        start = offsets[turn]
        if start % self.alignment or start < 0 or start + length > len(self.arena):
            raise UnsafeError(f"t{row} at {start}")
        self.arena[start : start + length] = _digest(f"junk {len(self.events)}", [], length)
        return _View(start, length)

    def _in_region(self, place: InRegion) -> _View:
        memory = self.memory[place.region]
        start = place.slot * _SLOT
        memory[start : start + _SLOT] = _digest(f"junk {len(self.events)}", [], _SLOT)
        return _View(start, _SLOT, None, memory)

    def place_region(self, region: int) -> None:
        """Fresh memory for a region."""
        slots = [p.slot for p in self.regions.places.values()]
        self.memory[region] = bytearray((max(slots) + 1) * _SLOT)
        self.used.append(self.memory[region])

    def fill(self, view: _View, data: bytes) -> _View:
        """The tensor with its contents."""
        if view.own is not None:
            return _View(0, view.size, data)
        memory = self.arena if view.memory is None else view.memory
        memory[view.start : view.start + view.size] = data
        return view


def run_placed(
    function: Function,
    spans: Spans,
    storage_bytes: int,
    escaping: Sequence[frozenset[int]],
    path: Path,
    regions: Regions | None = None,
    alignment: int = 64,
) -> Trace:
    """Run with tensors at ``spans`` and in ``regions``; without any, every tensor owns its storage.

    ``escaping`` are, for each function, the parameters that it may let escape: what is handed there, or stored,
    is looked at again when the frame has ended.
    """
    phase = Random(len(path) + sum(path))
    turns = {row: phase.randrange(len(offsets)) for row, (offsets, _) in spans.items()}
    frame = _Frame(spans, bytearray(storage_bytes), turns, alignment, regions or Regions())
    parameters = function.blocks[0].parameters
    values: dict[int, _Value] = {
        p: _View(0, 8, _digest("parameter", [bytes([n])], 8)) for n, p in enumerate(parameters)
    }
    decisions = iter(path)
    number = 0
    try:
        for _ in range(MAX_BLOCKS):
            block = function.blocks[number]
            for instruction in block.instructions:
                _step(frame, function, instruction, values, escaping)
            following = follow(block.terminator, decisions)
            if following is None:
                return Trace(tuple(frame.events), not block.successors)
            if isinstance(block.terminator, isa.Jump):
                passed = [values[a] for a in block.arguments]
                values.update(zip(function.blocks[following].parameters, passed, strict=True))
            number = following
    except UnsafeError as unsafe:
        return Trace((*frame.events, ("unsafe", str(unsafe))), True)
    return Trace(tuple(frame.events), False)


def _step(
    frame: _Frame,
    function: Function,
    instruction: isa.Instruction,
    values: dict[int, _Value],
    escaping: Sequence[frozenset[int]],
) -> None:
    name = repr(shape_of(instruction))
    views: list[_View] = []
    if isinstance(instruction, isa.Invoke):
        views = [frame.place(o.tensor, _size(function.tensors[o.tensor])) for o in instruction.outs]
    operands = [values[u.register] for u in isa.uses(instruction)]
    read = [frame.contents(v) for v in operands]
    if not isinstance(instruction, isa.Jump):
        frame.events.append((name, *read))
    match instruction:
        case isa.Invoke(outs=outs):
            for n, (out, view) in enumerate(zip(outs, views, strict=True)):
                values[out.register] = frame.fill(view, _digest(f"{name} {n}", read, view.size))
        case isa.InvokeInto(dests=dests):
            for use in dests:
                values[use.register] = _View(0, 8, _digest(name, read, 8))
        case isa.Reshape(dst=dst) | isa.ReshapeTo(dst=dst):
            values[dst] = operands[0]
        case isa.MakeAdt(dst=dst) | isa.MakeClosure(dst=dst) | isa.MakeRef(dst=dst):
            frame.kept.extend(operands)
            values[dst] = _Object(name, operands)
        case isa.WriteRef():
            frame.kept.append(operands[1])
            if isinstance(operands[0], _Object):
                operands[0].held[:] = operands[1:]
        case isa.GetField(dst=dst, index=index) if isinstance(operands[0], _Object) and index < len(
            operands[0].held
        ):
            values[dst] = operands[0].held[index]
        case isa.ReadRef(dst=dst) if isinstance(operands[0], _Object):
            values[dst] = operands[0].held[0]
        case isa.Call(dst=dst, function=callee):
            frame.kept.extend(v for n, v in enumerate(operands) if n in escaping[callee])
            values[dst] = _View(0, 8, _digest(name, read, 8))
        case isa.CallClosure(dst=dst):
            frame.kept.extend(operands[1:])
            values[dst] = _View(0, 8, _digest(name, read, 8))
        case isa.PlaceTensors(group) if group in frame.regions.of_group:
            frame.place_region(frame.regions.of_group[group])
        case isa.Ret() | isa.TailCall() | isa.TailCallClosure() | isa.Fatal():
            for memory in (frame.arena, *frame.used):
                memory[:] = _digest("the next frame", [], len(memory))
            frame.events.append([frame.contents(v) for v in (*operands, *frame.kept)])
        case _:
            for dst in isa.defs(instruction):
                values[dst] = _View(0, 8, _digest(name, read, 8))


def _size(type_: TensorType) -> int:
    return type_.num_bytes if type_.is_static else _SLOT


def _digest(name: str, parts: Sequence[bytes], size: int) -> bytes:
    hashed = hashlib.shake_128(name.encode())
    for part in parts:
        hashed.update(len(part).to_bytes(4, "little") + part)
    return hashed.digest(size)
