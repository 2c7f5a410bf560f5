"""The interpreter: what each instruction does, in one function each. It is the executable specification.

Code is bound once for each machine: every instruction becomes a step, a function of the frame's registers and
tensor buffers that returns the number of the next instruction, or says how control leaves the frame.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from regvm import isa
from regvm.errors import ExecutionError, KernelError, MatchError, RegvmError, StackLimitError
from regvm.executable import Function, Program, TensorType
from regvm.ir.printer import show_instruction
from regvm.runtime.kernels import calls, tensors
from regvm.runtime.kernels.arena import Arena, Buffers
from regvm.runtime.kernels.owned import OwnedStorage
from regvm.runtime.values import Adt, Closure, Ref, Value

Registers = list[Any]
Step = Callable[[Registers, Buffers], int]

_LEAVE = -1
"""What a step returns instead of the next instruction when it has set the machine's ``transfer``."""


@dataclass(frozen=True, slots=True)
class _Enter:
    """Go on in another function; a call comes back to ``resume`` and writes ``dst``, a tail call does not."""

    function: int
    arguments: list[Value]
    dst: int = -1
    resume: int = -1


@dataclass(frozen=True, slots=True)
class _Return:
    result: Value


class _Code:
    """The steps of one function, and its arenas that no frame uses at present."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.steps: list[Step] = []
        self._arena = Arena(function.tensors, function.storage_bytes)
        self._free: list[Buffers] = []

    def enter(self, arguments: list[Value]) -> tuple[Registers, Buffers, int]:
        """A frame: registers with the arguments first, buffers, and the bytes newly allocated for it."""
        registers = arguments + [None] * (
            self.function.num_registers + self.function.num_slots - len(arguments)
        )
        if self._free:
            return registers, self._free.pop(), 0
        return registers, self._arena.make(), self.function.storage_bytes

    def leave(self, buffers: Buffers) -> None:
        self._free.append(buffers)

    def trim(self) -> None:
        """Of the frames that wait, keep one: regions may be of any size."""
        del self._free[:-1]


_Frame = tuple[_Code, Registers, Buffers, int, int]
"""A caller that waits: where it goes on, and the register that takes the result."""


class Interpreter:
    """Runs one program; not to be shared by threads.

    ``stack_limit`` is the number of frames that a recursion may have at once.
    """

    def __init__(self, program: Program, library: Any, stack_limit: int = 1_000_000) -> None:
        self.program = program
        self.stack_limit = stack_limit
        self.arena_bytes = 0
        self.owned = OwnedStorage()
        self.kernels = calls.find_kernels(library, [k.name for k in program.kernels])
        self.constants = [tensors.load_constant(c) for c in program.constants]
        self.transfer: _Enter | _Return | None = None
        self._result: Value | None = None
        self._codes = [_Code(f) for f in program.functions]
        self._regional = [code for code in self._codes if code.function.num_regions]
        for code in self._codes:
            for number, instruction in enumerate(code.function.instructions):
                handler = _HANDLERS[type(instruction)]
                code.steps.append(handler(self, code.function, instruction, number + 1))

    @property
    def allocated_bytes(self) -> int:
        """Bytes of all arenas made so far and, at their largest, of tensors that own their storage."""
        return self.arena_bytes + self.owned.peak_bytes

    def perform(self, function: int, arguments: list[Value]) -> None:
        """Call a function and keep its result. Raises what ``run`` raises."""
        # Not held while the run needs memory.
        self._result = None
        self._result = self.run(function, arguments)

    def result(self) -> Value:
        """The result of the last ``perform``, which must have succeeded."""
        assert self._result is not None
        return self._result

    def run(self, function: int, arguments: list[Value]) -> Value:
        """Call a function.

        Raises an ExecutionError that names the function and instruction; the machine stays usable.
        """
        stack: list[_Frame] = []
        try:
            return self._run(function, arguments, stack)
        finally:
            self.transfer = None
            for frame in stack:
                frame[0].leave(frame[2])
            for code in self._regional:
                code.trim()

    def _run(self, function: int, arguments: list[Value], stack: list[_Frame]) -> Value:
        code = self._codes[function]
        registers, buffers, pc = *self._enter(code, arguments), 0
        while True:
            steps = code.steps
            try:
                while pc >= 0:
                    pc = steps[pc](registers, buffers)
            except (KernelError, MatchError):
                code.leave(buffers)
                raise
            except Exception as error:
                code.leave(buffers)
                what = str(error) if isinstance(error, RegvmError) else f"{type(error).__name__}: {error}"
                raise ExecutionError(f"{where(code.function, pc)}: {what}") from error
            transfer, self.transfer = self.transfer, None
            if isinstance(transfer, _Return):
                code.leave(buffers)
                if not stack:
                    return transfer.result
                code, registers, buffers, pc, dst = stack.pop()
                registers[dst] = transfer.result
            elif isinstance(transfer, _Enter):
                if transfer.resume < 0:
                    code.leave(buffers)
                elif len(stack) >= self.stack_limit:
                    code.leave(buffers)
                    raise StackLimitError(
                        f"@{code.function.name}: the recursion is deeper than the stack limit of {self.stack_limit} "
                        "frames; raise the limit, or make the call a tail call"
                    )
                else:
                    stack.append((code, registers, buffers, transfer.resume, transfer.dst))
                code = self._codes[transfer.function]
                registers, buffers, pc = *self._enter(code, transfer.arguments), 0
            # Held any longer, it would keep alive what the callee is the last to use.
            del transfer

    def _enter(self, code: _Code, arguments: list[Value]) -> tuple[Registers, Buffers]:
        try:
            registers, buffers, allocated = code.enter(arguments)
        except (MemoryError, ValueError) as error:
            # ValueError is what NumPy says of a size beyond its own limit.
            raise ExecutionError(
                f"@{code.function.name}: no memory for a frame of {code.function.storage_bytes} bytes"
            ) from error
        self.arena_bytes += allocated
        return registers, buffers


def where(function: Function, pc: int) -> str:
    """An instruction's place, for error messages."""
    return f"@{function.name}, instruction {pc} ({show_instruction(function.instructions[pc], 'R', '@')})"


_I = TypeVar("_I", bound=isa.Instruction)
_Handler = Callable[[Interpreter, Function, Any, int], Step]
_HANDLERS: dict[type[isa.Instruction], _Handler] = {}


def _handles(
    cls: type[_I],
) -> Callable[
    [Callable[[Interpreter, Function, _I, int], Step]], Callable[[Interpreter, Function, _I, int], Step]
]:
    def register(
        handler: Callable[[Interpreter, Function, _I, int], Step],
    ) -> Callable[[Interpreter, Function, _I, int], Step]:
        if cls in _HANDLERS:
            raise TypeError(f"{cls.__name__} has two handlers")
        _HANDLERS[cls] = handler
        return handler

    return register


def _read(registers: Registers, uses: tuple[isa.Use, ...]) -> list[Any]:
    """The values read, all of them before any register is let go."""
    values = [registers[u.register] for u in uses]
    for use in uses:
        if use.last:
            registers[use.register] = None
    return values


@_handles(isa.Move)
def _move(machine: Interpreter, function: Function, ins: isa.Move, following: int) -> Step:
    dst, src, last = ins.dst, ins.src.register, ins.src.last

    def step(registers: Registers, buffers: Buffers) -> int:
        value = registers[src]
        if last:
            registers[src] = None
        registers[dst] = value
        return following

    return step


@_handles(isa.LoadConst)
def _load_const(machine: Interpreter, function: Function, ins: isa.LoadConst, following: int) -> Step:
    dst, constant = ins.dst, machine.constants[ins.constant]

    def step(registers: Registers, buffers: Buffers) -> int:
        registers[dst] = constant
        return following

    return step


@_handles(isa.Invoke)
def _invoke(machine: Interpreter, function: Function, ins: isa.Invoke, following: int) -> Step:
    site = calls.CallSite(machine.kernels[ins.kernel], len(ins.args) + len(ins.outs))
    values, run = site.values, site.run
    inputs = [(n, u.register) for n, u in enumerate(ins.args)]
    dying = [u.register for u in ins.args if u.last]
    outs = [
        (n, o.register, o.tensor, function.tensors[o.tensor], function.tensors[o.tensor].type.is_static)
        for n, o in enumerate(ins.outs, len(ins.args))
    ]
    place = where(function, following - 1)
    owned = machine.owned

    def step(registers: Registers, buffers: Buffers) -> int:
        for position, register in inputs:
            values[position] = registers[register].handle
        created = []
        for position, register, row, slot, is_static in outs:
            if slot.offsets:
                turns = buffers[row]
                tensor = turns[0]
                if len(turns) > 1:
                    turns.append(turns.pop(0))
            elif is_static:
                tensor = owned.allocate(slot.type)
            else:
                made = buffers.regions.take(row)
                tensor = owned.allocate(made) if isinstance(made, TensorType) else made
            values[position] = tensor.handle
            created.append((register, tensor))
        if run():
            raise KernelError(f"{place}: {calls.last_error()}")
        for register in dying:
            registers[register] = None
        for register, tensor in created:
            registers[register] = tensor
        return following

    return step


@_handles(isa.InvokeInto)
def _invoke_into(machine: Interpreter, function: Function, ins: isa.InvokeInto, following: int) -> Step:
    operands = (*ins.args, *ins.dests)
    site = calls.CallSite(machine.kernels[ins.kernel], len(operands))
    place = where(function, following - 1)

    def step(registers: Registers, buffers: Buffers) -> int:
        # Held until the kernel returns: the registers may have let go of the only reference.
        held = _read(registers, operands)
        for position, tensor in enumerate(held):
            site.values[position] = tensor.handle
        if site.run():
            raise KernelError(f"{place}: {calls.last_error()}")
        return following

    return step


@_handles(isa.AllocTensor)
def _alloc_tensor(machine: Interpreter, function: Function, ins: isa.AllocTensor, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        (shape,) = _read(registers, (ins.shape,))
        registers[ins.dst] = machine.owned.allocate(TensorType(tensors.read_shape(shape), ins.dtype))
        return following

    return step


@_handles(isa.ShapeOf)
def _shape_of(machine: Interpreter, function: Function, ins: isa.ShapeOf, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        (source,) = _read(registers, (ins.src,))
        registers[ins.dst] = tensors.shape_of(source)
        return following

    return step


@_handles(isa.Reshape)
def _reshape(machine: Interpreter, function: Function, ins: isa.Reshape, following: int) -> Step:
    shape = tuple(d or 0 for d in function.tensors[ins.tensor].type.shape)

    def step(registers: Registers, buffers: Buffers) -> int:
        (source,) = _read(registers, (ins.src,))
        registers[ins.dst] = tensors.reshape(source, shape)
        return following

    return step


@_handles(isa.ReshapeTo)
def _reshape_to(machine: Interpreter, function: Function, ins: isa.ReshapeTo, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        source, shape = _read(registers, (ins.src, ins.shape))
        registers[ins.dst] = tensors.reshape(source, tensors.read_shape(shape))
        return following

    return step


@_handles(isa.Copy)
def _copy(machine: Interpreter, function: Function, ins: isa.Copy, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        (source,) = _read(registers, (ins.src,))
        registers[ins.dst] = machine.owned.copy(source)
        return following

    return step


@_handles(isa.DeviceCopy)
def _device_copy(machine: Interpreter, function: Function, ins: isa.DeviceCopy, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        (source,) = _read(registers, (ins.src,))
        registers[ins.dst] = machine.owned.copy(source)
        return following

    return step


@_handles(isa.MakeAdt)
def _make_adt(machine: Interpreter, function: Function, ins: isa.MakeAdt, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        registers[ins.dst] = Adt(ins.tag, tuple(_read(registers, ins.fields)))
        return following

    return step


@_handles(isa.GetField)
def _get_field(machine: Interpreter, function: Function, ins: isa.GetField, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        (source,) = _read(registers, (ins.src,))
        registers[ins.dst] = source.fields[ins.index]
        return following

    return step


@_handles(isa.MakeClosure)
def _make_closure(machine: Interpreter, function: Function, ins: isa.MakeClosure, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        registers[ins.dst] = Closure(ins.function, tuple(_read(registers, ins.captured)))
        return following

    return step


@_handles(isa.MakeRef)
def _make_ref(machine: Interpreter, function: Function, ins: isa.MakeRef, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        (source,) = _read(registers, (ins.src,))
        registers[ins.dst] = Ref(source)
        return following

    return step


@_handles(isa.ReadRef)
def _read_ref(machine: Interpreter, function: Function, ins: isa.ReadRef, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        (cell,) = _read(registers, (ins.src,))
        registers[ins.dst] = cell.value
        return following

    return step


@_handles(isa.WriteRef)
def _write_ref(machine: Interpreter, function: Function, ins: isa.WriteRef, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        cell, value = _read(registers, (ins.ref, ins.src))
        cell.value = value
        return following

    return step


@_handles(isa.Call)
def _call(machine: Interpreter, function: Function, ins: isa.Call, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        machine.transfer = _Enter(ins.function, _read(registers, ins.args), ins.dst, following)
        return _LEAVE

    return step


def _require_arity(callee: Function, given: int) -> None:
    """What a closure takes is not known before it is called."""
    if given != len(callee.parameters):
        raise TypeError(f"@{callee.name} takes {len(callee.parameters)} values, but is called with {given}")


@_handles(isa.CallClosure)
def _call_closure(machine: Interpreter, function: Function, ins: isa.CallClosure, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        callee, *arguments = _read(registers, (ins.callee, *ins.args))
        arguments += callee.captured
        _require_arity(machine.program.functions[callee.function], len(arguments))
        machine.transfer = _Enter(callee.function, arguments, ins.dst, following)
        return _LEAVE

    return step


@_handles(isa.TailCall)
def _tail_call(machine: Interpreter, function: Function, ins: isa.TailCall, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        machine.transfer = _Enter(ins.function, _read(registers, ins.args))
        return _LEAVE

    return step


@_handles(isa.TailCallClosure)
def _tail_call_closure(
    machine: Interpreter, function: Function, ins: isa.TailCallClosure, following: int
) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        callee, *arguments = _read(registers, (ins.callee, *ins.args))
        arguments += callee.captured
        _require_arity(machine.program.functions[callee.function], len(arguments))
        machine.transfer = _Enter(callee.function, arguments)
        return _LEAVE

    return step


@_handles(isa.Ret)
def _ret(machine: Interpreter, function: Function, ins: isa.Ret, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        machine.transfer = _Return(registers[ins.src.register])
        return _LEAVE

    return step


@_handles(isa.Jump)
def _jump(machine: Interpreter, function: Function, ins: isa.Jump, following: int) -> Step:
    target = ins.target

    def step(registers: Registers, buffers: Buffers) -> int:
        return target

    return step


@_handles(isa.Branch)
def _branch(machine: Interpreter, function: Function, ins: isa.Branch, following: int) -> Step:
    cond, last, then, otherwise = ins.cond.register, ins.cond.last, ins.then, ins.otherwise
    byte_at = ctypes.c_uint8.from_address

    def step(registers: Registers, buffers: Buffers) -> int:
        tensor = registers[cond]
        if last:
            registers[cond] = None
        return then if byte_at(tensor.data).value else otherwise

    return step


@_handles(isa.BranchTag)
def _branch_tag(machine: Interpreter, function: Function, ins: isa.BranchTag, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        (source,) = _read(registers, (ins.src,))
        return ins.then if source.tag == ins.tag else ins.otherwise

    return step


@_handles(isa.Fatal)
def _fatal(machine: Interpreter, function: Function, ins: isa.Fatal, following: int) -> Step:
    place = where(function, following - 1)

    def step(registers: Registers, buffers: Buffers) -> int:
        raise MatchError(f"{place}: no clause of the match fits the value")

    return step


@_handles(isa.Drop)
def _drop(machine: Interpreter, function: Function, ins: isa.Drop, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        for use in ins.srcs:
            registers[use.register] = None
        return following

    return step


@_handles(isa.Spill)
def _spill(machine: Interpreter, function: Function, ins: isa.Spill, following: int) -> Step:
    slot = function.num_registers + ins.slot

    def step(registers: Registers, buffers: Buffers) -> int:
        (registers[slot],) = _read(registers, (ins.src,))
        return following

    return step


@_handles(isa.Reload)
def _reload(machine: Interpreter, function: Function, ins: isa.Reload, following: int) -> Step:
    slot = function.num_registers + ins.slot

    def step(registers: Registers, buffers: Buffers) -> int:
        registers[ins.dst] = registers[slot]
        return following

    return step


@_handles(isa.SetShape)
def _set_shape(machine: Interpreter, function: Function, ins: isa.SetShape, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        (shape,) = _read(registers, (ins.shape,))
        buffers.regions.set_shape(ins.tensor, tensors.read_shape(shape))
        return following

    return step


@_handles(isa.PlaceTensors)
def _place_tensors(machine: Interpreter, function: Function, ins: isa.PlaceTensors, following: int) -> Step:
    def step(registers: Registers, buffers: Buffers) -> int:
        machine.arena_bytes += buffers.regions.place(ins.region, ins.tensors)
        return following

    return step


_MISSING = [row.mnemonic for row in isa.ROWS if row.cls not in _HANDLERS]
if _MISSING:
    raise TypeError(f"no handler for {', '.join(_MISSING)}")
