"""What comes before the machines: build a graph of cases, run it on TensorFlow, import it into Relay.

A worker does this. Building may run kernels of TensorFlow, and importing folds constants with kernels of TVM,
so that either can end or hang its process as a machine can.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relay_conformance.cases.case import Case, Form
from relay_conformance.cases.graphs import CaseParts, build_graph
from relay_conformance.errors import UnsupportedModelError
from relay_conformance.program import Array, Program
from relay_conformance.tensorflow_import.graph_model import run_graph
from relay_conformance.tensorflow_import.importers import import_graph
from relay_conformance.values import Outputs


@dataclass(frozen=True)
class Refused:
    """The importer's words."""

    reason: str


@dataclass(frozen=True)
class Prepared:
    """A graph's program, its feed by placeholder, and TensorFlow's outputs, of which each case has a number."""

    feed: Mapping[str, Array]
    counts: tuple[int, ...]
    expected: Outputs
    program: Program

    def parts(self, cases: Sequence[Case], form: Form) -> CaseParts:
        return CaseParts(tuple(cases), form, self.feed, self.counts)


def prepare(cases: Sequence[Case], form: Form) -> Prepared | Refused:
    """Everything that the machines and the comparison need.

    Raises:
        BadInputError: TensorFlow refuses a case, which is the declaration's fault.
    """
    graph = build_graph(cases, form)
    expected, _ = run_graph(graph.model, graph.feed, 1)
    try:
        program = import_graph(graph.model)
    except UnsupportedModelError as error:
        return Refused(str(error))
    return Prepared(graph.feed, graph.outputs, expected, program)


def refusal(case: Case, form: Form) -> Refused | None:
    """The importer's words where it refuses a case; TensorFlow need not run it.

    Raises:
        BadInputError: TensorFlow refuses to build the case.
    """
    try:
        import_graph(build_graph([case], form).model)
    except UnsupportedModelError as error:
        return Refused(str(error))
    return None
