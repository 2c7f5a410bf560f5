"""Convolutions and pooling: layouts, strides, dilation, both paddings where the sizes don't divide, groups.

TensorFlow's CPU kernels know only the layouts with channels last.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relay_conformance.cases.case import Case, Rows, table
from relay_conformance.cases.families.refusals import with_refusals
from relay_conformance.cases.operands import Operand, fixed, leading_dimension_open, tensor


@dataclass(frozen=True)
class _Window:
    """Sizes of a window over one or more spatial dimensions; ``strides`` and ``dilation`` go along each."""

    image: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...] = ()
    padding: str = "VALID"
    dilation: tuple[int, ...] = ()

    @property
    def attributes(self) -> dict[str, Any]:
        attributes = {"strides": _around(self.strides, len(self.kernel)), "padding": self.padding}
        if self.dilation:
            attributes["dilations"] = _around(self.dilation, len(self.kernel))
        return attributes


def _around(sizes: tuple[int, ...], dimensions: int) -> list[int]:
    """With the batch's and the channels' 1 around; none means 1 everywhere."""
    return [1, *(sizes or (1,) * dimensions), 1]


# Two spatial dimensions.
_PLANE = {
    "valid": _Window((5, 6), (3, 3)),
    "same": _Window((5, 6), (3, 3), (), "SAME"),
    "same-even-kernel": _Window((5, 6), (2, 2), (), "SAME"),
    "one-by-one": _Window((4, 3), (1, 1)),
    "whole-image": _Window((4, 3), (4, 3)),
    "strided": _Window((7, 6), (3, 3), (2, 2)),
    "same-strided": _Window((7, 6), (3, 3), (2, 2), "SAME"),
    "stride-over-kernel": _Window((7, 7), (1, 1), (2, 2), "SAME"),
    "flat-kernel": _Window((5, 6), (1, 3), (), "SAME"),
    "tall-kernel": _Window((5, 6), (3, 1)),
}
_DILATED = {
    "dilated": _Window((7, 8), (3, 3), (), "VALID", (2, 2)),
    "same-dilated": _Window((7, 8), (3, 3), (), "SAME", (2, 2)),
}
_UNEVEN = {"uneven-strides": _Window((7, 8), (3, 3), (2, 1), "SAME")}


def _conv2d() -> tuple[Case, ...]:
    def of(window: _Window, batch: int = 1, inside: int = 2, outside: int = 3, dtype: str = "float32") -> Any:
        image = tensor(batch, *window.image, inside, dtype=dtype)
        kernel = tensor(*window.kernel, inside, outside, dtype=dtype)
        return {"input": image, "filter": kernel}, window.attributes

    same = _PLANE["same"]
    explicit = {"strides": [1, 1, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}
    rows: Rows = {name: of(window) for name, window in {**_PLANE, **_DILATED, **_UNEVEN}.items()}
    rows = {
        **rows,
        "batch": of(same, batch=3),
        "one-channel": of(same, inside=1, outside=1),
        "many-channels": of(same, inside=8, outside=16),
        "float64": of(same, dtype="float64"),
        "explicit-padding": (of(same)[0], explicit),
        "open-batch": (
            {"input": leading_dimension_open(tensor(2, 5, 6, 2)), "filter": tensor(3, 3, 2, 3)},
            same.attributes,
        ),
    }
    return table("Conv2D", rows)


def _depthwise() -> tuple[Case, ...]:
    def of(window: _Window, batch: int = 1, channels: int = 3, multiplier: int = 1) -> Any:
        image = tensor(batch, *window.image, channels)
        return {"input": image, "filter": tensor(*window.kernel, channels, multiplier)}, window.attributes

    windows = {**_PLANE, **_DILATED}
    rows: Rows = {name: of(window) for name, window in windows.items()}
    same = _PLANE["same"]
    rows = {
        **rows,
        "multiplier-2": of(same, multiplier=2),
        "one-channel": of(same, channels=1),
        "one-channel-multiplier-3": of(same, channels=1, multiplier=3),
        "batch": of(same, batch=2),
    }
    return table("DepthwiseConv2dNative", rows)


def _transposed() -> tuple[Case, ...]:
    """Each window is that of the convolution whose gradient it is: ``image`` is the output's size."""

    def of(window: _Window, batch: int = 1, small: int = 3, large: int = 2) -> Any:
        gradient = tensor(batch, *_windows(window), small)
        sizes = fixed([batch, *window.image, large])
        kernel = tensor(*window.kernel, large, small)
        return {"input_sizes": sizes, "filter": kernel, "out_backprop": gradient}, window.attributes

    windows = {name: window for name, window in {**_PLANE, **_UNEVEN}.items() if name != "whole-image"}
    rows: Rows = {name: of(window) for name, window in windows.items()}
    rows = {**rows, "batch": of(_PLANE["same"], batch=2), "one-channel": of(_PLANE["same-strided"], 1, 1, 1)}
    space: Rows = {name: of(window) for name, window in _SPACE.items()}
    return (*table("Conv2DBackpropInput", rows), *table("Conv3DBackpropInputV2", space))


def _windows(window: _Window) -> tuple[int, ...]:
    """How many windows fit along each dimension."""
    strides = window.strides or (1,) * len(window.kernel)
    return tuple(
        -(-image // stride) if window.padding == "SAME" else (image - kernel) // stride + 1
        for image, kernel, stride in zip(window.image, window.kernel, strides, strict=True)
    )


# Three spatial dimensions.
_SPACE = {
    "valid": _Window((4, 5, 4), (2, 3, 2)),
    "same": _Window((4, 5, 4), (3, 3, 3), (), "SAME"),
    "one-by-one": _Window((2, 3, 3), (1, 1, 1)),
    "strided": _Window((5, 4, 5), (2, 2, 2), (2, 2, 2)),
    "same-strided": _Window((5, 4, 5), (3, 3, 3), (2, 2, 2), "SAME"),
    "flat-kernel": _Window((3, 4, 4), (1, 3, 3), (), "SAME"),
}


def _conv3d() -> tuple[Case, ...]:
    def of(window: _Window, batch: int = 1, inside: int = 2, outside: int = 2) -> Any:
        image, kernel = tensor(batch, *window.image, inside), tensor(*window.kernel, inside, outside)
        return {"input": image, "filter": kernel}, window.attributes

    rows: Rows = {name: of(window) for name, window in _SPACE.items()}
    extra: Rows = {"batch": of(_SPACE["same"], batch=2), "one-channel": of(_SPACE["same"], 1, 1, 1)}
    return table("Conv3D", {**rows, **extra})


def _dilation2d() -> tuple[Case, ...]:
    def of(window: _Window, channels: int = 2) -> Any:
        dilation = _around(window.dilation, 2)
        attributes = {"strides": _around(window.strides, 2), "rates": dilation, "padding": window.padding}
        inputs = {"input": tensor(1, *window.image, channels), "filter": tensor(*window.kernel, channels)}
        return inputs, attributes

    windows = {**_PLANE, **_DILATED}
    names = (
        "valid",
        "same",
        "one-by-one",
        "strided",
        "same-strided",
        "flat-kernel",
        "dilated",
        "same-dilated",
    )
    rows: Rows = {name: of(windows[name]) for name in names}
    return table("Dilation2D", {**rows, "one-channel": of(windows["same"], 1)})


def _pooling() -> tuple[Case, ...]:
    def plane(window: _Window, batch: int = 1, name: str = "input", **more: Operand) -> Any:
        image = more.get("image", tensor(batch, *window.image, 2))
        return {name: image}, {**window.attributes, "ksize": _around(window.kernel, 2)}

    windows = {**_PLANE, **_UNEVEN}
    cases: list[Case] = []
    for operator, name in (("AvgPool", "value"), ("MaxPool", "input")):
        rows: Rows = {kind: plane(window, name=name) for kind, window in windows.items()}
        extra: Rows = {
            "batch": plane(_PLANE["same"], 3, name),
            "float64": plane(_PLANE["same"], name=name, image=tensor(1, 5, 6, 2, dtype="float64")),
            "open-batch": plane(_PLANE["same"], name=name, image=leading_dimension_open(tensor(2, 5, 6, 2))),
        }
        cases += table(operator, {**rows, **extra})
    for operator in ("AvgPool3D", "MaxPool3D"):
        space: Rows = {
            kind: (
                {"input": tensor(1, *window.image, 2)},
                {**window.attributes, "ksize": _around(window.kernel, 3)},
            )
            for kind, window in _SPACE.items()
        }
        cases += table(operator, space)
    return tuple(cases)


def _bias() -> tuple[Case, ...]:
    layouts: Mapping[str, Any] = {
        "matrix": ({"value": tensor(3, 4), "bias": tensor(4)}, {}),
        "image": ({"value": tensor(1, 3, 2, 4), "bias": tensor(4)}, {}),
        "channels-first": ({"value": tensor(1, 4, 3, 2), "bias": tensor(4)}, {"data_format": "NCHW"}),
        "one-channel": ({"value": tensor(2, 3, 3, 1), "bias": tensor(1)}, {}),
        "rank-3": ({"value": tensor(2, 3, 5), "bias": tensor(5)}, {}),
        "float64": (
            {"value": tensor(3, 4, dtype="float64"), "bias": tensor(4, dtype="float64")},
            {},
        ),
        "int32": ({"value": tensor(3, 4, dtype="int32"), "bias": tensor(4, dtype="int32")}, {}),
        "empty": ({"value": tensor(0, 4), "bias": tensor(4)}, {}),
        "open-batch": ({"value": leading_dimension_open(tensor(3, 4)), "bias": tensor(4)}, {}),
    }
    return table("BiasAdd", layouts)


CASES = with_refusals(
    (
        *_conv2d(),
        *_depthwise(),
        *_transposed(),
        *_conv3d(),
        *_dilation2d(),
        *_pooling(),
        *_bias(),
    )
)
