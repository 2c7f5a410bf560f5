"""What a graph needs before TVM 0.19's importer understands it; each repair keeps the graph's meaning.

| operator | attribute | since | why it may go |
|---|---|---|---|
| MatMul | ``grad_a``, ``grad_b`` | 2.16 | says for what the product is used; at its default |
| BatchMatMul, -V2, -V3 | ``grad_x``, ``grad_y`` | 2.16 | the same |
| GatherNd | ``bad_indices_policy`` | 2.17 | what to do about indices out of range; at its default |
| TopKV2 | ``Tk`` | 2.11 | the integer type of the constant ``k`` |
| TopKV2 | ``index_type`` | 2.11 | at its default, int32, the importer's indices are of that type |

The importer hands attributes that it doesn't know on to Relay's operators, which refuse them ("dense() got
an unexpected keyword argument 'grad_a'"). Dropping every attribute at its default would break it instead:
it reads ``transpose_b``, ``adj_x`` and ``data_format`` without defaults of its own.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from relay_conformance.tensorflow_import.loading import tensorflow

NEWER_AT_DEFAULT: Mapping[str, frozenset[str]] = {
    "MatMul": frozenset({"grad_a", "grad_b"}),
    "BatchMatMul": frozenset({"grad_x", "grad_y"}),
    "BatchMatMulV2": frozenset({"grad_x", "grad_y"}),
    "BatchMatMulV3": frozenset({"grad_x", "grad_y"}),
    "GatherNd": frozenset({"bad_indices_policy"}),
    "TopKV2": frozenset({"index_type"}),
}
NEWER_WITHOUT_MEANING: Mapping[str, frozenset[str]] = {"TopKV2": frozenset({"Tk"})}


def repaired(graph_def: Any) -> Any:
    """A copy of the graph, functions included, without the attributes of the table above."""
    copy = type(graph_def)()
    copy.CopyFrom(graph_def)
    for node in _nodes(copy):
        for name in list(node.attr):
            if name in NEWER_WITHOUT_MEANING.get(node.op, ()) or (
                name in NEWER_AT_DEFAULT.get(node.op, ()) and _is_default(node, name)
            ):
                del node.attr[name]
    return copy


def _nodes(graph_def: Any) -> Iterator[Any]:
    yield from graph_def.node
    for function in graph_def.library.function:
        yield from function.node_def


def _is_default(node: Any, name: str) -> bool:
    tensorflow()
    # The registry has no public name, and the defaults are kept nowhere else.
    from tensorflow.python.framework import op_def_registry

    definition = op_def_registry.get(node.op)
    return definition is not None and any(
        attribute.name == name and attribute.default_value == node.attr[name] for attribute in definition.attr
    )
