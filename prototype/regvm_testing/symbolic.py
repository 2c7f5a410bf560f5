"""Run a function, or code allocated for it, over symbolic values along a path, and write down what happens.

Each value is named by the event that made it, so two runs write down the same events only if every instruction
got the same operands. This is what decides whether damage to allocated code changes the program.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from regvm import isa
from regvm.ir import Function, Module
from regvm.isa import Kind

Path = tuple[bool, ...]
"""What each branch that is met decides; the run is cut where they are used up."""

MAX_BLOCKS = 24
"""A run is cut after so many blocks: a loop need not branch."""


class Recorder(Protocol):
    """Says what of a run is written down."""

    def written(self, instruction: isa.Instruction) -> tuple[int, ...]:
        """The values that an instruction changes."""

    def record(
        self, instruction: isa.Instruction, operands: tuple[Hashable, ...], events: list[Hashable]
    ) -> list[Hashable]:
        """Append to the events what the instruction does; returns what it writes."""


@dataclass(frozen=True)
class Trace:
    """Events in order, and whether the run ended by itself."""

    events: tuple[Hashable, ...]
    ended: bool

    def agrees_with(self, other: Trace) -> bool:
        """Whether both may be the same run, of which one may be cut earlier than the other."""
        shorter, longer = sorted((self, other), key=lambda t: len(t.events))
        if shorter.ended and not (longer.ended and len(shorter.events) == len(longer.events)):
            return False
        return shorter.events == longer.events[: len(shorter.events)]


class Stuck(Exception):  # noqa: N818 - a state of the machine, caught where it is defined
    """The code reads or writes where it must not."""


def paths(random: Random, count: int, length: int = 12) -> list[Path]:
    """Sampled paths; the first few start with every way to decide the first branches."""
    return [
        tuple(bool(n >> b & 1) if b < 4 else random.random() < 0.5 for b in range(length))
        for n in range(count)
    ]


class Everything:
    """Every instruction is an event, and makes values of its own."""

    def written(self, instruction: isa.Instruction) -> tuple[int, ...]:
        return isa.defs(instruction)

    def record(
        self, instruction: isa.Instruction, operands: tuple[Hashable, ...], events: list[Hashable]
    ) -> list[Hashable]:
        number = len(events)
        if not isinstance(instruction, isa.Jump):
            events.append((shape_of(instruction), operands))
        return [(number, n) for n, _ in enumerate(isa.defs(instruction))]


class Effects:
    """Only effects, decisions and how it ends are events; a value is the expression that computes it.

    Two runs can be compared if they were recorded by the same object. With a module, its functions, kernels and
    constants go by what they are, not by number; ``modules`` may follow each other in one comparison.
    """

    def __init__(self) -> None:
        self._expressions: dict[Hashable, int] = {}
        self.module: Module | None = None

    def written(self, instruction: isa.Instruction) -> tuple[int, ...]:
        if isinstance(instruction, isa.InvokeInto):
            return tuple(u.register for u in instruction.dests)
        return isa.defs(instruction)

    def record(
        self, instruction: isa.Instruction, operands: tuple[Hashable, ...], events: list[Hashable]
    ) -> list[Hashable]:
        what = (shape_of(instruction) if self.module is None else _named(instruction, self.module), operands)
        if isinstance(instruction, _EFFECTS):
            events.append(what)
        made = []
        for n, _ in enumerate(self.written(instruction)):
            # A cell's contents, and what a call returns, depend on the effects before.
            epoch = len(events) if isinstance(instruction, (*_EFFECTS, isa.ReadRef)) else 0
            made.append(self._expressions.setdefault((what, n, epoch), len(self._expressions)))
        return list(made)


_EFFECTS = (
    isa.Call,
    isa.CallClosure,
    isa.WriteRef,
    isa.Branch,
    isa.BranchTag,
    isa.Ret,
    isa.TailCall,
    isa.TailCallClosure,
    isa.Fatal,
)
EVERYTHING = Everything()


def run_function(function: Function, path: Path, recorder: Recorder = EVERYTHING) -> Trace:
    """Run a function of the intermediate representation."""
    parameters = function.blocks[0].parameters
    values: dict[int, Hashable] = {p: ("parameter", n) for n, p in enumerate(parameters)}
    events: list[Hashable] = []
    decisions = iter(path)
    number = 0
    for _ in range(MAX_BLOCKS):
        block = function.blocks[number]
        for instruction in block.instructions:
            operands = tuple(values[u.register] for u in isa.uses(instruction))
            made = recorder.record(instruction, operands, events)
            values.update(zip(recorder.written(instruction), made, strict=True))
        following = follow(block.terminator, decisions)
        if following is None:
            return Trace(tuple(events), not block.successors)
        if isinstance(block.terminator, isa.Jump):
            passed = [values[a] for a in block.arguments]
            values.update(zip(function.blocks[following].parameters, passed, strict=True))
        number = following
    return Trace(tuple(events), False)


def run_code(
    blocks: Sequence[Sequence[isa.Instruction]], num_parameters: int, num_registers: int, path: Path
) -> Trace:
    """Run allocated code; reading a register or slot that holds nothing, or one outside the frame, ends it as stuck."""
    machine = _Registers([("parameter", n) for n in range(num_parameters)], num_registers)
    events: list[Hashable] = []
    decisions = iter(path)
    number = 0
    try:
        for _ in range(MAX_BLOCKS):
            for instruction in blocks[number]:
                machine.step(instruction, events)
                if isa.row_of(instruction).ends_block:
                    break
            else:
                raise Stuck("runs off the end of its block")
            following = follow(instruction, decisions)
            if following is None:
                return Trace(tuple(events), not isa.targets(instruction))
            number = following
    except Stuck as stuck:
        return Trace((*events, ("stuck", str(stuck))), True)
    return Trace(tuple(events), False)


class _Registers:
    def __init__(self, parameters: list[tuple[str, int]], num_registers: int) -> None:
        self._size = num_registers
        self._held: dict[int, Hashable] = dict(enumerate(parameters))
        self._slots: dict[int, Hashable] = {}

    def step(self, instruction: isa.Instruction, events: list[Hashable]) -> None:
        if isinstance(instruction, isa.Drop):
            for use in instruction.srcs:
                self._held.pop(use.register, None)
            return
        if isinstance(instruction, isa.Spill):
            self._slots[instruction.slot] = self._read(instruction.src)
            return
        operands = tuple(self._read(u) for u in isa.uses(instruction))
        if isinstance(instruction, isa.Reload):
            if instruction.slot not in self._slots:
                raise Stuck(f"reloads slot {instruction.slot}")
            operands = (self._slots[instruction.slot],)
        copied = isinstance(instruction, isa.Move | isa.Reload)
        made = list(operands) if copied else EVERYTHING.record(instruction, operands, events)
        for register, value in zip(isa.defs(instruction), made, strict=True):
            if not 0 <= register < self._size:
                raise Stuck(f"writes R{register}")
            self._held[register] = value

    def _read(self, use: isa.Use) -> Hashable:
        if use.register not in self._held:
            raise Stuck(f"reads R{use.register}")
        return self._held.pop(use.register) if use.last else self._held[use.register]


def follow(terminator: isa.Instruction, decisions: Iterator[bool]) -> int | None:
    """The next block; None where the function is left, or the path ends."""
    match terminator:
        case isa.Jump(target):
            return target
        case isa.Branch() | isa.BranchTag():
            decision = next(decisions, None)
            if decision is None:
                return None
            return terminator.then if decision else terminator.otherwise
        case _:
            return None


@functools.lru_cache(maxsize=1 << 14)
def shape_of(instruction: isa.Instruction) -> isa.Instruction:
    """The instruction without its registers; targets do not count, only where they lead."""
    return isa.rewrite(instruction, use=lambda _: isa.Use(0), define=lambda _: 0, target=lambda _: 0)


def _named(instruction: isa.Instruction, module: Module) -> Hashable:
    tables: dict[Kind, Sequence[Hashable]] = {
        Kind.KERNEL: module.kernels,
        Kind.CONSTANT: module.constants,
        Kind.FUNCTION: [f.name for f in module.functions],
    }
    plain = shape_of(instruction)
    fields = [(kind, getattr(plain, name)) for name, kind in isa.row_of(plain).fields]
    return (type(plain).__name__, *(tables[k][v] if k in tables else v for k, v in fields))
