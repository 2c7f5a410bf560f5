"""The Relay-level cases on the command line, also for an executor of others."""

import json
from pathlib import Path

import pytest

from relay_conformance.cli import main
from relay_conformance.relay_cases import catalog

Capture = pytest.CaptureFixture[str]

OTHER = '''
from dataclasses import dataclass, replace

from relay_conformance.executors import get


@dataclass(frozen=True)
class Negating:
    """TVM's interpreter, which can't compile a match."""

    name: str = "other-vm"

    def compile(self, program, target):
        if "match" in program.module["main"].astext():
            raise NotImplementedError("no match yet")
        return get("regvm").compile(program, target)


def make():
    return Negating()


def broken():
    return object()
'''


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "other_vm.py").write_text(OTHER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    return tmp_path


def test_list_names_the_cases_of_a_rule(capsys: Capture) -> None:
    assert main(["relay", "list", "lang-if"]) == 0
    names = capsys.readouterr().out.split()
    assert names == [case.id for case in catalog.all_cases() if case.rule == "lang-if"]


def test_show_writes_relay_text(capsys: Capture) -> None:
    assert main(["relay", "show", "lang-let-one"]) == 0
    assert "def @main(%x: int32) { let %a = %x + 1; %a * 2 }" in capsys.readouterr().out


def test_a_pattern_that_matches_nothing_is_refused(capsys: Capture) -> None:
    assert main(["relay", "list", "moon-*"]) == 2
    assert "no case matches moon-*; give a rule such as lang-if" in capsys.readouterr().err


@pytest.mark.thorough
def test_a_run_is_json_and_is_kept(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "run.json"
    arguments = ["relay", "run", "lang-let-one", "--executors", "regvm,regvm-native", "--level", "3"]
    assert main([*arguments, "--json", "--output", str(path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(path.read_text())
    assert found["operators"] == {"lang-let": {"regvm": {"agree": 1}, "regvm-native": {"agree": 1}}}
    assert main(["report", str(path)]) == 0


@pytest.mark.thorough
def test_an_executor_of_others_runs_with_its_own_expectations(other: Path, capsys: Capture) -> None:
    xfails = other / "xfails.toml"
    run = ["relay", "run", "lang-match-wildcard", "lang-let-one", "--executors", "other_vm:make"]
    assert main(run) == 1
    assert "unexplained: lang-match-wildcard on other-vm: compile: no match yet" in capsys.readouterr().out
    assert main([*run, "--xfails", str(xfails), "--update-expectations"]) == 0
    assert 'reason = "compile: no match yet"' in xfails.read_text()
    assert main([*run, "--xfails", str(xfails)]) == 0
    xfails.write_text(xfails.read_text().replace("lang-match-wildcard", "lang-let-one"))
    capsys.readouterr()
    assert main([*run, "--xfails", str(xfails)]) == 1
    assert "stale entry (compile: no match yet): lang-let-one on other-vm: agree" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--executors", "moon-vm"], "no executor is called moon-vm"),
        (["--executors", "moon:make"], "moon:make can't be imported: ModuleNotFoundError"),
        (
            ["--executors", "other_vm:broken"],
            "other_vm:broken gives object, which has no name and no compile",
        ),
        (["--update-expectations"], "--update-expectations rewrites the file of --xfails; name one"),
        (["--xfails", "nowhere.toml"], "nowhere.toml can't be read"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], complaint: str, other: Path, capsys: Capture) -> None:
    del other
    assert main(["relay", "run", "lang-let-one", *arguments]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
