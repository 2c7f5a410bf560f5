"""What no effect and no result depends on goes; effects stay, and so does what they need."""

from hypothesis import given, settings

from regvm import isa
from regvm.ir import Module
from regvm.ir.dead_code import remove_dead_code
from regvm.ir.printer import show
from regvm.ir.wellformed import assert_well_formed
from regvm_testing.behaviour import assert_same_behaviour
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, invoke, invoke_many, ret, uses


def lines(*instructions: isa.Instruction, tensors: int = 0) -> list[str]:
    code = function(block([0], *instructions), tensors=tensors)
    return [line.strip() for line in show(remove_dead_code(code)).splitlines()[2:]]


def test_drops_a_chain_of_values_that_nobody_reads() -> None:
    dead = [invoke(1, 0, 0), isa.MakeAdt(2, 0, uses(1)), isa.GetField(3, isa.Use(2), 0)]
    assert lines(*dead, ret(0), tensors=1) == ["ret %0"]


def test_keeps_a_kernel_of_which_one_output_is_read() -> None:
    kept = ["%1:t0, %2:t1 = invoke k3, (%0)", "ret %2"]
    assert lines(invoke_many([(1, 0), (2, 1)], 0), ret(2), tensors=2) == kept


def test_keeps_calls_and_writes_to_cells_whose_results_nobody_reads() -> None:
    code = [
        isa.MakeClosure(1, 0, ()),
        isa.MakeRef(2, isa.Use(0)),
        isa.Call(3, 0, uses(0)),
        isa.CallClosure(4, isa.Use(1), ()),
        isa.WriteRef(isa.Use(2), isa.Use(0)),
        ret(0),
    ]
    assert len(lines(*code)) == len(code)


def test_keeps_what_writes_a_tensor_that_is_read_and_drops_what_writes_another() -> None:
    def filled(dst: int) -> list[isa.Instruction]:
        return [isa.AllocTensor(dst, isa.Use(0), "float32"), isa.InvokeInto(2, uses(0), uses(dst))]

    assert lines(*filled(1), *filled(2), ret(2)) == [
        "%2 = alloc_tensor %0, float32",
        "invoke_into k2, (%0), (%2)",
        "ret %2",
    ]


def test_drops_parameters_with_their_arguments_round_a_loop() -> None:
    loop = function(
        block([0, 1], isa.Jump(1), passes=[0, 1]),
        block([2, 3], branch(2, 2, 3)),
        block([], isa.Copy(4, isa.Use(3)), isa.Jump(1), passes=[2, 4]),
        block([], ret(2)),
    )
    assert show(remove_dead_code(loop)).splitlines()[1:] == [
        "b0(%0, %1):",
        "  jump b1(%0)",
        "b1(%2):",
        "  branch %2, b2, b3",
        "b2():",
        "  jump b1(%2)",
        "b3():",
        "  ret %2",
    ]


@settings(max_examples=30, deadline=None)
@given(modules())
def test_keeps_well_formedness_and_behaviour_and_leaves_nothing_dead(module: Module) -> None:
    for each in module.functions:
        cleaned = remove_dead_code(each)
        assert_well_formed(cleaned)
        assert_same_behaviour(each, cleaned)
        assert remove_dead_code(cleaned) == cleaned
