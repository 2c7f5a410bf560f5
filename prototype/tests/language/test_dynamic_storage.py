"""Storage of dynamic shapes: sizes and offsets are computed at run time, and dead tensors give theirs to later ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.runtime.interpreter import Interpreter

Compiled = Callable[..., regvm.Executable]
Array = np.ndarray[Any, Any]
ANY = relay.Any()

CHAIN = """def @main(%x: Tensor[(?, 64), float32]) -> Tensor[(?, 64), float32] {
  nn.softmax(exp(nn.softmax(exp(nn.softmax(exp(nn.softmax(%x)))))))
}"""
GROWING = """
def @loop(%i: int32, %a: Tensor[(?), float32], %x: Tensor[(16), float32]) -> Tensor[(?), float32] {
  if (greater(%i, 0)) { @loop(subtract(%i, 1), concatenate((nn.relu(%a), %x), axis=0), %x) } else { %a }
}
def @main(%n: int32, %a: Tensor[(?), float32], %x: Tensor[(16), float32]) -> Tensor[(?), float32] {
  @loop(%n, %a, %x)
}"""
STEADY = """
def @loop(%i: int32, %a: Tensor[(?), float32]) -> Tensor[(?), float32] {
  if (greater(%i, 0)) { @loop(subtract(%i, 1), tanh(nn.softmax(%a))) } else { %a }
}
def @main(%n: int32, %a: Tensor[(?), float32]) -> Tensor[(?), float32] { @loop(%n, %a) }"""
RECURSIVE = """
def @fold(%n: int32, %a: Tensor[(?), float32]) -> Tensor[(?), float32] {
  if (equal(%n, 0)) { %a } else {
    let %b = exp(nn.softmax(%a));
    let %rest = @fold(subtract(%n, 1), concatenate((%a, %a), axis=0));
    add(sum(%b), %rest)
  }
}
def @main(%n: int32, %a: Tensor[(?), float32]) -> Tensor[(?), float32] { @fold(%n, %a) }"""
BRANCHES = """def @main(%c: bool, %x: Tensor[(?), float32]) -> Tensor[(?), float32] {
  let %kept = exp(nn.softmax(%x));
  let %r = if (%c) { nn.softmax(exp(nn.softmax(%x))) } else { concatenate((nn.softmax(%x), %x), axis=0) };
  concatenate((%kept, %r), axis=0)
}"""


def softmax(x: Array) -> Array:
    if not x.size:
        return x
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


def machine(executable: regvm.Executable, engine: str) -> regvm.VirtualMachine:
    return regvm.VirtualMachine(executable, tvm.cpu(), engine=engine)


ENGINES = pytest.mark.parametrize("engine", ["interpreter", "native"])


@ENGINES
def test_a_chain_of_any_length_lives_in_one_region(engine: str, compiled: Compiled) -> None:
    executable = compiled(CHAIN)
    assert executable.bytecode.count("place_tensors") == 1
    assert executable.bytecode.count("alloc_tensor") == 1
    vm = machine(executable, engine)
    for rows in (7, 1, 0, 20, 7):
        x = np.random.default_rng(rows).standard_normal((rows, 64)).astype("float32")
        want = softmax(np.exp(softmax(np.exp(softmax(np.exp(softmax(x)))))))
        np.testing.assert_allclose(vm.invoke("main", x).numpy(), want, rtol=1e-5)


@ENGINES
def test_the_region_is_as_large_as_what_is_live_at_once(engine: str, compiled: Compiled) -> None:
    vm = machine(compiled(CHAIN), engine)
    x = np.zeros((1000, 64), "float32")
    vm.invoke("main", x)
    assert vm.peak_intermediate_bytes < 3.1 * x.nbytes


@ENGINES
def test_a_loop_over_tensors_that_grow_allocates_a_few_times_only(engine: str, compiled: Compiled) -> None:
    vm = machine(compiled(GROWING), engine)
    x = np.ones(16, "float32")
    for n in (200, 3, 0, 200):
        value = vm.invoke("main", np.array(n, "int32"), -x, x).numpy()
        want = np.concatenate([-x if n == 0 else np.zeros_like(x), *[x] * n])
        assert value.tolist() == want.tolist()
    # The carried tensor, the one it is made of and its copy at the exit, with half as much to spare at most.
    assert vm.peak_intermediate_bytes < 8 * 201 * x.nbytes


@ENGINES
def test_a_loop_over_tensors_of_one_size_allocates_nothing_in_its_steady_state(
    engine: str, compiled: Compiled
) -> None:
    executable, peaks = compiled(STEADY), []
    for n in (5, 500):
        vm = machine(executable, engine)
        vm.invoke("main", np.array(n, "int32"), np.ones(100, "float32"))
        peaks.append(vm.peak_intermediate_bytes)
    assert peaks[0] == peaks[1] > 0


@ENGINES
@pytest.mark.parametrize("depth", [0, 1, 4])
def test_each_frame_of_a_recursion_has_regions_of_its_own(
    engine: str, depth: int, compiled: Compiled
) -> None:
    x = np.array([0.5, -1, 2], "float32")

    def fold(n: int, a: Array) -> Array:
        return a if n == 0 else np.exp(softmax(a)).sum() + fold(n - 1, np.concatenate([a, a]))

    vm = machine(compiled(RECURSIVE), engine)
    for _ in range(2):
        value = vm.invoke("main", np.array(depth, "int32"), x).numpy()
        np.testing.assert_allclose(value, fold(depth, x), rtol=1e-5)


@ENGINES
def test_the_frames_of_a_recursion_keep_one_set_of_regions(engine: str, compiled: Compiled) -> None:
    vm = machine(compiled(RECURSIVE), engine)
    x = np.ones(1000, "float32")
    vm.invoke("main", np.array(1, "int32"), x)
    once = resident(vm)
    vm.invoke("main", np.array(10, "int32"), x)
    # Each frame works on twice as much as its caller; all together on some 2000 times the first.
    assert resident(vm) < 2000 * once


def resident(vm: regvm.VirtualMachine) -> int:
    """Bytes that the frames of @fold hold between two runs."""
    engine: Any = vm._engine
    if isinstance(engine, Interpreter):
        blocks = [b for c in engine._codes for f in c._free for r in f.regions._blocks.values() for b in r]
        return sum(b.size for b in blocks)
    return int(engine._context.arena_bytes)


@ENGINES
@pytest.mark.parametrize("condition", [True, False])
def test_branches_write_over_nothing_that_is_live_across_them(
    engine: str, condition: bool, compiled: Compiled
) -> None:
    x = np.array([0.5, -1, 2], "float32")
    taken = softmax(np.exp(softmax(x))) if condition else np.concatenate([softmax(x), x])
    want = np.concatenate([np.exp(softmax(x)), taken])
    vm = machine(compiled(BRANCHES), engine)
    for _ in range(3):
        np.testing.assert_allclose(vm.invoke("main", np.array(condition), x).numpy(), want, rtol=1e-5)


@ENGINES
@pytest.mark.parametrize("program", [CHAIN, BRANCHES, GROWING, STEADY, RECURSIVE])
def test_a_register_limit_and_regions_go_together(engine: str, program: str, compiled: Compiled) -> None:
    x = np.random.default_rng(0).standard_normal((5, 64) if program == CHAIN else 16).astype("float32")
    number = np.array(3, "int32")
    arguments = {CHAIN: (x,), BRANCHES: (np.array(True), x), GROWING: (number, x, x)}.get(
        program, (number, x)
    )
    wide, narrow = compiled(program), compiled(program, register_limit=4)
    values = [machine(e, engine).invoke("main", *arguments).numpy() for e in (wide, narrow)]
    assert values[0].tobytes() == values[1].tobytes()


def test_the_engines_agree_bit_for_bit_on_sizes_that_change(compiled: Compiled) -> None:
    executable = compiled(GROWING)
    engines = [machine(executable, e) for e in ("interpreter", "native")]
    for n in (1, 9, 2, 30, 0):
        a = np.random.default_rng(n).standard_normal(n + 1).astype("float32")
        x = np.arange(16, dtype="float32")
        values = [vm.invoke("main", np.array(n, "int32"), a, x).numpy() for vm in engines]
        assert values[0].tobytes() == values[1].tobytes()
