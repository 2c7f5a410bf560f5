"""A library's text is the same however the library came to be."""

import numpy as np
import pytest
from tvm import relay

import regvm
from regvm.errors import FormatError
from regvm.runtime.kernels import library


@pytest.fixture(scope="module")
def executable() -> regvm.Executable:
    x = relay.var("x", shape=(2, 3), dtype="float32")
    return regvm.compile(relay.Function([x], relay.Tuple([x + x, relay.nn.relu(relay.negative(x))])))


def test_text_says_nothing_of_where_it_was_read_from(executable: regvm.Executable) -> None:
    for text in library.to_text(executable.lib):
        assert "ModuleID" not in text
        assert "source_filename" not in text


def test_a_library_that_was_read_gives_the_text_that_it_was_read_from(executable: regvm.Executable) -> None:
    texts = library.to_text(executable.lib)
    again = library.from_text(texts)
    assert library.to_text(again) == texts
    x = np.array([[1, -2, 3], [-4, 5, -6]], dtype="float32")
    loaded = regvm.Executable(executable.program, again)
    doubled, rectified = regvm.VirtualMachine(loaded).run(x)
    np.testing.assert_array_equal(doubled.numpy(), x + x)
    np.testing.assert_array_equal(rectified.numpy(), np.maximum(-x, 0))


def test_text_that_llvm_refuses_is_a_format_error() -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        library.from_text(["no assembly"])
