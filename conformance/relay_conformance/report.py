"""A comparison for people, as a table, and for machines, as a mapping that is JSON."""

import math
from collections.abc import Mapping
from typing import Any

from rich.table import Table

from relay_conformance.compare import Comparison, Side
from relay_conformance.execution import Failure, Measurement
from relay_conformance.executors import Figures
from relay_conformance.versions import versions


def agreement(comparison: Comparison) -> str:
    """Whether the machines agree; if not, how they differ or who failed."""
    if comparison.vms_bit_equal:
        return "bit-equal"
    if comparison.vm_differences:
        what = "; ".join(str(difference) for difference in comparison.vm_differences)
        return f"{_name(comparison.subject)} differs from {_name(comparison.reference)}: {what}"
    sides = (comparison.reference, comparison.subject)
    return "; ".join(str(side.result) for side in sides if isinstance(side.result, Failure))


def confirmation(comparison: Comparison) -> str:
    """Which machines the third voice confirms."""
    sides = (comparison.reference, comparison.subject)
    confirmed = [_name(side) for side in sides if side.confirmed]
    contradicted = [_name(side) for side in sides if side.differences]
    parts = [f"confirms {' and '.join(confirmed)}" if confirmed else "confirms neither machine"]
    if contradicted:
        parts.append(f"contradicts {' and '.join(contradicted)}")
    return f"{comparison.voice.value} {', '.join(parts)}"


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Every figure of the comparison; ``null`` where a machine did not get that far. Times in seconds."""
    reference, subject = comparison.reference, comparison.subject
    figures, reference_figures = _figures(subject), _figures(reference)
    settings = comparison.settings
    return {
        "model": comparison.model,
        "holds": comparison.holds,
        "vms_bit_equal": comparison.vms_bit_equal,
        "vms_bit_equal_reason": agreement(comparison),
        "confirmed_by": comparison.voice.value.lower(),
        "confirmation": confirmation(comparison),
        "confirmed": subject.confirmed,
        "reference_confirmed": reference.confirmed,
        "confirmed_by_tensorflow": subject.confirmed if comparison.voice.name == "TENSORFLOW" else None,
        "failure": _failure(subject),
        "reference_failure": _failure(reference),
        "differences": [str(difference) for difference in subject.differences],
        "reference_differences": [str(difference) for difference in reference.differences],
        "max_abs_error": _finite(subject.max_abs_error),
        "reference_max_abs_error": _finite(reference.max_abs_error),
        "output_std": _finite(comparison.output_std),
        "outputs": _outputs(comparison),
        "registers": _mapping(figures, "registers"),
        "reference_registers": _mapping(reference_figures, "registers"),
        "max_live": _mapping(figures, "max_live"),
        "instructions": figures.instructions if figures else None,
        "reference_instructions": reference_figures.instructions if reference_figures else None,
        "peak_intermediate_bytes": figures.peak_intermediate_bytes if figures else None,
        "compile_s": subject.result.compile_s,
        "reference_compile_s": reference.result.compile_s,
        "latency_s": _latency(subject),
        "reference_latency_s": _latency(reference),
        "tensorflow_latency_s": _voice_latency(comparison, "TENSORFLOW"),
        "numpy_latency_s": _voice_latency(comparison, "NUMPY"),
        "executor": settings.subject,
        "reference_executor": settings.reference,
        "seed": settings.seed,
        "batch": settings.batch,
        "repeats": settings.repeats,
        "target": settings.target,
        "versions": versions(),
    }


def as_table(comparison: Comparison) -> Table:
    """The comparison with one column a machine."""
    reference, subject = comparison.reference, comparison.subject
    settings = comparison.settings
    table = Table(
        title=f"{comparison.model}: {'holds' if comparison.holds else 'DOES NOT HOLD'}",
        caption=f"seed {settings.seed}, batch {settings.batch}, median of {settings.repeats} runs",
    )
    table.add_column("")
    for name in (settings.subject, settings.reference, comparison.voice.value):
        table.add_column(name, justify="right")
    rows = (
        ("largest error", _number(subject.max_abs_error), _number(reference.max_abs_error), ""),
        ("spread of the output", "", "", _number(comparison.output_std)),
        ("instructions", _instructions(subject), _instructions(reference), ""),
        ("registers", _registers(subject), _registers(reference), ""),
        ("live at once", _largest(subject), "", ""),
        ("peak of intermediates", _bytes(subject), "", ""),
        ("compile time", _seconds(subject.result.compile_s), _seconds(reference.result.compile_s), ""),
        (
            "latency",
            _seconds(_latency(subject)),
            _seconds(_latency(reference)),
            _seconds(comparison.voice_latency_s),
        ),
    )
    for row in rows:
        table.add_row(*row)
    return table


def _name(side: Side) -> str:
    return side.result.executor


def _figures(side: Side) -> Figures | None:
    return side.result.figures


def _failure(side: Side) -> str | None:
    return str(side.result) if isinstance(side.result, Failure) else None


def _mapping(figures: Figures | None, name: str) -> dict[str, int] | None:
    return None if figures is None else dict(sorted(getattr(figures, name).items()))


def _latency(side: Side) -> float | None:
    return side.result.latency_s if isinstance(side.result, Measurement) else None


def _voice_latency(comparison: Comparison, voice: str) -> float | None:
    return comparison.voice_latency_s if comparison.voice.name == voice else None


def _outputs(comparison: Comparison) -> list[Mapping[str, Any]]:
    arrays = [array for array in comparison.expected.arrays if array is not None]
    names = comparison.output_names or tuple(str(number) for number in range(len(arrays)))
    return [
        {"name": name, "shape": list(array.shape), "dtype": str(array.dtype)}
        for name, array in zip(names, arrays, strict=True)
    ]


def _finite(value: float | None) -> float | None:
    """JSON has no infinity and no NaN; the list of differences says what there was."""
    return value if value is not None and math.isfinite(value) else None


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3g}"


def _instructions(side: Side) -> str:
    figures = _figures(side)
    return "none" if figures is None or figures.instructions is None else f"{figures.instructions:,}"


def _registers(side: Side) -> str:
    figures = _figures(side)
    return "none" if figures is None else _lines(figures.registers)


def _largest(side: Side) -> str:
    figures = _figures(side)
    return "none" if figures is None else _lines(figures.max_live)


def _lines(numbers: Mapping[str, int]) -> str:
    """One function a line; TVM's generated names are long and mean nothing."""
    if len(numbers) == 1:
        return str(next(iter(numbers.values())))
    return "\n".join(f"{_shortened(name)} {number}" for name, number in sorted(numbers.items()))


def _shortened(name: str, width: int = 24) -> str:
    return name if len(name) <= width else f"{name[: width - 1]}…"


def _bytes(side: Side) -> str:
    figures = _figures(side)
    if figures is None or figures.peak_intermediate_bytes is None:
        return "none"
    return f"{figures.peak_intermediate_bytes:,} B"


def _seconds(value: float | None) -> str:
    if value is None:
        return "none"
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"
