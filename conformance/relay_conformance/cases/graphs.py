"""Several independent cases as one TensorFlow graph: imported once and compiled once for all of them.

Every case lives in a name scope of its own, so that its nodes can't meet another's.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from relay_conformance.cases.case import Case, ControlFlow, FeedRefusal, Form
from relay_conformance.cases.operands import Operand, Operands, Role, make
from relay_conformance.errors import BadInputError
from relay_conformance.program import Array, one_line
from relay_conformance.tensorflow_import.graph_model import GraphModel, graph_model
from relay_conformance.tensorflow_import.loading import tensorflow


@dataclass(frozen=True)
class CaseParts:
    """``outputs`` counts the tensors of each case, in order; ``feed`` is by placeholder."""

    cases: tuple[Case, ...]
    form: Form
    feed: Mapping[str, Array]
    outputs: tuple[int, ...]

    def slices(self) -> Iterator[tuple[Case, slice]]:
        start = 0
        for case, count in zip(self.cases, self.outputs, strict=True):
            yield case, slice(start, start + count)
            start += count


@dataclass(frozen=True)
class CaseGraph(CaseParts):
    """With the graph itself, which stays in the process that built it."""

    model: GraphModel


def build_graph(cases: Sequence[Case], form: Form) -> CaseGraph:
    """The graph of cases that share their control flow.

    Raises:
        BadInputError: TensorFlow itself refuses to build a case; it is named.
    """
    tf = tensorflow()
    feed: dict[str, Array] = {}
    names: list[list[str]] = []
    with tf.Graph().as_default() as graph, _control_flow(cases[0].control_flow):
        for case in cases:
            with tf.name_scope(scope_name(case)):
                names.append(_add(tf, case, form, feed))
    outputs = tuple(name for group in names for name in group)
    model = graph_model(_without_lowering(graph.as_graph_def()), outputs)
    return CaseGraph(tuple(cases), form, feed, tuple(len(group) for group in names), model)


def scope_name(case: Case) -> str:
    return case.id.replace("-", "_")


def arrays(case: Case) -> dict[str, Array]:
    """The case's operands by name."""
    return {name: make(operand, f"{case.id}/{name}") for name, operand in case.operands.items()}


def wrong_feed(graph: CaseParts, case: Case) -> Mapping[str, Array]:
    """The graph's feed with the first fed operand of ``case`` as its refusal says."""
    name = f"{scope_name(case)}/{case.fed[0]}"
    right = graph.feed[name]
    match case.refusal:
        case FeedRefusal.DTYPE:
            wrong = right.astype("float64" if right.dtype != "float64" else "float32")
        case FeedRefusal.SHAPE:
            wrong = right[None]
        case _:
            raise ValueError(f"{case.id} refuses no feed")
    return {**graph.feed, name: wrong}


def _add(tf: Any, case: Case, form: Form, feed: dict[str, Array]) -> list[str]:
    values = arrays(case)
    tensors: dict[str, Any] = {}
    for name, value in case.inputs.items():
        if isinstance(value, Operands):
            keys = [f"{name}_{number}" for number in range(len(value.items))]
            tensors[name] = [
                _tensor(tf, case, k, o, values[k], form, feed) for k, o in zip(keys, value.items, strict=True)
            ]
        else:
            tensors[name] = _tensor(tf, case, name, value, values[name], form, feed)
    try:
        built = _build(tf, case, tensors)
    except (ValueError, TypeError, tf.errors.OpError) as error:
        raise BadInputError(f"{case.id}: TensorFlow refuses to build it: {one_line(error)}") from error
    # With v2 control flow a value that is only passed on keeps its own name; an Identity gives it one here.
    return [tensor.name for tensor in built]


def _tensor(
    tf: Any, case: Case, name: str, operand: Operand, value: Array, form: Form, feed: dict[str, Array]
) -> Any:
    if form is Form.CONSTANTS or operand.role is Role.FIXED:
        return tf.constant(value, operand.dtype, name=name)
    if operand.role is Role.DEFAULTED:
        default = tf.zeros(operand.shape, operand.dtype)
        placeholder = tf.compat.v1.placeholder_with_default(default, operand.placeholder_shape, name)
    else:
        placeholder = tf.compat.v1.placeholder(operand.dtype, operand.placeholder_shape, name)
    feed[f"{scope_name(case)}/{name}"] = value
    return placeholder


def _build(tf: Any, case: Case, tensors: Mapping[str, Any]) -> list[Any]:
    if case.build is not None:
        result = case.build(tf, tensors)
    else:
        result = getattr(tf.raw_ops, case.operator)(**tensors, **case.attributes)
    if hasattr(result, "outputs"):
        result = result.outputs
    return list(result) if isinstance(result, list | tuple) else [result]


@contextmanager
def _control_flow(kind: ControlFlow) -> Iterator[None]:
    """TensorFlow has only a process-wide switch for it."""
    v1 = tensorflow().compat.v1
    before = v1.control_flow_v2_enabled()
    _switch(v1, kind is ControlFlow.V2)
    try:
        yield
    finally:
        _switch(v1, before)


def _switch(v1: Any, enabled: bool) -> None:
    if enabled:
        v1.enable_control_flow_v2()
    else:
        v1.disable_control_flow_v2()


def _without_lowering(graph_def: Any) -> Any:
    """No importer knows what If and While are lowered to, and so they stay as they are."""
    for node in graph_def.node:
        if "_lower_using_switch_merge" in node.attr:
            del node.attr["_lower_using_switch_merge"]
    return graph_def
