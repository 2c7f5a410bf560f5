"""Digests that name a kernel or a compilation by everything that its result depends on.

A kernel is digested, by SHA-256, in its JSON form. A Relay module is not: once typed, one that holds a ``let``
has no JSON form in TVM 0.19 ("unordered_map: :at"). Its text has every name, but rounds floating-point numbers,
and leaves constants out; so the constants' bytes go in too, and TVM's structural hash, which rounds nothing, but
has only 64 bits and no names. A map of functions is in no fixed order, so they go in by name.

There is no digest (None), and so nothing to keep, where a result may depend on what cannot be seen here: pass
instruments, tuning records, or objects without a JSON form.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import auto_scheduler, autotvm, relay

_KERNEL = "kernel 1"
_COMPILATION = "compilation 1"
_NAMES_OF_A_PROGRAM = ("global_symbol", "hash")
"""Attributes of a kernel that say what it was called and made from; machine code does not depend on them."""


def kernel(prim_func: Any, target: tvm.target.Target) -> str | None:
    """The digest of a kernel under the current PassContext, whatever its name; LLVM targets only."""
    if target.kind.name != "llvm":
        return None
    try:
        return _digest(_KERNEL, _tvm(), *_context(), _target(target), *_prim_func(prim_func))
    except _NoDigestError:
        return None


def compilation(
    compiler: str,
    mod: tvm.IRModule,
    target: tvm.target.Target,
    params: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> str | None:
    """The digest of what ``compiler`` makes of a module under the current PassContext.

    ``compiler`` names it with its version, ``options`` are its own, with values that JSON has.
    """
    if target.kind.name != "llvm" or _is_tuned():
        return None
    try:
        reached = relay.transform.RemoveUnusedFunctions(["main"])(mod)
        # Types that an earlier compilation noted in the module's nodes would make it look like another one.
        typed = relay.transform.InferType()(reached)
        return _digest(
            _COMPILATION,
            compiler,
            json.dumps(options, sort_keys=True),
            _tvm(),
            *_context(),
            _target(target),
            *_module(typed),
            *_params(params or {}),
        )
    except (_NoDigestError, tvm.error.TVMError, TypeError, ValueError, AttributeError):
        # The compiler will say what is wrong with the module.
        return None


@functools.cache
def own_code() -> str:
    """The digest of this package's source: after a change of the compiler nothing that it made before is used."""
    package = Path(__file__).parents[1]
    sources = sorted(package.rglob("*.py"))
    return _digest(*(part for s in sources for part in (str(s.relative_to(package)), s.read_text("utf-8"))))


class _NoDigestError(Exception):
    """Something has no JSON form."""


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        # Lengths keep "ab", "c" apart from "a", "bc".
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@functools.cache
def _tvm() -> str:
    built = {str(name): str(value) for name, value in tvm.support.libinfo().items()}
    return json.dumps([tvm.__version__, built], sort_keys=True)


def _context() -> list[str]:
    context = tvm.transform.PassContext.current()
    if list(context.instruments):
        raise _NoDigestError
    passes = [sorted(map(str, names)) for names in (context.required_pass, context.disabled_pass)]
    config = {str(name): _json(value) for name, value in context.config.items()}
    return [json.dumps([int(context.opt_level), passes, config], sort_keys=True)]


def _target(target: tvm.target.Target) -> str:
    return f"{target} on {target.host}"


def _is_tuned() -> bool:
    return not (
        isinstance(autotvm.DispatchContext.current, autotvm.FallbackContext)
        and isinstance(auto_scheduler.DispatchContext.current, auto_scheduler.dispatcher.FallbackContext)
        and tvm.meta_schedule.database.Database.current() is None
    )


def _prim_func(prim_func: Any) -> list[str]:
    """Attributes apart from the rest, because their order is that in which they were set."""
    attributes = {}
    for name, value in dict(prim_func.attrs or {}).items():
        prim_func = prim_func.without_attr(name)
        if name not in _NAMES_OF_A_PROGRAM:
            attributes[str(name)] = _target(value) if isinstance(value, tvm.target.Target) else _json(value)
    return [_json(prim_func), json.dumps(attributes, sort_keys=True)]


def _module(mod: tvm.IRModule) -> list[str | bytes]:
    functions = {str(v.name_hint): f for v, f in mod.functions_items()}
    types = {str(v.name_hint): mod[v] for v in mod.get_global_type_vars()}
    attributes = {str(k): _json(v) for k, v in mod.attrs.items()} if mod.attrs else {}
    parts: list[str | bytes] = [str(tvm.ir.structural_hash(mod)), json.dumps(attributes, sort_keys=True)]
    for name in sorted(types):
        parts += [name, str(types[name])]
    for name in sorted(functions):
        parts += [name, str(functions[name].astext(show_meta_data=False)), *_constants(functions[name])]
    return parts


def _constants(function: Any) -> list[str | bytes]:
    found: list[str | bytes] = []

    def collect(node: Any) -> None:
        if isinstance(node, relay.Constant):
            found.extend(_tensor(node.data))

    if isinstance(function, relay.Function):
        relay.analysis.post_order_visit(function, collect)
    return found


def _params(params: Mapping[str, Any]) -> list[str | bytes]:
    return [part for name in sorted(params) for part in (name, *_tensor(params[name]))]


def _tensor(value: Any) -> list[str | bytes]:
    array = np.ascontiguousarray(value if isinstance(value, np.ndarray) else value.numpy())
    return [f"{value.dtype}{list(value.shape)}", array.tobytes()]


def _json(node: Any) -> str:
    try:
        return str(tvm.ir.save_json(node))
    except tvm.error.TVMError as error:
        raise _NoDigestError from error
