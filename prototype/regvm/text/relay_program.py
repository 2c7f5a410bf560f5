"""What the functions of a program share in Relay text: names, and declarations of kernels and constants.

Relay's text has no declarations. A kernel or constant whose content is elsewhere is declared by a function that
calls itself, which gives it a name and a type and nothing else.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regvm import isa
from regvm.executable import Constant, ParamType, TensorType
from regvm.ir.function import Module
from regvm.ir.value_types import FunctionTypes, infer
from regvm.text.relay_names import show_tuple, show_type, typed, unique_names

_LITERAL = re.compile(r"[0-9]+(\.[0-9]+)?")
_FORMATS = {"int32": ("<i", ""), "int64": ("<q", "i64"), "float32": ("<f", "f"), "float64": ("<d", "f64")}


@dataclass(frozen=True)
class Names:
    """Global names by number, without ``@``, and the types of all values.

    ``copies`` names the kernel that a copy of each type stands for.
    """

    functions: tuple[str, ...]
    kernels: tuple[str, ...]
    constants: tuple[str, ...]
    copies: Mapping[TensorType, str]
    types: tuple[FunctionTypes, ...]


def names_of(module: Module) -> Names:
    """Distinct names for all that a module numbers."""
    functions = unique_names(f.name for f in module.functions)
    kernels = unique_names((k.name for k in module.kernels), functions)
    constants = unique_names((f"constant_{n}" for n in range(len(module.constants))), (*functions, *kernels))
    types = infer(module)
    copied = _copied(module, types)
    copies = unique_names(["copy"] * len(copied), (*functions, *kernels, *constants))
    return Names(functions, kernels, constants, dict(zip(copied, copies, strict=True)), types)


def declarations(module: Module, names: Names, used: str) -> list[str]:
    """A declaration for each kernel and constant that the text ``used`` names."""
    found: list[str] = []
    for number, constant in enumerate(module.constants):
        if f"@{names.constants[number]}()" in used:
            type_ = TensorType(constant.shape, constant.dtype)
            found.append(_declaration(names.constants[number], (), type_))
    for number, (inputs, outputs) in sorted(_signatures(module, names.types).items()):
        result = (
            show_type(outputs[0]) if len(outputs) == 1 else show_tuple([show_type(o) or "" for o in outputs])
        )
        parameters = [typed(f"%p{n}", t) for n, t in enumerate(inputs)]
        found.append(_declaration_text(names.kernels[number], parameters, result))
    for type_, name in names.copies.items():
        found.append(_declaration_text(name, [typed("%p0", type_)], show_type(type_)))
    return found


def literal(constant: Constant) -> str | None:
    """A scalar as Relay's text writes it; None for what it has no short form for."""
    if constant.shape or constant.data is None:
        return None
    if constant.dtype == "bool":
        return str(constant.data != b"\0")
    if constant.dtype not in _FORMATS:
        return None
    layout, suffix = _FORMATS[constant.dtype]
    (value,) = struct.unpack(layout, constant.data)
    shown = f"{value:.9g}" if constant.dtype == "float32" else repr(value)
    # The sign and the exponent are not part of a number there.
    return f"{shown}{suffix}" if _LITERAL.fullmatch(shown) else None


def _declaration(name: str, inputs: Sequence[str], result: ParamType) -> str:
    return _declaration_text(name, inputs, show_type(result))


def _declaration_text(name: str, parameters: Sequence[str], result: str | None) -> str:
    arguments = ", ".join(p.partition(":")[0] for p in parameters)
    arrow = f" -> {result}" if result else ""
    return f"def @{name}({', '.join(parameters)}){arrow} {{ @{name}({arguments}) }}"


def _copied(module: Module, types: Sequence[FunctionTypes]) -> list[TensorType]:
    """The types of tensors that are copied, each once."""
    found = [
        known.values.get(instruction.dst)
        for function, known in zip(module.functions, types, strict=True)
        for block in function.blocks
        for instruction in block.instructions
        if isinstance(instruction, isa.Copy)
    ]
    return list(dict.fromkeys(t for t in found if isinstance(t, TensorType)))


_Signature = tuple[list[ParamType | None], list[ParamType | None]]


def _signatures(module: Module, types: Sequence[FunctionTypes]) -> dict[int, _Signature]:
    """For each kernel the types of its first use."""
    found: dict[int, _Signature] = {}
    for function, known in zip(module.functions, types, strict=True):
        for block in function.blocks:
            for instruction in block.instructions:
                match instruction:
                    case isa.Invoke(kernel=kernel, args=args, outs=outs):
                        written = [o.register for o in outs]
                    case isa.InvokeInto(kernel=kernel, args=args, dests=dests):
                        written = [d.register for d in dests]
                    case _:
                        continue
                inputs = [known.values.get(a.register) for a in args]
                found.setdefault(kernel, (inputs, [known.values.get(w) for w in written]))
    return found
