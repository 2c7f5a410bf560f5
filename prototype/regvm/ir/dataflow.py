"""Solve a forward dataflow problem over blocks.

Of the blocks that wait, the first one runs next. Blocks come after their dominators, so where there is no loop
each runs once, after all blocks before it; last in, first out would run the tail of a long chain of branches
again and again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from typing import TypeVar

S = TypeVar("S")


def solve_forward(
    entry: S, run: Callable[[int, S], Iterable[tuple[int, S]]], join: Callable[[S, S], S]
) -> dict[int, S]:
    """The state at the start of each block that is reached, from ``entry`` at block 0.

    ``run`` gives what one block passes to its successors; ``join`` must be monotone.
    """
    states = {0: entry}
    pending = [0]
    waiting = {0}
    while pending:
        number = heapq.heappop(pending)
        waiting.discard(number)
        for successor, state in run(number, states[number]):
            joined = join(states[successor], state) if successor in states else state
            if successor in states and joined == states[successor]:
                continue
            states[successor] = joined
            if successor not in waiting:
                waiting.add(successor)
                heapq.heappush(pending, successor)
    return states
