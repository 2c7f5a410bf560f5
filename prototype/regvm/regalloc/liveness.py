"""Which values are live where: backward kill/gen dataflow over basic blocks.

The blocks are those that the scopes of A-normal form give, so the ordinary analysis applies (Aho, Lam, Sethi,
Ullman, "Compilers", section 9.2.5). A block's parameters are killed at its start; the arguments of a jump are
used by the jump.
"""

from __future__ import annotations

from dataclasses import dataclass

from regvm import isa
from regvm.ir.function import Block, Function


@dataclass(frozen=True)
class Liveness:
    """For each block the values live at its start (its own parameters excluded) and at its end."""

    live_in: tuple[frozenset[int], ...]
    live_out: tuple[frozenset[int], ...]


def analyse(function: Function) -> Liveness:
    """Solve the dataflow equations, last block first, until nothing changes."""
    kill_gen = [_kill_and_gen(block) for block in function.blocks]
    live_in: list[frozenset[int]] = [frozenset()] * len(function.blocks)
    live_out = list(live_in)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(function.blocks))):
            successors = function.blocks[number].successors
            out: frozenset[int] = frozenset().union(*(live_in[s] for s in successors))
            kill, gen = kill_gen[number]
            before = gen | (out - kill)
            if out != live_out[number] or before != live_in[number]:
                live_out[number], live_in[number] = out, before
                changed = True
    return Liveness(tuple(live_in), tuple(live_out))


def _kill_and_gen(block: Block) -> tuple[frozenset[int], frozenset[int]]:
    kill = set(block.parameters)
    gen: set[int] = set()
    for instruction in block.instructions:
        gen.update(u.register for u in isa.uses(instruction) if u.register not in kill)
        kill.update(isa.defs(instruction))
    gen.update(a for a in block.arguments if a not in kill)
    return frozenset(kill), frozenset(gen)
