"""Print a function of the intermediate representation for people and error messages."""

from __future__ import annotations

from regvm import isa
from regvm.ir.function import Function
from regvm.isa import Kind


def show_instruction(instruction: isa.Instruction, register: str, target: str) -> str:
    """One line in the text form; ``register`` and ``target`` are the prefixes of numbers (``%``/``R``, ``b``/``@``)."""
    row = isa.row_of(instruction)
    written: list[str] = []
    rest: list[str] = []
    for name, kind in row.fields:
        value = getattr(instruction, name)
        if kind is Kind.DEF:
            written.append(f"{register}{value}")
        elif kind is Kind.OUTS:
            written.extend(f"{register}{out.register}:t{out.tensor}" for out in value)
        else:
            rest.append(_show_field(kind, value, register, target))
    head = f"{', '.join(written)} = " if written else ""
    return f"{head}{row.mnemonic} {', '.join(rest)}".rstrip()


def _show_use(use: isa.Use, register: str) -> str:
    return f"{register}{use.register}{'!' if use.last else ''}"


PREFIX = {
    Kind.CONSTANT: "c",
    Kind.KERNEL: "k",
    Kind.FUNCTION: "f",
    Kind.TENSOR: "t",
    Kind.TAG: "#",
    Kind.INDEX: ".",
    Kind.REGION: "g",
    Kind.SLOT: "s",
    Kind.DTYPE: "",
    Kind.DEVICE: "d",
}
"""What stands before the number in a field of the text form."""


def _show_field(kind: Kind, value: object, register: str, target: str) -> str:
    if kind is Kind.USE:
        assert isinstance(value, isa.Use)
        return _show_use(value, register)
    if kind is Kind.USES:
        assert isinstance(value, tuple)
        return f"({', '.join(_show_use(u, register) for u in value)})"
    if kind is Kind.TENSORS:
        assert isinstance(value, tuple)
        return f"({', '.join(f't{row}' for row in value)})"
    if kind is Kind.TARGET:
        return f"{target}{value}"
    return f"{PREFIX[kind]}{value}"


def show(function: Function) -> str:
    """The whole function, a block a paragraph."""
    lines = [f"function @{function.name}({', '.join(f'{p.name}: {p.type}' for p in function.parameters)})"]
    for number, block in enumerate(function.blocks):
        lines.append(f"b{number}({', '.join(f'%{p}' for p in block.parameters)}):")
        for instruction in block.instructions:
            text = show_instruction(instruction, "%", "b")
            if isinstance(instruction, isa.Jump):
                text += f"({', '.join(f'%{a}' for a in block.arguments)})"
            lines.append(f"  {text}")
    return "\n".join(lines)
