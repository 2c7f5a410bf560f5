"""Build a function block by block; used by the front end, and by tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from regvm import isa
from regvm.executable import Parameter, TensorType
from regvm.ir.function import Block, Function


@dataclass
class _OpenBlock:
    parameters: tuple[int, ...]
    instructions: list[isa.Instruction] = field(default_factory=list)
    arguments: tuple[int, ...] = ()
    ended: bool = False


class Builder:
    """Emits instructions into the current block. A new builder stands in the entry block."""

    def __init__(self, name: str, parameters: Sequence[Parameter]) -> None:
        self._name = name
        self._parameters = tuple(parameters)
        self._tensors: list[TensorType] = []
        self._num_values = 0
        self._blocks: list[_OpenBlock] = []
        self.entry_values = self.enter(self.new_block(len(self._parameters)))

    def new_value(self) -> int:
        """A virtual register that nothing defines yet."""
        self._num_values += 1
        return self._num_values - 1

    def new_block(self, num_parameters: int = 0) -> int:
        """The number of a new, empty block; ``enter`` it to fill it."""
        self._blocks.append(_OpenBlock(tuple(self.new_value() for _ in range(num_parameters))))
        return len(self._blocks) - 1

    def enter(self, block: int) -> tuple[int, ...]:
        """Go on in ``block``; returns its parameters."""
        self._current = block
        return self._blocks[block].parameters

    @property
    def current(self) -> int:
        """The block that instructions go into."""
        return self._current

    def tensor(self, type_: TensorType) -> int:
        """A new row of the tensor table."""
        self._tensors.append(type_)
        return len(self._tensors) - 1

    def emit(self, instruction: isa.Instruction) -> None:
        """Append an instruction; one that ends the block closes it."""
        block = self._blocks[self._current]
        if block.ended:
            raise ValueError(f"b{self._current} of @{self._name} has ended already")
        block.instructions.append(instruction)
        block.ended = isa.row_of(instruction).ends_block

    def jump(self, target: int, arguments: Sequence[int] = ()) -> None:
        """End the block by a jump that passes ``arguments``."""
        self.emit(isa.Jump(target))
        self._blocks[self._current].arguments = tuple(arguments)

    def finish(self) -> Function:
        """The function; the caller orders and checks it."""
        blocks = tuple(Block(b.parameters, tuple(b.instructions), b.arguments) for b in self._blocks)
        return Function(self._name, self._parameters, blocks, tuple(self._tensors), self._num_values)
