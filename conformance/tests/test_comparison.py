"""The comparison objects to every kind of change: a suite that can't fail proves nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay_conformance.comparison import (
    TOLERANCES,
    Kind,
    bit_differences,
    largest_error,
    tolerance_differences,
)
from relay_conformance.values import Outputs, outputs_from_arrays

BASE = np.array([[1.0, -2.0, 0.5], [4.0, 8.0, -16.0]], np.float32)
DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool")


def one(array: object) -> Outputs:
    return outputs_from_arrays([np.asarray(array)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_same_outputs_have_no_difference(dtype: str) -> None:
    array = BASE.astype(dtype)
    assert bit_differences(one(array), one(array.copy())) == ()
    assert tolerance_differences(one(array), one(array.copy())) == ()
    assert largest_error(one(array), one(array)) == 0.0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("compare", [bit_differences, tolerance_differences])
def test_a_changed_value_is_found_where_it_is(dtype: str, compare: object) -> None:
    array = np.abs(BASE).astype(dtype)
    changed = array.copy()
    changed[1, 0] = 0
    assert callable(compare)
    (difference,) = compare(one(array), one(changed))
    assert (difference.kind, difference.index, difference.differing) == (Kind.VALUE, (1, 0), 1)
    assert difference.largest_error == difference.mean_error == float(array[1, 0])


@pytest.mark.parametrize("compare", [bit_differences, tolerance_differences])
@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        (one(BASE.astype(np.float64)), Kind.DTYPE),
        (one(BASE[:1]), Kind.SHAPE),
        (one(BASE.reshape(3, 2)), Kind.SHAPE),
        (one(BASE[None]), Kind.SHAPE),
        (outputs_from_arrays([BASE, BASE]), Kind.COUNT),
        (Outputs((), "()"), Kind.COUNT),
        (Outputs((BASE,), "(*)"), Kind.STRUCTURE),
        (Outputs((None,), "*"), Kind.MISSING),
    ],
)
def test_a_change_of_form_is_found(changed: Outputs, kind: Kind, compare: object) -> None:
    assert callable(compare)
    assert [difference.kind for difference in compare(one(BASE), changed)] == [kind]


def test_a_scalar_and_a_vector_of_one_differ_although_numpy_would_broadcast() -> None:
    (difference,) = bit_differences(one(np.float32(1)), one(np.ones(1, np.float32)))
    assert difference.kind is Kind.SHAPE


@given(st.integers(0, 5), st.integers(0, 31))
def test_one_flipped_bit_is_a_difference_between_machines(element: int, bit: int) -> None:
    changed = BASE.copy()
    changed.view(np.uint32).reshape(-1)[element] ^= np.uint32(1 << bit)
    (difference,) = bit_differences(one(BASE), one(changed))
    assert difference.index == (element // 3, element % 3)


def test_nan_equals_nan_whatever_its_payload() -> None:
    quiet = np.array([0x7FC00000], np.uint32).view(np.float32)
    other = np.array([0xFFC00001], np.uint32).view(np.float32)
    assert bit_differences(one(quiet), one(other)) == ()
    assert tolerance_differences(one(quiet), one(other)) == ()


def test_nan_differs_from_a_number_and_from_infinity() -> None:
    for value in (1.0, np.inf):
        (difference,) = tolerance_differences(one(np.float32(value)), one(np.float32(np.nan)))
        assert difference.largest_error == np.inf
        assert bit_differences(one(np.float32(value)), one(np.float32(np.nan)))


def test_the_sign_of_zero_counts_between_machines_and_not_against_tensorflow() -> None:
    plus, minus = one(np.float32(0.0)), one(np.float32(-0.0))
    assert bit_differences(plus, minus)
    assert tolerance_differences(plus, minus) == ()


def test_infinities_match_by_sign() -> None:
    infinite = one(np.array([np.inf, 1.0], np.float32))
    assert tolerance_differences(infinite, one(np.array([np.inf, 1.0], np.float32))) == ()
    assert tolerance_differences(infinite, one(np.array([-np.inf, 1.0], np.float32)))
    assert tolerance_differences(infinite, one(np.array([3e38, 1.0], np.float32)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_tolerance_of_a_dtype_separates_rounding_from_error(dtype: str) -> None:
    array = BASE.astype(dtype)
    allowed = TOLERANCES[dtype]
    scale = float(np.sqrt(np.mean(np.square(BASE))))
    limit = allowed.relative * 16.0 + allowed.absolute * scale
    near, far = array.copy(), array.copy()
    near[1, 2] += np.asarray(limit * 0.5, dtype)
    far[1, 2] += np.asarray(limit * 2.0, dtype)
    assert tolerance_differences(one(array), one(near)) == ()
    assert tolerance_differences(one(array), one(far))


def test_small_outputs_are_not_excused_by_an_absolute_tolerance() -> None:
    tiny = BASE * np.float32(1e-5)
    assert tolerance_differences(one(tiny), one(tiny * np.float32(1.5)))


def test_integers_are_exact() -> None:
    large = np.array([2**53], np.int64)
    (difference,) = tolerance_differences(one(large), one(large + 1))
    assert difference.largest_error == 1.0


def test_a_difference_says_where_and_by_how_much() -> None:
    changed = BASE.copy()
    changed[0, 1], changed[1, 2] = 0.0, -12.0
    (difference,) = bit_differences(one(BASE), one(changed))
    assert str(difference) == (
        "output 0: 2 of 6 elements differ, first at [0, 1]: 0.0, expected -2.0; largest error 4, mean error 3"
    )


def test_only_the_output_that_differs_is_named() -> None:
    left = outputs_from_arrays([BASE, BASE])
    right = outputs_from_arrays([BASE, BASE + np.float32(1)])
    assert [difference.output for difference in bit_differences(left, right)] == [1]


def test_no_largest_error_where_elements_have_no_partner() -> None:
    assert largest_error(one(BASE), one(BASE[:1])) is None
    assert largest_error(one(BASE), outputs_from_arrays([BASE, BASE])) is None
    assert largest_error(one(BASE), Outputs((None,), "*")) is None


def test_empty_tensors_agree() -> None:
    empty = one(np.zeros((0, 3), np.float32))
    assert bit_differences(empty, empty) == tolerance_differences(empty, empty) == ()
    assert largest_error(empty, empty) == 0.0
