"""List a program for people and for the assembler, which makes the same program of the listing.

The data of large constants would drown the code, so a constant above ``inline_bytes`` is listed by its digest,
and the assembler asks for the bytes.
"""

from __future__ import annotations

import hashlib

from regvm import isa
from regvm.executable import (
    Constant,
    Function,
    ObjectType,
    ParamType,
    Program,
    TensorSlot,
    TensorType,
    TupleType,
)
from regvm.ir.printer import show_instruction
from regvm.text.names import show_name

INLINE_BYTES = 64
"""A constant of so many bytes is listed in full."""


def show_program(program: Program, inline_bytes: int | None = INLINE_BYTES) -> str:
    """All functions, then kernels and constants; without a limit ``inline_bytes`` every constant in full."""
    parts = [show_function(program, number) for number in range(len(program.functions))]
    parts.append(
        "\n".join(
            f"kernel k{n} {show_name(k.name)} ({k.num_inputs} -> {k.num_outputs})"
            for n, k in enumerate(program.kernels)
        )
    )
    parts.append(
        "\n".join(f"constant c{n} {_show_constant(c, inline_bytes)}" for n, c in enumerate(program.constants))
    )
    return "\n\n".join(p for p in parts if p) + "\n"


def show_function(program: Program, number: int) -> str:
    """One function: its frame, its tensor table, its code with the names of what it calls."""
    function = program.functions[number]
    parameters = ", ".join(
        f"R{n} {show_name(p.name)}: {show_type(p.type)}" for n, p in enumerate(function.parameters)
    )
    frame = f"{function.num_registers} registers, {function.num_slots} slots, {function.storage_bytes} bytes"
    regions = f", {function.num_regions} regions" if function.num_regions else ""
    lines = [
        f"function f{number} @{show_name(function.name)}({parameters})",
        f"  frame {frame}, {function.max_live} live{regions}",
    ]
    lines.extend(f"  tensor t{n} {_show_slot(slot)}" for n, slot in enumerate(function.tensors))
    width = len(str(len(function.instructions)))
    for at, instruction in enumerate(function.instructions):
        text = show_instruction(instruction, "R", "@")
        lines.append(f"  {at:{width}}  {text}{_remark(program, function, instruction)}")
    return "\n".join(lines)


def show_type(type_: ParamType) -> str:
    """A type, as the assembler reads it."""
    match type_:
        case TensorType(shape, dtype):
            return f"{dtype}[{', '.join('?' if d is None else str(d) for d in shape)}]"
        case TupleType(fields):
            return f"({', '.join(map(show_type, fields))})"
        case ObjectType(name):
            return show_name(name)


def digest(data: bytes) -> str:
    """How a listing names the data of a large constant."""
    return hashlib.sha256(data).hexdigest()


def _show_slot(slot: TensorSlot) -> str:
    places = [f"at {' or '.join(map(str, slot.offsets))}"] if slot.offsets else []
    if slot.within is not None:
        places.append(f"in g{slot.within.region}.{slot.within.slot}")
    return f"{show_type(slot.type)} {' '.join(places) or 'owned'}"


def _show_constant(constant: Constant, inline_bytes: int | None) -> str:
    named = f" named {show_name(constant.name)}" if constant.name else ""
    return f"{show_type(TensorType(constant.shape, constant.dtype))}{named} {_show_data(constant.data, inline_bytes)}"


def _show_data(data: bytes | None, inline_bytes: int | None) -> str:
    if data is None:
        return "late-bound"
    if inline_bytes is None or len(data) <= inline_bytes:
        return f"= 0x{data.hex()}"
    return f"sha256 0x{digest(data)}"


def _remark(program: Program, function: Function, instruction: isa.Instruction) -> str:
    """What the numbers in an instruction stand for, as a comment; nothing for numbers that stand for nothing."""
    match instruction:
        case isa.Invoke(kernel=n) | isa.InvokeInto(kernel=n) if n < len(program.kernels):
            return f"  ; {show_name(program.kernels[n].name)}"
        case isa.MakeClosure(function=n) | isa.Call(function=n) | isa.TailCall(function=n):
            return f"  ; @{show_name(program.functions[n].name)}" if n < len(program.functions) else ""
        case isa.Reshape(tensor=n) if n < len(function.tensors):
            return f"  ; {show_type(function.tensors[n].type)}"
        case _:
            return ""


def _regions(function: Function) -> str:
    return f", {function.num_regions} regions of run-time size" if function.num_regions else ""


def show_stats(program: Program) -> str:
    """Counts of the program and of each function."""
    lines = [
        f"functions: {len(program.functions)}",
        f"instructions: {sum(len(f.instructions) for f in program.functions)}",
        f"kernels: {len(program.kernels)}",
        f"constants: {len(program.constants)}, {sum(len(c.data or b'') for c in program.constants)} bytes",
    ]
    lines.extend(
        f"@{f.name}: {len(f.instructions)} instructions, {f.num_registers} registers, {f.max_live} live at most, "
        f"{f.storage_bytes} bytes of storage{_regions(f)}"
        for f in program.functions
    )
    return "\n".join(lines) + "\n"
