"""A run is kept while it goes, and what is written at last is one JSON document."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from relay_conformance.cases.case import Case, Form
from relay_conformance.cases.operands import tensor
from relay_conformance.cases.running import Result
from relay_conformance.cases.verdicts import Judged, Verdict, as_json
from relay_conformance.commands.streaming import kept, streamed
from relay_conformance.errors import BadInputError
from relay_conformance.status import Status

NEG = Case("Neg", "plain", {"x": tensor(2, 3)})
HOLDS = Judged(Result(NEG, Form.CONSTANTS, "regvm", Status.AGREE), Verdict.HOLDS)
DIED = Judged(Result(NEG, Form.PLACEHOLDERS, "regvm", Status.CRASH, "died"), Verdict.UNEXPLAINED)
LATE = Judged(Result(NEG, Form.PLACEHOLDERS, "tvm-vm", Status.TIME_OUT, "late"), Verdict.UNEXPLAINED)


def cut_short() -> Iterator[tuple[Judged, ...]]:
    yield (HOLDS, DIED)
    raise KeyboardInterrupt


def test_a_run_that_is_cut_short_leaves_a_report_of_what_came(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with pytest.raises(KeyboardInterrupt):
        tuple(kept(cut_short(), path))
    assert json.loads(path.read_text()) == {**as_json((HOLDS, DIED)), "holds": False, "finished": False}
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


def test_results_are_written_before_the_next_graph_runs() -> None:
    written: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        tuple(streamed(cut_short(), written.append))
    assert '"status": "crash"' in "".join(written)


@pytest.mark.parametrize("batches", [(), ((HOLDS,),), ((HOLDS, DIED), (LATE,))])
def test_the_stream_is_the_report(batches: tuple[tuple[Judged, ...], ...]) -> None:
    written: list[str] = []
    assert tuple(streamed(batches, written.append)) == batches
    assert json.loads("".join(written)) == as_json([one for batch in batches for one in batch])


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"nowhere/run\.json can't be written"):
        tuple(kept(((HOLDS,),), tmp_path / "nowhere" / "run.json"))
