"""Write functions of the intermediate representation by hand, briefly."""

from __future__ import annotations

from collections.abc import Sequence

from regvm import isa
from regvm.executable import Kernel, Parameter, TensorType
from regvm.ir import Block, Function, Module

TENSOR = TensorType((16,), "float32")
"""64 bytes: one unit of alignment."""

KERNELS = tuple(Kernel(f"kernel{i}{o}", i, o) for i in range(4) for o in (1, 2))


def block(parameters: Sequence[int], *instructions: isa.Instruction, passes: Sequence[int] = ()) -> Block:
    """A block; ``passes`` are the arguments of its jump."""
    return Block(tuple(parameters), instructions, tuple(passes))


def function(*blocks: Block, name: str = "f", tensors: Sequence[TensorType] | int = 0) -> Function:
    """A function with the entry's parameters; ``tensors`` may just be how many rows of 64 bytes there are."""
    rows = (TENSOR,) * tensors if isinstance(tensors, int) else tuple(tensors)
    parameters = tuple(Parameter(f"p{n}", TENSOR) for n, _ in enumerate(blocks[0].parameters))
    values = [v for b in blocks for v in (*b.parameters, *(d for i in b.instructions for d in isa.defs(i)))]
    return Function(name, parameters, blocks, rows, max(values, default=-1) + 1)


def module(*functions: Function) -> Module:
    """A module with one kernel for each number of inputs and outputs."""
    return Module(functions, (), KERNELS)


def uses(*values: int) -> tuple[isa.Use, ...]:
    """Reads of several values."""
    return tuple(isa.Use(v) for v in values)


def invoke(out: int, row: int, *args: int) -> isa.Invoke:
    """A kernel with one output, ``%out`` in row ``row`` of the tensor table."""
    return invoke_many(((out, row),), *args)


def invoke_many(outs: Sequence[tuple[int, int]], *args: int) -> isa.Invoke:
    """A kernel with several outputs, each with its row."""
    number = next(n for n, k in enumerate(KERNELS) if (k.num_inputs, k.num_outputs) == (len(args), len(outs)))
    return isa.Invoke(number, uses(*args), tuple(isa.Out(*o) for o in outs))


def ret(value: int) -> isa.Ret:
    """Return a value."""
    return isa.Ret(isa.Use(value))


def branch(condition: int, then: int, otherwise: int) -> isa.Branch:
    """Go to one of two blocks."""
    return isa.Branch(isa.Use(condition), then, otherwise)
