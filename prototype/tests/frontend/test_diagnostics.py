"""TVM's diagnostics are caught with their place, none are printed, and a user's own renderer comes back."""

import pytest
import tvm
from tvm import relay
from tvm.ir import diagnostics

from regvm.frontend.diagnostics import collected
from regvm_testing.relay_programs import HEADER

ILL_TYPED = HEADER + "def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }"


def fail() -> None:
    with pytest.raises(tvm.error.TVMError):
        relay.fromtext(ILL_TYPED)


def test_errors_are_caught_with_line_and_column_and_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with collected() as errors:
        fail()
    assert errors[0].startswith("line 2, column 66: Incompatible broadcast type")
    assert capfd.readouterr() == ("", "")


def test_afterwards_tvm_prints_again(capfd: pytest.CaptureFixture[str]) -> None:
    with collected():
        pass
    fail()
    assert "Incompatible broadcast type" in capfd.readouterr().err


def test_a_renderer_that_the_user_set_comes_back() -> None:
    seen: list[str] = []
    diagnostics.override_renderer(lambda context: seen.extend(d.message for d in context.diagnostics))
    try:
        with collected() as errors:
            fail()
        assert seen == []
        assert errors
        fail()
        assert seen
    finally:
        diagnostics.override_renderer(None)
