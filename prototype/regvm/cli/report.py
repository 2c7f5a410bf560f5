"""What the commands print: JSON for machines, tables for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from regvm.api import Executable
from regvm.executable import Program
from regvm.ir.printer import show_instruction
from regvm.verifier import Violation

Array = NDArray[Any]

_SHOWN_VALUES = 4
"""How many elements of a result the table shows."""


def write_json(value: Any) -> None:
    """One JSON document; numbers that JSON lacks are strings."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def summary(exe: Executable) -> dict[str, Any]:
    """The size of an executable in figures."""
    program = exe.program
    return {
        "instructions": sum(len(f.instructions) for f in program.functions),
        "kernels": len(program.kernels),
        "constants": len(program.constants),
        "constant_bytes": sum(len(c.data or b"") for c in program.constants),
        "functions": [
            {
                "name": f.name,
                "params": list(f.params),
                "instructions": len(f.instructions),
                "registers": f.num_registers,
                "max_live": f.max_live,
                "slots": f.num_slots,
                "storage_bytes": f.storage_bytes,
            }
            for f in program.functions
        ],
        "notes": list(exe.notes),
    }


def print_summary(exe: Executable, title: str) -> None:
    """The same as a table, one row a function."""
    figures = summary(exe)
    table = Table(title=title, title_justify="left")
    table.add_column("function", overflow="fold")
    for heading in ("code", "registers", "most live", "slots", "storage"):
        table.add_column(heading, justify="right")
    for f in figures["functions"]:
        cells = (f["instructions"], f["registers"], f["max_live"], f["slots"], f["storage_bytes"])
        table.add_row(_plain(f"@{f['name']}"), *(f"{c:,}" for c in cells))
    console = Console()
    console.print(table)
    click.echo(
        f"{figures['kernels']:,} kernels, {figures['constants']:,} constants of {figures['constant_bytes']:,} bytes"
    )
    for note in exe.notes:
        click.echo(f"note: {note}")


def code(program: Program) -> dict[str, Any]:
    """A program as JSON takes it, instructions in their text form."""
    return {
        "functions": [
            {
                "name": f.name,
                "params": [{"name": p.name, "type": str(p.type)} for p in f.parameters],
                "registers": f.num_registers,
                "slots": f.num_slots,
                "storage_bytes": f.storage_bytes,
                "max_live": f.max_live,
                "tensors": [{"type": str(t.type), "offsets": list(t.offsets)} for t in f.tensors],
                "instructions": [show_instruction(i, "R", "@") for i in f.instructions],
            }
            for f in program.functions
        ],
        "kernels": [
            {"name": k.name, "inputs": k.num_inputs, "outputs": k.num_outputs} for k in program.kernels
        ],
        "constants": [
            {"dtype": c.dtype, "shape": list(c.shape), "name": c.name, "late_bound": c.data is None}
            for c in program.constants
        ],
    }


def violations(found: list[Violation]) -> list[dict[str, Any]]:
    """Violations as JSON takes them; ``instruction`` is null for a function as a whole."""
    return [
        {
            "rule": v.rule.value,
            "function": v.function,
            "instruction": v.instruction if v.instruction >= 0 else None,
            "message": v.message,
        }
        for v in found
    ]


def arrays(result: Any, path: str = "result") -> Iterator[tuple[str, Array]]:
    """The arrays of a result, depth first, each with its path of field numbers."""
    pending = [(path, result)]
    while pending:
        path, value = pending.pop()
        if hasattr(value, "numpy"):
            yield path, value.numpy()
        elif hasattr(value, "tag"):
            pending.extend((f"{path}.{n}", value[n]) for n in reversed(range(len(value))))


def array_json(path: str, array: Array) -> dict[str, Any]:
    """An array with all its values; what JSON cannot hold (inf, nan) as a string."""
    values = [v if np.isfinite(v) else str(v) for v in array.ravel().tolist()]
    return {"path": path, "dtype": str(array.dtype), "shape": list(array.shape), "values": values}


def print_arrays(results: list[tuple[str, Array]]) -> None:
    """A table with each array's range, spread and first values."""
    table = Table()
    for heading in ("result", "type", "least", "greatest", "deviation", "values"):
        table.add_column(heading, overflow="fold")
    for path, array in results:
        shape = ", ".join(map(str, array.shape))
        numbers = array.astype("float64")
        spread = [f"{f(numbers):.6g}" for f in (np.min, np.max, np.std)] if array.size else ["", "", ""]
        first = " ".join(f"{v:.6g}" for v in numbers.ravel()[:_SHOWN_VALUES])
        more = " …" if array.size > _SHOWN_VALUES else ""
        table.add_row(path, _plain(f"{array.dtype}[{shape}]"), *spread, first + more)
    Console().print(table)


def _plain(text: str) -> str:
    """Brackets are markup to rich."""
    return text.replace("[", r"\[")
