"""Random control flow: a graph of blocks in which every block is reached and each comes after its dominators."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

Graph = tuple[tuple[int, ...], ...]
"""For each block its successors, at most two."""


def random_graph(random: Random, num_blocks: int) -> Graph:
    """Branches, joins, loops (irreducible ones too), critical edges, branches with both targets the same.

    A spanning tree in which parents come first makes every block reachable, and its order one in which
    dominators come first.
    """
    successors: list[list[int]] = [[] for _ in range(num_blocks)]
    parents = [0] * num_blocks
    for block in range(1, num_blocks):
        open_blocks = [b for b in range(block) if len(successors[b]) < 2]
        parents[block] = random.choice(open_blocks[-3:])
        successors[parents[block]].append(block)
    for block in range(1, num_blocks):
        if not successors[block] and random.random() < 0.5:
            successors[block].append(_loop_header(random, successors, parents, block))
    for block in range(num_blocks):
        if num_blocks > 1 and len(successors[block]) < 2 and random.random() < 0.3:
            successors[block].append(random.randrange(1, num_blocks))
    for targets in successors:
        if len(targets) == 2 and random.random() < 0.5:
            targets.reverse()
    return tuple(map(tuple, successors))


def _loop_header(random: Random, successors: list[list[int]], parents: list[int], block: int) -> int:
    """An ancestor to go back to, mostly one that is only jumped to, since such a block may have parameters."""
    ancestors = [block]
    while parents[ancestors[-1]]:
        ancestors.append(parents[ancestors[-1]])
    jumped_to = [a for a in ancestors if len(successors[parents[a]]) == 1]
    return random.choice(jumped_to if jumped_to and random.random() < 0.9 else ancestors)


def predecessors(graph: Sequence[Sequence[int]]) -> list[list[int]]:
    """For each block the blocks that go to it, once an edge."""
    found: list[list[int]] = [[] for _ in graph]
    for block, targets in enumerate(graph):
        for target in targets:
            found[target].append(block)
    return found


def dominators(graph: Sequence[Sequence[int]]) -> list[list[int]]:
    """For each block those without which it cannot be reached, by the definition; itself left out."""
    found: list[list[int]] = [[] for _ in graph]
    for removed in range(len(graph)):
        seen = {removed}
        pending = [0] if removed else []
        while pending:
            block = pending.pop()
            if block not in seen:
                seen.add(block)
                pending.extend(graph[block])
        for block in range(len(graph)):
            if block not in seen:
                found[block].append(removed)
    return found
