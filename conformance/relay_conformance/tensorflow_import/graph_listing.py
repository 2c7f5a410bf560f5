"""A frozen TensorFlow graph as a readable list: its inputs, its weights without their data, and its nodes."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from relay_conformance.tensorflow_import.graph_model import GraphModel
from relay_conformance.tensorflow_import.loading import tensorflow

_INPUTS = ("Placeholder", "PlaceholderWithDefault")


@dataclass(frozen=True)
class Weight:
    """A constant of the graph; ``num_bytes`` is None for what has no fixed size, such as strings."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    num_bytes: int | None


def weights(nodes: Iterable[Any]) -> tuple[Weight, ...]:
    """The constants among the nodes, in their order."""
    return tuple(_weight(node) for node in nodes if node.op == "Const")


def show_graph(model: GraphModel) -> str:
    """Inputs, weights and nodes in sections, then each function that the graph calls."""
    nodes = list(model.graph_def.node)
    constants = weights(nodes)
    total = sum(w.num_bytes or 0 for w in constants)
    others = [n for n in nodes if n.op != "Const" and n.op not in _INPUTS]
    sections = [
        _section("inputs", [str(spec) for spec in model.inputs]),
        _section("outputs", list(model.outputs)),
        _section(f"weights: {len(constants):,}, {total:,} bytes", [_show_weight(w) for w in constants]),
        _section(f"nodes: {len(others):,}", [_show_node(n) for n in others]),
    ]
    for function in sorted(model.graph_def.library.function, key=lambda f: str(f.signature.name)):
        arguments = ", ".join(f"{a.name}: {_dtype(a.type)}" for a in function.signature.input_arg)
        lines = [_show_weight(_weight(n)) if n.op == "Const" else _show_node(n) for n in function.node_def]
        sections.append(_section(f"function {function.signature.name}({arguments})", lines))
    return "\n\n".join(sections) + "\n"


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines or ["none"])])


def _weight(node: Any) -> Weight:
    tensor = node.attr["value"].tensor
    shape = tuple(int(d.size) for d in tensor.tensor_shape.dim)
    dtype = tensorflow().dtypes.as_dtype(tensor.dtype)
    # A string's size is not fixed; TensorFlow gives the size of its handle.
    num_bytes = None if dtype.name == "string" else math.prod(shape) * int(dtype.size)
    return Weight(str(node.name), shape, str(dtype.name), num_bytes)


def _show_weight(weight: Weight) -> str:
    size = "" if weight.num_bytes is None else f", {weight.num_bytes:,} bytes"
    return f"{weight.name}: ({', '.join(map(str, weight.shape))}) {weight.dtype}{size}"


def _show_node(node: Any) -> str:
    shapes = ", ".join(_shape(s) for s in node.attr["_output_shapes"].list.shape)
    arrow = f" -> {shapes}" if shapes else ""
    return f"{node.name} = {node.op}({', '.join(node.input)}){arrow}"


def _shape(shape: Any) -> str:
    if shape.unknown_rank:
        return "?"
    return f"({', '.join('?' if d.size < 0 else str(d.size) for d in shape.dim)})"


def _dtype(number: int) -> str:
    return str(tensorflow().dtypes.as_dtype(number).name)
