"""Prove that a placement is safe: an abstract interpreter over the function and its tensors' places.

It holds, for each value, the tensors that it may be (an instance is a tensor with the number of times that it
has been created anew since), and which values have lost their contents because something was written there.
Reading a lost value is a violation; so is letting a tensor of the arena out of its frame. Calls are checked
against the claim of which parameters the callee may let escape, and each function against its own claim, so the
claims prove each other by induction.

Of a region, whose tensors are placed when the program runs, a machine never takes storage that something refers to;
so what was placed earlier is safe, and within one placing two tensors may be in one slot only if the first is dead
when the second is made.

This module shares nothing with the planner or the escape analysis: it sees the function, the offsets and the
claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from regvm import isa
from regvm.errors import CheckError
from regvm.executable import InRegion
from regvm.ir.dataflow import solve_forward
from regvm.ir.function import Function
from regvm.ir.printer import show

Instance = tuple[int, int]
Spans = Mapping[int, tuple[tuple[int, ...], int]]


@dataclass(frozen=True)
class _State:
    """``tensors[v]``: the instances that ``v`` may be, as (creator, age); ``lost``: values overwritten.

    Of tensors that own their storage nothing is held. Tensors that have one and the same place all go by the name of
    the first, since it is the place that is written over. Only values that are read later are held, or a long
    function would copy all it ever defined at each block.
    """

    tensors: Mapping[int, frozenset[Instance]]
    lost: frozenset[int]


@dataclass(frozen=True)
class Claims:
    """For each function of the module, the numbers of the parameters that it may let escape."""

    escaping: Sequence[frozenset[int]]


@dataclass(frozen=True)
class Regions:
    """For each group of dynamic tensors its region, and for each row of the tensor table its place, if in one."""

    of_group: Mapping[int, int] = field(default_factory=dict)
    places: Mapping[int, InRegion] = field(default_factory=dict)


_NO_REGIONS = Regions()


def check_placement(
    function: Function,
    number: int,
    spans: Spans,
    storage_bytes: int,
    claims: Claims,
    regions: Regions = _NO_REGIONS,
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
    run = _Run(function, spans, claims, frozenset(claims.escaping[number]), regions)
    return problems + _misplaced(function, regions) + run.solve()


def assert_placement(
    function: Function,
    number: int,
    spans: Spans,
    storage_bytes: int,
    claims: Claims,
    regions: Regions = _NO_REGIONS,
    alignment: int = 64,
) -> None:
    """Raise CheckError with the listing if the placement is not safe."""
    problems = check_placement(function, number, spans, storage_bytes, claims, regions, alignment)
    if problems:
        places = [str(spans), str(regions)]
        raise CheckError(
            "\n".join([f"@{function.name}'s storage is unsafe:", *problems, show(function), *places])
        )


def _misplaced(function: Function, regions: Regions) -> list[str]:
    """Rows that a group places but that have no place in its region, and rows with a place that none places."""
    problems = []
    placed: set[int] = set()
    for block in function.blocks:
        for instruction in block.instructions:
            if isinstance(instruction, isa.PlaceTensors):
                placed.update(instruction.tensors)
                region = regions.of_group.get(instruction.region)
                problems += [
                    f"t{row}: placed in region {region}, but its place is {regions.places.get(row)}"
                    for row in instruction.tensors
                    if row not in regions.places or regions.places[row].region != region
                ]
    return problems + [f"t{row}: no group places it" for row in regions.places if row not in placed]


@dataclass
class _Run:
    function: Function
    spans: Spans
    claims: Claims
    own_claim: frozenset[int]
    regions: Regions
    place: dict[int, tuple[tuple[int, ...], int]] = field(default_factory=dict)
    within: dict[int, InRegion] = field(default_factory=dict)
    slots: dict[int, set[int]] = field(default_factory=dict)
    name: dict[int, int] = field(default_factory=dict)
    problems: dict[str, None] = field(default_factory=dict)

    def solve(self) -> list[str]:
        """Run to a fixed point; states only grow, so what was a problem once stays one."""
        for block in self.function.blocks:
            for instruction in block.instructions:
                if isinstance(instruction, isa.Invoke):
                    self.place.update(
                        (o.register, self.spans[o.tensor]) for o in instruction.outs if o.tensor in self.spans
                    )
                    self.within.update(
                        (o.register, self.regions.places[o.tensor])
                        for o in instruction.outs
                        if o.tensor in self.regions.places
                    )
        self.name = _names(self.place, self.within)
        slots = _slots(self.within)
        self.pieces = {**_pieces(self.place), **slots}
        for creator, place in self.within.items():
            self.slots.setdefault(place.region, set()).update(slots[creator])
        self.read_later = _read_later(self.function)
        entry = self.function.blocks[0].parameters
        state = _State({p: frozenset(((p, 0),)) for p in entry}, frozenset())
        solve_forward(state, self._block, _join)
        return list(self.problems)

    def _block(self, number: int, state: _State) -> list[tuple[int, _State]]:
        block = self.function.blocks[number]
        frame = _Frame(self.pieces, dict(state.tensors), set(state.lost))
        for position, instruction in enumerate(block.instructions):
            where = f"b{number}, instruction {position}"
            self._write(instruction, frame)
            for use in isa.uses(instruction):
                if use.register in frame.lost:
                    self.problems[f"{where}: reads %{use.register}, whose storage has been overwritten"] = (
                        None
                    )
            self._check_escapes(where, instruction, frame.tensors)
        if isinstance(block.terminator, isa.Jump):
            parameters = self.function.blocks[block.terminator.target].parameters
            frame.pass_on(dict(zip(parameters, block.arguments, strict=True)))
        return [(s, self._at_entry(s, frame)) for s in block.successors]

    def _at_entry(self, number: int, frame: _Frame) -> _State:
        """What is known at the start of a block, of the values that are read from there on."""
        names = self.read_later[number].union(self.function.blocks[number].parameters)
        known = {v: frame.tensors[v] for v in names if v in frame.tensors}
        return _State(known, frozenset(names & frame.lost))

    def _write(self, instruction: isa.Instruction, frame: _Frame) -> None:
        """What is written where a value lives is lost to that value, an earlier instance of itself included."""
        created = [o.register for o in instruction.outs] if isinstance(instruction, isa.Invoke) else []
        for out in created:
            self._create(out, frame)
        for first in created:
            if any(other != first and self._overlap((first, 0), (other, 0)) for other in created):
                frame.lose(first)
        for defined in isa.defs(instruction):
            if defined not in created:
                frame.hold(defined, frozenset())
        if isinstance(instruction, isa.PlaceTensors):
            self._place(self.regions.of_group.get(instruction.region, -1), frame)
        if isinstance(instruction, (isa.Reshape, isa.ReshapeTo)):
            frame.hold(instruction.dst, frame.tensors.get(instruction.src.register, frozenset()))

    def _create(self, out: int, frame: _Frame) -> None:
        frame.hold(out, frozenset())
        if out not in self.name:
            return
        name = self.name[out]
        turns = len(self.place[name][0]) if name in self.place else 1
        for value in frame.holders(name) if name not in self.within else ():
            older = ((c, min(age + 1, turns)) if c == name else (c, age) for c, age in frame.tensors[value])
            frame.hold(value, frozenset(older))
        for value in frame.holders_over(name):
            if any(self._overlap((name, 0), instance) for instance in frame.tensors[value]):
                frame.lose(value)
        frame.hold(out, frozenset(((name, 0),)))

    def _place(self, region: int, frame: _Frame) -> None:
        """What is in the region now stays where it is; what is made next is elsewhere."""
        for value in frame.holders_on(self.slots.get(region, ())):
            older = (
                (c, 1) if c in self.within and self.within[c].region == region else (c, age)
                for c, age in frame.tensors[value]
            )
            frame.hold(value, frozenset(older))

    def _overlap(self, new: Instance, old: Instance) -> bool:
        """Whether the new instance may be written where the old one is.

        Which of its buffers a tensor is in is not known, only that its instances take turns.
        """
        if new[0] in self.within:
            return old[1] == 0 and self.within.get(old[0]) == self.within[new[0]]
        if new[0] not in self.place or old[0] not in self.place:
            return False
        if new[0] == old[0]:
            return self._same_buffer(old)
        (offsets, length), (others, other_length) = self.place[new[0]], self.place[old[0]]
        return any(a < b + other_length and b < a + length for a in offsets for b in others)

    def _same_buffer(self, old: Instance) -> bool:
        """Whether a tensor's new instance may be written where that of ``age`` creations ago is."""
        offsets, length = self.place[old[0]]
        return any(abs(offset - offsets[turn - old[1]]) < length for turn, offset in enumerate(offsets))

    def _check_escapes(
        self, where: str, instruction: isa.Instruction, tensors: dict[int, frozenset[Instance]]
    ) -> None:
        mnemonic = isa.row_of(instruction).mnemonic
        entry = self.function.blocks[0].parameters
        for value, frame_ends in _let_out(instruction, self.claims):
            for creator, _ in sorted(tensors.get(value, frozenset())):
                if creator in self.place or creator in self.within:
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


class _Frame:
    """The state within a block, with an index from places to the values there that are not lost yet."""

    def __init__(
        self, pieces: Mapping[int, tuple[int, ...]], tensors: dict[int, frozenset[Instance]], lost: set[int]
    ) -> None:
        self.tensors: dict[int, frozenset[Instance]] = {}
        self.lost: set[int] = set()
        self._pieces = pieces
        self._holders: dict[int, set[int]] = {}
        self._creators: dict[int, set[int]] = {}
        for value, instances in tensors.items():
            self.hold(value, instances)
        for value in lost:
            self.lose(value)

    def hold(self, value: int, instances: frozenset[Instance]) -> None:
        """The value is written anew."""
        self._forget(value)
        self.lost.discard(value)
        self.tensors[value] = instances
        for creator, age in instances:
            # What was placed in a region earlier is never written over.
            if creator in self._pieces and (age == 0 or self._pieces[creator][:1] >= (0,)):
                self._holders.setdefault(creator, set()).add(value)
                for piece in self._pieces[creator]:
                    self._creators.setdefault(piece, set()).add(creator)

    def lose(self, value: int) -> None:
        """The value's storage is overwritten; it can be lost only once."""
        self._forget(value)
        self.lost.add(value)

    def pass_on(self, arguments: Mapping[int, int]) -> None:
        """Parameters become what was passed to them, all at once."""
        passed = {p: (self.tensors.get(a, frozenset()), a in self.lost) for p, a in arguments.items()}
        for parameter, (instances, lost) in passed.items():
            self.hold(parameter, instances)
            if lost:
                self.lose(parameter)

    def holders(self, creator: int) -> list[int]:
        """Values that may be an instance of a tensor."""
        return list(self._holders.get(creator, ()))

    def holders_over(self, creator: int) -> list[int]:
        """Values that may be an instance of a tensor that shares a piece of the arena with ``creator``."""
        return self.holders_on(self._pieces.get(creator, ()))

    def holders_on(self, pieces: Iterable[int]) -> list[int]:
        """Values that may be in one of these pieces."""
        creators = {c for piece in pieces for c in self._creators.get(piece, ())}
        return list({v for c in creators for v in self._holders.get(c, ())})

    def _forget(self, value: int) -> None:
        for creator, _ in self.tensors.get(value, ()):
            holders = self._holders.get(creator)
            if holders is not None:
                holders.discard(value)
                if not holders:
                    del self._holders[creator]
                    for piece in self._pieces[creator]:
                        self._creators[piece].discard(creator)


def _pieces(place: Mapping[int, tuple[tuple[int, ...], int]]) -> dict[int, tuple[int, ...]]:
    """The arena cut at every offset and end: the pieces that each tensor covers, in all its buffers."""
    cuts = sorted({c for offsets, size in place.values() for o in offsets for c in (o, o + size)})
    number = {cut: n for n, cut in enumerate(cuts)}
    return {
        creator: tuple(sorted({n for o in offsets for n in range(number[o], number[o + size])}))
        for creator, (offsets, size) in place.items()
    }


def _names(
    place: Mapping[int, tuple[tuple[int, ...], int]], within: Mapping[int, InRegion]
) -> dict[int, int]:
    """For each tensor with a place the first of those that have just that one place, else itself."""
    first: dict[object, int] = {}
    names = {c: c if len(p[0]) > 1 else first.setdefault(p, c) for c, p in place.items()}
    return {**names, **{c: first.setdefault(p, c) for c, p in within.items()}}


def _slots(within: Mapping[int, InRegion]) -> dict[int, tuple[int, ...]]:
    """The slots of regions as pieces, with numbers that those of the arena do not use."""
    number = {place: -1 - n for n, place in enumerate(sorted(set(within.values())))}
    return {creator: (number[place],) for creator, place in within.items()}


def _read_later(function: Function) -> list[set[int]]:
    """For each block the values that it or a later block reads before they are defined anew.

    From each read the blocks before it are marked, until the one that defines the value.
    """
    predecessors = function.predecessors()
    needed: list[set[int]] = [set() for _ in function.blocks]
    defined = {
        v: n
        for n, b in enumerate(function.blocks)
        for v in (*b.parameters, *(d for i in b.instructions for d in isa.defs(i)))
    }
    for number, block in enumerate(function.blocks):
        read = {u.register for i in block.instructions for u in isa.uses(i)}.union(block.arguments)
        for value in read:
            pending = [number] if defined[value] != number else []
            while pending:
                current = pending.pop()
                if value not in needed[current]:
                    needed[current].add(value)
                    pending.extend(p for p in predecessors[current] if defined[value] != p)
    return needed
