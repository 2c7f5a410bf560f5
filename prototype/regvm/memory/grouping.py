"""Plan tensors of dynamic shape in groups: compute all sizes of a group first, then place it as a whole.

A region can be laid out only when the sizes of all that lies in it are known. Within a block, and between calls
and writes of references, the shapes of most tensors follow from shapes that are known before the first of them is
made; what computes these shapes is moved there. A group ends where a shape depends on what a kernel of the group
computes. A tensor that may outlive the frame stays as it is, and owns its storage.

Runs after copies at loop exits are inserted and before liveness: ``alloc_tensor`` and ``invoke_into`` become
``set_shape`` and ``invoke``, and ``place_tensors`` stands before the first kernel of each group. Its region is the
group's number until ``region_slots`` says which groups share one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from regvm import isa
from regvm.executable import TensorType
from regvm.ir.forward_shapes import element_types
from regvm.ir.function import Block, Function

_MOVABLE = (isa.Invoke, isa.LoadConst, isa.ShapeOf)
_BARRIERS = (isa.Call, isa.CallClosure, isa.WriteRef, isa.InvokeInto)
"""Nothing is moved over these; but over a kernel that writes just its own new tensors."""


def group_dynamic_tensors(function: Function, escaping: Set[int]) -> Function:
    """The same function with its dynamic tensors in groups; ``escaping`` are those that own their storage."""
    types = element_types(function)
    rows = _Rows(list(function.tensors))
    blocks = tuple(_Grouping(types, escaping, rows).run(b) for b in function.blocks)
    if not rows.num_groups:
        return function
    return dataclasses.replace(function, blocks=blocks, tensors=tuple(rows.types))


@dataclass
class _Rows:
    """The tensor table as it grows, and the number of groups."""

    types: list[TensorType]
    num_groups: int = 0

    def add(self, type_: TensorType) -> int:
        self.types.append(type_)
        return len(self.types) - 1


@dataclass(frozen=True)
class _Call:
    """A kernel call, at ``index``, whose results ``allocations`` make."""

    index: int
    invoke: isa.InvokeInto
    allocations: tuple[isa.AllocTensor, ...]


@dataclass
class _Group:
    """Calls by the index of the first, what is moved before it, and the rows that are placed."""

    first: int
    moved: list[isa.Instruction] = field(default_factory=list)
    placed: list[int] = field(default_factory=list)


@dataclass
class _Grouping:
    types: Mapping[int, TensorType]
    escaping: Set[int]
    rows: _Rows

    def run(self, block: Block) -> Block:
        code = block.instructions
        fresh = {c.index: c for c in _calls(code)}
        calls = {n: c for n, c in fresh.items() if self._is_planned(c)}
        if not calls:
            return block
        self._allocated_at = {d: n for n, i in enumerate(code) for d in isa.defs(i)}
        # A tensor is there when its kernel has written it, not when it is allocated.
        written_at = {a.dst: n for n, c in fresh.items() for a in c.allocations}
        self._known_at = {**self._allocated_at, **written_at}
        self._code = code
        self._gone: set[int] = set()
        self._groups: dict[int, _Group] = {}
        replaced: dict[int, isa.Instruction] = {}
        group: _Group | None = None
        barrier = 0
        for index, instruction in enumerate(code):
            if isinstance(instruction, _BARRIERS) and index not in fresh:
                group, barrier = None, index
            if index in calls:
                group = self._group_of(calls[index], group, barrier)
                replaced[index] = self._convert(calls[index], group)
        return dataclasses.replace(block, instructions=tuple(self._written(replaced)))

    def _is_planned(self, call: _Call) -> bool:
        made = [a.dst for a in call.allocations]
        return self.types.keys() >= set(made) and not self.escaping >= set(made)

    def _group_of(self, call: _Call, group: _Group | None, barrier: int) -> _Group:
        """The running group if the shapes of the call's results can be known where it begins, else a new one."""
        needed = None if group is None else self._needed(call, max(group.first, barrier))
        if group is None or needed is None:
            group = _Group(call.index)
            self._groups[call.index] = group
            needed = []
        for index in needed:
            self._gone.add(index)
            group.moved.append(self._code[index])
        return group

    def _needed(self, call: _Call, start: int) -> list[int] | None:
        """What must be moved before ``start``, in order, for the shapes to be known; None if it can't be."""
        found: set[int] = set()
        pending = [a.shape.register for a in call.allocations]
        while pending:
            index = self._known_at.get(pending.pop(), -1)
            if index < start or index in found or index in self._gone:
                continue
            instruction = self._code[index]
            if not isinstance(instruction, _MOVABLE):
                return None
            found.add(index)
            pending += [u.register for u in isa.uses(instruction)]
        return sorted(found)

    def _convert(self, call: _Call, group: _Group) -> isa.Instruction:
        outs = []
        for allocation in call.allocations:
            row = self.rows.add(self.types[allocation.dst])
            self._gone.add(self._allocated_at[allocation.dst])
            group.moved.append(isa.SetShape(row, allocation.shape))
            outs.append(isa.Out(allocation.dst, row))
            if allocation.dst not in self.escaping:
                group.placed.append(row)
        return isa.Invoke(call.invoke.kernel, call.invoke.args, tuple(outs))

    def _written(self, replaced: Mapping[int, isa.Instruction]) -> Iterator[isa.Instruction]:
        for index, instruction in enumerate(self._code):
            group = self._groups.get(index)
            if group is not None:
                yield from group.moved
                yield isa.PlaceTensors(self.rows.num_groups, tuple(group.placed))
                self.rows.num_groups += 1
            if index not in self._gone:
                yield replaced.get(index, instruction)


def _calls(code: Sequence[isa.Instruction]) -> Iterator[_Call]:
    """Kernel calls that write only tensors which the block has made for that, and has used for nothing before."""
    fresh: dict[int, isa.AllocTensor] = {}
    for index, instruction in enumerate(code):
        if isinstance(instruction, isa.InvokeInto):
            dests = [u.register for u in instruction.dests]
            made = [fresh[d] for d in dests if d in fresh]
            read = {u.register for u in instruction.args}
            if made and len(set(dests)) == len(made) == len(dests) and read.isdisjoint(dests):
                yield _Call(index, instruction, tuple(made))
        for use in isa.uses(instruction):
            fresh.pop(use.register, None)
        if isinstance(instruction, isa.AllocTensor):
            fresh[instruction.dst] = instruction
