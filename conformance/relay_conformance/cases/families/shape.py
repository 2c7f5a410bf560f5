"""Operators that move elements or ask for shapes: reshaping, joining, splitting, padding, tiling."""

from relay_conformance.cases.case import Case, Form, ImportRefusal, Inputs, Rows, table
from relay_conformance.cases.families.refusals import with_refusals
from relay_conformance.cases.operands import (
    Operand,
    Operands,
    Shuffled,
    fixed,
    given,
    leading_dimension_open,
    tensor,
)


def several(*operands: Operand) -> Operands:
    return Operands(operands)


def _reshaping() -> tuple[Case, ...]:
    x = tensor(3, 4)
    opened = leading_dimension_open(x)
    reshape: Rows = {
        "flatten": {"tensor": x, "shape": fixed([12])},
        "minus-one": {"tensor": x, "shape": fixed([2, -1])},
        "only-minus-one": {"tensor": x, "shape": fixed([-1])},
        "to-rank-0": {"tensor": tensor(1, 1), "shape": fixed([], "int32")},
        "from-rank-0": {"tensor": tensor(), "shape": fixed([1, 1])},
        "rank-4": {"tensor": tensor(2, 3, 4), "shape": fixed([4, 1, 3, 2])},
        "empty": {"tensor": tensor(0, 4), "shape": fixed([2, 0])},
        "empty-minus-one": {"tensor": tensor(0, 4), "shape": fixed([-1, 2])},
        "int64-shape": {"tensor": x, "shape": fixed([4, 3], "int64")},
        "int32": {"tensor": tensor(3, 4, dtype="int32"), "shape": fixed([6, 2])},
        "bool": {"tensor": tensor(3, 4, dtype="bool"), "shape": fixed([6, 2])},
        "fed-shape": {"tensor": x, "shape": given([4, 3], "int32")},
        "fed-minus-one": {"tensor": x, "shape": given([-1, 2], "int32")},
        "open-batch": {"tensor": opened, "shape": fixed([-1, 2])},
    }
    expand: Rows = {
        f"axis-{name}": {"input": x, "axis": fixed(axis)}
        for name, axis in {"0": 0, "1": 1, "2": 2, "minus-1": -1, "minus-3": -3}.items()
    }
    expand |= {
        "rank-0": {"input": tensor(), "axis": fixed(0)},
        "rank-4": {"input": tensor(2, 1, 3, 2), "axis": fixed(2)},
        "empty": {"input": tensor(0, 2), "axis": fixed(1)},
        "int64-axis": {"input": x, "axis": fixed(1, "int64")},
        "vector-axis": {"input": x, "axis": fixed([1])},
        "bool": {"input": tensor(3, 4, dtype="bool"), "axis": fixed(1)},
        "open-batch": {"input": opened, "axis": fixed(-1)},
    }
    ones = tensor(1, 3, 1, 2)
    squeeze: Rows = {
        "all": ({"input": ones}, {}),
        "first": ({"input": ones}, {"axis": [0]}),
        "negative": ({"input": ones}, {"axis": [-2]}),
        "both": ({"input": ones}, {"axis": [0, 2]}),
        "mixed-signs": ({"input": ones}, {"axis": [-4, 2]}),
        "to-rank-0": ({"input": tensor(1, 1)}, {}),
        "nothing-to-do": ({"input": tensor(2, 3)}, {}),
        "empty": ({"input": tensor(0, 1, 2)}, {"axis": [1]}),
        "int64": ({"input": tensor(1, 5, dtype="int64")}, {}),
        "open-batch": ({"input": leading_dimension_open(tensor(3, 1, 2))}, {"axis": [1]}),
    }
    return (*table("Reshape", reshape), *table("ExpandDims", expand), *table("Squeeze", squeeze))


def _asking() -> tuple[Case, ...]:
    shapes = {
        "matrix": tensor(3, 4),
        "rank-1": tensor(7),
        "rank-0": tensor(),
        "rank-4": tensor(2, 3, 1, 4),
        "empty": tensor(0, 3),
        "int32": tensor(5, 2, dtype="int32"),
        "bool": tensor(2, 3, dtype="bool"),
    }
    rows: Rows = {name: ({"input": operand}, {}) for name, operand in shapes.items()}
    wide: Rows = {"int64": ({"input": tensor(3, 4)}, {"out_type": "int64"})}
    opened: Rows = {"open-batch": ({"input": leading_dimension_open(tensor(3, 4))}, {})}
    reason = "it tells of the shape alone"
    return (
        *table("Shape", {**rows, **wide, **opened}, steady=reason),
        *table("Size", {**rows, **wide, **opened}, steady=reason),
        *table("Rank", {**rows, **opened}, steady=reason),
    )


def _joining() -> tuple[Case, ...]:
    a, b, c = tensor(2, 3), tensor(2, 3), tensor(2, 1)
    concat = {
        "first-axis": ((a, b), 0),
        "last-axis": ((a, c), 1),
        "negative-axis": ((a, c), -1),
        "three": ((a, b, c), 1),
        "with-empty": ((a, tensor(2, 0)), 1),
        "all-empty": ((tensor(0, 3), tensor(0, 3)), 0),
        "rank-1": ((tensor(3), tensor(4)), 0),
        "rank-4": ((tensor(1, 2, 2, 1), tensor(1, 2, 3, 1)), 2),
        "int32": ((tensor(2, 3, dtype="int32"), tensor(1, 3, dtype="int32")), 0),
        "float64": ((tensor(2, 3, dtype="float64"), tensor(1, 3, dtype="float64")), 0),
        "bool": ((tensor(2, 3, dtype="bool"), tensor(3, 3, dtype="bool")), 0),
        "open-batch": ((leading_dimension_open(a), leading_dimension_open(b)), 0),
    }
    pack = {
        "first-axis": ((a, b), 0),
        "last-axis": ((a, b), 2),
        "middle-axis": ((a, b, tensor(2, 3)), 1),
        "negative-axis": ((a, b), -1),
        "rank-0": ((tensor(), tensor(), tensor()), 0),
        "one": ((a,), 0),
        "empty": ((tensor(0, 2), tensor(0, 2)), 1),
        "int64": ((tensor(4, dtype="int64"), tensor(4, dtype="int64")), 1),
        "open-batch": ((leading_dimension_open(a), leading_dimension_open(b)), 1),
    }
    identity = {
        "two": (tensor(2, 3), tensor(4)),
        "one": (tensor(3),),
        "dtypes": (tensor(2), tensor(2, dtype="int32"), tensor(3, dtype="bool")),
        "rank-0": (tensor(), tensor()),
        "empty": (tensor(0, 2), tensor(1)),
    }
    add_n = {
        "one": (tensor(2, 3),),
        "two": (tensor(2, 3), tensor(2, 3)),
        "five": tuple(tensor(2, 3) for _ in range(5)),
        "rank-0": (tensor(), tensor(), tensor()),
        "int32": (tensor(4, dtype="int32"), tensor(4, dtype="int32")),
        "float64": (tensor(4, dtype="float64"), tensor(4, dtype="float64"), tensor(4, dtype="float64")),
        "empty": (tensor(0, 2), tensor(0, 2)),
        "open-batch": (leading_dimension_open(a), leading_dimension_open(a)),
    }
    return (
        *table(
            "ConcatV2", {k: {"values": several(*v), "axis": fixed(axis)} for k, (v, axis) in concat.items()}
        ),
        *table(
            "Concat",
            {
                k: {"values": several(*v), "concat_dim": fixed(axis)}
                for k, (v, axis) in concat.items()
                if axis >= 0
            },
        ),
        *table("Pack", {k: ({"values": several(*v)}, {"axis": axis}) for k, (v, axis) in pack.items()}),
        *table("IdentityN", {k: {"input": several(*v)} for k, v in identity.items()}),
        *table("AddN", {k: {"inputs": several(*v)} for k, v in add_n.items()}),
    )


def _splitting() -> tuple[Case, ...]:
    x = tensor(4, 6)

    def split(operand: Operand, axis: int, count: int) -> tuple[Inputs, dict[str, int]]:
        return {"value": operand, "axis": fixed(axis)}, {"num_split": count}

    def split_v(operand: Operand, sizes: list[int], axis: int) -> tuple[Inputs, dict[str, int]]:
        return {"value": operand, "size_splits": fixed(sizes), "axis": fixed(axis)}, {"num_split": len(sizes)}

    def unpack(operand: Operand, axis: int, count: int) -> tuple[Inputs, dict[str, int]]:
        return {"value": operand}, {"num": count, "axis": axis}

    fed_axis = ({"value": x, "axis": given(0, "int32")}, {"num_split": 2})
    return (
        *table(
            "Split",
            {
                "two": split(x, 0, 2),
                "last-axis": split(x, 1, 3),
                "negative-axis": split(x, -1, 2),
                "one": split(x, 0, 1),
                "into-ones": split(tensor(3, 2), 0, 3),
                "rank-1": split(tensor(6), 0, 3),
                "empty": split(tensor(0, 4), 0, 2),
                "int64": split(tensor(4, 2, dtype="int64"), 0, 2),
                "open-batch": split(leading_dimension_open(x), 1, 2),
            },
        ),
        Case(
            "Split",
            "fed-axis",
            *fed_axis,
            refusal=ImportRefusal("should be constants"),
            only=Form.PLACEHOLDERS,
        ),
        *table(
            "SplitV",
            {
                "uneven": split_v(x, [1, 2, 3], 1),
                "first-axis": split_v(x, [3, 1], 0),
                "negative-axis": split_v(x, [4, 2], -1),
                "one": split_v(x, [6], 1),
                "with-zero": split_v(x, [0, 4], 0),
                "inferred": split_v(x, [2, -1], 1),
                "rank-1": split_v(tensor(5), [2, 3], 0),
                "int32": split_v(tensor(5, dtype="int32"), [2, 3], 0),
            },
        ),
        *table(
            "Unpack",
            {
                "first-axis": unpack(x, 0, 4),
                "last-axis": unpack(x, 1, 6),
                "negative-axis": unpack(tensor(2, 3, 2), -2, 3),
                "one": unpack(tensor(1, 3), 0, 1),
                "rank-1": unpack(tensor(3), 0, 3),
                "empty-items": unpack(tensor(2, 0), 0, 2),
                "int32": unpack(tensor(2, 3, dtype="int32"), 0, 2),
                "open-batch": unpack(leading_dimension_open(tensor(4, 2)), 1, 2),
            },
        ),
    )


def _filling() -> tuple[Case, ...]:
    x = tensor(2, 3)
    pads = {
        "matrix": (x, [[1, 1], [2, 0]]),
        "nothing": (x, [[0, 0], [0, 0]]),
        "one-side": (x, [[0, 2], [0, 0]]),
        "rank-1": (tensor(4), [[2, 3]]),
        "rank-4": (tensor(1, 2, 2, 1), [[0, 0], [1, 1], [1, 0], [0, 0]]),
        "int32": (tensor(2, 3, dtype="int32"), [[1, 0], [0, 1]]),
        "float64": (tensor(2, 3, dtype="float64"), [[1, 0], [0, 1]]),
        "empty": (tensor(0, 3), [[1, 1], [0, 0]]),
        "open-batch": (leading_dimension_open(x), [[1, 1], [2, 0]]),
    }
    mirrors = {
        "matrix": (tensor(3, 4), [[1, 1], [2, 1]]),
        "nothing": (x, [[0, 0], [0, 0]]),
        "one-side": (tensor(3, 4), [[2, 0], [0, 0]]),
        "rank-1": (tensor(5), [[2, 3]]),
        "int32": (tensor(3, 4, dtype="int32"), [[1, 1], [2, 1]]),
        "rank-4": (tensor(1, 3, 3, 2), [[0, 0], [1, 1], [2, 2], [0, 0]]),
    }
    tiles = {
        "matrix": (x, [2, 3]),
        "once": (x, [1, 1]),
        "one-axis": (x, [1, 4]),
        "rank-1": (tensor(3), [3]),
        "rank-3": (tensor(2, 1, 3), [2, 3, 1]),
        "zero": (x, [0, 2]),
        "int64": (tensor(3, dtype="int64"), [2]),
        "bool": (tensor(3, 2, dtype="bool"), [2, 1]),
        "open-batch": (leading_dimension_open(x), [2, 1]),
    }
    broadcasts = {
        "row": (tensor(1, 3), [4, 3]),
        "column": (tensor(2, 1), [2, 5]),
        "new-axes": (tensor(3), [2, 4, 3]),
        "rank-0": (tensor(), [2, 2]),
        "same": (x, [2, 3]),
        "int32": (tensor(1, 3, dtype="int32"), [2, 3]),
        "empty": (tensor(1, 3), [0, 3]),
        "bool": (tensor(3, dtype="bool"), [2, 3]),
    }
    return (
        *table("Pad", {k: {"input": o, "paddings": fixed(p)} for k, (o, p) in pads.items()}),
        *table(
            "PadV2",
            {
                k: {"input": o, "paddings": fixed(p), "constant_values": fixed(7, o.dtype)}
                for k, (o, p) in pads.items()
            },
        ),
        *table(
            "MirrorPad",
            {
                f"{mode.lower()}-{k}": ({"input": o, "paddings": fixed(p)}, {"mode": mode})
                for k, (o, p) in mirrors.items()
                for mode in ("REFLECT", "SYMMETRIC")
            },
        ),
        *table("Tile", {k: {"input": o, "multiples": fixed(m)} for k, (o, m) in tiles.items()}),
        *table("BroadcastTo", {k: {"input": o, "shape": fixed(s)} for k, (o, s) in broadcasts.items()}),
        *_made_up(),
    )


def _made_up() -> tuple[Case, ...]:
    arguments = {
        "same": ([2, 3], [2, 3]),
        "ones": ([2, 1], [1, 3]),
        "longer-left": ([4, 2, 3], [3]),
        "longer-right": ([3], [4, 2, 1]),
        "scalar": ([], [2, 2]),
        "int64": ([2, 1], [5]),
    }
    fills: Rows = {
        "matrix": {"dims": fixed([2, 3]), "value": tensor()},
        "rank-0": {"dims": fixed([], "int32"), "value": tensor()},
        "empty": {"dims": fixed([0, 3]), "value": tensor()},
        "int32": {"dims": fixed([4]), "value": tensor(dtype="int32")},
        "bool": {"dims": fixed([2]), "value": given(True, "bool")},
        "int64-dims": {"dims": fixed([2, 2], "int64"), "value": tensor()},
        "fed-dims": {"dims": given([2, 3], "int32"), "value": fixed(1.5, "float32")},
    }
    ranges = {
        "int32": (0, 10, 1, "int32"),
        "step": (2, 17, 3, "int32"),
        "negative-step": (9, -3, -2, "int32"),
        "empty": (5, 5, 1, "int32"),
        "int64": (0, 6, 2, "int64"),
        "float32": (0.0, 3.0, 0.5, "float32"),
        "float32-whole": (1.0, 7.0, 2.0, "float32"),
    }

    def bounds(row: tuple[float, float, float, str], make: object) -> Inputs:
        return {n: make(v, row[3]) for n, v in zip(("start", "limit", "delta"), row, strict=False)}  # type: ignore[operator]

    return (
        *table(
            "BroadcastArgs",
            {
                k: {n: fixed(v, "int64" if k == "int64" else "int32") for n, v in (("s0", a), ("s1", b))}
                for k, (a, b) in arguments.items()
            },
            steady="it gives a shape",
        ),
        *table("Fill", fills, steady="it repeats one value"),
        *table("Range", {k: bounds(row, fixed) for k, row in ranges.items()}),
        *table(
            "Range", {f"fed-{k}": bounds(row, given) for k, row in ranges.items()}, only=Form.PLACEHOLDERS
        ),
    )


def _permuting() -> tuple[Case, ...]:
    x, cube = tensor(3, 4), tensor(2, 3, 4)
    transposes = {
        "matrix": (x, [1, 0]),
        "identity": (x, [0, 1]),
        "cube": (cube, [2, 0, 1]),
        "negative": (cube, [-1, 0, 1]),
        "rank-1": (tensor(5), [0]),
        "rank-4": (tensor(1, 2, 3, 2), [0, 3, 1, 2]),
        "empty": (tensor(0, 3), [1, 0]),
        "int32": (tensor(3, 4, dtype="int32"), [1, 0]),
        "bool": (tensor(3, 4, dtype="bool"), [1, 0]),
        "open-batch": (leading_dimension_open(x), [1, 0]),
    }
    reverses = {
        "first-axis": (x, [0]),
        "last-axis": (x, [1]),
        "negative-axis": (x, [-1]),
        "both-axes": (x, [0, 1]),
        "no-axes": (x, []),
        "rank-1": (tensor(6), [0]),
        "middle-axis": (cube, [1]),
        "int64": (tensor(5, dtype="int64"), [0]),
        "bool": (tensor(5, 2, dtype="bool"), [0]),
        "empty": (tensor(0, 2), [0]),
        "open-batch": (leading_dimension_open(x), [1]),
    }
    permutation = tensor(6, dtype="int32", values=Shuffled())
    return (
        *table("Transpose", {k: {"x": o, "perm": fixed(p)} for k, (o, p) in transposes.items()}),
        *table("ReverseV2", {k: {"tensor": o, "axis": fixed(a)} for k, (o, a) in reverses.items()}),
        *table(
            "InvertPermutation",
            {
                "six": {"x": permutation},
                "one": {"x": given([0], "int32")},
                "identity": {"x": given([0, 1, 2, 3], "int32")},
                "reversed": {"x": given([4, 3, 2, 1, 0], "int32")},
                "int64": {"x": tensor(5, dtype="int64", values=Shuffled())},
                "long": {"x": tensor(100, dtype="int32", values=Shuffled())},
            },
        ),
    )


def _blocks() -> tuple[Case, ...]:
    depth = {
        "block-2": (tensor(1, 2, 2, 4), 2),
        "block-3": (tensor(1, 2, 1, 9), 3),
        "batch": (tensor(3, 2, 2, 8), 2),
        "one-pixel": (tensor(1, 1, 1, 4), 2),
        "int32": (tensor(1, 2, 2, 4, dtype="int32"), 2),
        "open-batch": (leading_dimension_open(tensor(2, 2, 2, 4)), 2),
    }
    space = {
        "block-2": (tensor(1, 4, 4, 1), 2),
        "block-3": (tensor(1, 3, 6, 2), 3),
        "batch": (tensor(3, 2, 2, 3), 2),
        "one-block": (tensor(1, 2, 2, 1), 2),
        "int32": (tensor(1, 4, 2, 1, dtype="int32"), 2),
        "open-batch": (leading_dimension_open(tensor(2, 4, 4, 1)), 2),
    }
    to_batch = {
        "plain": (tensor(1, 4, 4, 1), [2, 2], [[0, 0], [0, 0]]),
        "padded": (tensor(1, 3, 5, 2), [2, 2], [[1, 0], [0, 1]]),
        "uneven-block": (tensor(2, 4, 6, 1), [2, 3], [[0, 0], [0, 0]]),
        "one-dimension": (tensor(2, 6, 2), [3], [[0, 0]]),
        "block-1": (tensor(1, 2, 2, 1), [1, 1], [[1, 1], [0, 0]]),
        "int32": (tensor(1, 2, 2, 1, dtype="int32"), [2, 2], [[0, 0], [0, 0]]),
    }
    from_batch = {
        "plain": (tensor(4, 2, 2, 1), [2, 2], [[0, 0], [0, 0]]),
        "cropped": (tensor(4, 2, 3, 2), [2, 2], [[1, 0], [0, 1]]),
        "uneven-block": (tensor(6, 2, 2, 1), [2, 3], [[0, 0], [1, 1]]),
        "one-dimension": (tensor(6, 2, 2), [3], [[1, 2]]),
        "block-1": (tensor(2, 3, 3, 1), [1, 1], [[1, 1], [0, 0]]),
        "int32": (tensor(4, 1, 1, 1, dtype="int32"), [2, 2], [[0, 0], [0, 0]]),
    }
    return (
        *table("DepthToSpace", {k: ({"input": o}, {"block_size": b}) for k, (o, b) in depth.items()}),
        *table("SpaceToDepth", {k: ({"input": o}, {"block_size": b}) for k, (o, b) in space.items()}),
        *table(
            "SpaceToBatchND",
            {
                k: {"input": o, "block_shape": fixed(b), "paddings": fixed(p)}
                for k, (o, b, p) in to_batch.items()
            },
        ),
        *table(
            "BatchToSpaceND",
            {
                k: {"input": o, "block_shape": fixed(b), "crops": fixed(c)}
                for k, (o, b, c) in from_batch.items()
            },
        ),
    )


CASES = with_refusals(
    (*_reshaping(), *_asking(), *_joining(), *_splitting(), *_filling(), *_permuting(), *_blocks()),
    without=("Shape", "Rank"),
)
