"""Every rule of well-formedness is checked, and nothing well formed is refused."""

import dataclasses

import pytest
from hypothesis import given, settings

from regvm import isa
from regvm.errors import CheckError
from regvm.executable import Parameter
from regvm.ir import Function, Module
from regvm.ir.wellformed import assert_well_formed, check_well_formed
from regvm_testing.programs import modules
from regvm_testing.writing import TENSOR, block, branch, function, invoke, invoke_many, ret, uses

BROKEN = {
    "no blocks": (Function("f", (), ()), "no blocks"),
    "an entry without the function's parameters": (
        dataclasses.replace(function(block([], isa.Fatal())), parameters=(Parameter("x", TENSOR),)),
        "does not take the function's parameters",
    ),
    "an empty block": (function(block([])), "does not end"),
    "a block without an end": (function(block([0], isa.Copy(1, isa.Use(0)))), "does not end"),
    "an end in the middle": (function(block([0], ret(0), ret(0))), "ret in the middle"),
    "a target that does not exist": (function(block([], isa.Jump(1))), "goes to b1"),
    "a negative target": (function(block([], isa.Jump(-1))), "goes to b-1"),
    "the entry as a target": (function(block([0], isa.Jump(0), passes=[0])), "goes to b0"),
    "too few arguments": (function(block([0], isa.Jump(1)), block([1], ret(1))), "passes 0 arguments"),
    "too many arguments": (
        function(block([0], isa.Jump(1), passes=[0]), block([], ret(0))),
        "passes 1 arguments",
    ),
    "a branch to a block with parameters": (
        function(block([0], branch(0, 1, 2)), block([1], ret(1)), block([], ret(0))),
        "only a jump may pass",
    ),
    "arguments without a jump": (function(block([0], ret(0), passes=[0])), "without a jump"),
    "a value defined twice": (
        function(block([0], isa.Copy(0, isa.Use(0)), ret(0))),
        "%0 is defined twice",
    ),
    "two outputs in one value": (
        function(block([], invoke_many([(0, 0), (0, 1)]), ret(0)), tensors=2),
        "%0 is defined twice",
    ),
    "a use before its definition": (
        function(block([0], isa.Copy(1, isa.Use(2)), isa.Copy(2, isa.Use(0)), ret(1))),
        "%2 is used",
    ),
    "a use of what only one branch defines": (
        function(
            block([0], branch(0, 1, 2)),
            block([], isa.Copy(1, isa.Use(0)), isa.Jump(3)),
            block([], isa.Jump(3)),
            block([], ret(1)),
        ),
        "b3: %1 is used",
    ),
    "an argument that may be undefined": (
        function(block([0], isa.Jump(1), passes=[7]), block([1], ret(1))),
        "argument %7",
    ),
    "a tensor row that does not exist": (function(block([], invoke(0, 0), ret(0))), "no tensor row 0"),
    "a reshape to a row that does not exist": (
        function(block([0], isa.Reshape(1, isa.Use(0), 3), ret(1)), tensors=3),
        "no tensor row 3",
    ),
    "a row that is created twice": (
        function(block([], invoke(0, 0), invoke(1, 0, 0), ret(1)), tensors=1),
        "row 0 is created twice",
    ),
    "a move": (function(block([0], isa.Move(1, isa.Use(0)), ret(1))), "move before allocation"),
    "a drop": (function(block([0], isa.Drop(uses(0)), ret(0))), "drop before allocation"),
    "a spill": (function(block([0], isa.Spill(0, isa.Use(0)), ret(0))), "spill before allocation"),
    "a reload": (function(block([0], isa.Reload(1, 0), ret(0))), "reload before allocation"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_objects_to(name: str) -> None:
    broken, message = BROKEN[name]
    problems = check_well_formed(broken)
    assert any(message in p for p in problems), problems


def test_raises_with_the_listing_and_every_violation() -> None:
    broken = function(block([0], isa.Copy(1, isa.Use(5)), isa.Copy(2, isa.Use(6)), ret(1)))
    with pytest.raises(CheckError, match=r"(?s)@f is ill-formed.*%5.*%6.*function @f") as raised:
        assert_well_formed(broken)
    assert str(raised.value).count("may be undefined") == 2


def test_says_nothing_of_the_uses_in_a_block_that_no_path_reaches() -> None:
    assert check_well_formed(function(block([0], ret(0)), block([], ret(9)))) == []


def test_accepts_what_a_dominator_defines_around_a_loop() -> None:
    looping = function(
        block([0], isa.Copy(1, isa.Use(0)), isa.Jump(1)),
        block([], branch(1, 1, 2)),
        block([], ret(1)),
    )
    assert check_well_formed(looping) == []


@settings(max_examples=40, deadline=None)
@given(modules())
def test_accepts_random_functions(module: Module) -> None:
    for each in module.functions:
        assert_well_formed(each)
