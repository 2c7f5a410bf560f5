"""What is measured: programs by name, the sizes that they run at, and the arguments of each size.

Loads neither TVM nor TensorFlow, so that the process that only keeps the workers apart stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scripts.bench import programs

Arguments = tuple[Any, ...]

NATIVE, INTERPRETER, REFERENCE = "regvm-native", "regvm", "tvm-vm"
GRAPH, RELAX, TENSORFLOW, BOUND = "tvm-graph", "relax-vm", "tensorflow", "bound"
ENGINES = (NATIVE, INTERPRETER, BOUND, REFERENCE, GRAPH, RELAX, TENSORFLOW)
"""In the order in which they are prepared."""

_ANY = (NATIVE, INTERPRETER, BOUND, REFERENCE)
_STATIC = (*_ANY, GRAPH, RELAX)
_SEED = 11


@dataclass(frozen=True)
class Loaded:
    """``program`` is relay_conformance's; ``graph`` gives what TensorFlow runs, if it can."""

    program: Any
    graph: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Workload:
    """``calls`` gives the arguments of the calls that make one measurement at a size; ``unit`` is what ``n`` counts."""

    name: str
    summary: str
    unit: str
    sizes: tuple[int, ...]
    load: Callable[[], Loaded]
    calls: Callable[[int], Sequence[Arguments]]
    engines: tuple[str, ...] = _ANY


def _text(source: str, graph: Callable[[], Any] | None = None) -> Loaded:
    from tvm import relay

    from relay_conformance.program import program_from_module

    return Loaded(program_from_module(relay.fromtext(source)), graph)


def _loop(source: str, shape: tuple[int, ...], dtype: str) -> Loaded:
    def graph() -> Any:
        from scripts.bench import networks

        return networks.loop(shape, dtype)

    return _text(source, graph)


def _built_in(name: str) -> Loaded:
    from relay_conformance.models import load_built_in

    model = load_built_in(name, 1)
    return Loaded(model.program, lambda: model.graph)


def _mlp() -> Loaded:
    from scripts.bench import networks

    from relay_conformance.tensorflow_import.importers import import_graph

    graph = networks.mlp()
    return Loaded(import_graph(graph), lambda: graph)


def _suppression() -> Loaded:
    from scripts.bench import networks

    return Loaded(networks.non_maximum_suppression())


def _boxes(n: int) -> list[Arguments]:
    del n
    from scripts.bench import networks

    return [(networks.boxes(),)]


def _count(n: int, *others: Any) -> list[Arguments]:
    return [(np.int32(n), *others)]


def _random(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(_SEED).normal(size=shape).astype("float32")


def _one_input(shape: tuple[int, ...]) -> Callable[[int], list[Arguments]]:
    return lambda _: [(_random(shape),)]


def _growing(n: int) -> list[Arguments]:
    return _count(n, np.ones((1, 2), "float32"), np.ones((1, 2), "float32"))


def _ragged(n: int) -> list[Arguments]:
    weights = (0.3 * _random((16, 8)), 0.2 * _random((16, 16)), np.zeros((1, 16), "float32"))
    return [(_random((length, 8)), *weights) for length in (n, n // 2, n // 3, n - 1)]


_LOOP_SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
_ONE = np.int32(1)
_SMALL = 0.01 * _random((32, 32))
_IMAGE = (1, 224, 224, 3)

WORKLOADS: tuple[Workload, ...] = (
    Workload(
        "loop_scalar", "a tail-recursive loop over int32 scalars", "iterations", _LOOP_SIZES,
        partial(_loop, programs.LOOP_SCALAR, (), "int32"), lambda n: _count(n, _ONE), (*_ANY, TENSORFLOW),
    ),
    Workload(
        "loop_1x1", "the same over float32 tensors of 1 by 1", "iterations", _LOOP_SIZES,
        partial(_loop, programs.LOOP_1X1, (1, 1), "float32"),
        lambda n: _count(n, np.full((1, 1), 1.5, "float32")), (*_ANY, TENSORFLOW),
    ),
    Workload(
        "loop_matrix", "a loop of a 32 by 32 dense layer and tanh", "iterations", _LOOP_SIZES[:-1],
        partial(_loop, programs.LOOP_MATRIX, (32, 32), "float32"), lambda n: _count(n, _SMALL),
        (*_ANY, TENSORFLOW),
    ),
    Workload(
        "loop_nested", "a loop of ten turns inside a loop", "inner iterations", _LOOP_SIZES[:-1],
        partial(_text, programs.NESTED), lambda n: _count(n, _ONE),
    ),
    Workload(
        "list", "build a list, then sum it by recursion", "elements", (10, 100, 1_000, 10_000),
        partial(_text, programs.LIST), _count,
    ),
    Workload(
        "tree", "build a binary tree, then sum its leaves", "leaves", (16, 128, 1_024, 8_192),
        partial(_text, programs.TREE), _count,
    ),
    Workload(
        "match", "evaluate an expression tree by matching six constructors", "leaves", (16, 128, 1_024),
        partial(_text, programs.MATCH), _count,
    ),
    Workload(
        "closures", "make, compose and call closures", "iterations", (10, 100, 1_000, 10_000),
        partial(_text, programs.CLOSURES), lambda n: _count(n, np.int32(5)),
    ),
    Workload(
        "growing", "append a row to a tensor of unknown length", "rows", (10, 100, 1_000),
        partial(_text, programs.GROWING), _growing,
    ),
    Workload(
        "ragged_rnn", "a recurrent cell over sequences of four lengths", "steps of the longest", (10, 100, 1_000),
        partial(_text, programs.RAGGED_RNN), _ragged,
    ),
    Workload(
        "lstm", "an LSTM from TensorFlow: while loop with TensorArray, hidden 32, 50 steps", "calls", (1,),
        partial(_built_in, "lstm"), _one_input((1, 50, 16)), (*_ANY, TENSORFLOW),
    ),
    Workload(
        "nms", "non-maximum suppression of 1,000 boxes", "calls", (1,), _suppression, _boxes, _STATIC,
    ),
    Workload(
        "mlp", "a small multilayer perceptron at batch 1", "calls", (1,), _mlp, _one_input((1, 16)),
        (*_STATIC, TENSORFLOW),
    ),
    Workload(
        "identity", "a function that returns its argument", "calls", (1,), partial(_text, programs.IDENTITY),
        _one_input((1, 16)), (NATIVE, INTERPRETER, REFERENCE, GRAPH, RELAX),
    ),
    Workload(
        "mobilenet_v1", "MobileNet v1 at batch 1", "calls", (1,), partial(_built_in, "mobilenet_v1"),
        _one_input(_IMAGE), (*_STATIC, TENSORFLOW),
    ),
    Workload(
        "resnet50_v2", "ResNet50V2 at batch 1", "calls", (1,), partial(_built_in, "resnet50_v2"),
        _one_input(_IMAGE), (*_STATIC, TENSORFLOW),
    ),
)  # fmt: skip


def named(name: str) -> Workload:
    """The workload of that name; raises KeyError for another one."""
    return {w.name: w for w in WORKLOADS}[name]
