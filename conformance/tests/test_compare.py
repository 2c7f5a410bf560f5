"""A comparison says who agrees with whom; the built-in models hold, with the promised figures."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from relay_conformance.compare import Comparison, Settings, compare
from relay_conformance.errors import BadArgumentError
from relay_conformance.execution import Failure, Measurement
from relay_conformance.models import load_built_in

Compared = Callable[[str], Comparison]


@pytest.fixture(scope="session")
def compared() -> Compared:
    """Compiling a network takes a minute, so each is compared once and everything is asserted on that."""
    return cache(lambda name: compare(load_built_in(name, 1), {}, Settings(repeats=3)))


def assert_holds(comparison: Comparison) -> None:
    assert comparison.vms_bit_equal is True, (comparison.reference.result, comparison.subject.result)
    assert comparison.reference.confirmed, comparison.reference.differences
    assert comparison.subject.confirmed, comparison.subject.differences
    assert comparison.holds
    assert comparison.output_std > 0.05


def assert_registers_are_few(comparison: Comparison) -> None:
    """The reference's figures stand beside; one more than lives at once is for a cycle of parallel moves."""
    subject, reference = comparison.subject.result, comparison.reference.result
    assert isinstance(subject, Measurement)
    assert reference.figures is not None
    assert subject.figures.registers.keys() == subject.figures.max_live.keys()
    for name, registers in subject.figures.registers.items():
        assert registers <= subject.figures.max_live[name] + 1
    assert max(subject.figures.registers.values()) < max(reference.figures.registers.values())


def test_the_int32_program_holds(compared: Compared) -> None:
    comparison = compared("int32_1x1")
    assert_holds(comparison)
    assert_registers_are_few(comparison)
    assert comparison.subject.max_abs_error == 0.0


def test_the_reference_agrees_with_itself_and_numpy() -> None:
    settings = Settings(repeats=1, subject="tvm-vm")
    comparison = compare(load_built_in("int32_1x1", 1), {}, settings)
    assert_holds(comparison)


def test_a_given_input_replaces_the_seeded_one() -> None:
    settings = Settings(repeats=1, subject="tvm-vm")
    model = load_built_in("int32_1x1", 1)
    ones = {name: np.ones((1, 1), np.int32) for name in ("x", "x1", "p0", "p1")}
    comparison = compare(model, ones, settings)
    # total 2, difference 0, called -2, and not 2 < 0: chosen -3
    assert [array.item() for array in comparison.expected.arrays if array is not None] == [-6, -2]
    other = compare(model, {"x:0": np.ones((1, 1), np.int32)}, settings)
    first, second = other.expected.arrays[0], comparison.expected.arrays[0]
    assert first is not None
    assert second is not None
    assert not np.array_equal(first, second)


def test_an_input_that_does_not_fit_is_refused() -> None:
    with pytest.raises(BadArgumentError, match="--input: got x"):
        compare(load_built_in("int32_1x1", 1), {"x": np.ones(3, np.int32)}, Settings())


def test_progress_is_told_what_starts() -> None:
    told: list[str] = []
    compare(load_built_in("int32_1x1", 1), {}, Settings(repeats=1, subject="tvm-debug"), told.append)
    assert told == ["int32_1x1 on NumPy", "int32_1x1 on tvm-vm", "int32_1x1 on tvm-debug"]


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["while_loop", "lstm", "cond"])
def test_the_control_flow_models_hold(name: str, compared: Compared) -> None:
    assert_holds(compared(name))
    assert_registers_are_few(compared(name))


@pytest.mark.tensorflow
def test_on_nested_cond_the_reference_fails_and_tensorflow_confirms_the_register_vm(
    compared: Compared,
) -> None:
    comparison = compared("nested_cond")
    assert isinstance(comparison.reference.result, Failure)
    assert "expected to have non-NULL DLTensor" in comparison.reference.result.reason
    assert comparison.reference.result.figures is not None
    assert comparison.vms_bit_equal is None
    assert not comparison.reference.confirmed
    assert not comparison.holds
    assert comparison.subject.confirmed, comparison.subject.result


@pytest.mark.tensorflow
def test_mobilenet_holds_with_at_most_eight_registers(compared: Compared) -> None:
    comparison = compared("mobilenet_v1")
    assert_holds(comparison)
    assert_registers_are_few(comparison)
    subject, reference = comparison.subject.result, comparison.reference.result
    assert isinstance(subject, Measurement)
    assert isinstance(reference, Measurement)
    assert subject.figures.registers["main"] <= 8
    assert reference.figures.registers["main"] > 150
    assert subject.figures.instructions is not None
    assert reference.figures.instructions is not None
    assert subject.figures.instructions < reference.figures.instructions
    assert subject.figures.peak_intermediate_bytes is not None
    # The largest sum of live intermediates is 4.594 MiB; no order of the same kernels needs less.
    assert subject.figures.peak_intermediate_bytes >= 4.5 * 2**20


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("name", ["mobilenet_v2", "resnet50_v2", "resnet_model"])
def test_the_large_networks_hold(name: str, compared: Compared) -> None:
    assert_holds(compared(name))
    assert_registers_are_few(compared(name))
