"""Dominators: the blocks that every path to a block goes through.

(Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", 2001.)
"""

from __future__ import annotations

from regvm.ir.function import Function
from regvm.ir.order import reverse_postorder


def immediate_dominators(function: Function) -> dict[int, int]:
    """For each reachable block but the entry its closest dominator, dominators before what they dominate."""
    order = reverse_postorder(function)
    place = {block: n for n, block in enumerate(order)}
    predecessors = function.predecessors()
    closest = {0: 0}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [p for p in predecessors[block] if p in closest]
            found = known[0]
            for other in known[1:]:
                found = _common(found, other, closest, place)
            if closest.get(block) != found:
                closest[block] = found
                changed = True
    return {block: closest[block] for block in order[1:]}


def _common(a: int, b: int, closest: dict[int, int], place: dict[int, int]) -> int:
    while a != b:
        if place[a] > place[b]:
            a = closest[a]
        else:
            b = closest[b]
    return a
