"""Every operator of the installed TVM's importers has cases that differ in kind, or a reason for none."""

import json

import pytest

from relay_conformance import manifest as module
from relay_conformance.cli import main
from relay_conformance.manifest import REASONS, Entry, as_json, holes, importer_operators, manifest
from relay_conformance.relay_cases import catalog as relay_catalog

ENTRIES = manifest()


def test_no_operator_is_left_out() -> None:
    assert holes(ENTRIES) == ()


def test_every_importer_s_operators_are_there() -> None:
    from tvm.relay.frontend import tensorflow_ops

    operators = set(importer_operators())
    assert set(tensorflow_ops._convert_map) <= operators
    for name in (
        "Switch",
        "NextIteration",
        "TensorArrayV3",
        "TensorListStack",
        "StatelessWhile",
        "If",
        "Const",
    ):
        assert name in operators


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.reason is None], ids=lambda e: str(e.operator))
def test_four_kinds_of_case_an_operator(entry: Entry) -> None:
    assert entry.kinds >= 4


def test_a_reason_stands_for_an_operator_without_cases() -> None:
    known = {entry.operator: entry for entry in ENTRIES}
    for operator in REASONS:
        assert known[operator].cases == (), operator


def test_a_new_operator_is_a_hole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "importer_operators", lambda: ("Abs", "BrandNew"))
    assert holes(manifest()) == ("BrandNew",)


def test_the_json_has_what_it_promises() -> None:
    report = json.loads(json.dumps(as_json(ENTRIES)))
    assert report.keys() >= {"operators", "graph_cases", "relay_cases"}
    assert report["operators"].keys() == set(importer_operators())
    for entry in report["operators"].values():
        assert ("cases" in entry) != ("reason" in entry)
    assert report["graph_cases"] >= 2000
    assert report["relay_cases"] == len(relay_catalog.all_cases()) >= 300


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manifest", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["operators"]["Conv2D"]["cases"]


def test_the_table_names_every_operator_and_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["manifest"]) == 0
    out = capsys.readouterr().out
    assert "NonMaxSuppressionV5" in out
    assert "DecodeJpeg" in out
