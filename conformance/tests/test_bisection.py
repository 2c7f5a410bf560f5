"""The first binding in which an executor leaves another is named, whether it differs or fails."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from relay_conformance import executors
from relay_conformance.bisection import first_difference
from relay_conformance.executors import Figures
from relay_conformance.isolation import Raised, Returned, Worker
from relay_conformance.program import Array, Program, program_from_module
from relay_conformance.tvm_api import relay, tvm

pytestmark = pytest.mark.thorough

X = np.array([1, -2, 3], "int32")


class InThisProcess(Worker):
    """Executors of a test can't be imported in another process."""

    def __init__(self) -> None:
        super().__init__(time_limit=60.0)

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return Returned(function(*args, **kwargs))
        except RuntimeError as error:
            return Raised(error)


@pytest.fixture
def here() -> Iterator[Worker]:
    with InThisProcess() as worker:
        yield worker


def chain() -> Program:
    """``a = x + 1; b = a * a; c = b - x``, one kernel each."""
    x = relay.var("x", shape=(3,), dtype="int32")
    apart = relay.op.annotation.stop_fusion
    body = apart(apart(x + relay.const(1)) * relay.const(3)) - x
    return program_from_module(tvm.IRModule.from_expr(relay.Function([x], body)))


@dataclass(frozen=True)
class WrongProducts:
    """NumPy's evaluation with an error in every product of the program."""

    name: str = "wrong-products"
    fails: bool = False

    def compile(self, program: Program, target: str) -> "WrongProductsExecutable":
        return WrongProductsExecutable(program, target, self.fails)


@dataclass(frozen=True)
class WrongProductsExecutable:
    program: Program
    target: str
    fails: bool

    def bind(self, inputs: Sequence[Array]) -> Callable[[], Any]:
        if self.fails and "multiply" in self.program.module["main"].astext():
            return self._fail
        text = self.program.module.astext().replace("multiply(", "add(")
        changed = Program(relay.fromtext(text), self.program.params, self.program.inputs)
        return executors.get("regvm").compile(changed, self.target).bind(inputs)

    @staticmethod
    def _fail() -> None:
        raise RuntimeError("no product here")

    def figures(self) -> Figures:
        return Figures()


def test_the_first_binding_that_differs_is_named(here: Worker) -> None:
    place = first_difference(here, executors.get("regvm"), WrongProducts(), chain(), [X])
    assert place is not None
    assert ": multiply: 3 of 3 elements differ, first at [0]: 5, expected 6" in place


def test_the_first_binding_that_fails_is_named(here: Worker) -> None:
    subject = WrongProducts(fails=True)
    place = first_difference(here, executors.get("regvm"), subject, chain(), [X])
    assert place is not None
    assert place.endswith(": multiply: wrong-products fails there")


def test_nothing_is_said_where_no_difference_shows(worker: Worker) -> None:
    assert first_difference(worker, executors.get("regvm"), executors.get("tvm-vm"), chain(), [X]) is None


def test_a_branch_is_one_binding(worker: Worker, killed_register_program: Program) -> None:
    inputs = [np.array(True), np.float32(2), np.float32(7)]
    reference, subject = executors.get("regvm"), executors.get("tvm-vm")
    place = first_difference(
        worker, reference, subject, killed_register_program, [np.asarray(i) for i in inputs]
    )
    assert place is None or ": add" in place
