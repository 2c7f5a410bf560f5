"""What registers hold on every path: a forward dataflow over runs of instructions.

A run goes from where a branch may arrive, or the beginning, to the next such place or the end of a block. What is
known is kept at the beginning of each run only, so that the time for straight-line code grows as the code does,
however many values are live.

Beside registers and spill slots it follows the tensor table: a tensor of dynamic shape can be made only after its
shape is set, and, if its place is in a region, after it is placed there; each time anew.
"""

from __future__ import annotations

import enum
import heapq
from collections.abc import Iterator

from regvm import isa
from regvm.executable import Function, ObjectType, ParamType, Program, TensorType, TupleType
from regvm.verifier.rules import Broken, Rule


class _Held(enum.Enum):
    """What a register, or a row of the tensor table, is known to hold."""

    TENSOR = "a tensor"
    ADT = "a tuple or algebraic data"
    CLOSURE = "a function"
    REF = "a reference"
    SHAPED = "a shape"
    PLACED = "a shape and a place"
    ANY = "a value"


_Entry = _Held | frozenset[int] | None
_State = list[_Entry]
"""Registers, spill slots, dynamic rows of the tensor table; then, for each region, the rows placed there."""


def check_contents(program: Program, function: Function) -> list[tuple[int, Rule, str]]:
    """Violations, each with its instruction; the function has passed the static rules."""
    return _Flow(program, function).check()


class _Flow:
    def __init__(self, program: Program, function: Function) -> None:
        self._program = program
        self._function = function
        values = function.num_registers + function.num_slots
        dynamic = [row for row, slot in enumerate(function.tensors) if not slot.type.is_static]
        self._row = {row: values + place for place, row in enumerate(dynamic)}
        self._regions = values + len(dynamic)
        arrivals = {t for i in function.instructions for t in isa.targets(i)}
        self._heads = frozenset(arrivals | {0})

    def check(self) -> list[tuple[int, Rule, str]]:
        held = [_held(p.type) for p in self._function.parameters]
        entry: _State = [*held, *[None] * (self._regions - len(held))]
        entry += [frozenset()] * self._function.num_regions
        states: dict[int, _State] = {0: entry}
        pending = [0]
        waiting = {0}
        while pending:
            head = heapq.heappop(pending)
            waiting.discard(head)
            state = list(states[head])
            for at in self._run(head):
                self._step(self._function.instructions[at], state)
            for successor in self._successors(at):
                old = states.get(successor)
                merged = list(state) if old is None else list(map(_meet, old, state))
                if merged != old:
                    states[successor] = merged
                    if successor not in waiting:
                        waiting.add(successor)
                        heapq.heappush(pending, successor)
        return [violation for head in sorted(states) for violation in self._report(head, states[head])]

    def _run(self, head: int) -> Iterator[int]:
        """The instructions from where control may arrive to where it may go on elsewhere."""
        at = head
        yield at
        while not isa.row_of(self._function.instructions[at]).ends_block and at + 1 not in self._heads:
            at += 1
            yield at

    def _successors(self, at: int) -> tuple[int, ...]:
        instruction = self._function.instructions[at]
        return isa.targets(instruction) if isa.row_of(instruction).ends_block else (at + 1,)

    def _report(self, head: int, entry: _State) -> Iterator[tuple[int, Rule, str]]:
        state = list(entry)
        for at in self._run(head):
            instruction = self._function.instructions[at]
            yield from ((at, rule, message) for rule, message in self._problems(instruction, state))
            self._step(instruction, state)

    def _step(self, instruction: isa.Instruction, state: _State) -> None:
        result = self._result(instruction, state)
        for use in isa.uses(instruction):
            if use.last or isinstance(instruction, isa.Drop):
                state[use.register] = None
        match instruction:
            case isa.Spill(slot=slot):
                state[self._function.num_registers + slot] = result
            case isa.SetShape(row):
                state[self._row[row]] = _Held.SHAPED
            case isa.PlaceTensors(region, rows):
                self._place(region, rows, state)
            case isa.Invoke(outs=outs):
                for out in outs:
                    if out.tensor in self._row:
                        state[self._row[out.tensor]] = None
            case _:
                pass
        for register in isa.defs(instruction):
            state[register] = result

    def _place(self, region: int, rows: tuple[int, ...], state: _State) -> None:
        """What was placed in the region before, and not made since, is no longer placed."""
        placed = state[self._regions + region]
        assert isinstance(placed, frozenset)
        for row in placed:
            if state[self._row[row]] is not None:
                state[self._row[row]] = _Held.SHAPED
        for row in rows:
            state[self._row[row]] = _Held.PLACED
        state[self._regions + region] = frozenset(rows)

    def _problems(self, instruction: isa.Instruction, state: _State) -> Iterator[Broken]:
        killed: set[int] = set()
        for use in isa.uses(instruction):
            if state[use.register] is None and not isinstance(instruction, isa.Drop):
                yield Rule.ASSIGNED, f"reads R{use.register}, which may hold nothing"
            if use.register in killed:
                yield Rule.ASSIGNED, f"reads R{use.register} after its last use in the same instruction"
            if use.last:
                killed.add(use.register)
        if (
            isinstance(instruction, isa.Reload)
            and state[self._function.num_registers + instruction.slot] is None
        ):
            yield Rule.ASSIGNED, f"reloads slot {instruction.slot}, which may hold nothing"
        for use, wanted in _wanted(instruction):
            known = state[use.register]
            if isinstance(known, _Held) and known not in (_Held.ANY, wanted):
                yield Rule.KIND, f"R{use.register} holds {known.value}, not {wanted.value}"
        yield from self._tensor_problems(instruction, state)

    def _tensor_problems(self, instruction: isa.Instruction, state: _State) -> Iterator[Broken]:
        match instruction:
            case isa.Reshape(tensor=row) if not self._function.tensors[row].type.is_static:
                yield Rule.TENSOR, f"creates t{row}, whose shape is not static"
            case isa.Invoke(outs=outs):
                made: set[int] = set()
                for row in (o.tensor for o in outs):
                    if row not in self._row:
                        continue
                    slot, known = self._function.tensors[row], state[self._row[row]]
                    if known is None or row in made:
                        yield Rule.TENSOR, f"creates t{row}, whose shape is not static and may not be set"
                    elif slot.within is not None and known is not _Held.PLACED:
                        yield Rule.REGION, f"creates t{row}, which may not be placed"
                    made.add(row)
            case isa.PlaceTensors(_, rows):
                for row in rows:
                    if state[self._row[row]] is None:
                        yield Rule.REGION, f"places t{row}, whose shape may not be set"
            case _:
                pass

    def _result(self, instruction: isa.Instruction, state: _State) -> _Entry:
        match instruction:
            case isa.Move(src=src) | isa.Spill(src=src):
                return state[src.register]
            case isa.Reload(slot=slot):
                return state[self._function.num_registers + slot]
            case isa.MakeAdt():
                return _Held.ADT
            case isa.MakeClosure():
                return _Held.CLOSURE
            case isa.MakeRef():
                return _Held.REF
            case isa.Call() | isa.CallClosure() | isa.GetField() | isa.ReadRef():
                return _Held.ANY
            case _:
                return _Held.TENSOR


def _wanted(instruction: isa.Instruction) -> Iterator[tuple[isa.Use, _Held]]:
    """Operands that must be of one kind."""
    match instruction:
        case (
            isa.Invoke()
            | isa.InvokeInto()
            | isa.ShapeOf()
            | isa.Reshape()
            | isa.ReshapeTo()
            | isa.Copy()
            | isa.DeviceCopy()
        ):
            yield from ((u, _Held.TENSOR) for u in isa.uses(instruction))
        case isa.AllocTensor(shape=use) | isa.Branch(cond=use) | isa.SetShape(shape=use):
            yield use, _Held.TENSOR
        case isa.GetField(src=use) | isa.BranchTag(src=use):
            yield use, _Held.ADT
        case isa.CallClosure(callee=use) | isa.TailCallClosure(callee=use):
            yield use, _Held.CLOSURE
        case isa.ReadRef(src=use) | isa.WriteRef(ref=use):
            yield use, _Held.REF


def _held(type_: ParamType) -> _Held:
    match type_:
        case TensorType():
            return _Held.TENSOR
        case TupleType():
            return _Held.ADT
        case ObjectType("function"):
            return _Held.CLOSURE
        case ObjectType("reference"):
            return _Held.REF
        case _:
            return _Held.ANY


def _meet(a: _Entry, b: _Entry) -> _Entry:
    if isinstance(a, frozenset) and isinstance(b, frozenset):
        return a | b
    if a is None or b is None:
        return None
    return a if a is b else _Held.ANY
