"""The ledger names real cases, each defect once, and a case in a ledger is held to fail."""

from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from relay_conformance.cases import catalog, ledger, selection
from relay_conformance.cases.ledger import Defect, Layer
from relay_conformance.errors import BadInputError
from relay_conformance.relay_cases import catalog as relay_catalog

NAMES = (
    *(
        selection.case_id(case, form)
        for cases in catalog.families().values()
        for case in cases
        for form in case.forms
    ),
    *(case.id for case in relay_catalog.all_cases()),
)


def defect(**changes: object) -> Defect:
    fields: dict[str, object] = {
        "id": "some",
        "layer": Layer.KERNEL,
        "symptom": "s",
        "reproducer": "r",
        "right": "r",
        "cause": "c",
        "executors": ("*",),
        "cases": ("Neg-*",),
    }
    return Defect(**{**fields, **changes})  # type: ignore[arg-type]


def test_entries_are_sorted_by_id_and_every_id_stands_once() -> None:
    ids = [entry.id for entry in ledger.defects()]
    assert ids == sorted(set(ids))


def test_there_are_twenty_defects_of_tvm() -> None:
    assert sum(entry.layer is not Layer.TENSORFLOW for entry in ledger.defects()) >= 20


@pytest.mark.parametrize("entry", [e for e in ledger.defects() if e.cases], ids=lambda e: str(e.id))
def test_every_pattern_names_a_case(entry: Defect) -> None:
    for pattern in entry.cases:
        alone = Defect(**{**entry.__dict__, "cases": (pattern,)})
        assert any(alone.matches(name) for name in NAMES), pattern


def test_no_case_belongs_to_two_entries() -> None:
    for name in NAMES:
        matching = [entry.id for entry in ledger.defects() if entry.matches(name)]
        assert len(matching) < 2, f"{name}: {matching}"


def test_a_pattern_leaves_out_refusals_unless_it_names_them() -> None:
    assert defect().matches("Neg-matrix-constants")
    assert not defect().matches("Neg-refuses-dtype-placeholders")
    assert defect(cases=("Neg-matrix",)).matches("Neg-matrix-constants")
    assert not defect(cases=("Neg-matrix-constants",)).matches("Neg-matrix-placeholders")
    assert defect(cases=("Neg-refuses-dtype-*",)).matches("Neg-refuses-dtype-placeholders")


def test_an_entry_holds_for_the_releases_of_tensorflow_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "installed_tensorflow", lambda: "2.15.1")
    assert defect().holds()
    assert defect(tensorflow=SpecifierSet("<2.16")).holds()
    assert not defect(tensorflow=SpecifierSet(">=2.16")).holds()


def test_the_executors_that_fail() -> None:
    assert defect().fails_on("regvm")
    assert not defect(executors=("tvm-vm",)).fails_on("regvm")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[defect]]\nlayer = 'kernel'", "an entry without id lacks id, symptom, reproducer"),
        (
            "[[defect]]\nid='a'\nlayer='moon'\nsymptom='s'\nreproducer='r'\nright='r'\ncause='c'\nexecutors=['*']",
            "a has the layer moon; there are importer",
        ),
        (
            "[[defect]]\nid='a'\nlayer='kernel'\nsymptom='s'\nreproducer='r'\nright='r'\ncause='c'\n"
            "executors=['*']\ntensorflow='new'",
            "a has the tensorflow 'new', which is no version specifier",
        ),
        ("[[defect", "can't be read"),
    ],
)
def test_a_bad_entry_is_named(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "known_defects.toml"
    path.write_text(text)
    with pytest.raises(BadInputError, match=complaint):
        ledger.defects(path)
