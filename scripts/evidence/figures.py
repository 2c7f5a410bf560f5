"""The RFC's figures, drawn from the measured results.

A figure carries the digest of what it shows, by which a stale one is told: other versions of matplotlib draw the
same figure in other bytes.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from regvm.memory.errors import MissingPackageError

Histogram = Mapping[int, int]
_MARK = "data {}"
_SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


def registers(results: Mapping[str, Any]) -> dict[str, Histogram]:
    """How many functions need how many registers, and programs the reference's largest register file."""
    population = results["population"]["all"]
    ours, theirs = (_counts(population["both"][key]) for key in ("largest", "reference_largest"))
    for model in results["models"].values():
        ours[max(model["registers"].values())] += 1
        theirs[max(model["reference_registers"].values())] += 1
    return {"register VM": ours, "reference": theirs}


def _counts(histogram: Mapping[str, int]) -> Counter[int]:
    return Counter({int(number): count for number, count in histogram.items()})


def draw_registers(path: Path, data: Mapping[str, Histogram], digest: str) -> None:
    """The share of programs that a number of registers is enough for, one line a machine.

    Raises MissingPackageError without matplotlib, the optional extra ``plot``.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackageError("figures need matplotlib: pip install 'relay-regvm[plot]'") from error
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, histogram in data.items():
        numbers = sorted(histogram)
        total = sum(histogram.values())
        shares = [count / total for count in accumulate(histogram[n] for n in numbers)]
        axes.step(numbers, shares, where="post", label=f"{name} ({total:,} programs)")
    axes.set_xscale("log", base=2)
    ticks = [2**power for power in range(10)]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_yticks(_SHARES, [f"{share:.0%}" for share in _SHARES])
    axes.set_xlabel("registers of the largest function")
    axes.set_ylabel("programs that need no more")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    metadata = {"Date": None, "Description": _MARK.format(digest)}
    with matplotlib.rc_context({"svg.hashsalt": "regvm", "svg.fonttype": "none"}):
        figure.savefig(path, metadata=metadata)


Draw = Callable[[Path, Any, str], None]
FIGURES: dict[str, tuple[Callable[[Mapping[str, Any]], Any], Draw]] = {
    "registers.svg": (registers, draw_registers)
}


def write_figures(folder: Path, results: Mapping[str, Any]) -> None:
    """Draw the figures that are missing or show something else."""
    folder.mkdir(exist_ok=True)
    for name in stale_figures(folder, results):
        select, draw = FIGURES[name]
        data = select(results)
        draw(folder / name, data, _digest(data))


def stale_figures(folder: Path, results: Mapping[str, Any]) -> list[str]:
    """The names of figures that are not those of the results."""
    return [name for name, (select, _) in FIGURES.items() if not _shows(folder / name, select(results))]


def _shows(path: Path, data: Any) -> bool:
    return path.exists() and _MARK.format(_digest(data)) in path.read_text(encoding="utf-8")


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
