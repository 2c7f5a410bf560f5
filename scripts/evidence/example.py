"""One small model followed through the compiler, for the RFC: every stage as text."""

import re
from typing import Any

import tvm

import regvm
from regvm.compiler import intervals_of, place_module
from regvm.frontend import source, translate
from regvm.ir.printer import show
from relay_conformance.models import load_built_in

MODEL = "nested_cond"


def follow() -> dict[str, Any]:
    """The Relay program, its blocks, the intervals of its values, its storage and its listing."""
    program = load_built_in(MODEL, 1).program
    with tvm.transform.PassContext(opt_level=3):
        lowered = source.lower(program.module, "llvm", None, dict(program.params))
        module, _ = translate.translate(lowered.module)
        listing = regvm.compile(program.module, params=dict(program.params)).bytecode
    main = module.functions[0]
    spans = intervals_of(main)[1]
    return {
        "relay": re.sub(r" /\*.*?\*/", "", program.module["main"].astext(show_meta_data=False)),
        "blocks": show(main),
        "intervals": [
            {"value": f"%{value}", "ranges": ", ".join(f"[{begin}, {end})" for begin, end in ranges)}
            for value, ranges in spans.ranges.items()
        ],
        "arena_bytes": place_module(module)[0].storage_bytes,
        "listing": listing,
    }
