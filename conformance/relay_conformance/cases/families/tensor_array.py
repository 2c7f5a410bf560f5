"""TensorArray in every operation and with every way of giving the shape of its elements; TensorList in v2.

Each case ends in an operation that gives a tensor: a read, a gather (stack), a concatenation or the size.
"""

from collections.abc import Mapping
from typing import Any

from relay_conformance.cases.case import Build, Case, ControlFlow
from relay_conformance.cases.operands import Operand, given, tensor

Tensors = Mapping[str, Any]


def _array(tf: Any, x: Any, size: int, mode: str, element: Any) -> Any:
    """``mode`` says what is known of the elements' shape."""
    arguments: dict[str, dict[str, Any]] = {
        "inferred": {"infer_shape": True},
        "unknown": {"infer_shape": False},
        "known": {"infer_shape": True, "element_shape": element},
        "partial": {"infer_shape": False, "element_shape": [None, *element[1:]]},
    }
    return tf.TensorArray(x.dtype, size=size, **arguments[mode])


def _write_read(mode: str) -> Build:
    def build(tf: Any, t: Tensors) -> Any:
        x = t["x"]
        array = _array(tf, x, 3, mode, x.shape.as_list())
        array = array.write(0, x).write(2, x + x).write(1, x * x)
        return [array.read(1), array.read(0), array.read(2)]

    return build


def _unstack_stack(mode: str) -> Build:
    def build(tf: Any, t: Tensors) -> Any:
        x = t["x"]
        return _array(tf, x, x.shape[0], mode, x.shape.as_list()[1:]).unstack(x).stack()

    return build


def _unstack_read(mode: str) -> Build:
    def build(tf: Any, t: Tensors) -> Any:
        x = t["x"]
        array = _array(tf, x, x.shape[0], mode, x.shape.as_list()[1:]).unstack(x)
        return [array.read(1), array.read(t["i"])]

    return build


def _scatter_gather(mode: str) -> Build:
    def build(tf: Any, t: Tensors) -> Any:
        x = t["x"]
        array = _array(tf, x, x.shape[0], mode, x.shape.as_list()[1:]).scatter([2, 0, 1], x)
        return array.gather([1, 2])

    return build


def _split_concat(mode: str) -> Build:
    def build(tf: Any, t: Tensors) -> Any:
        x = t["x"]
        return _array(tf, x, 2, mode, [2, *x.shape.as_list()[1:]]).split(x, [2, 2]).concat()

    return build


def _split_read(mode: str) -> Build:
    def build(tf: Any, t: Tensors) -> Any:
        x = t["x"]
        return _array(tf, x, 2, mode, [2, *x.shape.as_list()[1:]]).split(x, [2, 2]).read(1)

    return build


def _size(mode: str) -> Build:
    def build(tf: Any, t: Tensors) -> Any:
        x = t["x"]
        array = _array(tf, x, 5, mode, x.shape.as_list()).write(0, x)
        # The method gives a constant where it can, in place of the operator.
        return tf.raw_ops.TensorArraySizeV3(handle=array.handle, flow_in=array.flow)

    return build


def _written_in_loop(mode: str) -> Build:
    def build(tf: Any, t: Tensors) -> Any:
        x = t["x"]
        array = _array(tf, x, 4, mode, x.shape.as_list())
        body = lambda i, a: (i + 1, a.write(i, x * tf.cast(i + 1, x.dtype)))  # noqa: E731
        return tf.while_loop(lambda i, _: i < 4, body, (0, array))[1].stack()

    return build


def _step(array: Any, index: Any, like: Any) -> Any:
    """A loop variable keeps its shape only if what is added to it has one."""
    element = array.read(index)
    element.set_shape(like.shape)
    return element


def _read_in_loop(mode: str) -> Build:
    def build(tf: Any, t: Tensors) -> Any:
        x = t["x"]
        array = _array(tf, x, x.shape[0], mode, x.shape.as_list()[1:]).unstack(x)
        body = lambda i, a: (i + 1, a * 0.5 + _step(array, i, a))  # noqa: E731
        return tf.while_loop(lambda i, _: i < x.shape[0], body, (0, t["y"] * 1.0))[1]

    return build


def _recurrence(mode: str) -> Build:
    """An unrolled-by-loop recurrent layer: reads a step, writes a state."""

    def build(tf: Any, t: Tensors) -> Any:
        x = t["x"]
        steps = _array(tf, x, x.shape[0], mode, x.shape.as_list()[1:]).unstack(x)
        states = _array(tf, x, x.shape[0], mode, x.shape.as_list()[1:])

        def body(i: Any, state: Any, written: Any) -> Any:
            state = tf.tanh(state + _step(steps, i, state))
            return i + 1, state, written.write(i, state)

        start = (0, t["y"] * 1.0, states)
        return tf.while_loop(lambda i, *_: i < x.shape[0], body, start)[2].stack()

    return build


_BASE = ("TensorArrayV3",)
_WRITE, _READ = ("TensorArrayWriteV3",), ("TensorArrayReadV3",)
_SCATTER, _GATHER = ("TensorArrayScatterV3",), ("TensorArrayGatherV3",)
_SPLIT, _CONCAT = ("TensorArraySplitV3",), ("TensorArrayConcatV3",)
_PROGRAMS: dict[str, tuple[Any, tuple[str, ...], dict[str, Operand]]] = {
    "write-read": (_write_read, (*_WRITE, *_READ), {"x": tensor(2, 3)}),
    "write-read-rank-0": (_write_read, (*_WRITE, *_READ), {"x": tensor()}),
    "unstack-stack": (_unstack_stack, (*_SCATTER, *_GATHER), {"x": tensor(3, 4)}),
    "unstack-read": (_unstack_read, (*_SCATTER, *_READ), {"x": tensor(3, 4), "i": given(2, "int32")}),
    "scatter-gather": (_scatter_gather, (*_SCATTER, *_GATHER), {"x": tensor(3, 4)}),
    "split-concat": (_split_concat, (*_SPLIT, *_CONCAT), {"x": tensor(4, 3)}),
    "split-read": (_split_read, (*_SPLIT, *_READ), {"x": tensor(4, 3)}),
    "size": (_size, ("TensorArraySizeV3", *_WRITE), {"x": tensor(2, 3)}),
    "written-in-loop": (_written_in_loop, (*_WRITE, *_GATHER), {"x": tensor(2, 3)}),
    "read-in-loop": (_read_in_loop, (*_SCATTER, *_READ), {"x": tensor(3, 4), "y": tensor(4)}),
    "recurrence": (_recurrence, (*_SCATTER, *_READ, *_WRITE, *_GATHER), {"x": tensor(3, 4), "y": tensor(4)}),
}


def _arrays() -> tuple[Case, ...]:
    cases = []
    for name, (make, covers, inputs) in _PROGRAMS.items():
        for mode in ("inferred", "unknown", "known", "partial"):
            if mode == "partial" and name == "write-read-rank-0":
                continue
            steady = "it is a size" if name == "size" else ""
            cases.append(
                Case(
                    "tensor_array",
                    f"{name}-{mode}",
                    inputs,
                    build=make(mode),
                    covers=(*_BASE, *covers),
                    steady=steady,
                )
            )
    return tuple(cases)


def _list_reserve(tf: Any, x: Any, size: int) -> Any:
    shape = tf.constant(x.shape.as_list(), "int32")
    return tf.raw_ops.TensorListReserve(element_shape=shape, num_elements=size, element_dtype=x.dtype)


def _list_set_get(tf: Any, t: Tensors) -> Any:
    x = t["x"]
    handle = _list_reserve(tf, x, 2)
    handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=0, item=x)
    handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=1, item=x * x)
    return _get(tf, handle, t["i"], x)


def _get(tf: Any, handle: Any, index: Any, x: Any) -> Any:
    shape = tf.constant(x.shape.as_list(), "int32")
    return tf.raw_ops.TensorListGetItem(
        input_handle=handle, index=index, element_shape=shape, element_dtype=x.dtype
    )


def _list_set_stack(tf: Any, t: Tensors) -> Any:
    x = t["x"]
    handle = _list_reserve(tf, x, 2)
    handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=0, item=x)
    handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=1, item=x * x)
    shape = tf.constant(x.shape.as_list(), "int32")
    return tf.raw_ops.TensorListStack(
        input_handle=handle, element_shape=shape, element_dtype=x.dtype, num_elements=2
    )


def _list_from_tensor_get(tf: Any, t: Tensors) -> Any:
    x = t["x"]
    shape = tf.constant(x.shape.as_list()[1:], "int32")
    handle = tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=shape)
    return _get(tf, handle, t["i"], x[0])


def _list_from_tensor_stack(tf: Any, t: Tensors) -> Any:
    x = t["x"]
    shape = tf.constant(x.shape.as_list()[1:], "int32")
    handle = tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=shape)
    return tf.raw_ops.TensorListStack(
        input_handle=handle, element_shape=shape, element_dtype=x.dtype, num_elements=x.shape[0]
    )


_SET, _LIST_GET = ("TensorListReserve", "TensorListSetItem"), ("TensorListGetItem",)
_STACK, _FROM = ("TensorListStack",), ("TensorListFromTensor",)
_LISTS: dict[str, tuple[Build, tuple[str, ...], bool]] = {
    "set-get": (_list_set_get, (*_SET, *_LIST_GET), True),
    "set-stack": (_list_set_stack, (*_SET, *_STACK), False),
    "from-tensor-get": (_list_from_tensor_get, (*_FROM, *_LIST_GET), True),
    "from-tensor-stack": (_list_from_tensor_stack, (*_FROM, *_STACK), False),
}


def _lists() -> tuple[Case, ...]:
    shapes = {
        "matrix": tensor(2, 3),
        "rank-3": tensor(2, 2, 3),
        "rank-1": tensor(4),
        "int32": tensor(2, 3, dtype="int32"),
        "one-row": tensor(1, 3),
    }
    cases = []
    for name, (build, covers, indexed) in _LISTS.items():
        for kind, x in shapes.items():
            index = {"i": given(0, "int32")} if indexed else {}
            cases.append(
                Case(
                    "tensor_list",
                    f"{name}-{kind}",
                    {"x": x, **index},
                    build=build,
                    control_flow=ControlFlow.V2,
                    covers=covers,
                )
            )
    return tuple(cases)


CASES = (*_arrays(), *_lists())
