"""``regvm plan MODEL``: a table of every function's tensors, JSON, Relay text or a picture; bad input is one line."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import tvm

from regvm.frontend import reading
from regvm_testing.commands import Call

PROGRAM = """#[version = "0.0.5"]
def @loop(%i: int32, %x: Tensor[(100), float32]) -> Tensor[(100), float32] {
  if (less(%i, 10)) { @loop(add(%i, 1), nn.softmax(%x)) } else { %x }
}
def @main(%x: Tensor[(100), float32]) { @loop(0, nn.softmax(nn.softmax(nn.softmax(nn.softmax(%x))))) }
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.relay"
    path.write_text(PROGRAM)
    return path


def test_people_get_every_tensor_and_the_sizes_by_strategy(model: Path, call: Call) -> None:
    finished = call("plan", model, "--strategy", "default", "--strategy", "none")
    assert (finished.status, finished.err) == (0, "")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in finished.out.splitlines()]
    assert ["%5", "int32[]", "4", "[5, 17)", "at 896 or 960"] in rows
    figures = [row[:6] for row in rows if len(row) == 7]
    assert ["@main", "default", "896", "896", "1,344", "400"] in figures
    assert ["@main", "none", "1,344", "896", "1,344", "400"] in figures
    assert ["@loop", "default", "1,088", "1,088", "1,088", "400"] in figures
    assert ["all", "none", "2,432", "1,984", "2,432", "800"] in figures


def test_json_has_offsets_lifetimes_and_totals(model: Path, call: Call) -> None:
    record = json.loads(call("plan", model, "--strategy", "none", "--strategy", "default", "--json").out)
    main_, loop = record["functions"]
    assert (main_["name"], loop["name"]) == ("main", "loop")
    turning = next(t for t in loop["tensors"] if len(t["offsets"]) == 2 and t["bytes"] == 400)
    assert turning["place"] == "arena"
    assert turning["type"] == "float32[100]"
    assert all(lower < upper for lower, upper in turning["live"])
    assert {t["place"] for t in loop["tensors"]} == {"arena", "owned"}
    for figure in ("bytes", "lower_bound", "no_sharing"):
        for n, strategy in enumerate(("none", "default")):
            assert record["totals"][n]["strategy"] == strategy
            assert record["totals"][n][figure] == sum(f["plans"][n][figure] for f in record["functions"])


def test_relay_json_from_a_file_gives_the_same_plan(model: Path, tmp_path: Path, call: Call) -> None:
    saved = tmp_path / "model.json"
    saved.write_text(tvm.ir.save_json(reading.read_text(PROGRAM)))
    assert call("plan", saved, "--relay", "folded").out == call("plan", model, "--relay", "folded").out


def test_relay_text_is_the_same_each_time_and_reads_back(model: Path, call: Call) -> None:
    for form in ("unfolded", "folded"):
        finished = call("plan", model, "--relay", form)
        assert (finished.status, finished.err) == (0, "")
        assert finished.out == call("plan", model, "--relay", form).out
        reading.read_text(finished.out)
        assert ("/ 64i64 * 64i64" in finished.out) == (form == "unfolded")


def test_another_strategy_gives_other_offsets_in_the_text(model: Path, call: Call) -> None:
    assert (
        call("plan", model, "--relay", "folded", "--strategy", "exact").out
        != call("plan", model, "--relay", "folded").out
    )


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib (extra 'plot') is not installed")
def test_the_picture_is_of_the_largest_arena_or_of_the_function_named(
    model: Path, tmp_path: Path, call: Call
) -> None:
    for options, title in (([], "@loop"), (["--function", "main"], "@main")):
        picture = tmp_path / "plan.svg"
        assert call("plan", model, "--picture", picture, *options).status == 0
        assert f"<!-- {title}, strategy default -->" in picture.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either MODEL"),
        (["MODEL", "--csv", "table.csv"], "give either MODEL"),
        (["MODEL", "--strategy", "best"], "unknown storage strategy 'best'; choose one of"),
        (["MODEL", "--alignment", "1"], "--alignment goes with --csv"),
        (["MODEL", "--relay", "folded", "--json"], "leave out --json"),
        (["MODEL", "--picture", "plan.svg", "--function", "f"], "no function @f; the model has main, loop"),
        (["--csv", "table.csv", "--relay", "folded"], "go with MODEL"),
        (["absent.relay"], "absent.relay: No such file or directory"),
        ([__file__], "expected Relay text"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    model: Path, call: Call, arguments: list[str], message: str
) -> None:
    finished = call("plan", *(str(model) if a == "MODEL" else a for a in arguments))
    assert (finished.status, finished.out) == (2, "")
    assert message in finished.err
    assert finished.err.count("\n") == 1
