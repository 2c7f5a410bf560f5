"""A storage plan as a picture: lifetime to the right, offset upwards, one rectangle per live range."""

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from regvm.memory.errors import InvalidOptionError, MissingPackageError
from regvm.memory.request import Plan, Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")

# Above so many rectangles their names would only be noise.
LARGEST_LABELLED = 60


def plot_plan(requests: Sequence[Request], plan: Plan, path: Path, title: str | None = None) -> None:
    """Write the picture of ``plan`` to ``path``, PNG or SVG by its suffix; the same plan gives the same SVG.

    Raises:
        InvalidOptionError: the suffix is neither, or the file cannot be written.
        MissingPackageError: matplotlib, the optional extra ``plot``, is not installed.
    """
    if path.suffix not in SUFFIXES:
        raise InvalidOptionError(f"{path}: no picture format for suffix {path.suffix!r}; use .png or .svg")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackageError("pictures need matplotlib: pip install 'relay-regvm[plot]'") from error

    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.add_subplot()
    _draw_requests(axes, requests, plan)
    _draw_limits(axes, requests, plan)
    axes.set_title(title or f"storage plan, strategy {plan.strategy}")
    # Neither the date nor random ids: the picture of a plan is part of its record.
    with matplotlib.rc_context({"svg.hashsalt": "regvm"}):
        try:
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        except OSError as error:
            raise InvalidOptionError(f"{path}: {error.strerror}; give a file that can be written") from error


def _draw_requests(axes: "Axes", requests: Sequence[Request], plan: Plan) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    colours = colormaps["tab20"]
    labelled = sum(len(request.ranges) for request in requests) <= LARGEST_LABELLED
    for index, request in enumerate(requests):
        offset = plan.offsets[request.id]
        for lower, upper in request.ranges:
            axes.add_patch(
                Rectangle(
                    (lower, offset),
                    upper - lower,
                    request.size,
                    facecolor=colours(index % 20),
                    edgecolor="black",
                    linewidth=0.5,
                )
            )
            if labelled and request.size:
                middle = ((lower + upper) / 2, offset + request.size / 2)
                axes.annotate(str(request.id), middle, ha="center", va="center", fontsize=7)


def _draw_limits(axes: "Axes", requests: Sequence[Request], plan: Plan) -> None:
    axes.axhline(plan.bytes, color="black", linestyle="--", linewidth=1, label=f"plan: {plan.bytes:,} bytes")
    axes.axhline(
        plan.bound, color="grey", linestyle=":", linewidth=1, label=f"lower bound: {plan.bound:,} bytes"
    )
    axes.set_xlim(
        min((request.first for request in requests), default=0),
        max((request.last for request in requests), default=1),
    )
    # Room above the plan for the legend.
    axes.set_ylim(0, max(1, ceil(plan.bytes * 1.12)))
    axes.set_xlabel("position")
    axes.set_ylabel("offset (bytes)")
    axes.legend(loc="upper right", ncols=2, fontsize=8)
