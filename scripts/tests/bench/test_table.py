"""What the tables say of the results."""

import pytest
from scripts.bench import table


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.44e-6, "4.44 µs"), (1e-12, "0.001 ns")]
)
def test_a_duration_has_three_digits_and_a_unit(seconds: float, text: str) -> None:
    assert table.duration(seconds) == text


def test_the_cost_of_dispatch_is_what_is_above_the_bound() -> None:
    size = {
        "engines": {
            "regvm-native": {"invoke_s": 3e-6},
            "bound": {"invoke_s": 1e-6, "executed_instructions": 100},
        }
    }
    assert table.dispatch_ns(size) == pytest.approx(20.0)


def test_what_is_extrapolated_is_marked_and_still_has_a_ratio() -> None:
    size = {
        "engines": {
            "regvm-native": {"invoke_s": 1.0},
            "tvm-vm": {"invoke_s": 200.0, "extrapolated": "memory"},
        },
        "ratios": {"invoke": {}},
    }
    assert table._cell("tvm-vm", size, "invoke") == "~200 s\n200x"
