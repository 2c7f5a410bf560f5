"""The native engine agrees with the interpreter on random bytecode.

Programs are valid by construction: a generator keeps the type of what each register holds, and picks instructions,
operands and last uses at random. Together they cover the whole instruction table.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("llvmlite")

from regvm import isa
from regvm.executable import Function, InRegion, ObjectType, Parameter, TensorSlot, TensorType

VECTOR = TensorType((3,), "float32")
UNKNOWN = TensorType((None,), "float32")
SEEDS = range(60)


@dataclass(frozen=True)
class Type:
    """What a register holds. ``placed`` tensors stay within their function; ``shape`` is a shape vector."""

    kind: str
    parts: tuple[Type, ...] = ()
    function: int = -1

    @property
    def stored(self) -> bool:
        """Whether it may be stored, returned and passed on."""
        return self.kind in ("vector", "adt", "closure", "ref")


T_VECTOR, T_PLACED, T_SHAPE = Type("vector"), Type("placed"), Type("shape")


@dataclass
class Generator:
    """Writes one function; ``callees`` are the functions that it may call: number, parameters and result."""

    random: random.Random
    registers: int
    slots: int
    callees: list[tuple[int, list[Type], Type]]
    held: dict[int, Type] = field(default_factory=dict)
    spilled: dict[int, Type] = field(default_factory=dict)
    code: list[isa.Instruction] = field(default_factory=list)

    def some(self, *kinds: str) -> int | None:
        fitting = [r for r, t in self.held.items() if t.kind in kinds]
        return self.random.choice(fitting) if fitting else None

    def some_of(self, type_: Type) -> int | None:
        fitting = [r for r, t in self.held.items() if t == type_]
        return self.random.choice(fitting) if fitting else None

    def some_stored(self) -> int | None:
        fitting = [r for r, t in self.held.items() if t.stored]
        return self.random.choice(fitting) if fitting else None

    def uses(self, registers: list[int]) -> tuple[isa.Use, ...]:
        """Reads of registers; some are the last, if it is the last in the instruction and others are left."""
        made: list[isa.Use] = []
        for at, register in enumerate(registers):
            again = register in registers[at + 1 :]
            vectors = sum(t == T_VECTOR for t in self.held.values())
            spare = self.held[register] != T_VECTOR or vectors > 2
            last = not again and spare and self.random.random() < 0.3
            made.append(isa.Use(register, last))
            if last:
                del self.held[register]
        return tuple(made)

    def define(self) -> int:
        """A register to write, which may hold something that is lost; two vectors always stay."""
        vectors = [r for r, t in self.held.items() if t == T_VECTOR]
        return self.random.choice([r for r in range(self.registers) if r not in vectors[:2]])

    def step(self) -> None:
        choice = self.random.choice(list(STEPS))
        STEPS[choice](self)

    def move(self) -> None:
        register = self.random.choice(list(self.held))
        type_ = self.held[register]
        (use,) = self.uses([register])
        dst = self.define()
        if dst != register:
            self.emit(isa.Move(dst, use), dst, type_)
        elif use.last:
            self.held[register] = type_

    def emit(self, instruction: isa.Instruction, dst: int | None = None, type_: Type | None = None) -> None:
        self.code.append(instruction)
        if dst is not None and type_ is not None:
            self.held[dst] = type_

    def load_const(self) -> None:
        dst = self.define()
        self.emit(isa.LoadConst(dst, 0), dst, T_VECTOR)

    def invoke(self) -> None:
        kernel = self.random.choice((0, 1))
        operands = [self.some("vector", "placed") for _ in range(2 - kernel)]
        row = self.random.randrange(4)
        uses = self.uses([o for o in operands if o is not None])
        dst = self.define()
        self.emit(isa.Invoke(kernel, uses, (isa.Out(dst, row),)), dst, T_VECTOR if row == 0 else T_PLACED)

    def shaped(self) -> None:
        """The shape of a vector, and perhaps what is made with it."""
        source = self.some("vector", "placed")
        assert source is not None
        (use,) = self.uses([source])
        shape = self.define()
        self.emit(isa.ShapeOf(shape, use), shape, T_SHAPE)
        if self.random.random() < 0.5:
            (use,) = self.uses([shape])
            made = self.define()
            if made == shape and not use.last:
                return
            self.emit(isa.AllocTensor(made, use, "float32"), made, T_VECTOR)
            written = [r for r, t in self.held.items() if t in (T_VECTOR, T_PLACED) and r != made]
            operand = self.random.choice(written)
            self.code.append(isa.InvokeInto(1, (isa.Use(operand),), (isa.Use(made),)))

    def dynamic(self) -> None:
        """Tensors of a shape that is set: two in a region, placed at once, or one that owns its storage."""
        source = self.some("vector", "placed")
        assert source is not None
        (use,) = self.uses([source])
        shape = self.define()
        self.emit(isa.ShapeOf(shape, use), shape, T_SHAPE)
        rows = self.random.choice(((5, 6), (6,), (7,)))
        for row in rows:
            self.emit(isa.SetShape(row, isa.Use(shape)))
        if rows != (7,):
            self.emit(isa.PlaceTensors(0, rows))
        for row in rows:
            operand = self.some("vector", "placed")
            assert operand is not None
            uses = self.uses([operand])
            dst = self.define()
            self.emit(isa.Invoke(1, uses, (isa.Out(dst, row),)), dst, T_VECTOR)

    def reshape(self) -> None:
        source = self.some("vector")
        assert source is not None
        shape = self.some("shape")
        if shape is None or self.random.random() < 0.5:
            (use,) = self.uses([source])
            dst = self.define()
            self.emit(isa.Reshape(dst, use, 0), dst, T_VECTOR)
        else:
            first, second = self.uses([source, shape])
            dst = self.define()
            self.emit(isa.ReshapeTo(dst, first, second), dst, T_VECTOR)

    def copy(self) -> None:
        source = self.some("vector", "placed")
        assert source is not None
        (use,) = self.uses([source])
        dst = self.define()
        made = isa.Copy(dst, use) if self.random.random() < 0.5 else isa.DeviceCopy(dst, use, 1)
        self.emit(made, dst, T_VECTOR)

    def make_adt(self) -> None:
        parts = [r for r in (self.some_stored() for _ in range(self.random.randrange(4))) if r is not None]
        type_ = Type("adt", tuple(self.held[r] for r in parts))
        uses = self.uses(parts)
        dst = self.define()
        self.emit(isa.MakeAdt(dst, self.random.randrange(3), uses), dst, type_)

    def get_field(self) -> None:
        source = self.some("adt")
        if source is not None and self.held[source].parts:
            index = self.random.randrange(len(self.held[source].parts))
            type_ = self.held[source].parts[index]
            (use,) = self.uses([source])
            dst = self.define()
            self.emit(isa.GetField(dst, use, index), dst, type_)

    def make_ref(self) -> None:
        source = self.some_stored()
        assert source is not None
        type_ = Type("ref", (self.held[source],))
        (use,) = self.uses([source])
        dst = self.define()
        self.emit(isa.MakeRef(dst, use), dst, type_)

    def use_ref(self) -> None:
        source = self.some("ref")
        if source is None:
            return
        type_ = self.held[source].parts[0]
        value = self.some_of(type_)
        if value is not None and self.random.random() < 0.5:
            self.emit(isa.WriteRef(*self.uses([source, value])))
        else:
            (use,) = self.uses([source])
            dst = self.define()
            self.emit(isa.ReadRef(dst, use), dst, type_)

    def call(self) -> None:
        if self.callees:
            number, parameters, result = self.random.choice(self.callees)
            given = [self.some_of(p) for p in parameters]
            if None not in given:
                uses = self.uses([g for g in given if g is not None])
                dst = self.define()
                self.emit(isa.Call(dst, number, uses), dst, result)

    def make_closure(self) -> None:
        if self.callees:
            number, parameters, result = self.random.choice(self.callees)
            count = self.random.randrange(len(parameters) + 1)
            bound = [self.some_of(p) for p in parameters[len(parameters) - count :]]
            if None not in bound:
                type_ = Type("closure", (*parameters[: len(parameters) - count], result), number)
                uses = self.uses([b for b in bound if b is not None])
                dst = self.define()
                self.emit(isa.MakeClosure(dst, number, uses), dst, type_)

    def call_closure(self) -> None:
        callee = self.some("closure")
        if callee is not None:
            *parameters, result = self.held[callee].parts
            given = [self.some_of(p) for p in parameters]
            if None not in given:
                first, *rest = self.uses([callee, *(g for g in given if g is not None)])
                dst = self.define()
                self.emit(isa.CallClosure(dst, first, tuple(rest)), dst, result)

    def spill(self) -> None:
        register = self.some("vector", "adt", "ref", "closure")
        assert register is not None
        slot = self.random.randrange(self.slots)
        self.spilled[slot] = self.held[register]
        (use,) = self.uses([register])
        self.emit(isa.Spill(slot, use))

    def reload(self) -> None:
        if self.spilled:
            slot = self.random.choice(list(self.spilled))
            dst = self.define()
            self.emit(isa.Reload(dst, slot), dst, self.spilled[slot])

    def drop(self) -> None:
        spare = [r for r, t in self.held.items() if t != T_VECTOR]
        if spare:
            dropped = self.random.sample(spare, min(2, len(spare)))
            self.emit(isa.Drop(tuple(isa.Use(r, True) for r in dropped)))
            for register in dropped:
                del self.held[register]

    def branch(self) -> None:
        """Two arms that run some steps; after them only what both hold is known."""
        source = self.some("vector", "placed")
        assert source is not None
        tagged = self.some("adt")
        test: isa.Branch | isa.BranchTag
        if tagged is None or self.random.random() < 0.5:
            (use,) = self.uses([source])
            condition = self.define()
            self.code.append(isa.Invoke(2, (use,), (isa.Out(condition, 4),)))
            self.held.pop(condition, None)
            test = isa.Branch(isa.Use(condition, True), 0, 0)
        else:
            (use,) = self.uses([tagged])
            test = isa.BranchTag(use, self.random.randrange(3), 0, 0)
        at = len(self.code)
        self.code.append(isa.Fatal())
        before, slots = dict(self.held), dict(self.spilled)
        for _ in range(self.random.randrange(4)):
            self.straight()
        jump = len(self.code)
        self.code.append(isa.Fatal())
        first, first_slots = self.held, self.spilled
        self.held, self.spilled = before, slots
        for _ in range(self.random.randrange(4)):
            self.straight()
        self.code[at] = dataclasses.replace(test, then=at + 1, otherwise=jump + 1)
        self.code[jump] = isa.Jump(len(self.code))
        self.held = {r: t for r, t in self.held.items() if first.get(r) == t}
        self.spilled = {s: t for s, t in self.spilled.items() if first_slots.get(s) == t}
        if T_VECTOR not in self.held.values():
            self.load_const()
        if list(self.held.values()).count(T_VECTOR) < 2:
            self.load_const()

    def straight(self) -> None:
        self.random.choice([s for n, s in STEPS.items() if n != "branch"])(self)

    def leave(self, result: Type) -> None:
        """Return, at times by a tail call."""
        for number, parameters, found in self.callees:
            given = [self.some_of(p) for p in parameters]
            if found == result and None not in given and self.random.random() < 0.5:
                registers = [g for g in given if g is not None]
                if self.random.random() < 0.5:
                    self.emit(isa.TailCall(number, self.uses(registers)))
                else:
                    dst = next(r for r in range(self.registers) if r not in registers)
                    self.emit(isa.MakeClosure(dst, number, ()))
                    self.emit(isa.TailCallClosure(isa.Use(dst, True), tuple(isa.Use(r) for r in registers)))
                return
        dst = self.registers - 1
        fields = [r for r, t in self.held.items() if t.stored] if result.kind == "adt" else []
        if result.kind == "adt":
            self.emit(isa.MakeAdt(dst, 0, tuple(isa.Use(r) for r in fields)))
            self.emit(isa.Ret(isa.Use(dst, True)))
        else:
            value = self.some_of(result)
            assert value is not None
            self.emit(isa.Ret(isa.Use(value, self.random.random() < 0.5)))


_NAMES: tuple[str, ...] = (
    "move",
    "load_const",
    "invoke",
    "shaped",
    "dynamic",
    "reshape",
    "copy",
    "make_adt",
    "get_field",
    "make_ref",
    "use_ref",
    "call",
    "make_closure",
    "call_closure",
    "spill",
    "reload",
    "drop",
    "branch",
)
STEPS: dict[str, Callable[[Generator], None]] = {name: getattr(Generator, name) for name in _NAMES}


def _function(number: int, seed: random.Random, callees: list[tuple[int, list[Type], Type]]) -> Function:
    generator = Generator(seed, seed.randrange(7, 12), 2, callees, {0: T_VECTOR, 1: T_VECTOR})
    # No function has more regions than it places.
    generator.emit(isa.PlaceTensors(0, ()))
    for _ in range(seed.randrange(5, 40)):
        generator.step()
    generator.leave(T_VECTOR if number else Type("adt"))
    code, registers, slots = _dense(generator.code)
    return Function(
        name="main" if number == 0 else f"f{number}",
        parameters=(Parameter("a", VECTOR), Parameter("b", VECTOR if number % 2 else ObjectType("captured"))),
        num_registers=registers,
        instructions=tuple(code),
        tensors=(
            TensorSlot(VECTOR),
            TensorSlot(VECTOR, (0,)),
            TensorSlot(VECTOR, (64, 128)),
            TensorSlot(VECTOR, (192, 256, 320)),
            TensorSlot(TensorType((), "bool"), (384,)),
            TensorSlot(UNKNOWN, (), InRegion(0, 0)),
            TensorSlot(UNKNOWN, (), InRegion(0, 1)),
            TensorSlot(UNKNOWN),
        ),
        num_regions=1,
        storage_bytes=448,
        num_slots=slots,
    )


def _dense(code: list[isa.Instruction]) -> tuple[list[isa.Instruction], int, int]:
    """The code with registers and slots numbered without gaps, and their numbers: frames hold no more than that."""
    named = {r for i in code for r in (*isa.defs(i), *(u.register for u in isa.uses(i)))}
    registers = {r: n for n, r in enumerate(sorted(named | {0, 1}))}
    slots = {s: n for n, s in enumerate(sorted({i.slot for i in code if isinstance(i, isa.Spill)}))}
    renumbered = [
        isa.rewrite(i, use=lambda u: isa.Use(registers[u.register], u.last), define=lambda r: registers[r])
        for i in code
    ]
    return [_in_slot(i, slots) for i in renumbered], len(registers), len(slots)


def _in_slot(instruction: isa.Instruction, slots: dict[int, int]) -> isa.Instruction:
    if isinstance(instruction, isa.Spill | isa.Reload):
        return dataclasses.replace(instruction, slot=slots[instruction.slot])
    return instruction


def program(seed: int) -> list[Function]:
    """Three functions; each calls those after it."""
    source = random.Random(seed)
    vectors = [T_VECTOR, T_VECTOR]
    third = _function(2, source, [])
    second = _function(1, source, [(2, vectors, T_VECTOR)])
    first = _function(0, source, [(1, vectors, T_VECTOR), (2, vectors, T_VECTOR)])
    return [first, second, third]


@pytest.mark.parametrize("seed", SEEDS)
def test_engines_agree_bit_for_bit(seed: int, assemble: Any, agree: Any, vectors: Any) -> None:
    found = agree(assemble(*program(seed)), *vectors(2))
    assert found[0] == "adt"


def test_programs_cover_the_instruction_table() -> None:
    used = {type(i) for seed in SEEDS for f in program(seed) for i in f.instructions}
    assert {row.cls for row in isa.ROWS} - used == {isa.Fatal}
