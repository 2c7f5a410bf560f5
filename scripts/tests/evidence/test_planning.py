"""The strategies' figures are over the tables that REGVM_DATA names; without any, the mend is said in one line."""

from pathlib import Path

import click
import pytest
from scripts.evidence import planning

from regvm.memory import STRATEGIES

EXAMPLE = "id,lower,upper,size\na,0,2,600000\nb,1,3,448576\nc,2,4,600000\n"


def test_each_strategy_has_its_excess_on_each_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ortools", reason="OR-Tools (extra 'exact') is not installed")
    (tmp_path / "minimalloc").mkdir()
    for name in ("A.1048576.csv", "B.1048576.csv", "example.12.csv"):
        (tmp_path / "minimalloc" / name).write_text(EXAMPLE)
    monkeypatch.setenv("REGVM_DATA", str(tmp_path))
    found = planning.minimalloc()
    assert found["requests"] == {"A": 3, "B": 3}
    for strategies in found["tables"].values():
        assert strategies.keys() == STRATEGIES.keys()
        assert strategies["none"]["excess"] == pytest.approx(600_000 / 2**20, abs=1e-3)
        assert strategies["optimal"]["excess"] == 0


def test_without_tables_the_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGVM_DATA", str(tmp_path))
    with pytest.raises(click.ClickException, match="holds no tables; set REGVM_DATA"):
        planning.minimalloc()


def test_published_optima_are_those_of_the_default() -> None:
    found = planning.published()
    optima = {"8 tensors": 124, "XNNPACK chain": 180, "USMP fan-out": 190, "USMP ResNet block": 7_200_256}
    assert {name: found[name]["bytes"]["default"] for name in optima} == optima
    assert {"MobileNet v1", "MobileNet v2"} < found.keys()
