"""A tensor escapes if it, or what shares its storage, may outlive the frame."""

import pytest
from hypothesis import given, settings

from regvm import isa
from regvm.ir import Block, Function, Module
from regvm.memory.escape import analyse
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, invoke, invoke_many, module, ret, uses

U = isa.Use
MADE = invoke(1, 0, 0)
"""``%1`` is a new tensor, computed from parameter ``%0``."""


def escaping(*instructions: isa.Instruction, rows: int = 1, others: tuple[Function, ...] = ()) -> set[int]:
    code = function(block([0], *instructions), tensors=rows)
    return set(analyse(module(code, *others))[0].escaping)


@pytest.mark.parametrize(
    "leaving",
    [
        [ret(1)],
        [isa.MakeAdt(2, 0, uses(1)), ret(0)],
        [isa.MakeClosure(2, 0, uses(1)), ret(0)],
        [isa.MakeRef(2, U(1)), ret(0)],
        [isa.MakeRef(2, U(0)), isa.WriteRef(U(2), U(1)), ret(0)],
        [isa.CallClosure(2, U(0), uses(1)), ret(0)],
        [isa.TailCallClosure(U(0), uses(1))],
        [isa.Reshape(2, U(1), 0), ret(2)],
        [isa.ReshapeTo(2, U(1), U(0)), isa.MakeAdt(3, 0, uses(2)), ret(0)],
    ],
    ids=[
        "returned",
        "in a tuple",
        "captured by a closure",
        "in a new cell",
        "written to a cell",
        "passed to a closure",
        "passed on to a closure",
        "reshaped and returned",
        "reshaped and stored",
    ],
)
def test_escapes_if(leaving: list[isa.Instruction]) -> None:
    assert 1 in escaping(MADE, *leaving)


@pytest.mark.parametrize(
    "staying",
    [
        [ret(0)],
        [invoke(2, 1, 1), ret(2)],
        [isa.Copy(2, U(1)), ret(2)],
        [isa.DeviceCopy(2, U(1), 1), ret(2)],
        [isa.ShapeOf(2, U(1)), ret(2)],
        [isa.Reshape(2, U(1), 0), invoke(3, 1, 2), ret(3)],
        [isa.ReadRef(2, U(1)), ret(2)],
        [isa.GetField(2, U(1), 0), ret(2)],
    ],
    ids=[
        "unused",
        "read",
        "copied",
        "copied to a device",
        "measured",
        "reshaped and read",
        "a cell",
        "a tuple",
    ],
)
def test_stays_if_only(staying: list[isa.Instruction]) -> None:
    assert 1 not in escaping(MADE, *staying, rows=2)


def test_one_output_of_several_escapes_alone() -> None:
    assert escaping(invoke_many([(1, 0), (2, 1)], 0), ret(2), rows=2) == {2}


def test_follows_arguments_into_block_parameters_round_a_loop() -> None:
    code = function(
        block([0], invoke(1, 0, 0), isa.Jump(1), passes=[1]),
        block([2], branch(2, 2, 3)),
        block([], invoke(3, 1, 2), isa.Jump(1), passes=[3]),
        block([], ret(2)),
        tensors=2,
    )
    (facts,) = analyse(module(code))
    assert facts.aliases.roots_of([2]) == {1, 3}
    assert facts.escaping == {1, 3}


def returning_second() -> Function:
    return function(block([0, 1], isa.Reshape(2, U(1), 0), ret(2)), name="second", tensors=1)


def test_escapes_through_the_parameter_that_a_callee_returns_and_no_other() -> None:
    both = [invoke(2, 1, 0), isa.Call(3, 1, uses(1, 2)), ret(0)]
    assert escaping(MADE, *both, rows=2, others=(returning_second(),)) == {0, 2}


def test_a_callee_states_the_parameters_that_it_lets_escape() -> None:
    (facts,) = analyse(module(returning_second()))
    assert facts.parameters == {1}


def ping(name: str, other: int, end: Block) -> Function:
    """Calls function ``other`` with its parameters swapped, or ends."""
    return function(
        block([0, 1], branch(0, 1, 2)),
        block([], isa.Call(2, other, uses(1, 0)), ret(2)),
        end,
        name=name,
    )


def test_solves_mutual_recursion_as_a_least_fixed_point() -> None:
    quiet = block([], isa.Copy(3, U(0)), ret(3))
    facts = analyse(module(ping("a", 1, quiet), ping("b", 0, quiet)))
    assert [f.parameters for f in facts] == [frozenset(), frozenset()]


def test_carries_what_one_of_them_returns_to_all_of_them() -> None:
    quiet, loud = block([], isa.Copy(3, U(0)), ret(3)), block([], ret(0))
    facts = analyse(module(ping("a", 1, quiet), ping("b", 0, loud)))
    # b returns its first; a swaps, so its second escapes there, and so on round.
    assert [f.parameters for f in facts] == [{1}, {0}]


def test_carries_facts_up_a_long_chain_of_calls() -> None:
    length = 300
    links = [
        function(block([0], isa.Call(1, n + 1, uses(0)), isa.Copy(2, U(1)), ret(2)), name=f"f{n}")
        for n in range(length)
    ]
    last = function(block([0], ret(0)), name="last")
    assert all(f.parameters == {0} for f in analyse(module(*links, last)))


def test_what_a_tail_call_passes_must_not_be_in_the_frame_that_ends() -> None:
    reader = function(block([0], isa.Copy(1, U(0)), ret(1)), name="reader")
    facts = analyse(module(function(block([0], MADE, isa.TailCall(1, uses(1))), tensors=1), reader))[0]
    assert facts.escaping == {1}


def test_a_tail_call_leaves_what_the_caller_handed_in_where_it_is() -> None:
    reader = function(block([0], isa.Copy(1, U(0)), ret(1)), name="reader")
    facts = analyse(module(function(block([0], isa.TailCall(1, uses(0)))), reader))[0]
    assert facts.parameters == frozenset()


def test_a_tail_call_lets_escape_what_its_callee_does() -> None:
    keeper = function(block([0], ret(0)), name="keeper")
    facts = analyse(module(function(block([0], isa.TailCall(1, uses(0)))), keeper))[0]
    assert facts.parameters == {0}


@settings(max_examples=25, deadline=None)
@given(modules())
def test_every_tensor_and_parameter_is_its_own_root_and_roots_flow_along_aliases(mod: Module) -> None:
    for code, facts in zip(mod.functions, analyse(mod), strict=True):
        for each in code.blocks:
            for instruction in each.instructions:
                if isinstance(instruction, isa.Invoke):
                    assert all(facts.aliases.roots_of([o.register]) == {o.register} for o in instruction.outs)
                if isinstance(instruction, isa.Reshape | isa.ReshapeTo):
                    source = facts.aliases.roots_of([instruction.src.register])
                    assert facts.aliases.roots_of([instruction.dst]) == source
            if isinstance(each.terminator, isa.Jump):
                parameters = code.blocks[each.terminator.target].parameters
                for parameter, argument in zip(parameters, each.arguments, strict=True):
                    source = facts.aliases.roots_of([argument])
                    assert source <= facts.aliases.roots_of([parameter])
