"""As many registers as the largest live set, never two live values in one, parameters first."""

from hypothesis import given, settings

from regvm import isa
from regvm.ir import Function, Module
from regvm.regalloc.intervals import build
from regvm.regalloc.linear_scan import Assignment, scan
from regvm.regalloc.liveness import analyse
from regvm_testing.liveness import largest_live_set, live_positions
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, invoke, ret


def assign(code: Function) -> Assignment:
    return scan(code, build(code, analyse(code)))


@settings(max_examples=50, deadline=None)
@given(modules())
def test_uses_as_many_registers_as_the_largest_live_set(module: Module) -> None:
    for each in module.functions:
        found = assign(each)
        assert found.num_registers == largest_live_set(each)
        assert set(found.registers.values()) == set(range(found.num_registers))


@settings(max_examples=50, deadline=None)
@given(modules())
def test_never_puts_two_live_values_into_one_register(module: Module) -> None:
    for each in module.functions:
        found = assign(each)
        taken: dict[tuple[int, int], int] = {}
        for value, positions in live_positions(each).items():
            for position in positions:
                assert taken.setdefault((found.registers[value], position), value) == value


@settings(max_examples=20, deadline=None)
@given(modules())
def test_puts_parameters_into_the_first_registers(module: Module) -> None:
    for each in module.functions:
        parameters = each.blocks[0].parameters
        assert [assign(each).registers[p] for p in parameters] == list(range(len(parameters)))


def test_needs_no_move_for_a_counter() -> None:
    loop = function(
        block([0], isa.Jump(1), passes=[0]),
        block([1], branch(1, 2, 3)),
        block([], invoke(2, 0, 1), isa.Jump(1), passes=[2]),
        block([], ret(1)),
        tensors=1,
    )
    assert assign(loop) == Assignment({0: 0, 1: 0, 2: 0}, 1)
