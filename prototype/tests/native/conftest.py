"""Kernels, programs that are assembled by hand, and the comparison of the two engines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import te

import regvm
from regvm import verifier
from regvm.errors import ExecutionError
from regvm.executable import Constant, Function, Kernel, Program
from regvm.runtime.kernels import arguments
from regvm.runtime.values import Adt, Closure, Ref, Tensor

SHAPE = (3,)
KERNELS = (Kernel("add", 2, 1), Kernel("negate", 1, 1), Kernel("positive", 1, 1), Kernel("widen", 1, 1))


@pytest.fixture(scope="session")
def library() -> Any:
    """Kernels by number: 0 adds and 1 negates float32[3]; 2 tells whether the first element is positive; 3 takes
    a scalar and gives float32[3].
    """
    x, y, s = te.placeholder(SHAPE, name="x"), te.placeholder(SHAPE, name="y"), te.placeholder((), name="s")
    bodies = {
        "add": [x, y, te.compute(SHAPE, lambda i: x[i] + y[i], name="z")],
        "negate": [x, te.compute(SHAPE, lambda i: -x[i], name="z")],
        "positive": [x, te.compute((), lambda: x[0] > 0.0, name="z")],
        "widen": [s, te.compute(SHAPE, lambda i: s() + i.astype("float32"), name="z")],
    }
    functions = {n: te.create_prim_func(b).with_attr("global_symbol", n) for n, b in bodies.items()}
    return tvm.build(tvm.IRModule(functions), target="llvm")


@dataclass(frozen=True)
class Loaded:
    """A program with its kernels, as a machine takes it."""

    program: Program
    lib: Any


@pytest.fixture(scope="session")
def assemble(library: Any) -> Callable[..., Loaded]:
    """Functions as a verified program with the kernels above and one constant, float32[3] of 1, 2, 3."""

    def make(*functions: Function) -> Loaded:
        constant = Constant("float32", SHAPE, np.array([1, 2, 3], dtype=np.float32).tobytes())
        program = Program(functions, (constant,), KERNELS)
        verifier.assert_verified(program)
        return Loaded(program, library)

    return make


def plain(value: Any) -> Any:
    """A value's kinds, tags, types and bytes, as nested tuples: equal just if the values are bit for bit equal.

    What occurs more than once is written once, and by number from then on, so that sharing and cycles of
    references show, and take no time.
    """
    numbers: dict[int, int] = {}

    def visit(current: Any) -> Any:
        if id(current) in numbers:
            return ("again", numbers[id(current)])
        numbers[id(current)] = len(numbers)
        match current:
            case Tensor():
                return ("tensor", str(current.type), arguments.to_user(current).numpy().tobytes())
            case Adt(tag, fields):
                return ("adt", tag, *(visit(f) for f in fields))
            case Closure(number, captured):
                return ("closure", number, *(visit(c) for c in captured))
            case Ref():
                return ("ref", visit(current.value))
            case _:
                raise TypeError(f"{type(current).__name__} is no value")

    return visit(value)


@pytest.fixture
def outcome() -> Callable[..., Any]:
    """What a machine does with arguments: its result in plain form, or its error; the machine must stay clean."""

    def run(machine: regvm.VirtualMachine, *args: Any, name: str = "main") -> Any:
        try:
            machine.invoke_stateful(name, *args)
        except ExecutionError as error:
            found: Any = (type(error).__name__, str(error))
        else:
            found = plain(machine._engine.result())
        if hasattr(machine._engine, "live_objects"):
            assert machine._engine.live_objects == 0
        return found

    return run


@pytest.fixture
def agree(outcome: Callable[..., Any]) -> Callable[..., Any]:
    """Run on both engines, twice each; they must agree bit for bit. Returns what they agree on."""

    def check(exe: Any, *args: Any, name: str = "main", stack_limit: int = 1_000_000) -> Any:
        found = []
        for engine in ("interpreter", "native"):
            machine = regvm.VirtualMachine(exe, engine=engine, stack_limit=stack_limit)
            found += [outcome(machine, *args, name=name) for _ in range(2)]
        assert found[2:] == found[:2]
        return found[0]

    return check


@pytest.fixture(scope="session")
def compiled() -> Callable[[str], regvm.Executable]:
    """Relay text, compiled and checked."""

    def make(text: str) -> regvm.Executable:
        return regvm.compile(tvm.relay.fromtext('#[version = "0.0.5"]\n' + text), check=True)

    return make


@pytest.fixture(scope="session")
def vectors() -> Callable[[int], Sequence[Any]]:
    """Random float32[3] arrays, by how many."""

    def make(count: int) -> Sequence[Any]:
        generator = np.random.default_rng(7)
        return [generator.normal(size=SHAPE).astype(np.float32) for _ in range(count)]

    return make
