"""Every stage of a module on its way through the Relay passes, for people to look at.

The data of constants is left out, and so is what differs from process to process, so that two dumps can be
compared line by line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tvm
from tvm import relay

from regvm.frontend import source

# There is one device; its target is spelled out by address, three parentheses deep.
_DEVICE = re.compile(r"VirtualDevice\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)")
_PLACE_IN_TEXT = re.compile(r" span=from_string:\d+:\d+")
# A-normal form names values by a counter of the process.
_COUNTED = re.compile(r"%x_\d+\b")
_HEADER = '#[version = "0.0.5"]'
_WITHOUT_METADATA = "/* For debugging purposes the metadata section has been omitted."


@dataclass(frozen=True)
class Stage:
    """The module after a pass; ``changed`` says whether the pass did more than infer types."""

    name: str
    module: Any
    changed: bool


@dataclass(frozen=True)
class Counts:
    """Distinct expressions of the Relay functions, and the kernels lowered so far."""

    nodes: int
    calls: int
    constants: int
    kernels: int


def stages(module: Any, params: Mapping[str, Any], target: str = "llvm") -> tuple[Stage, ...]:
    """The module as given, with ``params`` bound, then after each pass of the front end.

    A pass that had to be skipped changes nothing; what is tried again without fusion is listed again.

    Raises:
        CompileError: the module has no ``main``, or a pass that it needs fails.
    """
    found = [Stage("input", source.as_module(module).clone(), True)]

    def observe(name: str, after: Any) -> None:
        changed = not tvm.ir.structural_equal(found[-1].module, after)
        # Some passes change the module that they are given.
        found.append(Stage(name, after.clone(), changed))

    source.lower(module, target, None, params, observe)
    return tuple(found)


def count(module: Any) -> Counts:
    """The size of a module."""
    kinds: list[type] = []
    functions = _functions(module)
    for _, function in functions:
        relay.analysis.post_order_visit(function, lambda node: kinds.append(type(node)))
    kernels = len(module.functions) - len(functions)
    return Counts(len(kinds), kinds.count(relay.Call), kinds.count(relay.Constant), kernels)


def show(module: Any) -> str:
    """The Relay functions of a module as text, ``main`` first, and the names of its kernels."""
    parts = [_show_function(name, function) for name, function in _functions(module)]
    kernels = [f"@{v.name_hint}" for v, f in module.functions.items() if not isinstance(f, relay.Function)]
    if kernels:
        parts.append("kernels:\n" + "\n".join(sorted(kernels)))
    return "\n\n".join(parts) + "\n"


def _functions(module: Any) -> list[tuple[str, Any]]:
    found = [(str(v.name_hint), f) for v, f in module.functions.items() if isinstance(f, relay.Function)]
    return sorted(found, key=lambda item: (item[0] != "main", item[0]))


def _show_function(name: str, function: Any) -> str:
    text = str(function.astext(show_meta_data=False)).partition(_WITHOUT_METADATA)[0]
    body = text.strip().removeprefix(_HEADER).strip()
    shown = _PLACE_IN_TEXT.sub("", _DEVICE.sub("VirtualDevice(...)", body))
    numbers: dict[str, int] = {}
    shown = _COUNTED.sub(lambda m: f"%x_{numbers.setdefault(m.group(), len(numbers))}", shown)
    return f"// @{name}\n{shown}"
