"""Strongly connected components come after all that they reach; loops are the components of blocks."""

from random import Random

import pytest

from regvm import isa
from regvm.ir.components import loops_of_blocks, strong_components
from regvm_testing.writing import block, branch, function, ret


def reached(start: int, successors: dict[int, list[int]]) -> set[int]:
    found, pending = {start}, [start]
    while pending:
        for node in successors.get(pending.pop(), []):
            if node not in found:
                found.add(node)
                pending.append(node)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_nodes_are_together_just_if_they_reach_each_other(seed: int) -> None:
    random = Random(seed)
    size = random.randint(1, 12)
    graph = {n: [random.randrange(size) for _ in range(random.randint(0, 2))] for n in range(size)}
    component = {n: c for c in strong_components(range(size), graph) for n in c}
    for a in range(size):
        for b in range(size):
            together = b in reached(a, graph) and a in reached(b, graph)
            assert (component[a] == component[b]) == together


@pytest.mark.parametrize("seed", range(20))
def test_a_component_comes_after_all_that_it_reaches(seed: int) -> None:
    random = Random(seed)
    graph = {n: [random.randrange(10) for _ in range(random.randint(0, 2))] for n in range(10)}
    order = strong_components(range(10), graph)
    place = {n: at for at, c in enumerate(order) for n in c}
    assert all(place[s] <= place[n] for n, targets in graph.items() for s in targets)


def test_only_what_the_nodes_reach_is_there() -> None:
    assert strong_components([1], {0: [1], 1: [2]}) == [(2,), (1,)]


def test_a_long_chain_takes_no_recursion() -> None:
    assert len(strong_components([0], {n: [n + 1] for n in range(20_000)})) == 20_001


def test_blocks_of_one_loop_share_its_number_and_others_have_none() -> None:
    code = function(
        block([0], isa.Jump(1)),
        block([], branch(0, 2, 3)),
        block([], isa.Jump(1)),
        block([], branch(0, 3, 4)),
        block([], ret(0)),
    )
    before, head, body, itself, after = loops_of_blocks(code)
    assert head == body is not None
    assert itself not in (None, head)
    assert before is after is None
