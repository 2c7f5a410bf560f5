"""A program in the reference's terms, for tools and tests that read the reference's listings.

Instructions have the reference's names where it has them. An allocation that is part of a kernel call here
has a line of its own there, so it gets one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from regvm import isa
from regvm.executable import Constant, Function, Program
from regvm.ir.printer import show_instruction

_NAMES: dict[type[isa.Instruction], str] = {
    isa.Invoke: "invoke_packed",
    isa.InvokeInto: "invoke_packed",
    isa.AllocTensor: "alloc_tensor_reg",
    isa.Reshape: "reshape_tensor",
    isa.ReshapeTo: "reshape_tensor",
    isa.MakeAdt: "alloc_data",
    isa.MakeClosure: "alloc_closure",
    isa.Call: "invoke",
    isa.CallClosure: "invoke_closure",
    isa.Jump: "goto",
    isa.Branch: "if",
}

PRIMITIVE_PREFIX = "vm_mod_"


def show_bytecode(program: Program) -> str:
    """All functions."""
    return "\n".join(_show_function(n, f) for n, f in enumerate(program.functions))


def _show_function(number: int, function: Function) -> str:
    lines = [
        f"VM Function[{number}]: {function.name}({', '.join(function.params)})",
        f"# reg file size = {function.num_registers}",
        f"# instruction count = {len(function.instructions)}",
    ]
    width = len(str(len(function.instructions)))
    for at, instruction in enumerate(function.instructions):
        lines.extend(f"{at:{width}}: {text}" for text in _show(function, instruction))
    return "\n".join(lines) + "\n"


def _show(function: Function, instruction: isa.Instruction) -> Iterator[str]:
    if isinstance(instruction, isa.Invoke):
        for out in instruction.outs:
            type_ = function.tensors[out.tensor].type
            yield f"R{out.register} = alloc_tensor{'' if type_.is_static else '_reg'} {type_}"
    text = show_instruction(instruction, "R", "@")
    own = isa.row_of(instruction).mnemonic
    head, _, fields = text.rpartition(f"{own} ")
    yield f"{head}{_NAMES.get(type(instruction), own)} {fields}" if fields else text


def show_constants(constants: tuple[Constant, ...]) -> str:
    """A line each, short ones with their elements."""
    return "".join(f"VM Const[{n}]: {_show_constant(c)} on device index 0\n" for n, c in enumerate(constants))


def _show_constant(constant: Constant) -> str:
    head = f"NDArray[({','.join(str(d) for d in constant.shape)}),{constant.dtype},(1,0)]"
    if constant.data is None:
        return f"{head} late-bound {constant.name}"
    if constant.dtype == "bfloat16" or len(constant.data) > 64:
        return head
    values = np.frombuffer(constant.data, dtype=constant.dtype)
    return f"{head}=[{','.join(str(v) for v in values.tolist())}]"


def show_primitives(names: list[str]) -> str:
    """A line each."""
    return "".join(f"VM PackedFunc[{n}]: {name}\n" for n, name in enumerate(names))
