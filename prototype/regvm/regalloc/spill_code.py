"""Write the spill code that the spiller decided on, and join the names that a value has after reloads."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from regvm import isa
from regvm.ir.function import Block, Function
from regvm.regalloc.spilling import Decisions


@dataclass(frozen=True)
class Spilled:
    """A function with spill code; ``original[v]`` is the value that a new name ``v`` stands for."""

    function: Function
    original: Mapping[int, int]


def insert(function: Function, decisions: Decisions, slots: Mapping[int, int]) -> Spilled:
    """The function with spills behind definitions and reloads before uses; ``slots[v]`` is the slot of value ``v``.

    Blocks keep their numbers. A value in a register at the start of a block that several blocks jump to becomes a
    parameter of that block if it has more than one name.
    """
    return _Writer(function, decisions, slots).write()


class _Writer:
    def __init__(self, function: Function, decisions: Decisions, slots: Mapping[int, int]) -> None:
        self._function = function
        self._decisions = decisions
        self._slots = slots
        self._predecessors = function.predecessors()
        self._next = function.num_values
        self._original: dict[int, int] = {}
        self._joined: list[dict[int, int]] = []
        self._names: dict[int, dict[int, int]] = {}

    def write(self) -> Spilled:
        for number in range(len(self._function.blocks)):
            self._joined.append(self._join_names(number))
        blocks = [self._block(number) for number in range(len(self._function.blocks))]
        final = tuple(self._pass_names(number, block) for number, block in enumerate(blocks))
        function = dataclasses.replace(self._function, blocks=final, num_values=self._next)
        return Spilled(function, self._original)

    def _new_name(self, value: int) -> int:
        self._original[self._next] = value
        self._next += 1
        return self._next - 1

    def _join_names(self, number: int) -> dict[int, int]:
        """New parameters of a block, by the value that they carry."""
        if len(self._predecessors[number]) < 2:
            return {}
        entry = self._decisions.entry[number]
        return {v: self._new_name(v) for v in sorted(entry & self._decisions.spilled)}

    def _block(self, number: int) -> Block:
        block = self._function.blocks[number]
        before = self._predecessors[number]
        names = dict(self._names[before[0]]) if len(before) == 1 else {}
        names.update(self._joined[number])
        names.update((p, p) for p in block.parameters)
        code: list[isa.Instruction] = []
        self._store(block.parameters, code)
        for index, instruction in enumerate(block.instructions):
            for value in self._decisions.before[number].get(index, ()):
                names[value] = self._new_name(value)
                code.append(isa.Reload(names[value], self._slots[value]))
            code.append(isa.rewrite(instruction, use=lambda u: isa.Use(names.get(u.register, u.register))))
            defined = isa.defs(instruction)
            names.update((d, d) for d in defined)
            self._store(defined, code)
        self._names[number] = names
        parameters = (*block.parameters, *self._joined[number].values())
        return Block(parameters, tuple(code), tuple(names.get(a, a) for a in block.arguments))

    def _store(self, values: tuple[int, ...], code: list[isa.Instruction]) -> None:
        code.extend(isa.Spill(self._slots[v], isa.Use(v)) for v in values if v in self._decisions.spilled)

    def _pass_names(self, number: int, block: Block) -> Block:
        if not isinstance(block.terminator, isa.Jump):
            return block
        names = self._names[number]
        passed = tuple(names.get(v, v) for v in self._joined[block.terminator.target])
        return dataclasses.replace(block, arguments=block.arguments + passed)
