"""The frame of one function's machine code: dispatch, checks, registers, references and failures.

What each instruction does is written by the emitters of ``lowering``, with the operations of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from regvm import isa
from regvm.executable import Function, Program, TensorType
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
from regvm.native.frame_layout import frame_layout
from regvm.native.layout import (
    Context,
    Frame,
    ObjectKind,
    Status,
    register_offset,
)

SIGNATURE = "void @f{number}(ptr %context, ptr %frame, ptr %value) nounwind"

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
class FunctionCode:
    """Writes one function. ``state`` is what the registers may hold before the current instruction."""

    program: Program
    number: int
    function: Function
    pools: Mapping[TensorType, int]
    dtype_word: Callable[[str], int]
    emit: Callable[[FunctionCode, isa.Instruction], None]
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
                self._check_time(self.resume_number(f"i{at}"))
            if not isinstance(instructions[at], _NEVER_FAIL):
                code.set(Context, "%context", "pc", at)
            self.emit(self, instructions[at])
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

    def resume_number(self, label: str) -> int:
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
