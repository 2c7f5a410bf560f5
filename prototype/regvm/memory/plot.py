"""A storage plan as a picture: lifetime to the right, offset upwards, one rectangle per live range."""

from collections.abc import Sequence
from math import ceil
from pathlib import Path

from regvm.memory.errors import InvalidOptionError, MissingPackageError
from regvm.memory.request import Plan, Request

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
        from matplotlib.patches import Rectangle
    except ImportError as error:
        raise MissingPackageError("pictures need matplotlib: pip install 'relay-regvm[plot]'") from error

    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.add_subplot()
    colours = matplotlib.colormaps["tab20"]
    labelled = sum(len(request.ranges) for request in requests) <= LARGEST_LABELLED
    for index, request in enumerate(requests):
        offset = plan.offsets[request.id]
        for lower, upper in request.ranges:
            corner, width = (lower, offset), upper - lower
            axes.add_patch(
                Rectangle(
                    corner, width, request.size, facecolor=colours(index % 20), edgecolor="black", lw=0.5
                )
            )
            if labelled and request.size:
                middle = (lower + width / 2, offset + request.size / 2)
                axes.annotate(str(request.id), middle, ha="center", va="center", fontsize=7)
    axes.axhline(plan.bytes, color="black", linestyle="--", linewidth=1, label=f"plan: {plan.bytes:,} bytes")
    axes.axhline(
        plan.bound, color="grey", linestyle=":", linewidth=1, label=f"lower bound: {plan.bound:,} bytes"
    )
    axes.set_xlim(
        min((request.first for request in requests), default=0),
        max((request.last for request in requests), default=1),
    )
    axes.set_ylim(0, max(1, ceil(plan.bytes * 1.12)))
    axes.set_xlabel("position")
    axes.set_ylabel("offset (bytes)")
    axes.set_title(title or f"storage plan, strategy {plan.strategy}")
    axes.legend(loc="upper right", ncols=2, fontsize=8)
    # Neither the date nor random ids: the picture of a plan is part of its record.
    with matplotlib.rc_context({"svg.hashsalt": "regvm"}):
        try:
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        except OSError as error:
            raise InvalidOptionError(f"{path}: {error.strerror}; give a file that can be written") from error
