"""Recursion in tail position runs in constant memory: the promise, on fewer iterations than the script's default."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.thorough

SCRIPT = Path(__file__).parents[1] / "measure_recursion.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measure_recursion", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SUBJECT = load()


@pytest.mark.parametrize("name", SUBJECT.PROGRAMS)
def test_twenty_thousand_iterations_leave_memory_flat(name: str) -> None:
    # The reference's loop would take 13 KB an iteration, 260 MB here.
    record = SUBJECT.measure(SUBJECT.PROGRAMS[name], 20_000, "interpreter")
    assert record["iterations"] == 20_000
    assert record["growth_bytes"] < 1 << 20


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECT.PROGRAMS)
def test_a_million_iterations_leave_memory_flat(name: str) -> None:
    record = SUBJECT.measure(SUBJECT.PROGRAMS[name], 1_000_000, "interpreter")
    assert record["growth_bytes"] < SUBJECT.GROWTH_LIMIT
