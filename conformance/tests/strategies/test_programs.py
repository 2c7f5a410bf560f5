"""Drawn programs are valid by construction, ended, and the same for the same seed."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from relay_conformance.errors import BadArgumentError
from relay_conformance.fuzzing.draws import draw_programs
from relay_conformance.strategies import PROFILES, FuzzProgram, arrays, evaluate, programs, render, syntax
from relay_conformance.tvm_api import relay

SEED = 20


def type_checked(program: FuzzProgram) -> Any:
    return relay.transform.InferType()(relay.fromtext(render(program)))


@pytest.mark.parametrize("profile", PROFILES)
class TestEachProfile:
    def test_draws_pass_the_type_check(self, profile: str) -> None:
        for program in draw_programs(profile, SEED, 60):
            assert "main" in {var.name_hint for var in type_checked(program).get_global_vars()}

    @pytest.mark.slow
    def test_ten_thousand_draws_pass_the_type_check(self, profile: str) -> None:
        for program in draw_programs(profile, SEED, 10_000):
            type_checked(program)

    def test_the_same_seed_draws_the_same_programs(self, profile: str) -> None:
        first, second = (list(draw_programs(profile, SEED, 20)) for _ in range(2))
        assert first == second
        assert list(draw_programs(profile, SEED + 1, 20)) != first

    def test_inputs_fit_their_parameters(self, profile: str) -> None:
        for program in draw_programs(profile, SEED, 40):
            parameters = type_checked(program)["main"].params
            for parameter, array in zip(parameters, arrays(program), strict=True):
                declared = parameter.checked_type
                assert str(array.dtype) == declared.dtype
                sizes = [int(size) if hasattr(size, "value") else None for size in declared.shape]
                assert all(size in (None, actual) for size, actual in zip(sizes, array.shape, strict=True))

    def test_results_have_the_types_that_relay_infers(self, profile: str) -> None:
        for program in draw_programs(profile, SEED, 60):
            assert_fits(evaluate(program).value, type_checked(program)["main"].checked_type.ret_type)


def assert_fits(value: Any, type_: Any) -> None:
    if isinstance(type_, relay.TupleType):
        for field, field_type in zip(value, type_.fields, strict=True):
            assert_fits(field, field_type)
        return
    assert str(value.dtype) == type_.dtype
    sizes = [int(size) if hasattr(size, "value") else None for size in type_.shape]
    assert all(size in (None, actual) for size, actual in zip(sizes, value.shape, strict=True))


def nodes_of(node: Any) -> Iterator[Any]:
    yield node
    if hasattr(node, "__dataclass_fields__"):
        for name in node.__dataclass_fields__:
            yield from nodes_of(getattr(node, name))
    elif isinstance(node, tuple):
        for item in node:
            yield from nodes_of(item)


@pytest.mark.parametrize(
    ("profile", "kinds"),
    [
        ("int32-1x1", {syntax.If, syntax.Let, syntax.Call, syntax.Op}),
        ("control", {syntax.Lambda, syntax.Apply, syntax.Call, syntax.If}),
        ("data", {syntax.Match, syntax.Make, syntax.NewRef, syntax.ReadRef, syntax.WriteRef, syntax.Field}),
    ],
)
def test_a_profile_draws_what_it_is_for(profile: str, kinds: set[type]) -> None:
    found = {type(node) for program in draw_programs(profile, SEED, 100) for node in nodes_of(program)}
    assert kinds <= found


def test_nested_ifs_are_drawn() -> None:
    ifs = [
        node
        for p in draw_programs("int32-1x1", SEED, 100)
        for node in nodes_of(p)
        if isinstance(node, syntax.If)
    ]
    assert any(isinstance(inner, syntax.If) for node in ifs for inner in nodes_of(node.then))


def test_tensors_draws_most_of_its_operators() -> None:
    names = Counter(
        node.name
        for p in draw_programs("tensors", SEED, 200)
        for node in nodes_of(p)
        if isinstance(node, syntax.Op)
    )
    assert {
        "nn.dense",
        "sum",
        "concatenate",
        "strided_slice",
        "where",
        "floor_mod",
        "nn.conv2d",
    } <= names.keys()


def test_dynamic_programs_have_unknown_dimensions() -> None:
    assert all("?" in render(program) for program in draw_programs("dynamic", SEED, 20))


def test_outputs_vary() -> None:
    programs_ = list(draw_programs("int32-1x1", SEED, 100))
    values = {tuple(np.ravel(evaluate(program).value[0]).tolist()) for program in programs_}
    assert len(values) > 15


def test_an_unknown_profile_is_named() -> None:
    with pytest.raises(BadArgumentError, match=r"no profile nothing; choose one of int32-1x1"):
        programs("nothing")
