"""The doctor finds what works, and names the mend of what does not — a crash and a hang included."""

import json
from io import StringIO

import pytest
from rich.console import Console

from relay_conformance import doctor
from relay_conformance.doctor import as_json, as_table, examine, run_probe


def test_what_works_says_what_was_found() -> None:
    check = run_probe("arithmetic", "print('noise')\nprint(6 * 7)", "relearn it")
    assert (check.works, check.detail, check.mend) == (True, "42", "")


@pytest.mark.parametrize(
    ("script", "detail"),
    [
        ("raise ImportError('no libLLVM.so')", "ImportError: no libLLVM.so"),
        ("import os; os.abort()", "its process died of signal 6"),
        ("import time; time.sleep(60)", "no answer within 1 s"),
    ],
)
def test_what_does_not_work_comes_with_its_mend(script: str, detail: str) -> None:
    check = run_probe("probe", script, "install it", time_limit=1.0)
    assert (check.works, check.detail, check.mend) == (False, detail, "install it")


def test_the_report_is_json_and_a_table() -> None:
    checks = (
        run_probe("one", "print('fine')", "nothing"),
        run_probe("two", "raise SystemExit('broken')", "mend two"),
    )
    report = json.loads(json.dumps(as_json(checks)))
    assert report["works"] is False
    assert [check["mend"] for check in report["checks"]] == [None, "mend two"]
    console = Console(file=StringIO(), width=120)
    console.print(as_table(checks))
    assert isinstance(console.file, StringIO)
    assert "mend two" in console.file.getvalue()


def test_every_check_of_the_issue_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "run_probe", lambda name, *_: doctor.Check(name, True, "", ""))
    assert [check.name for check in examine()] == [
        "TVM and LLVM",
        "a kernel",
        "TensorFlow",
        "regvm, then TensorFlow",
        "TensorFlow, then regvm",
        "the TensorFlow importer",
        "the reference VM",
        "the register VM",
    ]
