"""Prove that allocated code computes what the function says: an abstract interpreter over locations.

It holds, for each register and spill slot, which values of the function the location carries on every path
(meet by intersection), runs the allocated code over that, and requires each read to carry the value that the
function reads. A mark of last use, or a drop, empties the location; so a value released early is caught where
it is read next. The idea is that of regalloc2's checker (Bytecode Alliance, 2021).

This module shares nothing with the allocator: it sees the function and the allocated code.
"""

from __future__ import annotations

from dataclasses import dataclass

from regvm import isa
from regvm.errors import CheckError
from regvm.ir.dataflow import solve_forward
from regvm.ir.function import Function
from regvm.ir.printer import show, show_instruction

Location = tuple[str, int]
State = dict[Location, frozenset[int]]


@dataclass(frozen=True)
class Violation:
    """Where allocated code departs from the function, and how."""

    block: int
    position: int
    message: str

    def __str__(self) -> str:
        return f"b{self.block}, instruction {self.position}: {self.message}"


def check_allocation(
    function: Function,
    blocks: tuple[tuple[isa.Instruction, ...], ...],
    num_registers: int,
    num_slots: int = 0,
) -> list[Violation]:
    """Every violation of the allocated ``blocks`` against ``function``; empty if they compute the same."""
    if len(blocks) != len(function.blocks):
        return [Violation(0, 0, f"{len(blocks)} blocks for {len(function.blocks)}")]
    entry: State = {("R", n): frozenset((p,)) for n, p in enumerate(function.blocks[0].parameters)}

    def run(number: int, state: State) -> list[tuple[int, State]]:
        return _BlockRun(function, number, num_registers, num_slots, state).execute(blocks[number])

    states = solve_forward(entry, run, _meet)
    found: list[Violation] = []
    for number in sorted(states):
        block = _BlockRun(function, number, num_registers, num_slots, states[number])
        block.execute(blocks[number])
        found.extend(block.violations)
    return found


def assert_allocation(
    function: Function,
    blocks: tuple[tuple[isa.Instruction, ...], ...],
    num_registers: int,
    num_slots: int = 0,
) -> None:
    """Raise CheckError with both listings if the allocated code departs from the function."""
    violations = check_allocation(function, blocks, num_registers, num_slots)
    if violations:
        listing = [
            f"@{function.name} is not preserved by its allocation:",
            *map(str, violations),
            show(function),
        ]
        for number, block in enumerate(blocks):
            listing.append(f"b{number}:")
            listing.extend(f"  {show_instruction(i, 'R', 'b')}" for i in block)
        raise CheckError("\n".join(listing))


def _meet(a: State, b: State) -> State:
    shared = {location: a[location] & b[location] for location in a.keys() & b.keys()}
    return {location: values for location, values in shared.items() if values}


class _Carried:
    """Which values each location carries, and the other way round."""

    def __init__(self, state: State) -> None:
        self.state: State = {}
        self._locations: dict[int, set[Location]] = {}
        for location, values in state.items():
            self.put(location, values)

    def at(self, location: Location) -> frozenset[int]:
        return self.state.get(location, frozenset())

    def put(self, location: Location, values: frozenset[int]) -> None:
        self.empty(location)
        self.state[location] = values
        for value in values:
            self._locations.setdefault(value, set()).add(location)

    def empty(self, location: Location) -> None:
        for value in self.state.pop(location, ()):
            self._locations[value].discard(location)

    def forget(self, value: int) -> None:
        """A value is defined anew (a loop came round): what carried the old one carries it no longer."""
        for location in self._locations.pop(value, ()):
            self.state[location] -= {value}


class _BlockRun:
    def __init__(
        self, function: Function, number: int, num_registers: int, num_slots: int, state: State
    ) -> None:
        self.function = function
        self.number = number
        self.num_registers = num_registers
        self.num_slots = num_slots
        self.carried = _Carried(state)
        self.violations: list[Violation] = []
        self.position = 0

    def execute(self, code: tuple[isa.Instruction, ...]) -> list[tuple[int, State]]:
        """Run one block; returns the state that each successor starts with."""
        block = self.function.blocks[self.number]
        expected = iter(block.instructions)
        ended = False
        for self.position, instruction in enumerate(code):
            if ended:
                self._object("code after the end of the block")
                return []
            if self._is_transfer(instruction):
                self._transfer(instruction)
                continue
            original = next(expected, None)
            if original is None:
                self._object(f"{isa.row_of(instruction).mnemonic} has no counterpart in the function")
                return []
            ended = original is block.terminator
            if not self._matches(instruction, original):
                return []
            self._step(instruction, original)
        missing = next(expected, None)
        if missing is not None:
            self._object(f"{isa.row_of(missing).mnemonic} of the function is missing")
            return []
        return self._edges()

    def _object(self, message: str) -> None:
        self.violations.append(Violation(self.number, self.position, message))

    @staticmethod
    def _is_transfer(instruction: isa.Instruction) -> bool:
        return isinstance(instruction, (isa.Move, isa.Drop, isa.Spill, isa.Reload))

    def _transfer(self, instruction: isa.Instruction) -> None:
        match instruction:
            case isa.Move(dst, src):
                self._copy(("R", dst), ("R", src.register), src.last)
            case isa.Spill(slot, src):
                self._copy(("S", slot), ("R", src.register), src.last)
            case isa.Reload(dst, slot):
                self._copy(("R", dst), ("S", slot), False)
            case isa.Drop(srcs):
                for src in srcs:
                    self.carried.empty(("R", src.register))

    def _copy(self, target: Location, source: Location, last: bool) -> None:
        carried = self.carried.at(source)
        if not carried:
            self._object(f"copies {source[0]}{source[1]}, which carries no value")
        if last:
            self.carried.empty(source)
        self._write(target, carried)

    def _write(self, target: Location, values: frozenset[int]) -> None:
        limit = self.num_registers if target[0] == "R" else self.num_slots
        if not 0 <= target[1] < limit:
            self._object(f"writes {target[0]}{target[1]}, outside the frame of {limit}")
        self.carried.put(target, values)

    def _matches(self, instruction: isa.Instruction, original: isa.Instruction) -> bool:
        """Same operation and same fields, registers aside."""
        if type(instruction) is not type(original):
            self._object(
                f"{isa.row_of(instruction).mnemonic} stands where the function has "
                f"{isa.row_of(original).mnemonic}"
            )
            return False
        if _without_registers(instruction) != _without_registers(original):
            self._object(f"{isa.row_of(instruction).mnemonic} differs from the function in a field")
            return False
        return True

    def _step(self, instruction: isa.Instruction, original: isa.Instruction) -> None:
        for use, wanted in zip(isa.uses(instruction), isa.uses(original), strict=True):
            if wanted.register not in self.carried.at(("R", use.register)):
                self._object(f"reads R{use.register}, which does not carry %{wanted.register}")
            # At once, not after all reads: a register that is read twice must not be marked at the first.
            if use.last:
                self.carried.empty(("R", use.register))
        written = isa.defs(instruction)
        if len(set(written)) != len(written):
            self._object("writes one register twice")
        for register, value in zip(written, isa.defs(original), strict=True):
            self.carried.forget(value)
            self._write(("R", register), frozenset((value,)))

    def _edges(self) -> list[tuple[int, State]]:
        block = self.function.blocks[self.number]
        if not isinstance(block.terminator, isa.Jump):
            return [(successor, dict(self.carried.state)) for successor in block.successors]
        target = block.terminator.target
        parameters = self.function.blocks[target].parameters
        renamed: dict[int, set[int]] = {}
        for parameter, argument in zip(parameters, block.arguments, strict=True):
            renamed.setdefault(argument, set()).add(parameter)
        state: State = {}
        for location, values in self.carried.state.items():
            kept = values - set(parameters)
            state[location] = kept.union(*(renamed.get(v, set()) for v in values))
        return [(target, {location: values for location, values in state.items() if values})]


def _without_registers(instruction: isa.Instruction) -> isa.Instruction:
    return isa.rewrite(instruction, use=lambda _: isa.Use(0), define=lambda _: 0)
