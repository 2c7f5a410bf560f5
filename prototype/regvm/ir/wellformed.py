"""Check that a function is what the later passes take for granted.

Rules: every block ends with exactly one block-ending instruction; targets exist; only a jump passes
arguments, as many as its target has parameters; the entry has no predecessors and takes the function's
parameters; each value is defined once, and before each use on every path; tensor rows exist, and one creates
at most one tensor; no move, drop, spill or reload, which belong to the allocator.
"""

from __future__ import annotations

from collections.abc import Iterator

from regvm import isa
from regvm.errors import CheckError
from regvm.ir.dominators import immediate_dominators
from regvm.ir.function import Block, Function
from regvm.ir.printer import show

_ALLOCATOR_ONLY = (isa.Move, isa.Drop, isa.Spill, isa.Reload)


def check_well_formed(function: Function) -> list[str]:
    """Every violation, each with its block and instruction; empty if there is none."""
    problems = _check_shape(function)
    if problems:
        return problems
    return _check_values(function)


def assert_well_formed(function: Function) -> None:
    """Raise CheckError with the listing if the function breaks a rule."""
    problems = check_well_formed(function)
    if problems:
        raise CheckError("\n".join([f"@{function.name} is ill-formed:", *problems, show(function)]))


def _check_shape(function: Function) -> list[str]:
    problems: list[str] = []
    if not function.blocks:
        return ["no blocks"]
    if len(function.blocks[0].parameters) != len(function.parameters):
        problems.append("b0: the entry does not take the function's parameters")
    for number, block in enumerate(function.blocks):
        problems.extend(f"b{number}: {p}" for p in _check_block(function, block))
    # Storage is given to rows: two tensors of one row would get one place.
    created: set[int] = set()
    for number, instruction in _invokes(function):
        for out in instruction.outs:
            if out.tensor in created:
                problems.append(f"b{number}: tensor row {out.tensor} is created twice")
            created.add(out.tensor)
    return problems


def _invokes(function: Function) -> Iterator[tuple[int, isa.Invoke]]:
    for number, block in enumerate(function.blocks):
        yield from ((number, i) for i in block.instructions if isinstance(i, isa.Invoke))


def _check_block(function: Function, block: Block) -> list[str]:
    if not block.instructions or not isa.row_of(block.terminator).ends_block:
        return ["does not end with a block-ending instruction"]
    rows = [isa.row_of(i) for i in block.instructions]
    problems = [f"{r.mnemonic} in the middle" for r in rows[:-1] if r.ends_block]
    for instruction in block.instructions:
        if isinstance(instruction, _ALLOCATOR_ONLY):
            problems.append(f"{isa.row_of(instruction).mnemonic} before allocation")
        tensors = [o.tensor for o in instruction.outs] if isinstance(instruction, isa.Invoke) else []
        tensors += [instruction.tensor] if isinstance(instruction, isa.Reshape | isa.SetShape) else []
        tensors += instruction.tensors if isinstance(instruction, isa.PlaceTensors) else []
        problems.extend(f"no tensor row {r}" for r in tensors if not 0 <= r < len(function.tensors))
    return problems + _check_edges(function, block)


def _check_edges(function: Function, block: Block) -> list[str]:
    problems = []
    for target in block.successors:
        if not 0 < target < len(function.blocks):
            problems.append(f"goes to b{target}, which is the entry or does not exist")
        elif isinstance(block.terminator, isa.Jump):
            expected = len(function.blocks[target].parameters)
            if len(block.arguments) != expected:
                problems.append(
                    f"passes {len(block.arguments)} arguments to b{target}, which takes {expected}"
                )
        elif function.blocks[target].parameters:
            problems.append(f"branches to b{target}, which has parameters; only a jump may pass arguments")
    if block.arguments and not isinstance(block.terminator, isa.Jump):
        problems.append("passes arguments without a jump")
    return problems


def _check_values(function: Function) -> list[str]:
    problems: list[str] = []
    defined: set[int] = set()
    for number, block in enumerate(function.blocks):
        for value in _defined(block):
            if value in defined:
                problems.append(f"b{number}: %{value} is defined twice")
            defined.add(value)
    return problems + _check_order(function)


def _check_order(function: Function) -> list[str]:
    """Each use has its definition before it in its block, or in a block that dominates it.

    Walks down the tree of dominators; what a block defines is forgotten when its subtree is done.
    """
    problems: list[str] = []
    dominated: dict[int, list[int]] = {}
    for number, dominator in immediate_dominators(function).items():
        dominated.setdefault(dominator, []).append(number)
    known: set[int] = set()
    entered: list[list[int]] = []
    pending = [(0, 0)]
    while pending:
        number, depth = pending.pop()
        while len(entered) > depth:
            known.difference_update(entered.pop())
        block = function.blocks[number]
        problems.extend(f"b{number}: {p}" for p in _check_uses(block, known))
        entered.append(_defined(block))
        pending.extend((child, depth + 1) for child in reversed(dominated.get(number, [])))
    return problems


def _check_uses(block: Block, known: set[int]) -> Iterator[str]:
    """Adds what the block defines to ``known``."""
    known.update(block.parameters)
    for instruction in block.instructions:
        for use in isa.uses(instruction):
            if use.register not in known:
                yield f"%{use.register} is used where it may be undefined"
        known.update(isa.defs(instruction))
    yield from (f"argument %{a} may be undefined" for a in block.arguments if a not in known)


def _defined(block: Block) -> list[int]:
    return [*block.parameters, *(d for i in block.instructions for d in isa.defs(i))]
