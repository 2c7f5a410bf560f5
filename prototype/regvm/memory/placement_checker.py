"""Prove that a placement is safe: an abstract interpreter over the function and its tensors' places.

It holds, for each value, the tensors that it may be (an instance is a tensor with the number of times that it
has been created anew since), and which values have lost their contents because something was written there.
Reading a lost value is a violation; so is letting a tensor of the arena out of its frame. Calls are checked
against the claim of which parameters the callee may let escape, and each function against its own claim, so the
claims prove each other by induction.

This module shares nothing with the planner or the escape analysis: it sees the function, the offsets and the
claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from regvm import isa
from regvm.errors import CheckError
from regvm.ir.function import Function
from regvm.ir.printer import show

Instance = tuple[int, int]
Spans = Mapping[int, tuple[tuple[int, ...], int]]


@dataclass(frozen=True)
class _State:
    """``tensors[v]``: the instances that ``v`` may be, as (creator, age); ``lost``: values overwritten."""

    tensors: Mapping[int, frozenset[Instance]]
    lost: frozenset[int]


@dataclass(frozen=True)
class Claims:
    """For each function of the module, the numbers of the parameters that it may let escape."""

    escaping: Sequence[frozenset[int]]


def check_placement(
    function: Function,
    number: int,
    spans: Spans,
    storage_bytes: int,
    claims: Claims,
    alignment: int = 64,
) -> list[str]:
    """Every violation of a placement.

    ``spans`` maps rows of the tensor table to (offsets, size) in bytes for the tensors in the arena; several
    offsets take turns. ``number`` is the function's own number in ``claims``.
    """
    problems = []
    for row, (offsets, size) in spans.items():
        for offset in offsets:
            if offset % alignment:
                problems.append(f"t{row}: offset {offset} is not aligned to {alignment}")
            if offset < 0 or offset + size > storage_bytes:
                problems.append(
                    f"t{row}: bytes {offset} to {offset + size} leave the arena of {storage_bytes}"
                )
    run = _Run(function, spans, claims, frozenset(claims.escaping[number]))
    return problems + run.solve()


def assert_placement(
    function: Function,
    number: int,
    spans: Spans,
    storage_bytes: int,
    claims: Claims,
    alignment: int = 64,
) -> None:
    """Raise CheckError with the listing if the placement is not safe."""
    problems = check_placement(function, number, spans, storage_bytes, claims, alignment)
    if problems:
        raise CheckError(
            "\n".join([f"@{function.name}'s storage is unsafe:", *problems, show(function), str(spans)])
        )


@dataclass
class _Run:
    function: Function
    spans: Spans
    claims: Claims
    own_claim: frozenset[int]
    place: dict[int, tuple[tuple[int, ...], int]] = field(default_factory=dict)
    problems: dict[str, None] = field(default_factory=dict)

    def solve(self) -> list[str]:
        """Run to a fixed point; the problems of the last round stand."""
        for block in self.function.blocks:
            for instruction in block.instructions:
                if isinstance(instruction, isa.Invoke):
                    self.place.update(
                        (o.register, self.spans[o.tensor]) for o in instruction.outs if o.tensor in self.spans
                    )
        entry = self.function.blocks[0].parameters
        states = {0: _State({p: frozenset(((p, 0),)) for p in entry}, frozenset())}
        pending = [0]
        while pending:
            number = pending.pop()
            for successor, state in self._block(number, states[number]):
                merged = _join(states[successor], state) if successor in states else state
                if successor not in states or merged != states[successor]:
                    states[successor] = merged
                    pending.append(successor)
        return list(self.problems)

    def _block(self, number: int, state: _State) -> list[tuple[int, _State]]:
        block = self.function.blocks[number]
        tensors, lost = dict(state.tensors), set(state.lost)
        for position, instruction in enumerate(block.instructions):
            where = f"b{number}, instruction {position}"
            self._write(instruction, tensors, lost)
            for use in isa.uses(instruction):
                if use.register in lost:
                    self.problems[f"{where}: reads %{use.register}, whose storage has been overwritten"] = (
                        None
                    )
            self._check_escapes(where, instruction, tensors)
        if not isinstance(block.terminator, isa.Jump):
            return [(s, _State(tensors, frozenset(lost))) for s in block.successors]
        return [self._pass_arguments(number, block.terminator.target, tensors, lost)]

    def _pass_arguments(
        self, number: int, target: int, tensors: dict[int, frozenset[Instance]], lost: set[int]
    ) -> tuple[int, _State]:
        arguments = self.function.blocks[number].arguments
        parameters = self.function.blocks[target].parameters
        passed = dict(zip(parameters, arguments, strict=True))
        after = {**tensors, **{p: tensors.get(a, frozenset()) for p, a in passed.items()}}
        gone = (lost - set(parameters)) | {p for p, a in passed.items() if a in lost}
        return target, _State(after, frozenset(gone))

    def _write(
        self, instruction: isa.Instruction, tensors: dict[int, frozenset[Instance]], lost: set[int]
    ) -> None:
        """What is written where a value lives is lost to that value, an earlier instance of itself included."""
        created = [o.register for o in instruction.outs] if isinstance(instruction, isa.Invoke) else []
        for out in created:
            self._create(out, tensors, lost)
        for first in created:
            if any(other != first and self._overlap((first, 0), (other, 0)) for other in created):
                lost.add(first)
        for defined in isa.defs(instruction):
            if defined not in created:
                tensors[defined] = frozenset()
                lost.discard(defined)
        if isinstance(instruction, (isa.Reshape, isa.ReshapeTo)):
            tensors[instruction.dst] = tensors.get(instruction.src.register, frozenset())

    def _create(self, out: int, tensors: dict[int, frozenset[Instance]], lost: set[int]) -> None:
        turns = len(self.place[out][0]) if out in self.place else 1
        tensors.pop(out, None)
        lost.discard(out)
        for value, instances in list(tensors.items()):
            tensors[value] = frozenset(
                (c, min(age + 1, turns)) if c == out else (c, age) for c, age in instances
            )
            if any(self._overlap((out, 0), instance) for instance in tensors[value]):
                lost.add(value)
        tensors[out] = frozenset(((out, 0),))

    def _overlap(self, new: Instance, old: Instance) -> bool:
        """Whether the new instance may be written where the old one is.

        Which of its buffers a tensor is in is not known, only that its instances take turns.
        """
        if new[0] not in self.place or old[0] not in self.place:
            return False
        if new[0] == old[0]:
            return old[1] >= len(self.place[old[0]][0])
        (offsets, length), (others, other_length) = self.place[new[0]], self.place[old[0]]
        return any(a < b + other_length and b < a + length for a in offsets for b in others)

    def _check_escapes(
        self, where: str, instruction: isa.Instruction, tensors: dict[int, frozenset[Instance]]
    ) -> None:
        mnemonic = isa.row_of(instruction).mnemonic
        entry = self.function.blocks[0].parameters
        for value, frame_ends in _let_out(instruction, self.claims):
            for creator, _ in sorted(tensors.get(value, frozenset())):
                if creator in self.place:
                    self.problems[f"{where}: {mnemonic} lets %{value} out of the arena"] = None
                elif creator in entry and not frame_ends and entry.index(creator) not in self.own_claim:
                    self.problems[f"{where}: {mnemonic} lets parameter %{creator} escape, unclaimed"] = None


def _let_out(instruction: isa.Instruction, claims: Claims) -> list[tuple[int, bool]]:
    """Values that leave the frame, each with whether just because the frame ends."""
    match instruction:
        case isa.Ret(src) | isa.MakeRef(src=src) | isa.WriteRef(src=src):
            return [(src.register, False)]
        case isa.MakeAdt(fields=stored) | isa.MakeClosure(captured=stored):
            return [(u.register, False) for u in stored]
        case isa.CallClosure(args=args) | isa.TailCallClosure(args=args):
            return [(u.register, False) for u in args]
        case isa.Call(function=callee, args=args):
            return [(u.register, False) for n, u in enumerate(args) if n in claims.escaping[callee]]
        case isa.TailCall(function=callee, args=args):
            return [(u.register, n not in claims.escaping[callee]) for n, u in enumerate(args)]
        case _:
            return []


def _join(a: _State, b: _State) -> _State:
    names = a.tensors.keys() | b.tensors.keys()
    tensors = {v: a.tensors.get(v, frozenset()) | b.tensors.get(v, frozenset()) for v in names}
    return _State(tensors, a.lost | b.lost)
