"""What each register may hold before each instruction: a forward dataflow over bytecode.

Machine code counts no references to tensors of its own arena, reads no register that is surely empty, and checks
the kind of a value only where it is not known. Parameters hold what their types say: a function checks that when
it is entered.
"""

from __future__ import annotations

import enum

from regvm import isa
from regvm.executable import Function, ObjectType, ParamType, TensorType, TupleType


class Contents(enum.IntFlag):
    """Everything that a register may hold, as a set."""

    EMPTY = 1
    PLACED = 2
    TENSOR = 4
    DATA = 8
    FUNCTION = 16
    REFERENCE = 32


COUNTED = Contents.TENSOR | Contents.DATA | Contents.FUNCTION | Contents.REFERENCE
"""What is counted: all but tensors of the frame's own arena, and constants, which are immortal."""

ANY_TENSOR = Contents.PLACED | Contents.TENSOR

State = tuple[Contents, ...]


def analyse(function: Function) -> list[State | None]:
    """The contents of all registers and then spill slots, by instruction; None where control never comes."""
    size = function.num_registers + function.num_slots
    entry = [declared(p.type) for p in function.parameters]
    states: list[State | None] = [None] * len(function.instructions)
    states[0] = (*entry, *[Contents.EMPTY] * (size - len(entry)))
    pending = [0]
    while pending:
        at = pending.pop()
        before = states[at]
        assert before is not None
        after = _after(function, function.instructions[at], before)
        for successor in successors(function, at):
            old = states[successor]
            merged = after if old is None else tuple(a | b for a, b in zip(old, after, strict=True))
            if merged != old:
                states[successor] = merged
                pending.append(successor)
    return states


def successors(function: Function, at: int) -> tuple[int, ...]:
    """Where control may go from an instruction within the function."""
    instruction = function.instructions[at]
    return isa.targets(instruction) if isa.row_of(instruction).ends_block else (at + 1,)


def declared(type_: ParamType) -> Contents:
    """What a parameter of this type may hold."""
    match type_:
        case TensorType():
            return Contents.TENSOR
        case TupleType():
            return Contents.DATA
        case ObjectType("function"):
            return Contents.FUNCTION
        case ObjectType("reference"):
            return Contents.REFERENCE
        case _:
            return COUNTED


def after_uses(instruction: isa.Instruction, state: State) -> list[Contents]:
    """The contents once the instruction has let go of what it read for the last time."""
    left = list(state)
    for use in isa.uses(instruction):
        if use.last or isinstance(instruction, isa.Drop):
            left[use.register] = Contents.EMPTY
    return left


def _after(function: Function, instruction: isa.Instruction, state: State) -> State:
    left = after_uses(instruction, state)
    match instruction:
        case isa.Invoke(outs=outs):
            for out in outs:
                placed = bool(function.tensors[out.tensor].offsets)
                left[out.register] = Contents.PLACED if placed else Contents.TENSOR
        case isa.Move(dst=dst, src=src):
            left[dst] = state[src.register]
        case isa.Spill(slot=slot, src=src):
            left[function.num_registers + slot] = state[src.register]
        case isa.Reload(dst=dst, slot=slot):
            left[dst] = state[function.num_registers + slot]
        case isa.MakeAdt(dst=dst):
            left[dst] = Contents.DATA
        case isa.MakeClosure(dst=dst):
            left[dst] = Contents.FUNCTION
        case isa.MakeRef(dst=dst):
            left[dst] = Contents.REFERENCE
        case isa.Call(dst=dst) | isa.CallClosure(dst=dst) | isa.GetField(dst=dst) | isa.ReadRef(dst=dst):
            left[dst] = COUNTED
        case _:
            for register in isa.defs(instruction):
                left[register] = Contents.TENSOR
    return tuple(left)
