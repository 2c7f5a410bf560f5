"""Strongly connected components of a graph, each after all that it can reach.

(Tarjan, "Depth-first search and linear graph algorithms", 1972; iterative.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from regvm.ir.function import Function


def strong_components(nodes: Iterable[int], successors: Mapping[int, Sequence[int]]) -> list[tuple[int, ...]]:
    """The components of what the nodes reach; ``successors`` may leave out nodes that have none."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    closed: set[int] = set()
    found: list[tuple[int, ...]] = []
    for root in nodes:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        work = [(root, iter(successors.get(root, ())))]
        while work:
            node, following = work[-1]
            for successor in following:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    open_nodes.append(successor)
                    work.append((successor, iter(successors.get(successor, ()))))
                    break
                if successor not in closed:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = len(open_nodes) - 1
                    while open_nodes[at] != node:
                        at -= 1
                    found.append(tuple(open_nodes[at:]))
                    closed.update(found[-1])
                    del open_nodes[at:]
    return found


def loops_of_blocks(function: Function) -> list[int | None]:
    """For each block the number of the outermost loop that it is in, or None."""
    successors = {n: b.successors for n, b in enumerate(function.blocks)}
    found: list[int | None] = [None] * len(function.blocks)
    for component in strong_components([0], successors):
        if len(component) > 1 or component[0] in successors[component[0]]:
            for member in component:
                found[member] = component[0]
    return found
