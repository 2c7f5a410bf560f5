"""The cases themselves, on TensorFlow, the reference and the register VM: a selection, and all in the slow tier.

What fails must be in the ledger, and what the ledger names must fail.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from relay_conformance.cases import selection
from relay_conformance.cases.case import ImportRefusal
from relay_conformance.cases.graphs import build_graph
from relay_conformance.cases.running import Machines, machines
from relay_conformance.cases.selection import Batch
from relay_conformance.cases.verdicts import run_batches, wrong
from relay_conformance.tensorflow_import.graph_model import run_graph

pytestmark = pytest.mark.tensorflow

# Families that wait in the slow tier, since not every batch of them has come to its end yet. Of the others every
# batch agrees or is in the ledger.
WAITING = {"image", "sparse", "tensor_array"}


def parameters(batches: Iterable[Batch]) -> list[Any]:
    return [
        pytest.param(batch, id=str(batch.id), marks=pytest.mark.slow if batch.family in WAITING else ())
        for batch in batches
    ]


DEFAULT = parameters(selection.default())
SEVERAL = parameters(batch for batch in selection.default() if len(batch.cases) > 1)


@pytest.fixture(scope="module")
def both() -> Iterator[Machines]:
    on = machines(("tvm-vm", "regvm"), 300.0)
    yield on
    on.stop()


@pytest.fixture(scope="module")
def three() -> Iterator[Machines]:
    on = machines(("tvm-vm", "regvm", "regvm-native"), 300.0)
    yield on
    on.stop()


@pytest.mark.parametrize("batch", DEFAULT)
def test_the_selection(batch: Batch, both: Machines) -> None:
    assert [str(one) for one in wrong(run_batches([batch], both))] == []


@pytest.mark.slow
@pytest.mark.parametrize("batch", selection.full(), ids=lambda batch: str(batch.id))
def test_every_case(batch: Batch, three: Machines) -> None:
    assert [str(one) for one in wrong(run_batches([batch], three))] == []


@pytest.mark.parametrize("batch", SEVERAL)
def test_outputs_vary_and_the_operator_is_there(batch: Batch) -> None:
    """Without variation agreement would say little; a case that can't vary says why."""
    cases = [case for case in batch.cases if not isinstance(case.refusal, ImportRefusal)]
    if not cases:
        return
    graph = build_graph(cases, batch.form)
    outputs, _ = run_graph(graph.model, graph.feed, 1)
    nodes = {node.op for node in graph.model.graph_def.node}
    nodes |= {n.op for function in graph.model.graph_def.library.function for n in function.node_def}
    for case, part in graph.slices():
        assert set(case.covered) <= nodes, case.id
        arrays = [array for array in outputs.arrays[part] if array is not None and array.size > 3]
        if arrays and not case.steady and all(array.dtype != np.bool_ for array in arrays):
            assert any(len(np.unique(array)) > 1 for array in arrays), case.id
