"""Results of every kind become one flat list of arrays and the shape of their nest."""

import numpy as np
import pytest

from relay_conformance.tvm_api import tvm
from relay_conformance.values import outputs_from_arrays, outputs_from_value

A, B = np.arange(3), np.float32(2)


def test_a_tensor_is_one_output() -> None:
    outputs = outputs_from_value(tvm.nd.array(A))
    assert outputs.structure == "*"
    assert outputs.arrays[0] is not None
    assert outputs.arrays[0].tolist() == [0, 1, 2]


def test_nests_keep_their_shape() -> None:
    nested = tvm.runtime.container.tuple_object([tvm.nd.array(A), tvm.runtime.container.tuple_object([])])
    assert outputs_from_value(nested).structure == "(*, ())"
    assert outputs_from_value((A, [A, (B,)])).structure == "(*, (*, (*)))"


def test_a_result_that_was_left_out_stays_visible() -> None:
    outputs = outputs_from_value([A, None])
    assert (outputs.structure, outputs.arrays[1]) == ("(*, *)", None)


def test_something_that_is_no_tensor_is_refused() -> None:
    with pytest.raises(TypeError, match="str"):
        outputs_from_value("text")


def test_arrays_of_a_session_have_the_structure_of_a_program_with_as_many_outputs() -> None:
    assert outputs_from_arrays([A]).structure == outputs_from_value(A).structure
    assert outputs_from_arrays([A, B]).structure == outputs_from_value((A, B)).structure
