"""How the RFC writes what the benchmark measured."""

from typing import Any

import pytest
from scripts.evidence import speed

SIZE: dict[str, Any] = {
    "engines": {
        "regvm-native": {"invoke_s": 1e-3, "growth_bytes": 0},
        "regvm": {"invoke_s": 5e-2, "growth_bytes": 4096},
        "bound": {"invoke_s": 8e-4, "executed_instructions": 10_000},
        "tvm-vm": {"invoke_s": 0.25, "growth_bytes": 12_400_000_000, "extrapolated": "too long"},
    },
    "ratios": {"invoke": {"regvm": 48.0, "bound": 0.75}, "run": {"bound": 0.5}},
}


def test_a_ratio_is_that_of_the_rounds() -> None:
    assert speed.times(SIZE, "regvm") == "48\N{MULTIPLICATION SIGN}"
    assert speed.times(SIZE, "bound", "run") == "0.5\N{MULTIPLICATION SIGN}"


def test_what_was_not_run_is_marked() -> None:
    assert speed.times(SIZE, "tvm-vm") == "~250\N{MULTIPLICATION SIGN}"
    assert speed.spent(SIZE, "tvm-vm") == "~250 ms"
    assert speed.grown(SIZE, "tvm-vm") == "~12,400.0 MB"


def test_an_engine_that_was_not_measured_leaves_its_cell_empty() -> None:
    for write in (speed.times, speed.spent, speed.grown, speed.over):
        assert write(SIZE, "relax-vm") == ""


def test_the_native_engine_stands_over_the_bound() -> None:
    assert speed.over(SIZE, "bound") == "1.33"


def test_two_engines_are_set_against_each_other() -> None:
    assert speed.against(SIZE, "regvm", "bound") == "64"


def test_dispatch_is_told_where_there_are_instructions_enough() -> None:
    assert speed.dispatch(SIZE) == "20.0 ns"
    few = {"engines": {**SIZE["engines"], "bound": {"invoke_s": 8e-4, "executed_instructions": 10}}}
    assert speed.dispatch(few) == ""
    faster = {"engines": {**SIZE["engines"], "regvm-native": {"invoke_s": 7e-4}}}
    assert speed.dispatch(faster) == ""


def test_the_slowest_program_to_generate_code_for_is_found() -> None:
    workloads = {
        "a": {"compiled": {"regvm-native": {"codegen_s": 0.02}}},
        "b": {"compiled": {"regvm-native": {"codegen_s": 0.9}}},
        "c": {"compiled": {}},
    }
    assert speed.slowest_codegen({"workloads": workloads}, "b") == pytest.approx(0.02)
