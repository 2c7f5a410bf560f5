"""Which tensors may outlive their frame, and so cannot live in its arena.

A value's *roots* are the tensors and parameters that it may share storage with: a reshape shares with its
source, a block parameter with every argument that a jump passes. A root escapes if one of its aliases is
returned, stored in an object, a closure or a reference, or passed to a call that lets it escape. Calls are
solved together, as a least fixed point over the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regvm import isa
from regvm.ir.function import Function, Module

Roots = dict[int, frozenset[int]]


@dataclass(frozen=True)
class Escape:
    """Of one function: the roots of each value, the roots that escape, and the numbers of such parameters."""

    roots: Roots
    escaping: frozenset[int]
    parameters: frozenset[int]


def analyse(module: Module) -> tuple[Escape, ...]:
    """The escape facts of every function of the module."""
    roots = [_roots(f) for f in module.functions]
    callers = _callers(module)
    parameters = [frozenset[int]()] * len(module.functions)
    found: list[_Escaping] = [_NOTHING] * len(module.functions)
    # Callees mostly come after their callers.
    pending = list(range(len(module.functions)))
    waiting = set(pending)
    while pending:
        number = pending.pop()
        waiting.discard(number)
        function = module.functions[number]
        found[number] = _escaping(function, roots[number], parameters)
        own = (
            n for n, p in enumerate(function.blocks[0].parameters) if p in found[number].through_parameters
        )
        claim = frozenset(own)
        if claim != parameters[number]:
            parameters[number] = claim
            again = [c for c in callers[number] if c not in waiting]
            pending.extend(again)
            waiting.update(again)
    return tuple(
        Escape(r, e.through_parameters | e.by_tail_call, p)
        for r, e, p in zip(roots, found, parameters, strict=True)
    )


def _callers(module: Module) -> list[list[int]]:
    """For each function those that call it by number."""
    found: list[list[int]] = [[] for _ in module.functions]
    for number, function in enumerate(module.functions):
        calls = {
            i.function
            for b in function.blocks
            for i in b.instructions
            if isinstance(i, isa.Call | isa.TailCall)
        }
        for callee in sorted(calls):
            found[callee].append(number)
    return found


def _roots(function: Function) -> Roots:
    """A parameter or a new tensor is its own root; an alias has the roots of all that it may be."""
    found: dict[int, set[int]] = {p: set() for p in function.blocks[0].parameters}
    aliases: dict[int, list[int]] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            match instruction:
                case isa.Invoke(outs=outs):
                    found.update((o.register, set()) for o in outs)
                case isa.AllocTensor(dst):
                    found[dst] = set()
                case isa.Reshape(dst, src) | isa.ReshapeTo(dst, src):
                    aliases.setdefault(src.register, []).append(dst)
        if isinstance(block.terminator, isa.Jump):
            parameters = function.blocks[block.terminator.target].parameters
            for parameter, argument in zip(parameters, block.arguments, strict=True):
                aliases.setdefault(argument, []).append(parameter)
    # Root by root, so that the work is that of writing the result down.
    for root in list(found):
        pending = [root]
        while pending:
            value = pending.pop()
            known = found.setdefault(value, set())
            if root not in known:
                known.add(root)
                pending.extend(aliases.get(value, ()))
    return {value: frozenset(roots) for value, roots in found.items()}


@dataclass(frozen=True)
class _Escaping:
    through_parameters: frozenset[int]
    by_tail_call: frozenset[int]


_NOTHING = _Escaping(frozenset(), frozenset())


def _escaping(function: Function, roots: Roots, parameters: list[frozenset[int]]) -> _Escaping:
    """What escapes if the functions of the module let just ``parameters`` escape.

    A tail call ends the frame, so this frame's tensors that it passes must not live there; but what the caller
    handed in lives on in the caller's frame.
    """
    out: set[int] = set()
    ended: set[int] = set()
    for block in function.blocks:
        for instruction in block.instructions:
            out.update(escaping_uses(instruction, parameters))
            if isinstance(instruction, isa.TailCall):
                ended.update(u.register for u in instruction.args)
    own = frozenset().union(*(roots.get(v, frozenset()) for v in ended)) - set(function.blocks[0].parameters)
    return _Escaping(frozenset().union(*(roots.get(v, frozenset()) for v in out)), own)


def escaping_uses(instruction: isa.Instruction, parameters: Sequence[frozenset[int]]) -> list[int]:
    """The values that an instruction stores or returns; ``parameters`` are those that each function lets escape."""
    match instruction:
        case isa.Ret(src) | isa.MakeRef(src=src) | isa.WriteRef(src=src):
            return [src.register]
        case isa.MakeAdt(fields=stored) | isa.MakeClosure(captured=stored):
            return [u.register for u in stored]
        case isa.Call(function=callee, args=args) | isa.TailCall(function=callee, args=args):
            return [u.register for n, u in enumerate(args) if n in parameters[callee]]
        case isa.CallClosure(args=args) | isa.TailCallClosure(args=args):
            return [u.register for u in args]
        case _:
            return []
