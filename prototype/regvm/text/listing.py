"""List a program for people; everything that the bytes hold but the data of constants is there."""

from __future__ import annotations

from regvm.executable import Constant, Function, Program, TensorSlot
from regvm.ir.printer import show_instruction


def show_program(program: Program) -> str:
    """All functions, then kernels and constants."""
    parts = [show_function(program, f) for f in program.functions]
    parts.append(
        "\n".join(
            f"kernel k{n} {k.name} ({k.num_inputs} -> {k.num_outputs})" for n, k in enumerate(program.kernels)
        )
    )
    parts.append("\n".join(f"constant c{n} {_show_constant(c)}" for n, c in enumerate(program.constants)))
    return "\n\n".join(p for p in parts if p) + "\n"


def show_function(program: Program, function: Function) -> str:
    """One function: its frame, its tensor table, its code with the names of what it calls."""
    parameters = ", ".join(f"R{n} {p.name}: {p.type}" for n, p in enumerate(function.parameters))
    frame = f"{function.num_registers} registers, {function.num_slots} slots, {function.storage_bytes} bytes"
    number = program.functions.index(function)
    lines = [
        f"function f{number} @{function.name}({parameters})",
        f"  frame {frame}, {function.max_live} live",
    ]
    lines.extend(f"  tensor t{n} {_show_slot(slot)}" for n, slot in enumerate(function.tensors))
    width = len(str(len(function.instructions)))
    for at, instruction in enumerate(function.instructions):
        lines.append(
            f"  {at:{width}}  {show_instruction(instruction, 'R', '@')}{_names(program, instruction)}"
        )
    return "\n".join(lines)


def _show_slot(slot: TensorSlot) -> str:
    place = " or ".join(str(o) for o in slot.offsets)
    return f"{slot.type} {'at ' + place if place else 'owned'}"


def _show_constant(constant: Constant) -> str:
    shape = ", ".join(str(d) for d in constant.shape)
    return f"{constant.dtype}[{shape}]" + (f" late-bound {constant.name}" if constant.data is None else "")


def _names(program: Program, instruction: object) -> str:
    kernel = getattr(instruction, "kernel", None)
    if kernel is not None:
        return f"  ; {program.kernels[kernel].name}"
    function = getattr(instruction, "function", None)
    if function is not None:
        return f"  ; @{program.functions[function].name}"
    return ""


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
        f"{f.storage_bytes} bytes of storage"
        for f in program.functions
    )
    return "\n".join(lines) + "\n"
