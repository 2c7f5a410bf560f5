"""A file of expected failures: what is wrong in it is named, and a run rewrites it with the reasons kept."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from relay_conformance import expectations
from relay_conformance.cases.verdicts import Verdict, judge
from relay_conformance.errors import BadInputError
from relay_conformance.expectations import Expectations
from relay_conformance.status import Status

KNOWN = ("Abs-matrix-constants", "lang-if-takes-the-branch")


@dataclass(frozen=True)
class Seen:
    id: str
    status: Status
    executor: str = "my-vm"
    detail: str = ""
    covered: tuple[str, ...] = ("Abs",)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "xfails.toml"
    path.write_text(text)
    return path


def entry(**changes: str) -> str:
    fields = {"executor": "my-vm", "case": KNOWN[0], "reason": "no such kernel", **changes}
    return "[[xfail]]\n" + "".join(f'{name} = "{value}"\n' for name, value in fields.items())


def test_an_entry_gives_its_reason_for_its_executor_only(tmp_path: Path) -> None:
    found = expectations.read(written(tmp_path, entry()), KNOWN)
    assert found.reason("my-vm", KNOWN[0]) == "no such kernel"
    assert found.reason("regvm", KNOWN[0]) is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (entry(reason=""), "Abs-matrix-constants has no reason"),
        (entry(case="Abs-moon"), "no case is called Abs-moon"),
        ("[[xfail]]\nreason = 'r'\nexecutor = 'e'", "entry 1 has no case"),
        (entry() + entry(), "Abs-matrix-constants on my-vm stands twice"),
        ("xfail = 3", r"expected tables \[\[xfail\]\]"),
        ("[[xfail", "can't be read"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=complaint) as caught:
        expectations.read(written(tmp_path, text), KNOWN)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="can't be read"):
        expectations.read(tmp_path / "none.toml", KNOWN)


def test_an_update_keeps_reasons_adds_failures_and_removes_what_agrees() -> None:
    before = Expectations({("my-vm", "a"): "old", ("my-vm", "b"): "gone", ("my-vm", "not-run"): "kept"})
    results = [
        (Seen("a", Status.VALUE, detail="1, expected 2"), False),
        (Seen("b", Status.AGREE), False),
        (Seen("c", Status.RUN, detail="no kernel"), False),
        (Seen("d", Status.CRASH), True),
    ]
    assert expectations.updated(before, results).reasons == {
        ("my-vm", "a"): "old",
        ("my-vm", "not-run"): "kept",
        ("my-vm", "c"): "run: no kernel",
    }


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    reason = 'says "no" \\ \x7f and é'
    before = Expectations({("my-vm", KNOWN[1]): reason, ("a", KNOWN[0]): "first"})
    path = tmp_path / "xfails.toml"
    expectations.write(path, before)
    assert expectations.read(path, KNOWN) == before
    assert path.read_text().index('"a"') < path.read_text().index('"my-vm"')


def test_an_expected_failure_is_strict() -> None:
    expected = Expectations({("my-vm", KNOWN[0]): "no such kernel"})
    assert judge(Seen(KNOWN[0], Status.RUN), expected).verdict is Verdict.KNOWN
    assert judge(Seen(KNOWN[0], Status.AGREE), expected).verdict is Verdict.STALE
    assert judge(Seen(KNOWN[1], Status.RUN), expected).verdict is Verdict.UNEXPLAINED
    assert judge(Seen(KNOWN[1], Status.AGREE), expected).verdict is Verdict.HOLDS
