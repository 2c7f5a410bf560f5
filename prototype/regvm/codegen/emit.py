"""Lay allocated blocks out in one line of instructions.

Blocks keep their order. A jump to the next block is left out, a target that only jumps on is skipped, and the
tensor table keeps each (type, place) once.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from regvm import executable, isa
from regvm.executable import InRegion, TensorSlot
from regvm.ir.function import Function

Blocks = tuple[tuple[isa.Instruction, ...], ...]


def emit(
    function: Function,
    blocks: Blocks,
    *,
    num_registers: int,
    num_slots: int,
    max_live: int,
    offsets: Mapping[int, tuple[int, ...]],
    storage_bytes: int,
    regions: Mapping[int, int] = MappingProxyType({}),
    within: Mapping[int, InRegion] = MappingProxyType({}),
    num_regions: int = 0,
) -> executable.Function:
    """Bytecode of one function; ``offsets`` places rows of its tensor table in the arena, in bytes.

    ``regions`` gives the region of each group of dynamic tensors, ``within`` places their rows there.
    """
    final = [_final_target(blocks, n) for n in range(len(blocks))]
    reached = _reached(blocks, final)
    rows = _Rows(function, offsets, within)
    starts: dict[int, int] = {}
    code: list[isa.Instruction] = []
    for place, number in enumerate(reached):
        starts[number] = len(code)
        following = reached[place + 1] if place + 1 < len(reached) else None
        for instruction in blocks[number]:
            if isinstance(instruction, isa.Jump) and final[instruction.target] == following:
                continue
            code.append(isa.rewrite(instruction, tensor=rows.number, region=regions.__getitem__))
    resolved = tuple(isa.rewrite(i, target=lambda t: starts[final[t]]) for i in code)
    return executable.Function(
        name=function.name,
        parameters=function.parameters,
        num_registers=num_registers,
        instructions=resolved,
        tensors=tuple(rows.kept),
        storage_bytes=storage_bytes,
        num_slots=num_slots,
        max_live=max_live,
        num_regions=num_regions,
    )


def _final_target(blocks: Blocks, number: int) -> int:
    seen = {number}
    while len(blocks[number]) == 1 and isinstance(blocks[number][0], isa.Jump):
        number = isa.targets(blocks[number][0])[0]
        if number in seen:
            return number
        seen.add(number)
    return number


def _reached(blocks: Blocks, final: list[int]) -> list[int]:
    seen = {final[0]}
    pending = [final[0]]
    while pending:
        for target in isa.targets(blocks[pending.pop()][-1]):
            if final[target] not in seen:
                seen.add(final[target])
                pending.append(final[target])
    return sorted(seen, key=lambda n: (n != final[0], n))


class _Rows:
    """Renumbers rows of the tensor table in the order of first use, equal rows together."""

    def __init__(
        self, function: Function, offsets: Mapping[int, tuple[int, ...]], within: Mapping[int, InRegion]
    ) -> None:
        self._function = function
        self._offsets = offsets
        self._within = within
        self._numbers: dict[tuple[TensorSlot, int | None], int] = {}
        self.kept: list[TensorSlot] = []

    def number(self, row: int) -> int:
        slot = TensorSlot(self._function.tensors[row], self._offsets.get(row, ()), self._within.get(row))
        # Buffers that take turns are counted by row, and shapes are kept by row, so such a row is never shared.
        alone = len(slot.offsets) > 1 or not slot.type.is_static
        key = (slot, row if alone else None)
        if key not in self._numbers:
            self._numbers[key] = len(self.kept)
            self.kept.append(slot)
        return self._numbers[key]
