"""The command `fuzz`: its table, its JSON, its files, its exit status, and one line for bad input."""

import json
from pathlib import Path

import pytest

from relay_conformance.cli import main
from relay_conformance.errors import BadInputError
from relay_conformance.fuzzing import records
from relay_conformance.fuzzing.draws import draw_program
from relay_conformance.fuzzing.running import Failure, Result, Stage
from relay_conformance.fuzzing.verdict import Kind, Verdict, judge
from relay_conformance.strategies import FuzzProgram, evaluate, render
from relay_conformance.values import Outputs, outputs_from_value

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def program() -> FuzzProgram:
    return draw_program("int32-1x1", 1, 2)


@pytest.fixture(scope="module")
def with_nested_ifs() -> FuzzProgram:
    programs = (draw_program("int32-1x1", 2, number) for number in range(100))
    return next(p for p in programs if judge_missing(p).kind is Kind.KILLED_REGISTER)


def judge_missing(program: FuzzProgram, name: str = "tvm-vm") -> Verdict:
    right = outputs_from_value(evaluate(program).value)
    results: dict[str, Result] = {"regvm": right, "tvm-vm": right}
    results[name] = Outputs((None,) * len(right.arrays), right.structure)
    return judge(program, evaluate(program), results)


class TestCampaign:
    def test_json_counts_every_program_and_the_executors_agree(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["fuzz", "--examples", "6", "--seed", "1", "--executors", "regvm", "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["programs"], report["classes"]["agree"], report["holds"]) == (6, 6, True)

    def test_the_reference_is_a_second_voice(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["fuzz", "--examples", "4", "--seed", "1"]) == 0
        out = capsys.readouterr().out
        assert "int32-1x1, seed 1: holds" in out
        assert "programs a second" in out

    def test_one_example_by_its_number(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["fuzz", "--seed", "1", "--example", "3", "--executors", "regvm", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["programs"] == 1

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--profile", "nothing"], ["no profile nothing", "int32-1x1"]),
            (["--executors", "nothing"], ["no executor is called nothing"]),
            (["--executors", "regvm,regvm"], ["each may be named once"]),
            (["--examples", "0"], ["--examples"]),
            (["--minutes", "0"], ["--minutes"]),
            (["--replay", "absent.json"], ["absent.json", "--keep"]),
        ],
    )
    def test_bad_input_is_one_line(
        self, arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["fuzz", *arguments]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        for word in words:
            assert word in line


class TestReplay:
    def test_a_kept_program_reads_back(self, program: FuzzProgram, tmp_path: Path) -> None:
        path = tmp_path / "kept.json"
        records.write(path, records.record_of(program), {"class": "difference"})
        record = records.read(path)
        assert record.text == render(program)
        assert [array.tolist() for array in record.inputs] == [
            array.tolist() for array in records.record_of(program).inputs
        ]

    def test_a_kept_program_runs_again(
        self, program: FuzzProgram, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "kept.json"
        records.write(path, records.record_of(program), {})
        assert main(["fuzz", "--replay", str(path), "--executors", "regvm"]) == 0
        assert "agree" in capsys.readouterr().out

    def test_a_wrong_result_is_exit_status_1(
        self, program: FuzzProgram, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "kept.json"
        records.write(path, records.record_of(program), {})
        content = json.loads(path.read_text())
        content["outputs"][0]["values"][0] ^= 1
        path.write_text(json.dumps(content))
        assert main(["fuzz", "--replay", str(path), "--executors", "regvm"]) == 1
        assert "difference of regvm" in capsys.readouterr().out

    def test_another_file_is_bad_input(self, tmp_path: Path) -> None:
        path = tmp_path / "other.json"
        path.write_text("{}")
        with pytest.raises(BadInputError, match="not a program that was kept"):
            records.read(path)


class TestVerdict:
    def test_a_reference_that_drops_a_register_is_a_known_defect(self, with_nested_ifs: FuzzProgram) -> None:
        verdict = judge_missing(with_nested_ifs)
        assert not verdict.kind.is_failure

    def test_the_same_of_the_register_vm_is_a_difference(self, with_nested_ifs: FuzzProgram) -> None:
        verdict = judge_missing(with_nested_ifs, "regvm")
        assert (verdict.kind, verdict.executor) == (Kind.DIFFERENCE, "regvm")

    def test_a_reference_that_is_wrong_without_nested_ifs_is_a_difference(self) -> None:
        flat = next(
            p
            for p in (draw_program("int32-1x1", 3, number) for number in range(100))
            if "if (" not in render(p)
        )
        assert judge_missing(flat).kind is Kind.DIFFERENCE

    @pytest.mark.parametrize(
        ("stage", "kind"),
        [
            (Stage.COMPILE, Kind.COMPILE_FAILURE),
            (Stage.RUN, Kind.RUN_FAILURE),
            (Stage.CRASH, Kind.CRASH),
            (Stage.TIME_OUT, Kind.TIME_OUT),
        ],
    )
    def test_a_failure_has_the_class_of_its_stage(
        self, stage: Stage, kind: Kind, program: FuzzProgram
    ) -> None:
        verdict = judge(program, evaluate(program), {"regvm": Failure(stage, "because")})
        assert (verdict.kind, verdict.detail) == (kind, "because")
