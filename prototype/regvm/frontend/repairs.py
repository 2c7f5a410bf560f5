"""Rewrite calls that TVM compiles wrongly or not at all, before its own passes meet them.

* ``negative`` of unsigned numbers: TVM's simplifier holds ``0 - x`` to be impossible and makes it 0.
* ``broadcast_to`` a shape of 64-bit numbers: a reduction over it gets indices of a type that Relay does not expect.
* Closures in a tuple's field: the pass that plans devices cannot tell them from values. There is one device.

Each is an entry of ``conformance/known_defects.toml``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvm
from tvm import relay
from tvm.relay import dataflow_pattern as pattern


def rewriting() -> Any:
    """The pass; it leaves a module without such calls as it is."""
    return tvm.transform.module_pass(lambda module, _: rewritten(module), opt_level=0, name="regvm.Rewrite")


def rewritten(module: tvm.IRModule) -> tvm.IRModule:
    """The module, whose types are inferred before and after, with the calls rewritten."""
    present = _operators(module)
    callbacks = [_Call(name, rewrite) for name, rewrite in _REWRITES.items() if name in present]
    if not callbacks:
        return module
    result = module.clone()
    for variable, function in module.functions_items():
        if isinstance(function, relay.Function):
            after = pattern.rewrite(callbacks, function)
            result[variable] = relay.Function(
                after.params, after.body, _narrow(after.ret_type), after.type_params, after.attrs
            )
    return relay.transform.InferType()(result)


def _operators(module: tvm.IRModule) -> set[str]:
    """By name, of every function; TVM's own count starts at ``main``, which need not be there."""
    names: set[str] = set()

    def note(node: Any) -> None:
        if isinstance(node, tvm.ir.Op):
            names.add(str(node.name))

    for _, function in module.functions_items():
        if isinstance(function, relay.Function):
            relay.analysis.post_order_visit(function, note)
    return names


def _narrow(type_: Any) -> Any:
    """The type with dimensions of 32 bits, as rewritten calls give it."""
    match type_:
        case relay.TensorType():
            shape = [int(d) if isinstance(d, tvm.tir.IntImm) else d for d in type_.shape]
            return relay.TensorType(shape, type_.dtype)
        case relay.TupleType():
            return relay.TupleType([_narrow(f) for f in type_.fields])
        case _:
            return type_


class _Call(pattern.DFPatternCallback):  # type: ignore[misc]  # TVM has no types.
    """Rewrites the calls of one operator that has one operand."""

    def __init__(self, name: str, rewrite: Callable[[Any, Any], Any]) -> None:
        super().__init__(rewrite_once=True)
        self._operand = pattern.wildcard()
        self.pattern = pattern.is_op(name)(self._operand)
        self._rewrite = rewrite

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        del node_map
        return self._rewrite(pre, post)


def _negative(before: Any, after: Any) -> Any:
    dtype = str(before.checked_type.dtype)
    if not dtype.startswith("uint"):
        return after
    return relay.bitwise_not(after.args[0]) + relay.const(1, dtype)


def _broadcast_to(before: Any, after: Any) -> Any:
    del before
    shape = after.attrs.shape
    if shape is None or all(d.dtype == "int32" for d in shape):
        return after
    return relay.broadcast_to(after.args[0], [int(d) for d in shape])


def _index_of_extreme(before: Any, after: Any) -> Any:
    """Its type follows that of its operand's dimensions, which ``_broadcast_to`` changes."""
    return after if before.checked_type.dtype == "int32" else relay.cast(after, before.checked_type.dtype)


_REWRITES: dict[str, Callable[[Any, Any], Any]] = {
    "negative": _negative,
    "broadcast_to": _broadcast_to,
    "argmax": _index_of_extreme,
    "argmin": _index_of_extreme,
}


def on_one_device(config: Any) -> Any:
    """The pass that says of all functions that they run on the device that ``config`` is for."""
    device = config.default_primitive_virtual_device

    def annotated(module: tvm.IRModule, context: Any) -> tvm.IRModule:
        del context
        result = module.clone()
        for variable, function in module.functions_items():
            if isinstance(function, relay.Function):
                result[variable] = _Annotator(device).visit(function)
        return relay.transform.InferType()(result)

    return tvm.transform.module_pass(annotated, opt_level=0, name="regvm.OnOneDevice")


class _Annotator(relay.ExprMutator):  # type: ignore[misc]  # TVM has no types.
    """Wraps the bodies of functions, since an annotation outside of a function does not count in it."""

    def __init__(self, device: Any) -> None:
        super().__init__()
        self._device = device

    def visit_function(self, fn: Any) -> Any:
        changed = super().visit_function(fn)
        body = relay.annotation.on_device(
            changed.body, self._device, constrain_result=True, constrain_body=True
        )
        return relay.Function(changed.params, body, changed.ret_type, changed.type_params, changed.attrs)
