"""What the tests of the suite share: one worker process, TensorFlow on demand, and small Relay programs."""

from collections.abc import Iterator
from typing import Any

import pytest

from relay_conformance.isolation import Worker
from relay_conformance.program import Program, program_from_module
from relay_conformance.tvm_api import relay, tvm


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    with Worker(time_limit=120.0) as shared:
        yield shared


@pytest.fixture(scope="session")
def tf() -> Any:
    from relay_conformance.tensorflow_import.loading import silence_tensorflow, tensorflow

    silence_tensorflow()
    return tensorflow()


@pytest.fixture(scope="session")
def pair_program() -> Program:
    """``(x * x + 1, x - y)`` over int32 vectors of three."""
    x, y = (relay.var(name, shape=(3,), dtype="int32") for name in "xy")
    body = relay.Tuple([x * x + relay.const(1), x - y])
    return program_from_module(tvm.IRModule.from_expr(relay.Function([x, y], body)))


@pytest.fixture(scope="session")
def dividing_program() -> Program:
    """``x / y`` over int32 scalars, which kills its process where ``y`` is 0."""
    x, y = (relay.var(name, shape=(), dtype="int32") for name in "xy")
    return program_from_module(tvm.IRModule.from_expr(relay.Function([x, y], relay.divide(x, y))))


@pytest.fixture(scope="session")
def killed_register_program() -> Program:
    """``(c ? (c ? y - x : -y) : -x) + y``: the reference fails in the last addition where ``c`` is true."""
    c = relay.var("c", shape=(), dtype="bool")
    x, y = (relay.var(name, shape=(), dtype="float32") for name in "xy")
    chosen = relay.If(c, relay.If(c, y - x, relay.negative(y)), relay.negative(x))
    return program_from_module(tvm.IRModule.from_expr(relay.Function([c, x, y], chosen + y)))
