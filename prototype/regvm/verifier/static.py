"""Rules that an instruction or a table keeps by itself: numbers in range, arities, tensors that fit."""

from __future__ import annotations

from collections.abc import Iterator

from regvm import isa
from regvm.executable import ALIGNMENT, Function, Program, TensorSlot, TensorType, is_dtype
from regvm.isa import Kind
from regvm.verifier.rules import Broken, Rule


def check_constants(program: Program) -> Iterator[str]:
    """What is wrong with the constants."""
    for number, constant in enumerate(program.constants):
        if not is_dtype(constant.dtype):
            yield f"c{number}: {constant.dtype!r} is no data type"
        elif constant.data is not None:
            wanted = TensorType(constant.shape, constant.dtype).num_bytes
            if len(constant.data) != wanted:
                yield f"c{number}: {constant!r} does not hold {wanted} bytes"


def check_function(program: Program, function: Function) -> Iterator[tuple[int, Rule, str]]:
    """Each violation with its instruction, -1 for the function as a whole."""
    for rule, message in (*_frame(function), *_tensor_table(function)):
        yield -1, rule, message
    code = function.instructions
    if not code or not isa.row_of(code[-1]).ends_block:
        yield len(code) - 1, Rule.END, "the code runs off its end"
    for at, instruction in enumerate(code):
        for check in (_fields(program, function, instruction), _arity(program, instruction)):
            yield from ((at, rule, message) for rule, message in check)
        yield from ((at, rule, message) for rule, message in _dynamic_rows(function, instruction))


def _frame(function: Function) -> Iterator[Broken]:
    """A frame is as large as its code needs: a count of its own could ask for more memory than there is."""
    parameters, registers = len(function.parameters), function.num_registers
    if parameters > registers:
        yield Rule.REGISTER, f"{parameters} parameters for {registers} registers"
    written = parameters + sum(len(isa.defs(i)) for i in function.instructions)
    if registers > written:
        yield Rule.REGISTER, f"{registers} registers, of which at most {written} are ever written"
    spills = sum(isinstance(i, isa.Spill) for i in function.instructions)
    if not 0 <= function.num_slots <= spills:
        yield Rule.SLOT, f"{function.num_slots} slots for {spills} spills"
    placings = sum(isinstance(i, isa.PlaceTensors) for i in function.instructions)
    if not 0 <= function.num_regions <= placings:
        yield Rule.REGION, f"{function.num_regions} regions, which are placed {placings} times"


def _tensor_table(function: Function) -> Iterator[Broken]:
    if function.storage_bytes < 0:
        yield Rule.TENSOR, f"an arena of {function.storage_bytes} bytes"
    for row, slot in enumerate(function.tensors):
        if not is_dtype(slot.type.dtype):
            yield Rule.TENSOR, f"t{row}: {slot.type.dtype!r} is no data type"
            continue
        if slot.offsets and not slot.type.is_static:
            yield Rule.TENSOR, f"t{row}: {slot.type} has no static size and cannot live in the arena"
            continue
        if slot.within is not None:
            yield from ((Rule.TENSOR, f"t{row}: {message}") for message in _in_region(function, slot))
        for offset in slot.offsets:
            if offset % ALIGNMENT or offset < 0:
                yield Rule.TENSOR, f"t{row}: offset {offset} is not a multiple of {ALIGNMENT}"
            if offset + slot.type.num_bytes > function.storage_bytes:
                yield (
                    Rule.TENSOR,
                    f"t{row}: {slot.type} at {offset} leaves the arena of {function.storage_bytes} bytes",
                )


def _in_region(function: Function, slot: TensorSlot) -> Iterator[str]:
    assert slot.within is not None
    if slot.type.is_static:
        yield f"{slot.type} has a static size and cannot live in a region"
    if not 0 <= slot.within.region < function.num_regions:
        yield f"region {slot.within.region}, of {function.num_regions}"
    # A region has no more slots than tensors; its size is a sum over slots.
    if not 0 <= slot.within.slot < len(function.tensors):
        yield f"slot {slot.within.slot} of a region, for {len(function.tensors)} tensors"


def _fields(program: Program, function: Function, instruction: isa.Instruction) -> Iterator[Broken]:
    limits = {
        Kind.DEF: (Rule.REGISTER, "R", function.num_registers),
        Kind.CONSTANT: (Rule.INDEX, "constant ", len(program.constants)),
        Kind.KERNEL: (Rule.INDEX, "kernel ", len(program.kernels)),
        Kind.FUNCTION: (Rule.INDEX, "function ", len(program.functions)),
        Kind.TENSOR: (Rule.INDEX, "tensor row ", len(function.tensors)),
        Kind.TARGET: (Rule.TARGET, "instruction ", len(function.instructions)),
        Kind.SLOT: (Rule.SLOT, "slot ", function.num_slots),
        Kind.REGION: (Rule.REGION, "region ", function.num_regions),
    }
    registers = [u.register for u in isa.uses(instruction)]
    for name, kind in isa.row_of(instruction).fields:
        value = getattr(instruction, name)
        if kind in limits:
            rule, what, limit = limits[kind]
            if not 0 <= value < limit:
                yield rule, f"{name} is {what}{value}, of {limit}"
        elif kind in (Kind.OUTS, Kind.TENSORS):
            rows = value
            if kind is Kind.OUTS:
                registers.extend(o.register for o in value)
                rows = [o.tensor for o in value]
            yield from (
                (Rule.INDEX, f"no tensor row {row}") for row in rows if not 0 <= row < len(function.tensors)
            )
        elif kind is Kind.INDEX and value < 0:
            yield Rule.INDEX, f"{name} is {value}"
        elif kind is Kind.DTYPE and not is_dtype(value):
            yield Rule.TENSOR, f"{value!r} is no data type"
    for register in registers:
        if not 0 <= register < function.num_registers:
            yield Rule.REGISTER, f"R{register}, of {function.num_registers}"


def _arity(program: Program, instruction: isa.Instruction) -> Iterator[Broken]:
    match instruction:
        case isa.Call(function=callee, args=args) | isa.TailCall(function=callee, args=args):
            if 0 <= callee < len(program.functions):
                wanted = len(program.functions[callee].parameters)
                if len(args) != wanted:
                    yield (
                        Rule.ARITY,
                        f"{len(args)} arguments for @{program.functions[callee].name}, which takes {wanted}",
                    )
        case isa.MakeClosure(function=callee, captured=captured):
            if 0 <= callee < len(program.functions) and len(captured) > len(
                program.functions[callee].parameters
            ):
                yield (
                    Rule.ARITY,
                    f"binds {len(captured)} values, more than @{program.functions[callee].name} takes",
                )
        case isa.Invoke(kernel=kernel, args=args, outs=outs):
            yield from _kernel_arity(program, kernel, len(args), len(outs))
            if len({o.register for o in outs}) != len(outs):
                yield Rule.OUTS, "two results in one register"
        case isa.InvokeInto(kernel=kernel, args=args, dests=dests):
            yield from _kernel_arity(program, kernel, len(args), len(dests))


def _kernel_arity(program: Program, number: int, inputs: int, outputs: int) -> Iterator[Broken]:
    if 0 <= number < len(program.kernels):
        kernel = program.kernels[number]
        if (kernel.num_inputs, kernel.num_outputs) != (inputs, outputs):
            yield (
                Rule.ARITY,
                f"{inputs} inputs and {outputs} outputs for {kernel.name}, "
                f"which has {kernel.num_inputs} and {kernel.num_outputs}",
            )


def _dynamic_rows(function: Function, instruction: isa.Instruction) -> Iterator[Broken]:
    rows = function.tensors
    match instruction:
        case isa.SetShape(row) if 0 <= row < len(rows) and rows[row].type.is_static:
            yield Rule.TENSOR, f"sets the shape of t{row}, which is static"
        case isa.PlaceTensors(region, placed):
            if len(set(placed)) != len(placed):
                yield Rule.REGION, "places a tensor twice"
            for row in placed:
                within = rows[row].within if 0 <= row < len(rows) else None
                if within is None or within.region != region:
                    yield Rule.REGION, f"places t{row}, whose place is not in region {region}"
        case _:
            pass
