"""Reports against other virtual machines and memory planners, as programs of our own with the right value asserted.

Named after the project and the report's number. Every program runs on both engines, with every checker on.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.executable import ALIGNMENT
from regvm.memory.planner import plan
from regvm.memory.request import Request
from regvm.regalloc.parallel_moves import sequentialise

HEADER = '#[version = "0.0.5"]\n'
Run = Callable[..., Any]


@pytest.fixture(params=["interpreter", "native"])
def run(request: pytest.FixtureRequest) -> Run:
    """``main``'s value as numbers, lists and tuples."""

    def evaluate(program: str, *args: Any, register_limit: int | None = None) -> Any:
        executable = regvm.compile(
            relay.fromtext(HEADER + program), "llvm", check=True, register_limit=register_limit
        )
        machine = regvm.VirtualMachine(executable, tvm.cpu(), engine=request.param)
        first, second = machine.invoke("main", *args), machine.invoke("main", *args)
        assert plain(first) == plain(second)
        return plain(first)

    return evaluate


def plain(value: Any) -> Any:
    if isinstance(value, tvm.nd.NDArray):
        return value.numpy().tolist()
    return tuple(plain(value[n]) for n in range(len(value)))


def names(count: int, prefix: str = "x") -> list[str]:
    return [f"%{prefix}{n}" for n in range(count)]


def declared(variables: Sequence[str]) -> str:
    return ", ".join(f"{v}: int32" for v in variables)


def int32s(values: Sequence[int]) -> list[Any]:
    return [np.int32(v) for v in values]


@pytest.mark.parametrize("count", [63, 64, 65, 130])
def test_iree_1807_more_than_63_references_in_one_instruction(count: int, run: Run) -> None:
    variables = names(count)
    program = f"""
        type Box {{ Box({", ".join(["int32"] * count)}) }}
        def @pick({declared(variables)}) -> (int32, int32) {{ ({variables[-1]} - {variables[0]}, {variables[1]}) }}
        def @main({declared(variables)}) -> ((int32, int32), int32, int32) {{
          let %box = Box({", ".join(variables)});
          let %pair = @pick({", ".join(variables)});
          let %last = (match (%box) {{ Box({", ".join(f"%b{n}" for n in range(count))}) => %b{count - 1} - %b1 }});
          (%pair, %last, {variables[count // 2]})
        }}
    """
    values = [n * n for n in range(count)]
    expected = ((values[-1] - values[0], values[1]), values[-1] - values[1], values[count // 2])
    assert run(program, *int32s(values)) == expected


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("swapped", [True, False])
def test_iree_6137_a_choice_between_operands_that_die_there(taken: bool, swapped: bool, run: Run) -> None:
    first, second = ("%y", "%x") if swapped else ("%x", "%y")
    program = f"""
        def @main(%c: bool, %x: int32, %y: int32) -> int32 {{
          let %r = if (%c) {{ {first} }} else {{ {second} }};
          let %s = if (%c) {{ %r * %r }} else {{ %r }};
          %s - 1
        }}
    """
    chosen = {("%x"): 3, ("%y"): 8}[first if taken else second]
    assert run(program, taken, np.int32(3), np.int32(8)) == (chosen * chosen if taken else chosen) - 1


@pytest.mark.parametrize("count", [2, 17, 40])
def test_iree_14313_arguments_on_a_back_edge_are_counted(count: int, run: Run) -> None:
    variables = names(count)
    turned = [*variables[1:], f"{variables[0]} + 1"]
    program = f"""
        def @main(%n: int32, {declared(variables)}) -> ({", ".join(["int32"] * count)}) {{
          let %turn = fn (%i: int32, {declared(variables)}) -> ({", ".join(["int32"] * count)}) {{
            if (%i < 1) {{ ({", ".join(variables)}) }} else {{ %turn(%i - 1, {", ".join(turned)}) }}
          }};
          %turn(%n, {", ".join(variables)})
        }}
    """
    values = [10 * n for n in range(count)]
    expected = values
    for _ in range(5):
        expected = [*expected[1:], expected[0] + 1]
    assert run(program, np.int32(5), *int32s(values)) == tuple(expected)


def test_iree_6719_operands_of_one_call_are_counted(run: Run) -> None:
    variables = names(90)
    total = variables[0]
    for variable in variables[1:]:
        total = f"({total} + {variable})"
    program = f"""
        def @sum({declared(variables)}) -> int32 {{ {total} }}
        def @main(%x: int32) -> int32 {{ @sum({", ".join(f"(%x * {n})" for n in range(90))}) - %x }}
    """
    assert run(program, np.int32(2)) == 2 * sum(range(90)) - 2


@pytest.mark.parametrize("register_limit", [None, 8])
def test_iree_14332_values_that_change_places(register_limit: int | None, run: Run) -> None:
    program = """
        def @main(%n: int32, %x: int32) -> ((int32, int32), int32, (int32, int32)) {
          let %step = fn (%i: int32, %p: (int32, int32), %k: int32, %q: (int32, int32)) ->
              ((int32, int32), int32, (int32, int32)) {
            if (%i < 1) { (%p, %k, %q) } else { %step(%i - 1, %q, %p.0, (%k, %p.1)) }
          };
          %step(%n, (%x, 2), 3, (4, 5))
        }
    """
    p, k, q = (1, 2), 3, (4, 5)
    for _ in range(7):
        p, k, q = q, p[0], (k, p[1])
    assert run(program, np.int32(7), np.int32(1), register_limit=register_limit) == (p, k, q)


def test_iree_14332_every_cycle_of_moves_keeps_its_values() -> None:
    moves = {0: 1, 1: 2, 2: 0, 3: 4, 4: 3, 5: 0, 6: 6}
    registers = {n: f"value {n}" for n in range(7)}
    expected = {target: registers[source] for target, source in moves.items()}
    for target, source in sequentialise(moves, lambda: 7):
        registers[target] = registers[source]
    assert {target: registers[target] for target in moves} == expected


def test_relax_17389_a_result_that_nobody_reads_gets_a_register_that_exists(run: Run) -> None:
    program = """
        def @main(%x: int32) -> int32 {
          let %r = ref(%x);
          let %pair = fn (%a: int32) -> (int32, int32) {
            let %_ = ref_write(%r, ref_read(%r) + %a);
            (%a, %a + 1)
          };
          let %f = fn (%a: int32) -> () { ref_write(%r, ref_read(%r) * %a) };
          let %_ = %pair(4);
          let %also = %f(3);
          let %never = (%x, ());
          ref_read(%r)
        }
    """
    executable = regvm.compile(relay.fromtext(HEADER + program), "llvm", check=True)
    for function in executable.functions:
        written = {i.dst for i in function.instructions if hasattr(i, "dst")}
        assert all(0 <= register < function.num_registers for register in written)
    assert run(program, np.int32(5)) == (5 + 4) * 3


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_executorch_21494_results_of_two_conditionals_that_live_at_once(
    first: bool, second: bool, run: Run
) -> None:
    tensor = "Tensor[(64), float32]"
    program = f"""
        def @main(%a: bool, %b: bool, %x: {tensor}, %y: {tensor}) -> {tensor} {{
          let %p = if (%a) {{ nn.relu(%x + %y) * %x }} else {{ nn.relu(%x - %y) - %y }};
          let %q = if (%b) {{ nn.relu(%y * %y) + %x }} else {{ nn.relu(%y + %y) - %x }};
          nn.relu(%p) * 2f + nn.relu(%q) * 3f
        }}
    """
    x, y = np.arange(64, dtype="float32"), np.arange(64, dtype="float32")[::-1] - 20
    p = np.maximum(x + y, 0) * x if first else np.maximum(x - y, 0) - y
    q = np.maximum(y * y, 0) + x if second else np.maximum(y + y, 0) - x
    assert (
        run(program, first, second, x, np.ascontiguousarray(y))
        == (np.maximum(p, 0) * 2 + np.maximum(q, 0) * 3).tolist()
    )


def test_pytorch_64347_the_smallest_gap_that_fits_beats_the_first() -> None:
    unit = ALIGNMENT
    requests = [
        Request("large gap", 4 * unit, ((0, 2),)),
        Request("wall", 1 * unit, ((0, 9),)),
        Request("small gap", 2 * unit, ((0, 2),)),
        Request("other wall", 1 * unit, ((0, 9),)),
        Request("fits the small one", 2 * unit, ((3, 9),)),
        Request("fits the large one", 4 * unit, ((3, 9),)),
    ]
    assert plan(requests).bytes == 8 * unit


def test_xnnpack_10800_a_gap_before_the_first_block_is_used() -> None:
    requests = [
        Request("a", 100, ((0, 2),)),
        Request("b", 80, ((1, 3),)),
        Request("c", 60, ((2, 4),)),
    ]
    assert plan(requests, alignment=1).bytes == 180
