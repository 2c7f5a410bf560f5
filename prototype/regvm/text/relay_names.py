"""Names that Relay's parser takes: plain words, each one thing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from regvm.executable import ObjectType, ParamType, TensorType, TupleType
from regvm.ir.function import Function

_OTHER = re.compile(r"[^A-Za-z0-9_]")
_TEMPORARY = re.compile(r"(v|b|bytes_|size_|offset_|turn_|storage_|shape_|done_)[0-9].*|arena.*")
"""What values, blocks and their storage are called here; no parameter may be."""


def unique_names(wanted: Iterable[str], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """For each name one of plain letters, digits and underscores, with a number where two would be equal."""
    used = set(taken)
    found: list[str] = []
    for name in wanted:
        stem = _OTHER.sub("_", name) or "_"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        candidate, count = stem, 0
        while candidate in used:
            count += 1
            candidate = f"{stem}_{count}"
        used.add(candidate)
        found.append(candidate)
    return tuple(found)


def value_names(function: Function) -> dict[int, str]:
    """A variable for each value; parameters keep their names where those are free."""
    entry = function.blocks[0].parameters
    wanted = [f"{p.name}_" if _TEMPORARY.fullmatch(p.name) else p.name for p in function.parameters]
    names = {value: f"%v{value}" for value in range(function.num_values)}
    names.update((value, f"%{name}") for value, name in zip(entry, unique_names(wanted), strict=True))
    return names


def show_type(type_: ParamType | None) -> str | None:
    """Relay's text of a type; None for one that Relay's text has no name for here."""
    match type_:
        case TensorType(shape, dtype):
            return f"Tensor[({', '.join('?' if d is None else str(d) for d in shape)}), {dtype}]"
        case TupleType(fields):
            shown = [show_type(f) for f in fields]
            return None if None in shown else show_tuple([s for s in shown if s is not None])
        case ObjectType() | None:
            return None


def show_tuple(parts: Sequence[str]) -> str:
    """A tuple of expressions or types; one of one part ends with a comma."""
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def typed(name: str, type_: ParamType | None) -> str:
    """A variable with its type, where that is known."""
    shown = show_type(type_)
    return name if shown is None else f"{name}: {shown}"
