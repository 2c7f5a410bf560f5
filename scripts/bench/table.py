"""The results for people: a table for each workload, and one line a size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from scripts.bench.workloads import BOUND, ENGINES, NATIVE

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def show(name: str, results: Mapping[str, Any], console: Console) -> None:
    """Print one workload."""
    console.print(f"{name}: {results['summary']}", style="bold", markup=False)
    console.print(_times(results))
    console.print(_figures(results))
    _print_counts(results, console)
    for engine, reason in results["failed"].items():
        console.print(f"{engine}: {reason}", markup=False)
    for n, size in results["sizes"].items():
        for engine, found in size["engines"].items():
            for kind in ("error", "extrapolated"):
                if kind in found:
                    console.print(f"{engine} at {int(n):,}, {kind}: {found[kind]}", markup=False)


def _engines(results: Mapping[str, Any]) -> list[str]:
    return [e for e in ENGINES if e in results["compiled"]]


def _times(results: Mapping[str, Any]) -> Table:
    """Median time of a call by size, and in how many times the native engine's; below, of a bare run."""
    table = Table()
    table.add_column(results["unit"])
    for n, size in results["sizes"].items():
        table.add_column(f"{int(n):,}" + ("" if size["bit_equal"] else " differ!"), justify="right")
    for way in ("invoke", "run"):
        for engine in _engines(results):
            cells = [_cell(engine, size, way) for size in results["sizes"].values()]
            if any(cells):
                table.add_row(engine if way == "invoke" else f"{engine}, run", *cells)
        table.add_section()
    return table


def _cell(engine: str, size: Mapping[str, Any], way: str) -> str:
    found = size["engines"].get(engine, {})
    seconds = found.get(f"{way}_s")
    if seconds is None:
        return ""
    times = ratio(engine, size, way)
    mark = "~" if "extrapolated" in found else ""
    return mark + duration(seconds) + (f"\n{times:.3g}x" if times is not None else "")


def ratio(engine: str, size: Mapping[str, Any], way: str = "invoke") -> float | None:
    """In how many times the native engine's time; from the medians where there are no common rounds."""
    measured: float | None = size["ratios"][way].get(engine)
    found, native = size["engines"].get(engine, {}), size["engines"].get(NATIVE, {})
    if measured is None and "extrapolated" in found and native.get(f"{way}_s"):
        return float(found[f"{way}_s"] / native[f"{way}_s"])
    return measured


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for scale, unit in _UNITS:
        if seconds >= scale or unit == "ns":
            return f"{seconds / scale:.3g} {unit}"
    raise AssertionError("the last unit takes everything")


def _figures(results: Mapping[str, Any]) -> Table:
    """Compile and load time, code, and what the largest size took."""
    table = Table()
    for heading in ("engine", "compile", "codegen", "load", "instructions", "registers", "memory growth"):
        table.add_column(heading, justify="right")
    size = list(results["sizes"].values())[-1]
    for engine in _engines(results):
        compiled, found = results["compiled"][engine], size["engines"][engine]
        table.add_row(
            engine,
            *(
                _duration(v)
                for v in (compiled.get("compile_s"), compiled.get("codegen_s"), found.get("load_s"))
            ),
            _number(compiled.get("instructions")),
            _number(compiled.get("registers")),
            f"{found['growth_bytes'] / 1e6:.1f} MB" if "growth_bytes" in found else "",
        )
    return table


def _print_counts(results: Mapping[str, Any], console: Console) -> None:
    n, size = list(results["sizes"].items())[-1]
    cost, counted = dispatch_ns(size), size["engines"].get(BOUND, {})
    if cost is not None:
        console.print(
            f"at {int(n):,}: {counted['executed_instructions']:,} instructions, {counted['kernel_calls']:,} kernel "
            f"calls, {counted['owned_tensors']:,} allocations; {cost:.1f} ns an instruction above the bound",
            highlight=False,
        )


def _duration(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def dispatch_ns(size: Mapping[str, Any]) -> float | None:
    """Nanoseconds an executed instruction that the native engine takes beyond the kernels."""
    native, bound = size["engines"].get(NATIVE, {}), size["engines"].get(BOUND, {})
    if not native.get("invoke_s") or not bound.get("executed_instructions") or bound.get("invoke_s") is None:
        return None
    return float((native["invoke_s"] - bound["invoke_s"]) / bound["executed_instructions"] * 1e9)
