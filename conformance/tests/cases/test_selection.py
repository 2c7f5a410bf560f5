"""The default run covers every operator and defect; what could sink a graph is not in one with others."""

import pytest

from relay_conformance.cases import catalog, ledger, selection
from relay_conformance.errors import BadInputError
from relay_conformance.manifest import manifest

FULL, DEFAULT = selection.full(), selection.default()


def ids(batches: tuple[selection.Batch, ...]) -> list[str]:
    return [selection.case_id(case, batch.form) for batch in batches for case in batch.cases]


def defects_met(batches: tuple[selection.Batch, ...]) -> set[str]:
    return {defect.id for name in ids(batches) if (defect := ledger.defect_of(name)) is not None}


def test_the_full_run_has_every_case_in_every_form_once() -> None:
    expected = [
        selection.case_id(case, form)
        for cases in catalog.families().values()
        for case in cases
        for form in case.forms
    ]
    assert sorted(ids(FULL)) == sorted(expected)


def test_the_default_run_covers_every_operator() -> None:
    covered = {operator for batch in DEFAULT for case in batch.cases for operator in case.covered}
    assert {entry.operator for entry in manifest() if entry.reason is None} <= covered


def test_the_default_run_meets_every_defect_that_a_graph_case_meets_in_whatever_form() -> None:
    assert defects_met(DEFAULT) == defects_met(FULL)
    assert len(defects_met(FULL)) > 50


def test_the_default_run_is_a_part_of_the_full_one_with_both_forms() -> None:
    assert set(ids(DEFAULT)) < set(ids(FULL))
    assert {batch.form for batch in DEFAULT} == {batch.form for batch in FULL}


@pytest.mark.parametrize("batch", [b for b in FULL if len(b.cases) > 1], ids=lambda b: str(b.id))
def test_a_graph_of_several_holds_nothing_that_is_known_to_fail(batch: selection.Batch) -> None:
    assert len(batch.cases) <= selection.BATCH_SIZE
    assert len({case.control_flow for case in batch.cases}) == 1
    for case in batch.cases:
        assert ledger.defect_of(selection.case_id(case, batch.form)) is None
        assert not any(operand.open_dimensions for operand in case.operands.values())


@pytest.mark.parametrize("pattern", ["Neg", "Neg-*", "Neg-matrix", "Neg-matrix-constants", "unary"])
def test_a_pattern_names_an_operator_a_case_or_a_family(pattern: str) -> None:
    assert "Neg-matrix-constants" in ids(selection.chosen([pattern], everything=False))


def test_a_pattern_that_names_nothing_is_refused() -> None:
    with pytest.raises(BadInputError, match="no case matches Nothing"):
        selection.chosen(["Nothing"], everything=False)


def test_without_a_pattern_it_is_the_default_or_everything() -> None:
    assert selection.chosen([], everything=False) == DEFAULT
    assert selection.chosen([], everything=True) == FULL
