"""Make a program of a listing: the way back from ``show_program``, and the way to write bytecode by hand.

Instructions are read by the instruction table. What is made here is still to be verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from regvm import isa
from regvm.executable import (
    Constant,
    Function,
    InRegion,
    Kernel,
    ObjectType,
    Parameter,
    ParamType,
    Program,
    TensorSlot,
    TensorType,
    TupleType,
    is_dtype,
)
from regvm.ir.printer import PREFIX
from regvm.isa import Kind
from regvm.text.listing import digest
from regvm.text.scanner import Scanner

_T = TypeVar("_T")
_ITEMS = ("function", "kernel", "constant")
_MAX_NESTING = 64


def assemble(text: str, data: Iterable[bytes] = ()) -> Program:
    """The program of a listing.

    ``data`` offers bytes for constants that are listed by their digest, such as those of the executable that was
    listed; what fits none is ignored. The number before an instruction may be left out, as may all after ``;``.
    Raises FormatError with line and column.
    """
    pool = {digest(d): d for d in data}
    functions: list[Function] = []
    constants: list[Constant] = []
    kernels: list[Kernel] = []
    for head, body in _items(text):
        if head.accept_word("function"):
            functions.append(_function(head, body, len(functions)))
        elif head.accept_word("kernel"):
            kernels.append(_kernel(head, len(kernels)))
        else:
            head.word("constant")
            constants.append(_constant(head, len(constants), pool))
    return Program(tuple(functions), tuple(constants), tuple(kernels))


def _items(text: str) -> list[tuple[Scanner, list[Scanner]]]:
    """The head line of each item, with the lines that belong to it."""
    items: list[tuple[Scanner, list[Scanner]]] = []
    # Not splitlines: what Python counts as the end of a line may stand in a quoted name.
    for number, line in enumerate(text.split("\n"), 1):
        scanner = Scanner(line, number)
        if scanner.at_end():
            continue
        if scanner.has_word(*_ITEMS):
            items.append((scanner, []))
        elif items and items[-1][0].has_word("function"):
            items[-1][1].append(scanner)
        else:
            scanner.fail(" or ".join(_ITEMS))
    return items


def _function(head: Scanner, body: list[Scanner], number: int) -> Function:
    _counted(head, "f", number)
    head.expect("@")
    name = head.name("the function's name")
    parameters: list[Parameter] = []
    _list(head, lambda: parameters.append(_parameter(head, len(parameters))))
    if not body:
        head.fail("a line 'frame N registers, N slots, N bytes, N live' after this one")
    head.end()
    registers, slots, storage, live, regions = _frame(body[0])
    tensors: list[TensorSlot] = []
    code: list[isa.Instruction] = []
    for line in body[1:]:
        if not code and line.accept_word("tensor"):
            tensors.append(_tensor_slot(line, len(tensors)))
        else:
            code.append(_instruction(line, len(code)))
        line.end()
    return Function(
        name, tuple(parameters), registers, tuple(code), tuple(tensors), storage, slots, live, regions
    )


def _counted(scanner: Scanner, prefix: str, number: int) -> None:
    """The number of an item: items are numbered from 0 in the order in which they stand."""
    if scanner.number(f"{prefix}{number}", prefix) != number:
        scanner.fail(f"{prefix}{number} before this", behind=True)


def _frame(line: Scanner) -> tuple[int, int, int, int, int]:
    line.word("frame")
    registers = line.number("the number of registers")
    line.word("registers")
    line.expect(",")
    slots = line.number("the number of spill slots")
    line.word("slots")
    line.expect(",")
    storage = line.number("the size of the arena")
    line.word("bytes")
    line.expect(",")
    live = line.number("the number of values that are live at once")
    line.word("live")
    regions = 0
    if line.accept(","):
        regions = line.number("the number of regions")
        line.word("regions")
    line.end()
    return registers, slots, storage, live, regions


def _parameter(scanner: Scanner, number: int) -> Parameter:
    _counted(scanner, "R", number)
    name = scanner.name("the parameter's name")
    scanner.expect(":")
    return Parameter(name, _type(scanner))


def _type(scanner: Scanner, depth: int = 0) -> ParamType:
    if depth > _MAX_NESTING:
        scanner.fail(f"tuple types that nest at most {_MAX_NESTING} deep")
    if scanner.has("("):
        return TupleType(_list(scanner, lambda: _type(scanner, depth + 1)))
    name = scanner.name("a type, such as float32[2, 3]")
    return _dimensions(scanner, name) if scanner.has("[") else ObjectType(name)


def _tensor_type(scanner: Scanner) -> TensorType:
    return _dimensions(scanner, scanner.name("a tensor type, such as float32[2, 3]"))


def _dimensions(scanner: Scanner, dtype: str) -> TensorType:
    if not is_dtype(dtype):
        scanner.fail(f"a data type before the dimensions, not {dtype}", behind=True)
    return TensorType(_list(scanner, lambda: _dimension(scanner), "[", "]"), dtype)


def _dimension(scanner: Scanner) -> int | None:
    return None if scanner.accept("?") else scanner.number("a dimension or ?")


def _tensor_slot(line: Scanner, number: int) -> TensorSlot:
    _counted(line, "t", number)
    type_ = _tensor_type(line)
    if line.accept_word("owned"):
        return TensorSlot(type_)
    offsets: list[int] = []
    if not line.has_word("in"):
        line.word("at", "owned", "in")
        offsets.append(line.number("an offset in bytes"))
        while line.accept_word("or"):
            offsets.append(line.number("an offset in bytes"))
    if not line.accept_word("in"):
        return TensorSlot(type_, tuple(offsets))
    region = line.number("a region", "g")
    line.expect(".")
    return TensorSlot(type_, tuple(offsets), InRegion(region, line.number("a slot of the region")))


def _kernel(head: Scanner, number: int) -> Kernel:
    _counted(head, "k", number)
    name = head.name("the kernel's name")
    head.expect("(")
    inputs = head.number("the number of inputs")
    head.expect("->")
    outputs = head.number("the number of outputs")
    head.expect(")")
    head.end()
    return Kernel(name, inputs, outputs)


def _constant(head: Scanner, number: int, pool: Mapping[str, bytes]) -> Constant:
    _counted(head, "c", number)
    type_ = _tensor_type(head)
    if not type_.is_static:
        head.fail("a type whose dimensions are all known before this", behind=True)
    name = head.name("the constant's name") if head.accept_word("named") else ""
    held = _constant_data(head, number, type_, pool)
    head.end()
    return Constant(type_.dtype, tuple(d or 0 for d in type_.shape), held, name)


def _constant_data(head: Scanner, number: int, type_: TensorType, pool: Mapping[str, bytes]) -> bytes | None:
    if head.accept_word("late-bound"):
        return None
    if head.accept("="):
        head.expect("0x")
        return head.hexadecimal("the constant's data", type_.num_bytes)
    head.word("sha256", "late-bound", "=")
    head.expect("0x")
    wanted = head.hexadecimal("the digest of the data", 32).hex()
    held = pool.get(wanted)
    if held is None or len(held) != type_.num_bytes:
        head.fail(
            f"the data of c{number}, which the listing leaves out: "
            "list all constants in full, or name the executable that holds them",
            behind=True,
        )
    return held


def _instruction(line: Scanner, number: int) -> isa.Instruction:
    """``0  R1:t0, R2 = mnemonic fields``; what is written stands before the equals sign, in field order."""
    if line.has_number() and line.number("an instruction's number") != number:
        line.fail(f"instruction number {number} before this", behind=True)
    written = _written(line)
    if not line.has_word(*isa.ROW_NAMED):
        line.fail("an instruction's mnemonic")
    row = isa.ROW_NAMED[line.name("an instruction's mnemonic")]
    values: list[Any] = []
    separated = False
    for _, kind in row.fields:
        match kind:
            case Kind.DEF:
                values.append(_take_def(line, written, row.mnemonic))
            case Kind.OUTS:
                values.append(_take_outs(line, written, row.mnemonic))
            case _:
                if separated:
                    line.expect(",")
                separated = True
                values.append(_field(line, kind))
    if written:
        line.fail(f"{row.mnemonic} to write {len(written)} registers fewer", behind=True)
    return row.cls(*values)


def _written(line: Scanner) -> list[tuple[int, int | None]]:
    """Registers before the equals sign, each with the tensor row after its colon."""
    written: list[tuple[int, int | None]] = []
    if not line.has_numbered("R"):
        return written
    while True:
        register = line.number("a register", "R")
        written.append((register, line.number("a tensor row", "t") if line.accept(":") else None))
        if not line.accept(","):
            break
    line.expect("=")
    return written


def _take_def(line: Scanner, written: list[tuple[int, int | None]], mnemonic: str) -> int:
    if not written or written[0][1] is not None:
        line.fail(f"a register before '= {mnemonic}'", behind=True)
    return written.pop(0)[0]


def _take_outs(line: Scanner, written: list[tuple[int, int | None]], mnemonic: str) -> tuple[isa.Out, ...]:
    outs = []
    for register, row in written:
        if row is None:
            line.fail(
                f"a tensor row after R{register} before '= {mnemonic}', such as R{register}:t0", behind=True
            )
        outs.append(isa.Out(register, row))
    written.clear()
    return tuple(outs)


def _field(line: Scanner, kind: Kind) -> Any:
    match kind:
        case Kind.USE:
            return _use(line)
        case Kind.USES:
            return _list(line, lambda: _use(line))
        case Kind.TENSORS:
            return _list(line, lambda: line.number("a tensor row", "t"))
        case Kind.DTYPE:
            dtype = line.name("a data type")
            if not is_dtype(dtype):
                line.fail(f"a data type, not {dtype}", behind=True)
            return dtype
        case Kind.TARGET:
            return line.number("an instruction to go to", "@")
        case _:
            return line.number(f"the {kind.value}", PREFIX[kind], signed=kind is Kind.TAG)


def _use(line: Scanner) -> isa.Use:
    return isa.Use(line.number("a register", "R"), line.accept("!"))


def _list(scanner: Scanner, item: Callable[[], _T], opening: str = "(", closing: str = ")") -> tuple[_T, ...]:
    """Items between brackets, separated by commas."""
    scanner.expect(opening)
    items: list[_T] = []
    while not scanner.accept(closing):
        if items:
            scanner.expect(",")
        items.append(item())
    return tuple(items)
