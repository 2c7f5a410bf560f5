"""Bytecode to LLVM assembly: one LLVM function for each function, one run of instructions for each instruction.

Registers live in the frame. What a register may hold (``contents``) decides where references are counted, and
where a kind is checked. A function's code ends in a tail call or a plain return, never in a call that comes back
with a value: a call of another function goes on there, and that function's return goes on here, at a label that
the frame's ``resume`` names.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from regvm import isa
from regvm.executable import Function, Program, TensorType
from regvm.native import layout, support
from regvm.native.assembly import Assembly, head
from regvm.native.contents import (
    ANY_TENSOR,
    COUNTED,
    Contents,
    State,
    after_uses,
    analyse,
    declared,
    successors,
)
from regvm.native.frame_layout import frame_layout, pool_types
from regvm.native.layout import (
    DLTENSOR,
    Cell,
    Context,
    Fields,
    Frame,
    FunctionRecord,
    ObjectKind,
    Status,
    Tensor,
    register_offset,
)
from regvm.native.support.tensors import elements

SIGNATURE = "void @f{number}(ptr %context, ptr %frame, ptr %value) nounwind"

_DLTENSOR_HANDLE = 7
_ARGUMENTS = ("ptr %context", "ptr %frame")


def lower(program: Program, dtype_word: Callable[[str], int]) -> str:
    """The LLVM assembly of a program; the same program gives the same text.

    ``dtype_word`` gives a data type's code, bits and lanes as one 32-bit number, as a DLTensor holds them.
    """
    pools = {type_: number for number, type_ in enumerate(pool_types(program))}
    lines = [*support.preamble(), *_tables(program)]
    for number, function in enumerate(program.functions):
        lines += _FunctionCode(program, number, function, pools, dtype_word).lines()
    return "\n".join(lines)


def _tables(program: Program) -> list[str]:
    widest = max([1, *(k.num_inputs + k.num_outputs for k in program.kernels)])
    codes = ", ".join([f"i32 {_DLTENSOR_HANDLE}"] * widest)
    functions = ", ".join(f"ptr @f{n}" for n in range(len(program.functions)))
    return [
        f"@codes = internal constant [{widest} x i32] [{codes}]",
        f"@functions = constant [{len(program.functions)} x ptr] [{functions}]",
    ]


_KIND_FAILURE = {
    Contents.DATA: (ObjectKind.ADT, Status.NOT_DATA),
    Contents.FUNCTION: (ObjectKind.CLOSURE, Status.NOT_A_FUNCTION),
    Contents.REFERENCE: (ObjectKind.REF, Status.NOT_A_REFERENCE),
}


_NEVER_FAIL = (isa.Move, isa.LoadConst, isa.Ret, isa.Jump, isa.Drop, isa.Spill, isa.Reload)


@dataclass(frozen=True)
class _Failure:
    """Where a failing instruction goes: it lets go of ``drops``. Without a status it is in the context already."""

    status: Status | None
    drops: tuple[str, ...]


@dataclass
class _FunctionCode:
    """Writes one function. ``state`` is what the registers may hold before the current instruction."""

    program: Program
    number: int
    function: Function
    pools: Mapping[TensorType, int]
    dtype_word: Callable[[str], int]
    code: Assembly = field(default_factory=Assembly)
    state: State = ()
    constants: list[str] = field(default_factory=list)
    failures: dict[_Failure, str] = field(default_factory=dict)
    resumes: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.frame = frame_layout(self.function)
        kernels = [
            self.program.kernels[i.kernel]
            for i in self.function.instructions
            if isinstance(i, isa.Invoke | isa.InvokeInto)
        ]
        widest = max([1, *(k.num_inputs + k.num_outputs for k in kernels)])
        self.operands = self.code.variable(f"[{widest} x ptr]")
        self.outcome = self.code.variable("[2 x i64]")

    def lines(self) -> list[str]:
        """The function and the constants that it uses."""
        self._body()
        self.code.emit("unreachable")
        for failure, label in self.failures.items():
            self._fail(failure, label)
        self.code.label("dispatch")
        table = " ".join(f"i32 {n}, label %{label}" for n, label in self.resumes)
        resume = self.code.get(Frame, "%frame", "resume")
        self.code.emit(f"switch i32 {resume}, label %begin [ {table} ]")
        return [*self.constants, *self.code.function(SIGNATURE.format(number=self.number))]

    def _body(self) -> None:
        code, instructions = self.code, self.function.instructions
        states = analyse(self.function)
        edges = [
            (at, to) for at, s in enumerate(states) if s is not None for to in successors(self.function, at)
        ]
        heads = {to for at, to in edges if to <= at}
        jumped_to = {to for at, to in edges if isa.row_of(instructions[at]).ends_block}
        code.go("dispatch")
        code.label("begin")
        self._check_parameters()
        self._check_time(0)
        code.go("i0")
        for at, state in enumerate(states):
            if state is None:
                continue
            if at == 0 or at in jumped_to:
                code.go_on(f"i{at}")
            self.state = state
            if at in heads:
                self._check_time(self._resume_number(f"i{at}"))
            if not isinstance(instructions[at], _NEVER_FAIL):
                code.set(Context, "%context", "pc", at)
            _EMITTERS[type(instructions[at])](self, instructions[at])
        code.go_on("end")

    def _check_parameters(self) -> None:
        self.code.set(Context, "%context", "pc", 0)
        for register, parameter in enumerate(self.function.parameters):
            wanted = declared(parameter.type)
            if wanted is not COUNTED:
                self._check_kind(self.load(register), wanted)

    def _check_time(self, resume: int) -> None:
        """Pause where it is time to; the function then goes on at ``resume``."""
        code = self.code
        left = code.add(Context, "%context", "budget", -1)
        with (
            code.when(code.compare("sle", "i64", left, 0)),
            code.when(code.call("i1", "@regvm.tick", "ptr %context")),
        ):
            code.set(Frame, "%frame", "resume", resume)
            code.set(Context, "%context", "frame", "%frame")
            code.set(Context, "%context", "status", int(Status.PAUSED))
            code.emit("ret void")

    def _resume_number(self, label: str) -> int:
        self.resumes.append((len(self.resumes) + 1, label))
        return len(self.resumes)

    def _fail(self, failure: _Failure, label: str) -> None:
        code = self.code
        code.label(label)
        for value in failure.drops:
            code.call("void", "@regvm.drop_value", "ptr %context", f"ptr {value}")
        if failure.status is not None:
            code.set(Context, "%context", "status", int(failure.status))
        code.set(Context, "%context", "frame", "%frame")
        code.emit("ret void")

    def fail_if(self, condition: str, status: Status | None, drops: Sequence[str] = ()) -> None:
        """Leave the program with an error if the condition holds."""
        failure = _Failure(status, tuple(drops))
        label = self.failures.setdefault(failure, f"fail{len(self.failures)}")
        self.code.leave_if(condition, label)

    def fail_if_null(self, pointer: str, status: Status | None, drops: Sequence[str] = ()) -> None:
        """Leave the program with an error if a pointer is null."""
        self.fail_if(self.code.is_null(pointer), status, drops)

    def place(self, register: int) -> str:
        """The address of a register."""
        return self.code.at("%frame", register_offset(register))

    def load(self, register: int) -> str:
        """What a register holds."""
        return self.code.load("ptr", self.place(register))

    def _check_kind(self, value: str, wanted: Contents) -> None:
        kind = head(self.code, value, "kind")
        if wanted is Contents.TENSOR:
            self.fail_if(self.code.compare("ugt", "i32", kind, int(ObjectKind.PLACED)), Status.NOT_A_TENSOR)
        else:
            expected, status = _KIND_FAILURE[wanted]
            self.fail_if(self.code.compare("ne", "i32", kind, int(expected)), status)

    def read(self, use: isa.Use, wanted: Contents) -> str:
        """A register's value, which must be of one kind; the register keeps its reference."""
        value = self.load(use.register)
        allowed = ANY_TENSOR if wanted is Contents.TENSOR else wanted
        if self.state[use.register] & ~(allowed | Contents.EMPTY):
            self._check_kind(value, wanted)
        return value

    def release(self, uses: Sequence[isa.Use], redefined: Sequence[int] = ()) -> None:
        """Let go of what is read for the last time; ``redefined`` are registers written right afterwards."""
        for use in uses:
            if use.last and self.state[use.register] & COUNTED:
                self._drop(self.load(use.register), self.state[use.register])
                if use.register not in redefined:
                    self.code.store("ptr", "null", self.place(use.register))

    def take(self, use: isa.Use, redefined: Sequence[int] = ()) -> str:
        """A register's value with a reference of its own: moved on its last use, else counted."""
        value = self.load(use.register)
        if self.state[use.register] & COUNTED:
            if not use.last:
                self.code.call("void", "@retain", f"ptr {value}")
            elif use.register not in redefined:
                self.code.store("ptr", "null", self.place(use.register))
        return value

    def write(self, instruction: isa.Instruction, register: int, value: str) -> None:
        """Write a register; lets go of what it still holds after the instruction's last uses."""
        left = after_uses(instruction, self.state)[register]
        if left & COUNTED:
            self._drop(self.load(register), left)
        self.code.store("ptr", value, self.place(register))

    def _drop(self, value: str, contents: Contents) -> None:
        function = "@drop_if" if contents & Contents.EMPTY else "@drop"
        self.code.call("void", function, "ptr %context", f"ptr {value}")

    def empty(self, kept: Sequence[int]) -> None:
        """Let go of everything in the frame but the registers in ``kept``, which are emptied all the same."""
        for register, contents in enumerate(self.state):
            if contents & COUNTED:
                if register not in kept:
                    self._drop(self.load(register), contents)
                self.code.store("ptr", "null", self.place(register))

    def record(self, function: int) -> str:
        """The address of a function's record."""
        return self.code.call("ptr", "@record", "ptr %context", f"i32 {function}")

    def acquire(self, record: str) -> str:
        """A new frame."""
        frame = self.code.call("ptr", "@acquire", "ptr %context", f"ptr {record}")
        self.fail_if_null(frame, Status.NO_MEMORY)
        return frame

    def go_on_in(self, callee: str, frame: str) -> None:
        """Leave for another function's code."""
        self.code.emit(f"musttail call void {callee}(ptr %context, ptr {frame}, ptr null)")
        self.code.emit("ret void")

    def dims(self, row: int) -> tuple[str, int]:
        """A constant with the dimensions of a static tensor, and their number."""
        shape = self.function.tensors[row].type.shape
        name = f"@shape{self.number}.{row}.{len(self.constants)}"
        values = ", ".join(f"i64 {d or 0}" for d in shape)
        self.constants.append(f"{name} = internal constant [{len(shape)} x i64] [{values}]")
        return name, len(shape)


_I = TypeVar("_I", bound=isa.Instruction)
_EMITTERS: dict[type[isa.Instruction], Callable[[_FunctionCode, Any], None]] = {}


def _emits(
    cls: type[_I],
) -> Callable[[Callable[[_FunctionCode, _I], None]], Callable[[_FunctionCode, _I], None]]:
    def register(emitter: Callable[[_FunctionCode, _I], None]) -> Callable[[_FunctionCode, _I], None]:
        if cls in _EMITTERS:
            raise TypeError(f"{cls.__name__} has two emitters")
        _EMITTERS[cls] = emitter
        return emitter

    return register


@_emits(isa.Move)
def _move(to: _FunctionCode, ins: isa.Move) -> None:
    to.write(ins, ins.dst, to.take(ins.src))


@_emits(isa.LoadConst)
def _load_const(to: _FunctionCode, ins: isa.LoadConst) -> None:
    table = to.code.get(Context, "%context", "constants")
    to.write(ins, ins.dst, to.code.load("ptr", to.code.element(table, "ptr", ins.constant)))


@_emits(isa.Invoke)
def _invoke(to: _FunctionCode, ins: isa.Invoke) -> None:
    inputs = [to.read(u, Contents.TENSOR) for u in ins.args]
    owned: list[str] = []
    outs: list[str] = []
    for out in ins.outs:
        outs.append(_new_tensor(to, out.tensor, owned))
        if not to.function.tensors[out.tensor].offsets:
            owned.append(outs[-1])
    _call_kernel(to, ins.kernel, [*inputs, *outs], owned)
    registers = [o.register for o in ins.outs]
    to.release(ins.args, registers)
    for register, tensor in zip(registers, outs, strict=True):
        to.write(ins, register, tensor)


def _new_tensor(to: _FunctionCode, row: int, owned: Sequence[str]) -> str:
    slot, code = to.function.tensors[row], to.code
    if len(slot.offsets) == 1:
        return code.at("%frame", to.frame.objects[row][0])
    if slot.offsets:
        turn = code.at("%frame", to.frame.turns[row])
        tensor = code.load("ptr", turn)
        code.store("ptr", code.get(Tensor, tensor, "owner"), turn)
        return tensor
    pool = code.element(code.get(Context, "%context", "pools"), "%Pool", to.pools[slot.type])
    tensor = code.call("ptr", "@regvm.pooled", "ptr %context", f"ptr {pool}")
    to.fail_if_null(tensor, None, owned)
    return tensor


def _call_kernel(to: _FunctionCode, kernel: int, tensors: Sequence[str], owned: Sequence[str]) -> None:
    code = to.code
    for position, tensor in enumerate(tensors):
        code.store("ptr", code.at(tensor, DLTENSOR), code.element(to.operands, "ptr", position))
    table = code.get(Context, "%context", "kernels")
    handle = code.load("ptr", code.element(table, "ptr", kernel))
    call = code.get(Context, "%context", "call_kernel")
    failed = code.call(
        "i32",
        call,
        f"ptr {handle}",
        f"ptr {to.operands}",
        "ptr @codes",
        f"i32 {len(tensors)}",
        f"ptr {to.outcome}",
        f"ptr {code.at(to.outcome, layout.WORD)}",
    )
    to.fail_if(code.compare("ne", "i32", failed, 0), Status.KERNEL, owned)


@_emits(isa.InvokeInto)
def _invoke_into(to: _FunctionCode, ins: isa.InvokeInto) -> None:
    operands = (*ins.args, *ins.dests)
    _call_kernel(to, ins.kernel, [to.read(u, Contents.TENSOR) for u in operands], ())
    to.release(operands)


@_emits(isa.AllocTensor)
def _alloc_tensor(to: _FunctionCode, ins: isa.AllocTensor) -> None:
    shape = to.read(ins.shape, Contents.TENSOR)
    dtype = to.dtype_word(ins.dtype)
    made = to.code.call("ptr", "@regvm.tensor_of_shape", "ptr %context", f"ptr {shape}", f"i32 {dtype}")
    _finish_unary(to, ins, ins.shape, made)


@_emits(isa.ShapeOf)
def _shape_of(to: _FunctionCode, ins: isa.ShapeOf) -> None:
    source = to.read(ins.src, Contents.TENSOR)
    _finish_unary(to, ins, ins.src, to.code.call("ptr", "@regvm.shape_of", "ptr %context", f"ptr {source}"))


@_emits(isa.Copy)
def _copy(to: _FunctionCode, ins: isa.Copy) -> None:
    source = to.read(ins.src, Contents.TENSOR)
    _finish_unary(to, ins, ins.src, to.code.call("ptr", "@regvm.copy", "ptr %context", f"ptr {source}"))


@_emits(isa.DeviceCopy)
def _device_copy(to: _FunctionCode, ins: isa.DeviceCopy) -> None:
    source = to.read(ins.src, Contents.TENSOR)
    _finish_unary(to, ins, ins.src, to.code.call("ptr", "@regvm.copy", "ptr %context", f"ptr {source}"))


def _finish_unary(to: _FunctionCode, ins: Any, use: isa.Use, made: str) -> None:
    to.fail_if_null(made, None)
    to.release([use], [ins.dst])
    to.write(ins, ins.dst, made)


@_emits(isa.Reshape)
def _reshape(to: _FunctionCode, ins: isa.Reshape) -> None:
    to.read(ins.src, Contents.TENSOR)
    source = to.take(ins.src)
    dims, rank = to.dims(ins.tensor)
    made = to.code.call("ptr", "@regvm.view", "ptr %context", f"ptr {source}", f"i32 {rank}", f"ptr {dims}")
    to.fail_if_null(made, None, [source])
    to.write(ins, ins.dst, made)


@_emits(isa.ReshapeTo)
def _reshape_to(to: _FunctionCode, ins: isa.ReshapeTo) -> None:
    to.read(ins.src, Contents.TENSOR)
    shape = to.read(ins.shape, Contents.TENSOR)
    source = to.take(ins.src)
    made = to.code.call("ptr", "@regvm.view_of_shape", "ptr %context", f"ptr {source}", f"ptr {shape}")
    to.fail_if_null(made, None, [source])
    to.release([ins.shape])
    to.write(ins, ins.dst, made)


@_emits(isa.MakeAdt)
def _make_adt(to: _FunctionCode, ins: isa.MakeAdt) -> None:
    _make_fields(to, ins, ObjectKind.ADT, ins.tag, ins.fields)


@_emits(isa.MakeClosure)
def _make_closure(to: _FunctionCode, ins: isa.MakeClosure) -> None:
    _make_fields(to, ins, ObjectKind.CLOSURE, ins.function, ins.captured)


def _make_fields(to: _FunctionCode, ins: Any, kind: ObjectKind, tag: int, fields: Sequence[isa.Use]) -> None:
    code = to.code
    made = code.call(
        "ptr", "@regvm.make_fields", "ptr %context", f"i32 {int(kind)}", f"i32 {tag}", f"i64 {len(fields)}"
    )
    to.fail_if_null(made, Status.NO_MEMORY)
    for number, use in enumerate(fields):
        place = code.at(made, ctypes.sizeof(Fields) + layout.WORD * number)
        code.store("ptr", to.take(use), place)
    to.write(ins, ins.dst, made)


@_emits(isa.GetField)
def _get_field(to: _FunctionCode, ins: isa.GetField) -> None:
    code = to.code
    source = to.read(ins.src, Contents.DATA)
    size = code.get(Fields, source, "size")
    to.fail_if(code.compare("sle", "i64", size, ins.index), Status.NO_FIELD)
    value = code.load("ptr", code.at(source, ctypes.sizeof(Fields) + layout.WORD * ins.index))
    code.call("void", "@retain", f"ptr {value}")
    to.release([ins.src], [ins.dst])
    to.write(ins, ins.dst, value)


@_emits(isa.MakeRef)
def _make_ref(to: _FunctionCode, ins: isa.MakeRef) -> None:
    value = to.take(ins.src)
    made = to.code.call("ptr", "@regvm.make_cell", "ptr %context", f"ptr {value}")
    to.fail_if_null(made, Status.NO_MEMORY, [value])
    to.write(ins, ins.dst, made)


@_emits(isa.ReadRef)
def _read_ref(to: _FunctionCode, ins: isa.ReadRef) -> None:
    value = to.code.get(Cell, to.read(ins.src, Contents.REFERENCE), "value")
    to.code.call("void", "@retain", f"ptr {value}")
    to.release([ins.src], [ins.dst])
    to.write(ins, ins.dst, value)


@_emits(isa.WriteRef)
def _write_ref(to: _FunctionCode, ins: isa.WriteRef) -> None:
    cell = to.read(ins.ref, Contents.REFERENCE)
    value = to.take(ins.src)
    old = to.code.get(Cell, cell, "value")
    to.code.set(Cell, cell, "value", value)
    to.code.call("void", "@drop", "ptr %context", f"ptr {old}")
    to.release([ins.ref])


@_emits(isa.Call)
def _call(to: _FunctionCode, ins: isa.Call) -> None:
    frame = _new_frame(to, to.record(ins.function))
    for number, use in enumerate(ins.args):
        to.code.store("ptr", to.take(use), to.code.at(frame, register_offset(number)))
    _leave_for(to, ins, f"@f{ins.function}", frame)


@_emits(isa.CallClosure)
def _call_closure(to: _FunctionCode, ins: isa.CallClosure) -> None:
    callee, record = _callee(to, ins.callee, len(ins.args))
    frame = _new_frame(to, record)
    code = to.code.get(FunctionRecord, record, "code")
    _bind(to, callee, ins.args, frame)
    to.release([ins.callee])
    _leave_for(to, ins, code, frame)


def _new_frame(to: _FunctionCode, record: str) -> str:
    code = to.code
    deep = code.compare(
        "sge", "i64", code.get(Context, "%context", "depth"), code.get(Context, "%context", "stack_limit")
    )
    to.fail_if(deep, Status.STACK_LIMIT)
    frame = to.acquire(record)
    code.add(Context, "%context", "depth", 1)
    return frame


def _leave_for(to: _FunctionCode, ins: isa.Call | isa.CallClosure, callee: str, frame: str) -> None:
    """Go on in a new frame, and come back to write its result."""
    code = to.code
    back = code.fresh("back")
    code.set(Frame, "%frame", "resume", to._resume_number(back))
    code.set(Frame, frame, "parent", "%frame")
    to.go_on_in(callee, frame)
    code.label(back)
    to.write(ins, ins.dst, "%value")


def _callee(to: _FunctionCode, use: isa.Use, num_arguments: int) -> tuple[str, str]:
    """A closure, and the record of its function, which takes the arguments and what was captured."""
    code = to.code
    callee = to.read(use, Contents.FUNCTION)
    record = code.call("ptr", "@record", "ptr %context", f"i32 {head(code, callee, 'tag')}")
    given = code.op("add", "i64", code.get(Fields, callee, "size"), num_arguments)
    to.fail_if(
        code.compare("ne", "i64", given, code.get(FunctionRecord, record, "num_parameters")), Status.ARITY
    )
    return callee, record


def _bind(to: _FunctionCode, callee: str, args: Sequence[isa.Use], frame: str) -> None:
    """Write arguments and captured values into the registers of a new frame."""
    code = to.code
    for number, use in enumerate(args):
        code.store("ptr", to.take(use), code.at(frame, register_offset(number)))
    source = code.at(callee, ctypes.sizeof(Fields))
    target = code.at(frame, register_offset(len(args)))
    with code.count(code.get(Fields, callee, "size")) as number_:
        value = code.load("ptr", code.element(source, "ptr", number_))
        code.call("void", "@retain", f"ptr {value}")
        code.store("ptr", value, code.element(target, "ptr", number_))


@_emits(isa.TailCall)
def _tail_call(to: _FunctionCode, ins: isa.TailCall) -> None:
    frame = to.acquire(to.record(ins.function))
    for number, use in enumerate(ins.args):
        to.code.store("ptr", to.take(use), to.code.at(frame, register_offset(number)))
    _replace_frame(to, ins, frame)
    to.go_on_in(f"@f{ins.function}", frame)


@_emits(isa.TailCallClosure)
def _tail_call_closure(to: _FunctionCode, ins: isa.TailCallClosure) -> None:
    callee, record = _callee(to, ins.callee, len(ins.args))
    frame = to.acquire(record)
    code = to.code.get(FunctionRecord, record, "code")
    _bind(to, callee, ins.args, frame)
    _replace_frame(to, ins, frame)
    to.go_on_in(code, frame)


def _replace_frame(to: _FunctionCode, ins: isa.TailCall | isa.TailCallClosure, frame: str) -> None:
    to.empty([u.register for u in ins.args if u.last])
    to.code.set(Frame, frame, "parent", to.code.get(Frame, "%frame", "parent"))
    to.code.call("void", "@give_back", *_ARGUMENTS)


@_emits(isa.Ret)
def _ret(to: _FunctionCode, ins: isa.Ret) -> None:
    value = to.load(ins.src.register)
    to.empty([ins.src.register])
    to.code.emit(f"musttail call void @regvm.leave(ptr %context, ptr %frame, ptr {value})")
    to.code.emit("ret void")


@_emits(isa.Jump)
def _jump(to: _FunctionCode, ins: isa.Jump) -> None:
    to.code.go(f"i{ins.target}")


@_emits(isa.Branch)
def _branch(to: _FunctionCode, ins: isa.Branch) -> None:
    byte = to.code.load("i8", elements(to.code, to.read(ins.cond, Contents.TENSOR)))
    to.release([ins.cond])
    to.code.go_if(to.code.compare("ne", "i8", byte, 0), f"i{ins.then}", f"i{ins.otherwise}")


@_emits(isa.BranchTag)
def _branch_tag(to: _FunctionCode, ins: isa.BranchTag) -> None:
    tag = head(to.code, to.read(ins.src, Contents.DATA), "tag")
    to.release([ins.src])
    to.code.go_if(to.code.compare("eq", "i32", tag, ins.tag), f"i{ins.then}", f"i{ins.otherwise}")


@_emits(isa.Fatal)
def _fatal(to: _FunctionCode, ins: isa.Fatal) -> None:
    del ins
    to.fail_if("true", Status.MATCH)
    to.code.emit("unreachable")


@_emits(isa.Drop)
def _drop(to: _FunctionCode, ins: isa.Drop) -> None:
    to.release([isa.Use(u.register, True) for u in ins.srcs])


@_emits(isa.Spill)
def _spill(to: _FunctionCode, ins: isa.Spill) -> None:
    to.write(ins, to.function.num_registers + ins.slot, to.take(ins.src))


@_emits(isa.Reload)
def _reload(to: _FunctionCode, ins: isa.Reload) -> None:
    to.write(ins, ins.dst, to.take(isa.Use(to.function.num_registers + ins.slot)))


_MISSING = [row.mnemonic for row in isa.ROWS if row.cls not in _EMITTERS]
if _MISSING:
    raise TypeError(f"no emitter for {', '.join(_MISSING)}")
