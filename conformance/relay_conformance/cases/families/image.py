"""Operators on images and boxes: resizing, cropping, and choosing boxes by score."""

from typing import Any

from relay_conformance.cases.case import Case, ImportRefusal, Inputs, Rows, table
from relay_conformance.cases.families.refusals import with_refusals
from relay_conformance.cases.operands import Operand, fixed, given, leading_dimension_open, tensor


def _resizing() -> tuple[Case, ...]:
    sizes = {
        "double": ((1, 3, 4, 2), (6, 8)),
        "half": ((1, 6, 8, 1), (3, 4)),
        "same": ((1, 4, 5, 1), (4, 5)),
        "uneven-up": ((1, 3, 4, 1), (5, 7)),
        "uneven-down": ((1, 7, 5, 1), (4, 3)),
        "to-one": ((1, 3, 4, 2), (1, 1)),
        "from-one": ((2, 1, 1, 2), (3, 2)),
        "batch": ((3, 2, 3, 2), (4, 4)),
    }
    modes = {
        "": {},
        "-aligned": {"align_corners": True},
        "-half-pixel": {"half_pixel_centers": True},
    }
    rows: Rows = {
        f"{name}{mode}": ({"images": tensor(*shape), "size": fixed(size)}, attributes)
        for name, (shape, size) in sizes.items()
        for mode, attributes in modes.items()
    }
    opened: Rows = {
        "open-batch": {"images": leading_dimension_open(tensor(2, 3, 4, 1)), "size": fixed([6, 8])}
    }
    return tuple(
        case
        for operator in ("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor")
        for case in table(operator, {**rows, **opened})
    )


def _cropping() -> tuple[Case, ...]:
    image = tensor(2, 5, 6, 2)

    def crop(boxes: list[list[float]], indices: list[int], size: tuple[int, int]) -> dict[str, Operand]:
        return {
            "image": image,
            "boxes": given(boxes),
            "box_ind": given(indices, "int32"),
            "crop_size": fixed(size),
        }

    inside, outside = [0.1, 0.2, 0.7, 0.9], [-0.2, 0.3, 0.8, 1.4]
    rows: Rows = {
        "inside": (crop([inside], [0], (3, 3)), {}),
        "two": (crop([inside, [0.0, 0.0, 1.0, 1.0]], [0, 1], (2, 4)), {}),
        "whole": (crop([[0.0, 0.0, 1.0, 1.0]], [1], (5, 6)), {}),
        "outside": (crop([outside], [0], (4, 4)), {}),
        "extrapolated": (crop([outside], [1], (4, 4)), {"extrapolation_value": 7.0}),
        "flipped": (crop([[0.9, 0.8, 0.1, 0.2]], [0], (3, 3)), {}),
        "nearest": (crop([inside, outside], [0, 1], (3, 3)), {"method": "nearest"}),
        "one-pixel": (crop([inside], [1], (1, 1)), {}),
    }
    return table("CropAndResize", rows)


# Three boxes on one place, one apart, one degenerate; the corners of some are given the other way round.
_BOXES = [
    [0.0, 0.0, 1.0, 1.0],
    [0.0, 0.05, 1.0, 1.05],
    [0.0, -0.05, 1.0, 0.95],
    [0.0, 10.0, 1.0, 11.0],
    [0.0, 10.1, 1.0, 11.1],
    [0.0, 100.0, 1.0, 101.0],
]
_SCORES = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3]


def _suppression() -> tuple[Case, ...]:
    def boxes(limit: int, overlap: float, *, flipped: bool = False) -> dict[str, Operand]:
        corners = [[b[2], b[3], b[0], b[1]] for b in _BOXES] if flipped else _BOXES
        return {
            "boxes": given(corners),
            "scores": given(_SCORES),
            "max_output_size": fixed(limit),
            "iou_threshold": fixed(overlap, "float32"),
        }

    plain: dict[str, dict[str, Operand]] = {
        "three": boxes(3, 0.5),
        "two": boxes(2, 0.5),
        "more-than-there-are": boxes(30, 0.5),
        "high-threshold": boxes(6, 0.99),
        "low-threshold": boxes(6, 0.05),
        "flipped": boxes(3, 0.5, flipped=True),
        "one": boxes(1, 0.5),
    }
    scored: dict[str, Inputs] = {
        f"{name}{suffix}": {**inputs, "score_threshold": fixed(threshold, "float32")}
        for name, inputs in plain.items()
        for suffix, threshold in (("", 0.0), ("-scored", 0.55))
    }
    soft: dict[str, Inputs] = {k: {**v, "soft_nms_sigma": fixed(0.0, "float32")} for k, v in scored.items()}
    padded: Rows = {f"{k}-padded": (v, {"pad_to_max_output_size": True}) for k, v in list(scored.items())[:4]}
    return (
        *table("NonMaxSuppressionV2", plain),
        *table("NonMaxSuppressionV3", scored),
        *table("NonMaxSuppressionV4", {**scored, **padded}),
        *table("NonMaxSuppressionV5", soft),
        *_combined(),
    )


def _combined() -> tuple[Case, ...]:
    boxes = given([[[b] for b in _BOXES]])
    scores = given([[[s, 1 - s] for s in _SCORES]])

    def combined(per_class: int, total: int, overlap: float, score: float, b: Operand = boxes) -> Any:
        return {
            "boxes": b,
            "scores": scores,
            "max_output_size_per_class": fixed(per_class),
            "max_total_size": fixed(total),
            "iou_threshold": fixed(overlap, "float32"),
            "score_threshold": fixed(score, "float32"),
        }

    rows: Rows = {
        "clipped": (combined(3, 3, 0.5, 0.0), {"clip_boxes": True}),
        "unclipped": (combined(3, 3, 0.5, 0.0), {"clip_boxes": False}),
        "scored": (combined(3, 4, 0.5, 0.5), {"clip_boxes": False}),
        "high-threshold": (combined(4, 4, 0.95, 0.0), {"clip_boxes": False}),
        "many": (combined(6, 12, 0.5, 0.0), {"clip_boxes": False}),
        "per-class-boxes": (
            combined(3, 3, 0.5, 0.0, given([[[b, b] for b in _BOXES]])),
            {"clip_boxes": False},
        ),
    }
    return (
        *table("CombinedNonMaxSuppression", rows),
        Case(
            "CombinedNonMaxSuppression",
            "padded-per-class",
            combined(2, 3, 0.5, 0.0),
            {"pad_per_class": True},
            refusal=ImportRefusal("pad_per_class"),
        ),
    )


CASES = with_refusals((*_resizing(), *_cropping(), *_suppression()))
