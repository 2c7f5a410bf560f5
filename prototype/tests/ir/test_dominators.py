"""Dominators are those of the definition: the blocks without which a block cannot be reached."""

from random import Random

import pytest

from regvm import isa
from regvm.ir import Block, Function
from regvm.ir.dominators import immediate_dominators
from regvm_testing.shapes import Graph, dominators, random_graph
from regvm_testing.writing import block, branch, function, ret


def of_graph(graph: Graph) -> Function:
    def end(targets: tuple[int, ...]) -> Block:
        if len(targets) == 2:
            return block([], branch(0, *targets))
        return block([], isa.Jump(targets[0]) if targets else ret(0))

    first, *others = map(end, graph)
    return function(Block((0,), first.instructions), *others)


@pytest.mark.parametrize("seed", range(60))
def test_agrees_with_the_definition_on_any_graph(seed: int) -> None:
    graph = random_graph(Random(seed), 1 + seed % 12)
    closest = immediate_dominators(of_graph(graph))
    for number, expected in enumerate(dominators(graph)):
        found = []
        while number:
            number = closest[number]
            found.append(number)
        assert sorted(found) == sorted(expected)


def test_leaves_unreachable_blocks_out() -> None:
    assert immediate_dominators(function(block([0], ret(0)), block([], ret(0)))) == {}
