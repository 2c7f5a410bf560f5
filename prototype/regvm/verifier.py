"""Bytecode that passes here cannot crash the machine.

It says nothing about what a program means: that is the checkers' part. Each rule has an id, which stands in the
RFC, at the check and in the tests' names.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from regvm import isa
from regvm.errors import VerificationError
from regvm.executable import (
    ALIGNMENT,
    Function,
    ObjectType,
    ParamType,
    Program,
    TensorType,
    TupleType,
    is_dtype,
)
from regvm.isa import Kind


class Rule(enum.Enum):
    """The rules of valid bytecode."""

    REGISTER = "valid-register"
    SLOT = "valid-slot"
    TARGET = "valid-target"
    END = "valid-end"
    INDEX = "valid-index"
    ARITY = "valid-arity"
    ASSIGNED = "valid-assigned"
    KIND = "valid-kind"
    TENSOR = "valid-tensor"
    OUTS = "valid-outs"
    CONSTANT = "valid-constant"


@dataclass(frozen=True)
class Violation:
    """A broken rule and where.

    ``instruction`` is -1 for the function as a whole, ``function`` is empty for the program as a whole.
    """

    rule: Rule
    function: str
    instruction: int
    message: str

    def __str__(self) -> str:
        function = f"@{self.function}" if self.function else "program"
        place = f", instruction {self.instruction}" if self.instruction >= 0 else ""
        return f"[{self.rule.value}] {function}{place}: {self.message}"


class _Held(enum.Enum):
    """What a register is known to hold."""

    TENSOR = "a tensor"
    ADT = "a tuple or algebraic data"
    CLOSURE = "a function"
    REF = "a reference"
    ANY = "a value"


_State = tuple[_Held | None, ...]


def verify(program: Program) -> list[Violation]:
    """Every violation in the program; empty if it is valid."""
    found = [Violation(Rule.CONSTANT, "", -1, message) for message in _constants(program)]
    for function in program.functions:
        static = list(_static(program, function))
        found.extend(static)
        if not static:
            found.extend(_Flow(program, function).check())
    return found


def assert_verified(program: Program) -> None:
    """Raise VerificationError that lists every violation."""
    violations = verify(program)
    if violations:
        raise VerificationError("invalid bytecode:\n" + "\n".join(map(str, violations)))


def _constants(program: Program) -> Iterator[str]:
    for number, constant in enumerate(program.constants):
        if not is_dtype(constant.dtype):
            yield f"c{number}: {constant.dtype!r} is no data type"
        elif constant.data is not None:
            wanted = TensorType(constant.shape, constant.dtype).num_bytes
            if len(constant.data) != wanted:
                yield f"c{number}: {constant!r} does not hold {wanted} bytes"


def _static(program: Program, function: Function) -> Iterator[Violation]:
    def broken(rule: Rule, at: int, message: str) -> Violation:
        return Violation(rule, function.name, at, message)

    for rule, message in _frame(function):
        yield broken(rule, -1, message)
    for rule, message in _tensor_table(function):
        yield broken(rule, -1, message)
    code = function.instructions
    if not code or not isa.row_of(code[-1]).ends_block:
        yield broken(Rule.END, len(code) - 1, "the code runs off its end")
    for at, instruction in enumerate(code):
        for rule, message in _fields(program, function, instruction):
            yield broken(rule, at, message)
        for rule, message in _arity(program, instruction):
            yield broken(rule, at, message)


def _frame(function: Function) -> Iterator[tuple[Rule, str]]:
    """A frame is as large as its code needs: a count of its own could ask for more memory than there is."""
    parameters, registers = len(function.parameters), function.num_registers
    if parameters > registers:
        yield Rule.REGISTER, f"{parameters} parameters for {registers} registers"
    written = parameters + sum(len(isa.defs(i)) for i in function.instructions)
    if registers > written:
        yield Rule.REGISTER, f"{registers} registers, of which at most {written} are ever written"
    spills = sum(isinstance(i, isa.Spill) for i in function.instructions)
    if not 0 <= function.num_slots <= spills:
        yield Rule.SLOT, f"{function.num_slots} slots for {spills} spills"


def _tensor_table(function: Function) -> Iterator[tuple[Rule, str]]:
    if function.storage_bytes < 0:
        yield Rule.TENSOR, f"an arena of {function.storage_bytes} bytes"
    for row, slot in enumerate(function.tensors):
        if not is_dtype(slot.type.dtype):
            yield Rule.TENSOR, f"t{row}: {slot.type.dtype!r} is no data type"
            continue
        if slot.offsets and not slot.type.is_static:
            yield Rule.TENSOR, f"t{row}: {slot.type} has no static size and cannot live in the arena"
            continue
        for offset in slot.offsets:
            if offset % ALIGNMENT or offset < 0:
                yield Rule.TENSOR, f"t{row}: offset {offset} is not a multiple of {ALIGNMENT}"
            if offset + slot.type.num_bytes > function.storage_bytes:
                yield (
                    Rule.TENSOR,
                    f"t{row}: {slot.type} at {offset} leaves the arena of {function.storage_bytes} bytes",
                )


def _fields(program: Program, function: Function, instruction: isa.Instruction) -> Iterator[tuple[Rule, str]]:
    limits = {
        Kind.DEF: (Rule.REGISTER, "R", function.num_registers),
        Kind.CONSTANT: (Rule.INDEX, "constant ", len(program.constants)),
        Kind.KERNEL: (Rule.INDEX, "kernel ", len(program.kernels)),
        Kind.FUNCTION: (Rule.INDEX, "function ", len(program.functions)),
        Kind.TENSOR: (Rule.INDEX, "tensor row ", len(function.tensors)),
        Kind.TARGET: (Rule.TARGET, "instruction ", len(function.instructions)),
        Kind.SLOT: (Rule.SLOT, "slot ", function.num_slots),
    }
    registers = [u.register for u in isa.uses(instruction)]
    for name, kind in isa.row_of(instruction).fields:
        value = getattr(instruction, name)
        if kind in limits:
            rule, what, limit = limits[kind]
            if not 0 <= value < limit:
                yield rule, f"{name} is {what}{value}, of {limit}"
        elif kind is Kind.OUTS:
            registers.extend(o.register for o in value)
            yield from (
                (Rule.INDEX, f"no tensor row {o.tensor}")
                for o in value
                if not 0 <= o.tensor < len(function.tensors)
            )
        elif kind is Kind.INDEX and value < 0:
            yield Rule.INDEX, f"{name} is {value}"
        elif kind is Kind.DTYPE and not is_dtype(value):
            yield Rule.TENSOR, f"{value!r} is no data type"
    for register in registers:
        if not 0 <= register < function.num_registers:
            yield Rule.REGISTER, f"R{register}, of {function.num_registers}"


def _arity(program: Program, instruction: isa.Instruction) -> Iterator[tuple[Rule, str]]:
    match instruction:
        case isa.Call(function=callee, args=args) | isa.TailCall(function=callee, args=args):
            if 0 <= callee < len(program.functions):
                wanted = len(program.functions[callee].parameters)
                if len(args) != wanted:
                    yield (
                        Rule.ARITY,
                        f"{len(args)} arguments for @{program.functions[callee].name}, which takes {wanted}",
                    )
        case isa.MakeClosure(function=callee, captured=captured):
            if 0 <= callee < len(program.functions) and len(captured) > len(
                program.functions[callee].parameters
            ):
                yield (
                    Rule.ARITY,
                    f"binds {len(captured)} values, more than @{program.functions[callee].name} takes",
                )
        case isa.Invoke(kernel=kernel, args=args, outs=outs):
            yield from _kernel_arity(program, kernel, len(args), len(outs))
            if len({o.register for o in outs}) != len(outs):
                yield Rule.OUTS, "two results in one register"
        case isa.InvokeInto(kernel=kernel, args=args, dests=dests):
            yield from _kernel_arity(program, kernel, len(args), len(dests))


def _kernel_arity(program: Program, number: int, inputs: int, outputs: int) -> Iterator[tuple[Rule, str]]:
    if 0 <= number < len(program.kernels):
        kernel = program.kernels[number]
        if (kernel.num_inputs, kernel.num_outputs) != (inputs, outputs):
            yield (
                Rule.ARITY,
                f"{inputs} inputs and {outputs} outputs for {kernel.name}, "
                f"which has {kernel.num_inputs} and {kernel.num_outputs}",
            )


class _Flow:
    """Forward dataflow over instructions: what each register is known to hold on every path."""

    def __init__(self, program: Program, function: Function) -> None:
        self._program = program
        self._function = function
        self._found: list[Violation] = []

    def check(self) -> list[Violation]:
        function = self._function
        held = [_held(p.type) for p in function.parameters]
        unset: list[_Held | None] = [None] * (function.num_registers + function.num_slots - len(held))
        states: dict[int, _State] = {0: (*held, *unset)}
        pending = [0]
        while pending:
            at = pending.pop()
            after = self._step(at, list(states[at]), report=False)
            for successor in self._successors(at):
                merged = after if successor not in states else tuple(map(_meet, states[successor], after))
                if merged != states.get(successor):
                    states[successor] = merged
                    pending.append(successor)
        for at in sorted(states):
            self._step(at, list(states[at]), report=True)
        return self._found

    def _successors(self, at: int) -> tuple[int, ...]:
        instruction = self._function.instructions[at]
        return isa.targets(instruction) if isa.row_of(instruction).ends_block else (at + 1,)

    def _step(self, at: int, state: list[_Held | None], *, report: bool) -> _State:
        instruction = self._function.instructions[at]
        if report:
            self._found.extend(
                Violation(rule, self._function.name, at, message)
                for rule, message in self._problems(instruction, state)
            )
        result = self._result(instruction, state)
        for use in isa.uses(instruction):
            if use.last or isinstance(instruction, isa.Drop):
                state[use.register] = None
        if isinstance(instruction, isa.Spill):
            state[self._function.num_registers + instruction.slot] = result
        for register in isa.defs(instruction):
            state[register] = result
        return tuple(state)

    def _problems(
        self, instruction: isa.Instruction, state: list[_Held | None]
    ) -> Iterator[tuple[Rule, str]]:
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
            if known not in (None, _Held.ANY, wanted):
                yield Rule.KIND, f"R{use.register} holds {known.value}, not {wanted.value}"
        for row in _created(instruction):
            if not self._function.tensors[row].type.is_static:
                yield Rule.TENSOR, f"creates t{row}, whose shape is not static"

    def _result(self, instruction: isa.Instruction, state: list[_Held | None]) -> _Held | None:
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


def _created(instruction: isa.Instruction) -> tuple[int, ...]:
    """Rows of the tensor table whose tensors an instruction creates."""
    match instruction:
        case isa.Invoke(outs=outs):
            return tuple(o.tensor for o in outs)
        case isa.Reshape(tensor=row):
            return (row,)
        case _:
            return ()


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
        case isa.AllocTensor(shape=use) | isa.Branch(cond=use):
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


def _meet(a: _Held | None, b: _Held | None) -> _Held | None:
    if a is None or b is None:
        return None
    return a if a is b else _Held.ANY
