"""Turn moves that happen at once into moves that happen one after the other.

A jump passes all its arguments at the same time. Moves whose destination nobody still reads go first; what
remains are cycles, each broken by one scratch register. (Rideau, Serpette and Leroy, "Tilting at windmills
with Coq", 2008.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping


def sequentialise(moves: Mapping[int, int], scratch: Callable[[], int]) -> list[tuple[int, int]]:
    """Order ``{destination: source}``; ``scratch()`` gives a register that is free here, asked for only in a cycle.

    Returns pairs (destination, source).
    """
    pending = {dst: src for dst, src in moves.items() if dst != src}
    readers: dict[int, int] = {}
    for src in pending.values():
        readers[src] = readers.get(src, 0) + 1
    ready = sorted((d for d in pending if not readers.get(d)), reverse=True)
    ordered: list[tuple[int, int]] = []
    while pending:
        if ready:
            dst = ready.pop()
            src = pending.pop(dst)
            ordered.append((dst, src))
            readers[src] -= 1
            if not readers[src] and src in pending:
                ready.append(src)
        else:
            dst = min(pending)
            spare = scratch()
            ordered.append((spare, dst))
            for other, src in pending.items():
                if src == dst:
                    pending[other] = spare
            readers[spare] = readers.pop(dst)
            ready.append(dst)
    return ordered
