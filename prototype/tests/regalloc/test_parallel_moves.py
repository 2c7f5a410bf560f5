"""Moves in sequence do what the moves at once do; a scratch register only breaks a cycle."""

import itertools
from collections.abc import Iterator, Mapping

import pytest

from regvm.regalloc.parallel_moves import sequentialise

SCRATCH = 99


def all_moves(size: int) -> Iterator[dict[int, int]]:
    """Every way to fill some of ``size`` registers from any of them, each once."""
    for sources in itertools.product([None, *range(size)], repeat=size):
        yield {dst: src for dst, src in enumerate(sources) if src is not None}


def run(moves: list[tuple[int, int]], size: int) -> dict[int, int]:
    registers = {n: n for n in range(size)}
    for dst, src in moves:
        registers[dst] = registers[src]
    return registers


def cycles(moves: Mapping[int, int]) -> int:
    """The cycles of more than one register: sources followed from a register come back to it."""
    found: set[frozenset[int]] = set()
    for start in moves:
        walked, current = [start], moves[start]
        while current in moves and current not in walked:
            walked.append(current)
            current = moves[current]
        if current == start and len(walked) > 1:
            found.add(frozenset(walked))
    return len(found)


def ordered(moves: dict[int, int]) -> tuple[list[tuple[int, int]], int]:
    asked = []

    def scratch() -> int:
        asked.append(SCRATCH)
        return SCRATCH

    return sequentialise(moves, scratch), len(asked)


@pytest.mark.parametrize("size", range(6))
def test_do_what_all_moves_of_so_many_registers_do_at_once(size: int) -> None:
    for moves in all_moves(size):
        sequence, asked = ordered(moves)
        after = run(sequence, size)
        assert {r: after[r] for r in range(size)} == {r: moves.get(r, r) for r in range(size)}
        assert asked == cycles(moves)
        assert len(sequence) == sum(d != s for d, s in moves.items()) + asked


def test_give_the_same_sequence_whatever_the_order_they_come_in() -> None:
    moves = {0: 1, 1: 0, 2: 0, 3: 4, 4: 3}
    expected = ordered(moves)
    for shuffled in itertools.permutations(moves.items()):
        assert ordered(dict(shuffled)) == expected
