"""Aliases lead from tensors and parameters to all that they are called later."""

from hypothesis import given, settings

from regvm import isa
from regvm.ir import Module
from regvm.memory.aliases import aliases_of
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, invoke, ret

U = isa.Use
LOOP = function(
    block([0], invoke(1, 0, 0), isa.Jump(1), passes=[1]),
    block([2], isa.Reshape(3, U(2), 0), branch(0, 2, 3)),
    block([], invoke(4, 1, 3), isa.Jump(1), passes=[4]),
    block([], ret(3)),
    tensors=2,
)


def test_parameters_and_new_tensors_are_roots_and_nothing_else() -> None:
    assert aliases_of(LOOP).roots == {0, 1, 4}


def test_a_value_has_the_roots_that_lead_to_it() -> None:
    aliases = aliases_of(LOOP)
    assert aliases.roots_of([3]) == {1, 4}
    assert aliases.roots_of([0]) == {0}
    assert aliases.roots_of([]) == frozenset()


def test_a_root_has_the_names_that_it_leads_to_and_its_own() -> None:
    aliases = aliases_of(LOOP)
    assert aliases.names_of([1]) == {1, 2, 3}
    assert aliases.names_of([0]) == {0}


def test_facts_travel_forward_and_backward_round_loops() -> None:
    code = function(
        block([0], isa.Jump(1), passes=[0]),
        block([1], branch(1, 2, 3)),
        block([], isa.Reshape(2, U(1), 0), isa.Jump(1), passes=[2]),
        block([], ret(1)),
        tensors=1,
    )
    aliases = aliases_of(code)

    def joined(found: list[frozenset[int]]) -> frozenset[int]:
        return frozenset().union(*found)

    every = frozenset({0, 1, 2})
    assert aliases.forward(lambda v: [frozenset({v})], joined) == {0: {0}, 1: every, 2: every}
    assert aliases.backward(lambda v: [frozenset({v})], joined) == {0: every, 1: {1, 2}, 2: {1, 2}}


@settings(max_examples=25, deadline=None)
@given(modules())
def test_roots_and_names_are_the_same_relation(module: Module) -> None:
    for code in module.functions:
        aliases = aliases_of(code)
        for root in aliases.roots:
            assert all(root in aliases.roots_of([name]) for name in aliases.names_of([root]))
