"""What a function allocates, tensor by tensor: where each lives, for how long, and how large it is; for reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from regvm import isa
from regvm.executable import InRegion, ParamType, TensorType
from regvm.ir.function import Function
from regvm.memory.placement import Placement, Ranges
from regvm.memory.request import ALIGNMENT, Range, round_up


@dataclass(frozen=True)
class Allocation:
    """One tensor that a function creates.

    ``ranges`` are the positions at which its storage is taken; of a tensor that owns its storage those at which
    its own value is live, since it may outlive the frame. ``offsets`` are in bytes, none if it owns its storage,
    several if buffers take turns. ``within`` is the place of a tensor whose offset is computed at run time. ``type``
    is None where not even the rank is known.
    """

    value: int
    type: TensorType | None
    ranges: tuple[Range, ...]
    offsets: tuple[int, ...]
    within: InRegion | None = None

    @property
    def num_bytes(self) -> int | None:
        """Bytes of one buffer, None if they are known only at run time."""
        return self.type.num_bytes if self.type is not None and self.type.is_static else None


def allocations(
    function: Function, placement: Placement, ranges: Ranges, types: Mapping[int, ParamType]
) -> tuple[Allocation, ...]:
    """All of them in the order of the code; ``ranges`` and ``types`` are those of the function's values."""
    found: list[Allocation] = []
    for block in function.blocks:
        for instruction in block.instructions:
            match instruction:
                case isa.Invoke(outs=outs):
                    for out in outs:
                        value, type_ = out.register, function.tensors[out.tensor]
                        live = placement.lifetimes.get(value, ranges.get(value, ()))
                        offsets = placement.offsets.get(out.tensor, ())
                        within = placement.within.get(out.tensor)
                        found.append(Allocation(value, type_, tuple(live), offsets, within))
                case isa.AllocTensor(dst=dst) | isa.Copy(dst=dst) | isa.DeviceCopy(dst=dst):
                    known = types.get(dst)
                    type_or_none = known if isinstance(known, TensorType) else None
                    found.append(Allocation(dst, type_or_none, tuple(ranges.get(dst, ())), ()))
                case _:
                    pass
    return tuple(found)


def bytes_without_sharing(placement: Placement) -> int:
    """What the arena would take if every buffer of every tensor had its own place."""
    sizes = {r.id: round_up(r.size, ALIGNMENT) for r in placement.requests}
    return sum(sizes[i] for ids in placement.buffers.values() for i in ids)
