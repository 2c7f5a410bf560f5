"""Functions as basic blocks with parameters.

Instructions are those of the instruction table over virtual registers; branch targets are block numbers.
There is no phi: a ``jump`` passes arguments to the parameters of its target, and only a jump may, so that
a branch edge never needs code of its own for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from regvm import isa
from regvm.executable import Constant, Kernel, Parameter, TensorType


@dataclass(frozen=True)
class Block:
    """Instructions that run in sequence; the last one ends the block.

    ``arguments`` are the values that the closing ``jump`` passes to the parameters of its target.
    """

    parameters: tuple[int, ...]
    instructions: tuple[isa.Instruction, ...]
    arguments: tuple[int, ...] = ()

    @property
    def terminator(self) -> isa.Instruction:
        """The instruction that ends the block."""
        return self.instructions[-1]

    @property
    def successors(self) -> tuple[int, ...]:
        """The blocks that may run next."""
        return isa.targets(self.terminator)


@dataclass(frozen=True)
class Function:
    """A function in SSA form: block 0 is the entry, its parameters are the function's.

    ``tensors[i]`` is the type of row ``i`` of the tensor table, which ``invoke`` and ``reshape`` name.
    """

    name: str
    parameters: tuple[Parameter, ...]
    blocks: tuple[Block, ...]
    tensors: tuple[TensorType, ...] = ()
    num_values: int = 0

    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """For each block the blocks that may run just before it."""
        found: list[list[int]] = [[] for _ in self.blocks]
        for number, block in enumerate(self.blocks):
            for successor in block.successors:
                found[successor].append(number)
        return tuple(tuple(f) for f in found)


@dataclass(frozen=True)
class Module:
    """All functions of a program, with the constants and kernels that they name by number."""

    functions: tuple[Function, ...]
    constants: tuple[Constant, ...]
    kernels: tuple[Kernel, ...]
