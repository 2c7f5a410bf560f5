"""Run one model on the reference, on the register VM and on a third voice, and say who agrees with whom."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from relay_conformance import executors
from relay_conformance.comparison import Difference, bit_differences, largest_error, tolerance_differences
from relay_conformance.execution import DEFAULT_TARGET, DEFAULT_TIME_LIMIT, Failure, Measurement, execute
from relay_conformance.isolation import shared_worker
from relay_conformance.models.model import Model, Voice
from relay_conformance.program import Array, check_inputs
from relay_conformance.values import Outputs

REFERENCE = "tvm-vm"
SUBJECT = "regvm"


@dataclass(frozen=True)
class Settings:
    """``time_limit`` is in seconds, for compiling and for running, each."""

    seed: int = 0
    batch: int = 1
    repeats: int = 10
    reference: str = REFERENCE
    subject: str = SUBJECT
    target: str = DEFAULT_TARGET
    time_limit: float = DEFAULT_TIME_LIMIT


@dataclass(frozen=True)
class Side:
    """One machine's result, and where it leaves the third voice's tolerance."""

    result: Measurement | Failure
    differences: tuple[Difference, ...]
    max_abs_error: float | None

    @property
    def confirmed(self) -> bool:
        """Whether the third voice says the same."""
        return isinstance(self.result, Measurement) and not self.differences


@dataclass(frozen=True)
class Comparison:
    """``vm_differences`` is ``None`` where one of the machines gave no result."""

    model: str
    voice: Voice
    output_names: tuple[str, ...]
    settings: Settings
    expected: Outputs
    voice_latency_s: float
    reference: Side
    subject: Side
    vm_differences: tuple[Difference, ...] | None

    @property
    def vms_bit_equal(self) -> bool | None:
        return None if self.vm_differences is None else not self.vm_differences

    @property
    def holds(self) -> bool:
        """Both machines gave a result, the same one, and the third voice confirms it."""
        return self.vms_bit_equal is True and self.reference.confirmed and self.subject.confirmed

    @property
    def output_std(self) -> float:
        """The standard deviation over all output elements: near 0, agreement would say nothing."""
        arrays = [array.ravel().astype(np.float64) for array in self.expected.arrays if array is not None]
        return float(np.std(np.concatenate(arrays))) if arrays else 0.0


def compare(
    model: Model,
    given: Mapping[str, Array],
    settings: Settings,
    progress: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """``given`` inputs replace the seeded ones of the same name; ``progress`` is told what starts.

    Raises:
        BadInputError: an input has another name, shape or dtype, or can't be made up.
    """
    inputs = _inputs(model, given, settings.seed)
    reference, subject = executors.get(settings.reference), executors.get(settings.subject)
    arguments = [inputs[spec.name] for spec in model.program.inputs]
    progress(f"{model.name} on {model.voice.value}")
    expected, voice_latency = model.evaluate(inputs, settings.repeats)
    results = []
    worker = shared_worker(settings.time_limit)
    for executor in (reference, subject):
        progress(f"{model.name} on {executor.name}")
        results.append(execute(worker, executor, model.program, arguments, settings.repeats, settings.target))
    return Comparison(
        model=model.name,
        voice=model.voice,
        output_names=model.output_names,
        settings=settings,
        expected=expected,
        voice_latency_s=voice_latency,
        reference=_side(expected, results[0]),
        subject=_side(expected, results[1]),
        vm_differences=_vm_differences(results[0], results[1]),
    )


def _inputs(model: Model, given: Mapping[str, Array], seed: int) -> Mapping[str, Array]:
    names = {name.removesuffix(":0") for name in given}
    missing = any(spec.name not in names for spec in model.inputs)
    seeded = model.seeded_inputs(seed) if missing else {}
    rest = {name: array for name, array in seeded.items() if name not in names}
    return check_inputs(model.inputs, {**rest, **given}, "--input")


def _side(expected: Outputs, result: Measurement | Failure) -> Side:
    if isinstance(result, Failure):
        return Side(result, (), None)
    differences = tolerance_differences(expected, result.outputs)
    return Side(result, differences, largest_error(expected, result.outputs))


def _vm_differences(
    reference: Measurement | Failure, subject: Measurement | Failure
) -> tuple[Difference, ...] | None:
    if isinstance(reference, Failure) or isinstance(subject, Failure):
        return None
    return bit_differences(reference.outputs, subject.outputs)
