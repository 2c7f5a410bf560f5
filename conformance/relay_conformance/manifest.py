"""Every operator that the installed TVM's TensorFlow importers know, with its cases or the reason for none.

The operators are read off the importers themselves: their conversion maps, their lists of control-flow nodes, and
the names that their code compares a node's operator with.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.table import Table

from relay_conformance.cases import catalog
from relay_conformance.cases.case import Case
from relay_conformance.relay_cases import catalog as relay_catalog

# Why an operator can't have a case.
REASONS: Mapping[str, str] = {
    "BatchNormWithGlobalNormalization": "TensorFlow took it out of its graphs (version 9 of GraphDef), so no graph "
    "with it can be built",
    "DecodeJpeg": "it reads a file's bytes as a string, which Relay has no type for; the importer passes its input "
    "through for programs that are fed the decoded image",
    **dict.fromkeys(
        (
            "Assign",
            "AssignVariableOp",
            "ReadVariableOp",
            "ResourceGather",
            "VarHandleOp",
            "Variable",
            "VariableV2",
        ),
        "it belongs to a variable, which freezing replaces by a constant; the importer names it to say so",
    ),
}


@dataclass(frozen=True)
class Entry:
    """An operator with its cases, or with the reason why it has none."""

    operator: str
    cases: tuple[Case, ...]
    reason: str | None

    @property
    def kinds(self) -> int:
        """How many cases differ in kind, those apart that only ask for a refusal."""
        return len({case.kind for case in self.cases if case.refusal is None})


def importer_operators() -> tuple[str, ...]:
    """What both importers of the installed TVM know, sorted."""
    from tvm.relay.frontend import tensorflow, tensorflow2_ops, tensorflow_ops

    names = {*tensorflow_ops._convert_map, *tensorflow2_ops._convert_map}
    names |= {*tensorflow._control_flow_nodes, *tensorflow._freezed_graph_pruned_op_list}
    # Read and not imported: one of them imports TensorFlow at its top.
    for module in ("tensorflow", "tensorflow2"):
        names |= set(_compared_operators(ast.parse(_source(f"tvm.relay.frontend.{module}"))))
    return tuple(sorted(names))


def manifest() -> tuple[Entry, ...]:
    """An entry for each operator of the importers; one with neither cases nor reason is a hole."""
    cases = catalog.by_operator()
    return tuple(
        Entry(operator, cases.get(operator, ()), REASONS.get(operator)) for operator in importer_operators()
    )


def holes(entries: tuple[Entry, ...]) -> tuple[str, ...]:
    """Operators with neither cases nor a reason."""
    return tuple(entry.operator for entry in entries if not entry.cases and entry.reason is None)


def as_json(entries: tuple[Entry, ...]) -> dict[str, Any]:
    """``graph_cases`` counts each case once, whatever its forms; ``graphs`` counts the forms."""
    return {
        "operators": {
            entry.operator: {"reason": entry.reason}
            if entry.reason is not None
            else {"cases": [case.id for case in entry.cases]}
            for entry in entries
        },
        "graph_cases": len(all_cases()),
        "graphs": sum(len(case.forms) for case in all_cases()),
        "negative_cases": sum(case.refusal is not None for case in all_cases()),
        "relay_cases": relay_case_count(),
    }


def relay_case_count() -> int:
    """The cases at the level of Relay, each once, whatever its executors, opt levels and variations."""
    return len(relay_catalog.all_cases())


def as_table(entries: tuple[Entry, ...]) -> Table:
    """An operator a line."""
    table = Table(title=f"{len(entries)} operators of the importers, {len(all_cases())} cases")
    table.add_column("operator")
    table.add_column("cases", justify="right")
    table.add_column("reason for none")
    for entry in entries:
        table.add_row(entry.operator, str(len(entry.cases)), entry.reason or "")
    return table


def all_cases() -> tuple[Case, ...]:
    return tuple(case for cases in catalog.families().values() for case in cases)


def _source(module: str) -> str:
    found = find_spec(module)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"TVM has no module {module}", name=module)
    return Path(found.origin).read_text()


def _compared_operators(tree: ast.AST) -> Iterator[str]:
    """String literals that ``node.op`` or ``op_name`` is compared with, or looked up in a list of."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare) or not _is_operator_name(node.left):
            continue
        for comparator in node.comparators:
            for literal in ast.walk(comparator):
                if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                    yield literal.value


def _is_operator_name(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr="op"):
            return True
        case ast.Name(id="op_name"):
            return True
    return False
