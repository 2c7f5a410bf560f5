"""Counts over programs: what is compared is over what both machines compile, and a refusal is counted, not lost."""

from pathlib import Path

import pytest
from scripts.evidence.population import (
    CaseProgram,
    DrawnProgram,
    FunctionFigures,
    ProgramFigures,
    figures_of,
    figures_of_all,
    summary,
)

ROOT = Path(__file__).parents[3]
TWO = ProgramFigures((FunctionFigures(3, 3), FunctionFigures(5, 4)), 20, 2, (9, 40), 70)
ALONE = ProgramFigures((FunctionFigures(3, 3),), 8, 0, (), None)


def test_functions_are_counted_by_registers_and_by_what_is_above_the_bound() -> None:
    found = summary([TWO, ALONE])
    assert found["registers"] == {"3": 2, "5": 1}
    assert found["above_bound"] == {"0": 2, "1": 1}
    assert (found["programs"], found["functions"], found["instructions"], found["moves"]) == (2, 3, 28, 2)


def test_the_reference_is_compared_over_what_it_compiled() -> None:
    both = summary([TWO, ALONE])["both"]
    assert both == {
        "programs": 1,
        "instructions": 20,
        "reference_instructions": 70,
        "not_fewer": 0,
        "largest": {"5": 1},
        "reference_largest": {"40": 1},
    }


def test_what_was_refused_is_counted_by_its_stage() -> None:
    found = summary([ALONE, "import", "crashed", "import"])
    assert found["refused"] == {"import": 2, "crashed": 1}
    assert found["programs"] == 1


def test_numbers_are_sorted_as_numbers() -> None:
    many = [ProgramFigures((FunctionFigures(n, n),), 1, 0, (), None) for n in (10, 9, 100, 9)]
    assert list(summary(many)["registers"].items()) == [("9", 2), ("10", 1), ("100", 1)]


def test_a_drawn_program_has_figures_of_both_machines() -> None:
    found = figures_of(DrawnProgram("int32-1x1", 0), compared=True)
    assert isinstance(found, ProgramFigures)
    assert all(f.registers in (f.max_live, f.max_live + 1) for f in found.functions)
    assert found.reference_instructions is not None
    assert 0 < found.instructions < found.reference_instructions
    assert max(found.reference_registers) > max(f.registers for f in found.functions)
    alone = figures_of(DrawnProgram("int32-1x1", 0), compared=False)
    assert isinstance(alone, ProgramFigures)
    assert (alone.functions, alone.reference_registers) == (found.functions, ())


@pytest.mark.tensorflow
def test_cases_come_back_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    # Workers take this path over; they import what they run from scripts.
    monkeypatch.syspath_prepend(str(ROOT))
    origins = [CaseProgram("unary", n) for n in (0, 40, 80)]
    found = list(figures_of_all(origins, origins[1:2]))
    assert [isinstance(one, ProgramFigures) for one in found] == [True] * 3
    assert [bool(one.reference_registers) for one in found if isinstance(one, ProgramFigures)] == [
        False,
        True,
        False,
    ]
