"""One small model followed through the compiler, for the RFC: every stage as text."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import tvm

import regvm
from regvm.compiler import PlacedFunction, intervals_of, place_functions
from regvm.frontend import pass_dump, source, translate
from regvm.ir.printer import show
from regvm.regalloc import linear_scan
from relay_conformance.models import load_built_in

MODEL = "nested_cond"
_TYPE = re.compile(r" /\*.*?\*/")
_DEVICE = re.compile(r" \{virtual_device=VirtualDevice\(\.\.\.\)\}|, virtual_device=VirtualDevice\(\.\.\.\)")
_ON_DEVICE = re.compile(r"on_device\((%\w+), constrain_result=True\)")


def follow() -> dict[str, Any]:
    """The Relay program as imported and in A-normal form, then blocks, liveness, intervals, storage and listing."""
    program = load_built_in(MODEL, 1).program
    with tvm.transform.PassContext(opt_level=3):
        stages = pass_dump.stages(program.module, dict(program.params))
        lowered = source.lower(program.module, "llvm", None, dict(program.params))
        module, _ = translate.translate(lowered.module)
        listing = regvm.compile(program.module, params=dict(program.params)).bytecode
    placed = place_functions(module)[0]
    (normal,) = (stage for stage in stages if stage.name == "ToANormalForm")
    return {
        "relay": _TYPE.sub("", program.module["main"].astext(show_meta_data=False)),
        "normal_form": _main(pass_dump.show(normal.module)),
        "blocks": show(placed.function),
        "liveness": _liveness(placed),
        "intervals": _intervals(placed),
        "storage": _storage(placed),
        "arena_bytes": placed.placement.storage_bytes,
        "listing": listing.strip(),
    }


def _main(text: str) -> str:
    """The function ``main`` of a dump, without its types, and without devices, of which there is one."""
    body = _TYPE.sub("", text.partition("\n\n//")[0].partition("\n")[2])
    return _ON_DEVICE.sub(r"\1", _DEVICE.sub("", body)).strip()


def _liveness(placed: PlacedFunction) -> list[dict[str, str]]:
    live, _ = intervals_of(placed.function)
    return [
        {"block": f"b{number}", "live_in": _values(before), "live_out": _values(after)}
        for number, (before, after) in enumerate(zip(live.live_in, live.live_out, strict=True))
    ]


def _values(values: Iterable[int]) -> str:
    return ", ".join(f"`%{value}`" for value in sorted(values))


def _intervals(placed: PlacedFunction) -> list[dict[str, Any]]:
    registers = linear_scan.scan(placed.function, placed.intervals).registers
    return [
        {"value": f"%{value}", "ranges": _ranges(ranges), "register": f"R{registers[value]}"}
        for value, ranges in placed.intervals.ranges.items()
    ]


def _ranges(ranges: Iterable[tuple[int, int]]) -> str:
    return ", ".join(f"[{begin}, {end})" for begin, end in ranges)


def _storage(placed: PlacedFunction) -> list[dict[str, Any]]:
    """Each request for storage with the values that share it."""
    sharing: dict[str, list[int]] = {}
    for value, buffers in placed.placement.buffers.items():
        for buffer in buffers:
            sharing.setdefault(buffer, []).append(value)
    offsets: Mapping[Any, int] = placed.placement.plan.offsets
    return [
        {
            "values": _values(sharing[str(request.id)]),
            "bytes": request.size,
            "ranges": _ranges(request.ranges),
            "offset": offsets[request.id],
        }
        for request in placed.placement.requests
    ]
