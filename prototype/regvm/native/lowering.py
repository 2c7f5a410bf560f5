"""Bytecode to LLVM assembly: one LLVM function for each function, one run of instructions for each instruction.

Registers live in the frame. What a register may hold (``contents``) decides where references are counted, and
where a kind is checked. A function's code ends in a tail call or a plain return, never in a call that comes back
with a value: a call of another function goes on there, and that function's return goes on here, at a label that
the frame's ``resume`` names.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from regvm import isa
from regvm.executable import Program
from regvm.native import layout, regions, support
from regvm.native.assembly import head
from regvm.native.contents import (
    Contents,
)
from regvm.native.frame_layout import pool_types
from regvm.native.function_code import FunctionCode
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

FUNCTIONS = f"{support.PREFIX}functions"
"""The table of a program's functions, by number."""

_DLTENSOR_HANDLE = 7
_ARGUMENTS = ("ptr %context", "ptr %frame")


def lower(program: Program, dtype_word: Callable[[str], int]) -> str:
    """The LLVM assembly of a program; the same program gives the same text.

    ``dtype_word`` gives a data type's code, bits and lanes as one 32-bit number, as a DLTensor holds them.
    """
    pools = {type_: number for number, type_ in enumerate(pool_types(program))}
    lines = [*support.preamble(), *_tables(program)]
    for number, function in enumerate(program.functions):
        lines += FunctionCode(program, number, function, pools, dtype_word, _emit).lines()
    return "\n".join(lines)


def _tables(program: Program) -> list[str]:
    widest = max([1, *(k.num_inputs + k.num_outputs for k in program.kernels)])
    codes = ", ".join([f"i32 {_DLTENSOR_HANDLE}"] * widest)
    functions = ", ".join(f"ptr @f{n}" for n in range(len(program.functions)))
    return [
        f"@codes = internal constant [{widest} x i32] [{codes}]",
        f"@{FUNCTIONS} = constant [{len(program.functions)} x ptr] [{functions}]",
    ]


_I = TypeVar("_I", bound=isa.Instruction)
_EMITTERS: dict[type[isa.Instruction], Callable[[FunctionCode, Any], None]] = {}


def _emits(
    cls: type[_I],
) -> Callable[[Callable[[FunctionCode, _I], None]], Callable[[FunctionCode, _I], None]]:
    def register(emitter: Callable[[FunctionCode, _I], None]) -> Callable[[FunctionCode, _I], None]:
        if cls in _EMITTERS:
            raise TypeError(f"{cls.__name__} has two emitters")
        _EMITTERS[cls] = emitter
        return emitter

    return register


@_emits(isa.Move)
def _move(to: FunctionCode, ins: isa.Move) -> None:
    to.write(ins, ins.dst, to.take(ins.src))


@_emits(isa.LoadConst)
def _load_const(to: FunctionCode, ins: isa.LoadConst) -> None:
    table = to.code.get(Context, "%context", "constants")
    to.write(ins, ins.dst, to.code.load("ptr", to.code.element(table, "ptr", ins.constant)))


@_emits(isa.Invoke)
def _invoke(to: FunctionCode, ins: isa.Invoke) -> None:
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


def _new_tensor(to: FunctionCode, row: int, owned: Sequence[str]) -> str:
    slot, code = to.function.tensors[row], to.code
    if len(slot.offsets) == 1:
        return code.at("%frame", to.frame.objects[row][0])
    if not slot.type.is_static:
        return regions.new_dynamic_tensor(to, row, owned)
    if slot.offsets:
        turn = code.at("%frame", to.frame.turns[row])
        tensor = code.load("ptr", turn)
        code.store("ptr", code.get(Tensor, tensor, "owner"), turn)
        return tensor
    pool = code.element(code.get(Context, "%context", "pools"), "%Pool", to.pools[slot.type])
    tensor = code.call("ptr", "@regvm.pooled", "ptr %context", f"ptr {pool}")
    to.fail_if_null(tensor, None, owned)
    return tensor


def _call_kernel(to: FunctionCode, kernel: int, tensors: Sequence[str], owned: Sequence[str]) -> None:
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
def _invoke_into(to: FunctionCode, ins: isa.InvokeInto) -> None:
    operands = (*ins.args, *ins.dests)
    _call_kernel(to, ins.kernel, [to.read(u, Contents.TENSOR) for u in operands], ())
    to.release(operands)


@_emits(isa.AllocTensor)
def _alloc_tensor(to: FunctionCode, ins: isa.AllocTensor) -> None:
    shape = to.read(ins.shape, Contents.TENSOR)
    dtype = to.dtype_word(ins.dtype)
    made = to.code.call("ptr", "@regvm.tensor_of_shape", "ptr %context", f"ptr {shape}", f"i32 {dtype}")
    _finish_unary(to, ins, ins.shape, made)


@_emits(isa.ShapeOf)
def _shape_of(to: FunctionCode, ins: isa.ShapeOf) -> None:
    source = to.read(ins.src, Contents.TENSOR)
    _finish_unary(to, ins, ins.src, to.code.call("ptr", "@regvm.shape_of", "ptr %context", f"ptr {source}"))


@_emits(isa.Copy)
def _copy(to: FunctionCode, ins: isa.Copy) -> None:
    source = to.read(ins.src, Contents.TENSOR)
    _finish_unary(to, ins, ins.src, to.code.call("ptr", "@regvm.copy", "ptr %context", f"ptr {source}"))


@_emits(isa.DeviceCopy)
def _device_copy(to: FunctionCode, ins: isa.DeviceCopy) -> None:
    source = to.read(ins.src, Contents.TENSOR)
    _finish_unary(to, ins, ins.src, to.code.call("ptr", "@regvm.copy", "ptr %context", f"ptr {source}"))


def _finish_unary(to: FunctionCode, ins: Any, use: isa.Use, made: str) -> None:
    to.fail_if_null(made, None)
    to.release([use], [ins.dst])
    to.write(ins, ins.dst, made)


@_emits(isa.Reshape)
def _reshape(to: FunctionCode, ins: isa.Reshape) -> None:
    to.read(ins.src, Contents.TENSOR)
    source = to.take(ins.src)
    dims, rank = to.dims(ins.tensor)
    made = to.code.call("ptr", "@regvm.view", "ptr %context", f"ptr {source}", f"i32 {rank}", f"ptr {dims}")
    to.fail_if_null(made, None, [source])
    to.write(ins, ins.dst, made)


@_emits(isa.ReshapeTo)
def _reshape_to(to: FunctionCode, ins: isa.ReshapeTo) -> None:
    to.read(ins.src, Contents.TENSOR)
    shape = to.read(ins.shape, Contents.TENSOR)
    source = to.take(ins.src)
    made = to.code.call("ptr", "@regvm.view_of_shape", "ptr %context", f"ptr {source}", f"ptr {shape}")
    to.fail_if_null(made, None, [source])
    to.release([ins.shape])
    to.write(ins, ins.dst, made)


@_emits(isa.MakeAdt)
def _make_adt(to: FunctionCode, ins: isa.MakeAdt) -> None:
    _make_fields(to, ins, ObjectKind.ADT, ins.tag, ins.fields)


@_emits(isa.MakeClosure)
def _make_closure(to: FunctionCode, ins: isa.MakeClosure) -> None:
    _make_fields(to, ins, ObjectKind.CLOSURE, ins.function, ins.captured)


def _make_fields(to: FunctionCode, ins: Any, kind: ObjectKind, tag: int, fields: Sequence[isa.Use]) -> None:
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
def _get_field(to: FunctionCode, ins: isa.GetField) -> None:
    code = to.code
    source = to.read(ins.src, Contents.DATA)
    size = code.get(Fields, source, "size")
    to.fail_if(code.compare("sle", "i64", size, ins.index), Status.NO_FIELD)
    value = code.load("ptr", code.at(source, ctypes.sizeof(Fields) + layout.WORD * ins.index))
    code.call("void", "@retain", f"ptr {value}")
    to.release([ins.src], [ins.dst])
    to.write(ins, ins.dst, value)


@_emits(isa.MakeRef)
def _make_ref(to: FunctionCode, ins: isa.MakeRef) -> None:
    value = to.take(ins.src)
    made = to.code.call("ptr", "@regvm.make_cell", "ptr %context", f"ptr {value}")
    to.fail_if_null(made, Status.NO_MEMORY, [value])
    to.write(ins, ins.dst, made)


@_emits(isa.ReadRef)
def _read_ref(to: FunctionCode, ins: isa.ReadRef) -> None:
    value = to.code.get(Cell, to.read(ins.src, Contents.REFERENCE), "value")
    to.code.call("void", "@retain", f"ptr {value}")
    to.release([ins.src], [ins.dst])
    to.write(ins, ins.dst, value)


@_emits(isa.WriteRef)
def _write_ref(to: FunctionCode, ins: isa.WriteRef) -> None:
    cell = to.read(ins.ref, Contents.REFERENCE)
    value = to.take(ins.src)
    old = to.code.get(Cell, cell, "value")
    to.code.set(Cell, cell, "value", value)
    to.code.call("void", "@drop", "ptr %context", f"ptr {old}")
    to.release([ins.ref])


@_emits(isa.Call)
def _call(to: FunctionCode, ins: isa.Call) -> None:
    frame = _new_frame(to, to.record(ins.function))
    for number, use in enumerate(ins.args):
        to.code.store("ptr", to.take(use), to.code.at(frame, register_offset(number)))
    _leave_for(to, ins, f"@f{ins.function}", frame)


@_emits(isa.CallClosure)
def _call_closure(to: FunctionCode, ins: isa.CallClosure) -> None:
    callee, record = _callee(to, ins.callee, len(ins.args))
    frame = _new_frame(to, record)
    code = to.code.get(FunctionRecord, record, "code")
    _bind(to, callee, ins.args, frame)
    to.release([ins.callee])
    _leave_for(to, ins, code, frame)


def _new_frame(to: FunctionCode, record: str) -> str:
    frame = to.code.call("ptr", "@regvm.push", *_ARGUMENTS, f"ptr {record}")
    to.fail_if_null(frame, None)
    return frame


def _leave_for(to: FunctionCode, ins: isa.Call | isa.CallClosure, callee: str, frame: str) -> None:
    """Go on in a new frame, and come back to write its result."""
    code = to.code
    back = code.fresh("back")
    code.set(Frame, "%frame", "resume", to.resume_number(back))
    to.go_on_in(callee, frame)
    code.label(back)
    to.write(ins, ins.dst, "%value")


def _callee(to: FunctionCode, use: isa.Use, num_arguments: int) -> tuple[str, str]:
    """A closure, and the record of its function, which takes the arguments and what was captured."""
    code = to.code
    callee = to.read(use, Contents.FUNCTION)
    record = code.call("ptr", "@record", "ptr %context", f"i32 {head(code, callee, 'tag')}")
    given = code.op("add", "i64", code.get(Fields, callee, "size"), num_arguments)
    to.fail_if(
        code.compare("ne", "i64", given, code.get(FunctionRecord, record, "num_parameters")), Status.ARITY
    )
    return callee, record


def _bind(to: FunctionCode, callee: str, args: Sequence[isa.Use], frame: str) -> None:
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
def _tail_call(to: FunctionCode, ins: isa.TailCall) -> None:
    frame = to.acquire(to.record(ins.function))
    for number, use in enumerate(ins.args):
        to.code.store("ptr", to.take(use), to.code.at(frame, register_offset(number)))
    _replace_frame(to, ins, frame)
    to.go_on_in(f"@f{ins.function}", frame)


@_emits(isa.TailCallClosure)
def _tail_call_closure(to: FunctionCode, ins: isa.TailCallClosure) -> None:
    callee, record = _callee(to, ins.callee, len(ins.args))
    frame = to.acquire(record)
    code = to.code.get(FunctionRecord, record, "code")
    _bind(to, callee, ins.args, frame)
    _replace_frame(to, ins, frame)
    to.go_on_in(code, frame)


def _replace_frame(to: FunctionCode, ins: isa.TailCall | isa.TailCallClosure, frame: str) -> None:
    to.empty([u.register for u in ins.args if u.last])
    to.code.set(Frame, frame, "parent", to.code.get(Frame, "%frame", "parent"))
    to.code.call("void", "@give_back", *_ARGUMENTS)


@_emits(isa.Ret)
def _ret(to: FunctionCode, ins: isa.Ret) -> None:
    value = to.load(ins.src.register)
    to.empty([ins.src.register])
    to.code.emit(f"musttail call void @regvm.leave(ptr %context, ptr %frame, ptr {value})")
    to.code.emit("ret void")


@_emits(isa.Jump)
def _jump(to: FunctionCode, ins: isa.Jump) -> None:
    to.code.go(f"i{ins.target}")


@_emits(isa.Branch)
def _branch(to: FunctionCode, ins: isa.Branch) -> None:
    byte = to.code.load("i8", elements(to.code, to.read(ins.cond, Contents.TENSOR)))
    to.release([ins.cond])
    to.code.go_if(to.code.compare("ne", "i8", byte, 0), f"i{ins.then}", f"i{ins.otherwise}")


@_emits(isa.BranchTag)
def _branch_tag(to: FunctionCode, ins: isa.BranchTag) -> None:
    tag = head(to.code, to.read(ins.src, Contents.DATA), "tag")
    to.release([ins.src])
    to.code.go_if(to.code.compare("eq", "i32", tag, ins.tag), f"i{ins.then}", f"i{ins.otherwise}")


@_emits(isa.Fatal)
def _fatal(to: FunctionCode, ins: isa.Fatal) -> None:
    del ins
    to.fail_if("true", Status.MATCH)
    to.code.emit("unreachable")


@_emits(isa.Drop)
def _drop(to: FunctionCode, ins: isa.Drop) -> None:
    to.release([isa.Use(u.register, True) for u in ins.srcs])


@_emits(isa.Spill)
def _spill(to: FunctionCode, ins: isa.Spill) -> None:
    to.write(ins, to.function.num_registers + ins.slot, to.take(ins.src))


@_emits(isa.Reload)
def _reload(to: FunctionCode, ins: isa.Reload) -> None:
    to.write(ins, ins.dst, to.take(isa.Use(to.function.num_registers + ins.slot)))


_emits(isa.SetShape)(regions.set_shape)
_emits(isa.PlaceTensors)(regions.place_tensors)


def _emit(to: FunctionCode, instruction: isa.Instruction) -> None:
    _EMITTERS[type(instruction)](to, instruction)


_MISSING = [row.mnemonic for row in isa.ROWS if row.cls not in _EMITTERS]
if _MISSING:
    raise TypeError(f"no emitter for {', '.join(_MISSING)}")
