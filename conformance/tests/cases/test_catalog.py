"""The tables hold what the suite promises: enough cases, differing in kind, with seeded and varying inputs."""

from collections import Counter

import numpy as np
import pytest

from relay_conformance.cases import catalog
from relay_conformance.cases.case import Case, FeedRefusal, Form, ImportRefusal, table
from relay_conformance.cases.operands import Role, Shuffled, fixed, given, make, tensor

CASES = tuple(case for cases in catalog.families().values() for case in cases)


def test_there_are_two_thousand_graph_cases() -> None:
    assert len(CASES) >= 2000


def test_one_case_in_ten_is_negative() -> None:
    negative = [case for case in CASES if case.refusal is not None]
    assert len(negative) * 10 >= len(CASES)
    kinds = {type(case.refusal) for case in negative}
    assert kinds == {ImportRefusal, FeedRefusal}


def test_every_id_stands_for_one_case() -> None:
    assert max(Counter(case.id for case in CASES).values()) == 1


def test_a_fed_case_comes_in_both_forms() -> None:
    """Unless a dimension is open or a feed refused, which needs a placeholder, or the table says which form."""
    for case in CASES:
        opened = any(operand.open_dimensions for operand in case.operands.values())
        if case.fed and not opened and case.only is None and not isinstance(case.refusal, FeedRefusal):
            assert case.forms == tuple(Form), case.id
        else:
            assert len(case.forms) == 1, case.id


def test_inputs_are_the_same_in_every_process() -> None:
    (case,) = (case for case in CASES if case.id == "AddV2-same-shape")
    x = make(case.operands["x"], f"{case.id}/x")
    np.testing.assert_allclose(x[0, :2], EXPECTED_START, rtol=1e-6)


EXPECTED_START = (-8.593734, -6.737667)


@pytest.mark.parametrize("family", catalog.FAMILIES)
def test_inputs_vary(family: str) -> None:
    """A drawn operand of several elements holds at least two values."""
    for case in catalog.families()[family]:
        for name, operand in case.operands.items():
            array = make(operand, f"{case.id}/{name}")
            assert array.shape == operand.shape
            assert str(array.dtype) == operand.dtype
            if operand.role is Role.FED and array.size > 12 and operand.dtype != "bool":
                assert len(np.unique(array)) > 1, f"{case.id}/{name}"


def test_two_operands_of_one_case_differ() -> None:
    x = tensor(8)
    assert not np.array_equal(make(x, "case/x"), make(x, "case/y"))


def test_shuffled_values_are_all_different() -> None:
    array = make(tensor(3, 5, values=Shuffled()), "seed")
    assert sorted(array.ravel().tolist()) == list(range(15))


def test_given_values_are_taken_as_they_are() -> None:
    assert make(given([[1, 2], [3, 4]], "int64"), "any").tolist() == [[1, 2], [3, 4]]
    assert fixed([0, 1]).role is Role.FIXED


def test_a_table_makes_a_case_a_row() -> None:
    cases = table(
        "Neg", {"plain": {"x": tensor(2)}, "attributed": ({"x": tensor(2)}, {"T": "float32"})}, steady="why"
    )
    assert [case.id for case in cases] == ["Neg-plain", "Neg-attributed"]
    assert cases[1].attributes == {"T": "float32"}
    assert {case.steady for case in cases} == {"why"}


def test_a_kind_is_a_name() -> None:
    with pytest.raises(ValueError, match="lower case"):
        Case("Neg", "Two Words", {})


def test_a_name_that_stands_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "FAMILIES", ("unary", "unary"))
    catalog.families.cache_clear()
    monkeypatch.setattr(catalog, "_cases", lambda _: (Case("Neg", "a", {}), Case("Neg", "a", {})))
    with pytest.raises(ValueError, match="Neg-a"):
        catalog.families()
    catalog.families.cache_clear()
