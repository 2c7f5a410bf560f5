"""From the intermediate representation to verified bytecode: checked, deterministic, near-linear."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings

from regvm import compiler, isa
from regvm.errors import CheckError
from regvm.executable import TensorSlot, TensorType
from regvm.ir import Block, Function, Module
from regvm.ir.printer import show_instruction
from regvm.memory.placement import Placement
from regvm.memory.request import Plan
from regvm.memory.strategies.registry import STRATEGIES
from regvm.regalloc import allocation
from regvm.verifier import verify
from regvm_testing.programs import module_of, modules
from regvm_testing.writing import TENSOR, block, branch, function, invoke, module, ret, uses

CHECKED = compiler.Options(check=True)
U = isa.Use


def counting() -> Function:
    return function(
        block([0], isa.Jump(1), passes=[0]),
        block([1], branch(1, 2, 3)),
        block([], invoke(2, 0, 1), isa.Jump(1), passes=[2]),
        block([], ret(1)),
        name="main",
        tensors=1,
    )


def test_compiles_a_loop_to_one_register_and_two_buffers() -> None:
    (main,) = compiler.generate(module(counting()), CHECKED).functions
    assert [show_instruction(i, "R", "@") for i in main.instructions] == [
        "branch R0, @1, @3",
        "R0:t0 = invoke k2, (R0!)",
        "jump @0",
        "R0 = copy R0!",
        "ret R0!",
    ]
    assert (main.num_registers, main.max_live, main.storage_bytes) == (1, 1, 128)
    assert main.tensors == (TensorSlot(TENSOR, (0, 64)),)


def test_drops_a_call_result_that_dies_on_one_side_but_nothing_of_the_arena() -> None:
    code = function(
        block([0], isa.Call(1, 0, uses(0)), invoke(2, 0, 0), branch(0, 1, 2)),
        block([], invoke(3, 1, 1, 2), isa.Copy(4, U(3)), ret(4)),
        block([], isa.Copy(5, U(0)), ret(5)),
        tensors=2,
    )
    (compiled,) = compiler.generate(module(code), CHECKED).functions
    drops = [i for i in compiled.instructions if isinstance(i, isa.Drop)]
    assert [len(d.srcs) for d in drops] == [1, 1]


@settings(max_examples=25, deadline=None)
@given(modules())
def test_makes_verified_bytecode_of_every_function_twice_the_same(mod: Module) -> None:
    program = compiler.generate(mod, CHECKED)
    assert verify(program) == []
    assert [f.name for f in program.functions] == [f.name for f in mod.functions]
    assert compiler.generate(mod, compiler.Options(check=False)) == program


@pytest.mark.parametrize("strategy", sorted(STRATEGIES.keys() - {"optimal"}))
@settings(max_examples=5, deadline=None)
@given(modules())
def test_every_storage_strategy_passes_the_checkers_and_changes_no_instruction(
    strategy: str, mod: Module
) -> None:
    program = compiler.generate(mod, compiler.Options(check=True, storage_strategy=strategy))
    assert verify(program) == []
    default = compiler.generate(mod, CHECKED)
    for planned, other in zip(program.functions, default.functions, strict=True):
        assert list(map(type, planned.instructions)) == list(map(type, other.instructions))


def test_the_strategy_decides_the_size_of_the_arena() -> None:
    sizes = {
        strategy: compiler.generate(module(counting()), compiler.Options(storage_strategy=strategy))
        .functions[0]
        .storage_bytes
        for strategy in ("default", "exact")
    }
    assert sizes == {"default": 128, "exact": 8192}


@pytest.mark.thorough
def test_makes_the_same_bytecode_in_every_process() -> None:
    script = (
        "from regvm import compiler\n"
        "from regvm_testing.programs import module_of\n"
        "print([repr(compiler.generate(module_of(seed), compiler.Options())) for seed in range(6)])"
    )
    here = [repr(compiler.generate(module_of(seed), compiler.Options())) for seed in range(6)]
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "77"}
    run = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert run.stdout.strip() == str(here)


def test_refuses_an_ill_formed_function() -> None:
    with pytest.raises(CheckError, match="ill-formed"):
        compiler.generate(module(function(block([0], ret(3)))), CHECKED)


def test_runs_the_allocation_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = allocation.allocate

    def forgetful(*args: object) -> allocation.Allocation:
        right = honest(*args)  # type: ignore[arg-type]
        swapped = tuple(
            tuple(isa.rewrite(i, use=lambda u: isa.Use(0, u.last)) for i in b) for b in right.blocks
        )
        return allocation.Allocation(swapped, right.num_registers, 0, right.max_live)

    two = function(block([0, 1], isa.MakeAdt(2, 0, uses(0, 1)), ret(2)))
    monkeypatch.setattr(allocation, "allocate", forgetful)
    with pytest.raises(CheckError, match="not preserved"):
        compiler.generate(module(two), CHECKED)


def test_runs_the_placement_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = function(block([0], invoke(1, 0, 0), invoke(2, 1, 1), invoke(3, 2, 2), ret(0)), tensors=3)

    def crowded(*_: object) -> Placement:
        plan = Plan({}, 64, "default", 64)
        return Placement(dict.fromkeys(range(3), (0,)), 64, frozenset({1, 2, 3}), (), plan, {}, {})

    monkeypatch.setattr("regvm.memory.placement.place", crowded)
    with pytest.raises(CheckError, match="storage is unsafe"):
        compiler.generate(module(chain), CHECKED)


def straight(length: int) -> Function:
    return function(
        block([0], *(invoke(n + 1, n, n) for n in range(length)), ret(length)), name="main", tensors=length
    )


def reshaping(length: int) -> Function:
    code: list[isa.Instruction] = []
    for n in range(0, length, 2):
        code += [invoke(n + 1, n, n), isa.Reshape(n + 2, U(n + 1), n + 1)]
    return function(block([0], *code, ret(0)), name="main", tensors=length + 1)


def _ifs(length: int, read: Callable[[int], int]) -> tuple[list[Block], int]:
    """An ``if`` after the other, each with a result that is passed on: the joins see ever more tensors.

    ``read`` gives what an ``if`` and its kernel read, of the value joined before; the last one is returned.
    """
    blocks = []
    parameter = 0
    for n in range(length // 4):
        first = 3 * n
        made = parameter + 1
        blocks += [
            block([parameter], branch(read(parameter), first + 1, first + 2)),
            block([], invoke(made, n, read(parameter)), isa.Jump(first + 3), passes=[made]),
            block([], isa.Jump(first + 3), passes=[parameter]),
        ]
        parameter += 2
    return blocks, parameter


def diamonds(length: int) -> Function:
    """Each ``if`` and its kernel read what the one before passes on."""
    blocks, last = _ifs(length, lambda joined: joined)
    return function(*blocks, block([last], ret(last)), name="main", tensors=length // 4)


def kept(length: int) -> Function:
    """Half of the values are live until the other half, made from the last to the first, reads them."""
    half = length // 2
    code: list[isa.Instruction] = [invoke(n + 1, n, 0) for n in range(half)]
    code += [invoke(half + n + 1, half + n, half + n, half - n) for n in range(half - 1)]
    return function(block([0], *code, ret(0)), name="main", tensors=length)


def side_by_side(length: int) -> Function:
    """As ``diamonds``, but all results may share one place, since no kernel reads another's."""
    blocks, last = _ifs(length, lambda _: 0)
    end = block([last], isa.Copy(last + 1, U(last)), ret(last + 1))
    return function(*blocks, end, name="main", tensors=length // 4)


def dynamic(length: int) -> Function:
    """A chain of kernels whose shapes are computed first."""
    vector = TensorType((2,), "int64")
    code: list[isa.Instruction] = [invoke(1, 0, 0)]
    shape, value = 1, 0
    for n in range(length // 4):
        made = 3 * n + 2
        code += [
            isa.AllocTensor(made, U(shape), "float32"),
            isa.InvokeInto(2, uses(value), uses(made)),
            isa.ShapeOf(made + 1, U(made)),
            invoke(made + 2, n + 1, made + 1),
        ]
        shape, value = made + 2, made
    return function(block([0], *code, ret(0)), name="main", tensors=[vector] * (length // 4 + 1))


@pytest.mark.parametrize("shape", [straight, reshaping, kept, diamonds, side_by_side, dynamic])
def test_takes_time_that_grows_about_as_the_program_does(shape: Callable[[int], Function]) -> None:
    def seconds(length: int) -> float:
        code = module(shape(length))
        best = float("inf")
        for _ in range(2):
            begin = time.process_time()
            compiler.generate(code, CHECKED)
            best = min(best, time.process_time() - begin)
        return best

    # Eight times as long: eight times the time, or 64 if a pass were quadratic.
    assert seconds(1600) < 28 * seconds(200)
