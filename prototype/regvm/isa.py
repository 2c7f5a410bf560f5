"""The instruction table: every instruction is declared here, once.

The codec, the text form, uses and definitions, the verifier and the reference pages of the RFC derive from
this table. The intermediate representation uses the same instructions over virtual registers, with block
numbers for branch targets; code generation rewrites both.
"""

from __future__ import annotations

import dataclasses
import enum
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeVar


class Use(NamedTuple):
    """A register that is read. ``last`` promises that its value is dead afterwards, so the machine lets go."""

    register: int
    last: bool = False


class Out(NamedTuple):
    """A tensor that an instruction creates: the register written, and its row in the function's tensor table."""

    register: int
    tensor: int


class Kind(enum.Enum):
    """What a field means; its value says it in words."""

    DEF = "register written"
    USE = "register read"
    USES = "registers read"
    OUTS = "registers written with new tensors"
    CONSTANT = "index of a constant"
    KERNEL = "index of a kernel"
    FUNCTION = "index of a function"
    TENSOR = "row of the function's tensor table"
    TENSORS = "rows of the function's tensor table"
    REGION = "region of the frame"
    TARGET = "instruction to go to"
    TAG = "constructor tag"
    INDEX = "field number"
    SLOT = "spill slot of the frame"
    DTYPE = "data type"
    DEVICE = "device type"


Dst = Annotated[int, Kind.DEF]
Src = Annotated[Use, Kind.USE]
Srcs = Annotated[tuple[Use, ...], Kind.USES]
Outs = Annotated[tuple[Out, ...], Kind.OUTS]
ConstantIndex = Annotated[int, Kind.CONSTANT]
KernelIndex = Annotated[int, Kind.KERNEL]
FunctionIndex = Annotated[int, Kind.FUNCTION]
TensorIndex = Annotated[int, Kind.TENSOR]
TensorIndices = Annotated[tuple[int, ...], Kind.TENSORS]
RegionIndex = Annotated[int, Kind.REGION]
Target = Annotated[int, Kind.TARGET]
Tag = Annotated[int, Kind.TAG]
FieldIndex = Annotated[int, Kind.INDEX]
SlotIndex = Annotated[int, Kind.SLOT]
Dtype = Annotated[str, Kind.DTYPE]
DeviceType = Annotated[int, Kind.DEVICE]


@dataclass(frozen=True)
class Instruction:
    """Base of all instructions."""


@dataclass(frozen=True)
class Row:
    """One row of the instruction table."""

    opcode: int
    mnemonic: str
    cls: type[Instruction]
    fields: tuple[tuple[str, Kind], ...]
    meaning: str
    ends_block: bool


ROWS: list[Row] = []
ROW_OF: dict[type[Instruction], Row] = {}
ROW_NAMED: dict[str, Row] = {}

_I = TypeVar("_I", bound=Instruction)


def _instruction(mnemonic: str, meaning: str, *, ends_block: bool = False) -> Callable[[type[_I]], type[_I]]:
    def declare(cls: type[_I]) -> type[_I]:
        if mnemonic in ROW_NAMED:
            raise TypeError(f"{mnemonic!r} stands twice in the instruction table")
        hints = typing.get_type_hints(cls, include_extras=True)
        fields = tuple((f.name, hints[f.name].__metadata__[0]) for f in dataclasses.fields(cls))
        row = Row(len(ROWS), mnemonic, cls, fields, meaning, ends_block)
        ROWS.append(row)
        ROW_OF[cls] = row
        ROW_NAMED[mnemonic] = row
        return cls

    return declare


@_instruction("move", "R[dst] := R[src]")
@dataclass(frozen=True)
class Move(Instruction):
    dst: Dst
    src: Src


@_instruction("load_const", "R[dst] := constants[constant]")
@dataclass(frozen=True)
class LoadConst(Instruction):
    dst: Dst
    constant: ConstantIndex


@_instruction("invoke", "R[outs] := new tensors as the table places them; kernels[kernel](R[args], R[outs])")
@dataclass(frozen=True)
class Invoke(Instruction):
    kernel: KernelIndex
    args: Srcs
    outs: Outs


@_instruction("invoke_into", "kernels[kernel](R[args], R[dests]), which writes the tensors in R[dests]")
@dataclass(frozen=True)
class InvokeInto(Instruction):
    kernel: KernelIndex
    args: Srcs
    dests: Srcs


@_instruction("alloc_tensor", "R[dst] := new tensor that owns its storage, of the shape that R[shape] holds")
@dataclass(frozen=True)
class AllocTensor(Instruction):
    dst: Dst
    shape: Src
    dtype: Dtype


@_instruction("shape_of", "R[dst] := the shape of R[src], an int64 vector (of a scalar, an int64 scalar)")
@dataclass(frozen=True)
class ShapeOf(Instruction):
    dst: Dst
    src: Src


@_instruction(
    "reshape", "R[dst] := the elements of R[src], shared, under the shape of the tensor table's row"
)
@dataclass(frozen=True)
class Reshape(Instruction):
    dst: Dst
    src: Src
    tensor: TensorIndex


@_instruction("reshape_to", "R[dst] := the elements of R[src], shared, under the shape that R[shape] holds")
@dataclass(frozen=True)
class ReshapeTo(Instruction):
    dst: Dst
    src: Src
    shape: Src


@_instruction("copy", "R[dst] := a copy of R[src] that owns its storage")
@dataclass(frozen=True)
class Copy(Instruction):
    dst: Dst
    src: Src


@_instruction("device_copy", "R[dst] := a copy of R[src] on the device")
@dataclass(frozen=True)
class DeviceCopy(Instruction):
    dst: Dst
    src: Src
    device: DeviceType


@_instruction("make_adt", "R[dst] := an object with the tag and the fields R[fields]; a tuple has tag 0")
@dataclass(frozen=True)
class MakeAdt(Instruction):
    dst: Dst
    tag: Tag
    fields: Srcs


@_instruction("get_field", "R[dst] := field number index of R[src]")
@dataclass(frozen=True)
class GetField(Instruction):
    dst: Dst
    src: Src
    index: FieldIndex


@_instruction("make_closure", "R[dst] := functions[function] with its last parameters bound to R[captured]")
@dataclass(frozen=True)
class MakeClosure(Instruction):
    dst: Dst
    function: FunctionIndex
    captured: Srcs


@_instruction("make_ref", "R[dst] := a new reference cell that holds R[src]")
@dataclass(frozen=True)
class MakeRef(Instruction):
    dst: Dst
    src: Src


@_instruction("read_ref", "R[dst] := what the cell R[src] holds")
@dataclass(frozen=True)
class ReadRef(Instruction):
    dst: Dst
    src: Src


@_instruction("write_ref", "the cell R[ref] holds R[src] from now on")
@dataclass(frozen=True)
class WriteRef(Instruction):
    ref: Src
    src: Src


@_instruction("call", "R[dst] := the result of functions[function] on R[args], in a new frame")
@dataclass(frozen=True)
class Call(Instruction):
    dst: Dst
    function: FunctionIndex
    args: Srcs


@_instruction("call_closure", "R[dst] := the result of the closure R[callee] on R[args], in a new frame")
@dataclass(frozen=True)
class CallClosure(Instruction):
    dst: Dst
    callee: Src
    args: Srcs


@_instruction(
    "tail_call", "goes on as functions[function] on R[args], in this frame's place", ends_block=True
)
@dataclass(frozen=True)
class TailCall(Instruction):
    function: FunctionIndex
    args: Srcs


@_instruction(
    "tail_call_closure", "goes on as the closure R[callee] on R[args], in this frame's place", ends_block=True
)
@dataclass(frozen=True)
class TailCallClosure(Instruction):
    callee: Src
    args: Srcs


@_instruction("ret", "leaves the frame; its caller's destination := R[src]", ends_block=True)
@dataclass(frozen=True)
class Ret(Instruction):
    src: Src


@_instruction("jump", "goes to target", ends_block=True)
@dataclass(frozen=True)
class Jump(Instruction):
    target: Target


@_instruction(
    "branch", "goes to then if the first byte of R[cond] is not 0, else to otherwise", ends_block=True
)
@dataclass(frozen=True)
class Branch(Instruction):
    cond: Src
    then: Target
    otherwise: Target


@_instruction("branch_tag", "goes to then if R[src] has the tag, else to otherwise", ends_block=True)
@dataclass(frozen=True)
class BranchTag(Instruction):
    src: Src
    tag: Tag
    then: Target
    otherwise: Target


@_instruction("fatal", "raises a match error: no clause fits", ends_block=True)
@dataclass(frozen=True)
class Fatal(Instruction):
    pass


@_instruction("drop", "forgets R[srcs], which are dead on this path")
@dataclass(frozen=True)
class Drop(Instruction):
    srcs: Srcs


@_instruction("spill", "S[slot] := R[src]")
@dataclass(frozen=True)
class Spill(Instruction):
    slot: SlotIndex
    src: Src


@_instruction("reload", "R[dst] := S[slot]")
@dataclass(frozen=True)
class Reload(Instruction):
    dst: Dst
    slot: SlotIndex


@_instruction("set_shape", "the tensor that the row makes next has the shape that R[shape] holds")
@dataclass(frozen=True)
class SetShape(Instruction):
    tensor: TensorIndex
    shape: Src


@_instruction(
    "place_tensors",
    "the rows' next tensors lie in the region, which is storage that nothing refers to any more, or new storage",
)
@dataclass(frozen=True)
class PlaceTensors(Instruction):
    region: RegionIndex
    tensors: TensorIndices


def row_of(instruction: Instruction) -> Row:
    """The table row of an instruction."""
    return ROW_OF[type(instruction)]


def _values(instruction: Instruction) -> Iterator[tuple[Kind, Any]]:
    for name, kind in ROW_OF[type(instruction)].fields:
        yield kind, getattr(instruction, name)


def uses(instruction: Instruction) -> tuple[Use, ...]:
    """The registers that an instruction reads, in field order."""
    found: list[Use] = []
    for kind, value in _values(instruction):
        if kind is Kind.USE:
            found.append(value)
        elif kind is Kind.USES:
            found.extend(value)
    return tuple(found)


def defs(instruction: Instruction) -> tuple[int, ...]:
    """The registers that an instruction writes, in field order."""
    found: list[int] = []
    for kind, value in _values(instruction):
        if kind is Kind.DEF:
            found.append(value)
        elif kind is Kind.OUTS:
            found.extend(out.register for out in value)
    return tuple(found)


def targets(instruction: Instruction) -> tuple[int, ...]:
    """Where an instruction may go, in field order; empty where it falls through or leaves the function."""
    return tuple(value for kind, value in _values(instruction) if kind is Kind.TARGET)


def rewrite(
    instruction: _I,
    *,
    use: Callable[[Use], Use] | None = None,
    define: Callable[[int], int] | None = None,
    target: Callable[[int], int] | None = None,
    tensor: Callable[[int], int] | None = None,
    region: Callable[[int], int] | None = None,
) -> _I:
    """The same instruction with its registers, targets, tensor rows or region replaced."""
    changes: dict[str, Any] = {}
    for name, kind in ROW_OF[type(instruction)].fields:
        value = getattr(instruction, name)
        if kind is Kind.USE and use:
            changes[name] = use(value)
        elif kind is Kind.USES and use:
            changes[name] = tuple(use(u) for u in value)
        elif kind is Kind.DEF and define:
            changes[name] = define(value)
        elif kind is Kind.OUTS:
            changes[name] = tuple(
                Out(define(o.register) if define else o.register, tensor(o.tensor) if tensor else o.tensor)
                for o in value
            )
        elif kind is Kind.TARGET and target:
            changes[name] = target(value)
        elif kind is Kind.TENSOR and tensor:
            changes[name] = tensor(value)
        elif kind is Kind.TENSORS and tensor:
            changes[name] = tuple(map(tensor, value))
        elif kind is Kind.REGION and region:
            changes[name] = region(value)
    return dataclasses.replace(instruction, **changes)
