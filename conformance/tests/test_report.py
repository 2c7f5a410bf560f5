"""The report has every figure for machines, and says for people who failed and who is confirmed."""

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from relay_conformance.compare import Comparison, Settings, Side
from relay_conformance.comparison import bit_differences, largest_error, tolerance_differences
from relay_conformance.execution import Failure, Measurement, Stage
from relay_conformance.executors import Figures
from relay_conformance.models import Voice
from relay_conformance.report import agreement, as_json, as_table, confirmation
from relay_conformance.values import outputs_from_arrays

EXPECTED = outputs_from_arrays([np.array([1, 2, 3], np.float32)])
PROMISED_KEYS = {
    "model",
    "vms_bit_equal",
    "max_abs_error",
    "output_std",
    "registers",
    "reference_registers",
    "max_live",
    "instructions",
    "reference_instructions",
    "peak_intermediate_bytes",
    "compile_s",
    "reference_compile_s",
    "latency_s",
    "reference_latency_s",
    "tensorflow_latency_s",
}
FAILED = Failure("tvm-vm", Stage.RUN, "it broke", Figures({"main": 40}, {}, 60), 2.0)


def side(executor: str, values: list[float]) -> Side:
    outputs = outputs_from_arrays([np.array(values, np.float32)])
    figures = Figures({"main": 3, "f": 2}, {"main": 3, "f": 2}, 17, 4096)
    return Side(
        Measurement(executor, outputs, figures, 1.5, 2e-5),
        tolerance_differences(EXPECTED, outputs),
        largest_error(EXPECTED, outputs),
    )


def comparison(reference: Side, subject: Side) -> Comparison:
    both = isinstance(reference.result, Measurement) and isinstance(subject.result, Measurement)
    differences = None
    if both:
        assert isinstance(reference.result, Measurement)
        assert isinstance(subject.result, Measurement)
        differences = bit_differences(reference.result.outputs, subject.result.outputs)
    return Comparison(
        model="model",
        voice=Voice.TENSORFLOW,
        output_names=("out:0",),
        settings=Settings(seed=3, batch=2),
        expected=EXPECTED,
        voice_latency_s=0.25,
        reference=reference,
        subject=subject,
        vm_differences=differences,
    )


GOOD = comparison(side("tvm-vm", [1, 2, 3]), side("regvm", [1, 2, 3]))
REFERENCE_FAILS = comparison(Side(FAILED, (), None), side("regvm", [1, 2, 3]))
SUBJECT_WRONG = comparison(side("tvm-vm", [1, 2, 3]), side("regvm", [1, 2, 4]))


def table_text(shown: Comparison) -> str:
    console = Console(file=StringIO(), width=120)
    console.print(as_table(shown))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("shown", [GOOD, REFERENCE_FAILS, SUBJECT_WRONG])
def test_every_promised_key_is_there_and_it_is_json(shown: Comparison) -> None:
    report: dict[str, Any] = json.loads(json.dumps(as_json(shown), allow_nan=False))
    assert report.keys() >= PROMISED_KEYS


def test_the_figures_of_a_comparison_that_holds() -> None:
    report = as_json(GOOD)
    assert (report["holds"], report["vms_bit_equal"], report["vms_bit_equal_reason"]) == (
        True,
        True,
        "bit-equal",
    )
    assert report["registers"] == report["max_live"] == {"f": 2, "main": 3}
    assert (report["compile_s"], report["latency_s"], report["tensorflow_latency_s"]) == (1.5, 2e-5, 0.25)
    assert (report["seed"], report["batch"], report["numpy_latency_s"]) == (3, 2, None)
    assert report["outputs"] == [{"name": "out:0", "shape": [3], "dtype": "float32"}]
    assert report["output_std"] == pytest.approx(np.std([1, 2, 3]))
    assert {"python", "numpy"} <= report["versions"].keys()


def test_a_failure_of_the_reference_is_said_and_the_register_vm_confirmed() -> None:
    report = as_json(REFERENCE_FAILS)
    assert (report["holds"], report["vms_bit_equal"]) == (False, None)
    assert report["reference_failure"] == "tvm-vm failed when running: it broke"
    assert report["confirmed_by_tensorflow"] is True
    assert report["confirmation"] == "TensorFlow confirms regvm"
    assert (report["reference_registers"], report["reference_instructions"]) == ({"main": 40}, 60)
    assert (report["reference_compile_s"], report["reference_latency_s"]) == (2.0, None)
    assert agreement(REFERENCE_FAILS) == "tvm-vm failed when running: it broke"


def test_a_difference_is_said_with_its_place_and_size() -> None:
    assert as_json(SUBJECT_WRONG)["vms_bit_equal"] is False
    assert agreement(SUBJECT_WRONG).startswith("regvm differs from tvm-vm: output 0: 1 of 3 elements differ")
    assert confirmation(SUBJECT_WRONG) == "TensorFlow confirms tvm-vm, contradicts regvm"


def test_an_infinite_error_is_null_in_json() -> None:
    shown = replace(GOOD, subject=replace(GOOD.subject, max_abs_error=float("inf")))
    assert as_json(shown)["max_abs_error"] is None


def test_the_table_stands_for_people() -> None:
    text = table_text(GOOD)
    for words in ("model: holds", "seed 3, batch 2", "1.5 s", "20 µs", "250 ms", "4,096 B", "main 3"):
        assert words in text
    assert "model: DOES NOT HOLD" in table_text(REFERENCE_FAILS)
