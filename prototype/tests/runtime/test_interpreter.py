"""Each instruction does what its row of the table says; the code of these tests is written by hand."""

import gc
from typing import Any

import numpy as np
import pytest
import tvm

from regvm import verifier
from regvm.errors import ExecutionError, KernelError, MatchError, StackLimitError
from regvm.runtime.interpreter import Interpreter
from regvm.runtime.kernels.tensors import unwrap, wrap
from regvm.runtime.values import Adt, Ref, Tensor, Value
from regvm_testing.kernels import library, load

FLOATS = "R0 x: float32[2], R1 y: float32[2]"


def machine(listing: str, stack_limit: int = 1000) -> Interpreter:
    program = load(listing).program
    verifier.assert_verified(program)
    return Interpreter(program, library(), stack_limit)


def main(
    *instructions: str,
    parameters: str = FLOATS,
    registers: int = 4,
    storage: int = 0,
    rows: str = "",
    tail: str = "",
) -> Interpreter:
    """A machine whose function 0 has these instructions; row 0 of its tensors owns its storage."""
    return machine(
        f"function f0 @main({parameters})\n  frame {registers} registers, 2 slots, {storage} bytes, 4 live\n"
        f"  tensor t0 float32[2] owned\n{rows}\n" + "\n".join(instructions) + "\n" + tail
    )


def tensor(*values: float, dtype: str = "float32") -> Tensor:
    return wrap(tvm.nd.array(np.array(values, dtype)))


def numbers(value: Value) -> Any:
    assert isinstance(value, Tensor)
    return unwrap(value).numpy().tolist()


# A frame of 2 slots needs 2 spills; this stands after the code, where nothing goes.
SLOTS = ("spill s0, R0", "spill s1, R0", "fatal")
X, Y = (1.0, 2.0), (10.0, 30.0)


def run(*instructions: str, arguments: list[Value] | None = None, **options: Any) -> Value:
    given: list[Value] = [tensor(*X), tensor(*Y)] if arguments is None else arguments
    return main(*instructions, "R2 = copy R0", "R3 = copy R0", *SLOTS, **options).run(0, given)


def test_move_leaves_the_source_unless_it_is_the_last_use() -> None:
    assert numbers(run("R0 = move R1", "ret R1")) == [*Y]
    assert numbers(run("R0 = move R1!", "ret R0")) == [*Y]


def test_move_onto_itself_keeps_the_value_even_at_its_last_use() -> None:
    assert numbers(run("R0 = move R0!", "ret R0")) == [*X]


def test_load_const_gives_the_constant() -> None:
    tail = "constant c0 float32[2] = 0x0000803f00000040\nconstant c1 bool[] = 0x01"
    assert numbers(run("R0 = load_const c0", "ret R0", tail=tail)) == [1, 2]
    assert numbers(run("R0 = load_const c1", "ret R0", tail=tail)) is True


def test_invoke_writes_new_tensors_and_leaves_its_arguments() -> None:
    result = run("R2:t0 = invoke k0, (R0, R1)", "R0 = make_adt #0, (R0, R1, R2)", "ret R0")
    assert isinstance(result, Adt)
    assert [numbers(f) for f in result.fields] == [[*X], [*Y], [11, 32]]


def test_invoke_may_write_where_it_read() -> None:
    assert numbers(run("R0:t0 = invoke k0, (R0, R0!)", "ret R0")) == [2, 4]


def test_invoke_may_have_several_results() -> None:
    rows = "  tensor t1 float32[1] owned\n  tensor t2 float32[1] owned"
    result = run("R2:t1, R3:t2 = invoke k3, (R0)", "R0 = make_adt #0, (R3, R2)", "ret R0", rows=rows)
    assert isinstance(result, Adt)
    assert [numbers(f) for f in result.fields] == [[2], [1]]


def test_a_row_with_an_offset_lives_in_the_arena_and_always_there() -> None:
    rows = "  tensor t1 float32[2] at 64"
    result = run(
        "R2:t1 = invoke k1, (R0)",
        "R3:t1 = invoke k1, (R1)",
        "R0 = make_adt #0, (R2, R3)",
        "ret R0",
        rows=rows,
        storage=128,
    )
    assert isinstance(result, Adt)
    first, second = result.fields
    assert isinstance(first, Tensor)
    assert isinstance(second, Tensor)
    assert first.data == second.data
    assert first.data % 64 == 0
    assert numbers(second) == [20, 60]


def test_a_row_with_several_offsets_takes_turns() -> None:
    interpreter = main(
        "R2:t1 = invoke k1, (R0)",
        "R3:t1 = invoke k1, (R1)",
        "R0 = copy R2",
        "R1 = copy R3",
        "R2:t1 = invoke k1, (R1)",
        "R0 = make_adt #0, (R0, R1, R2, R3)",
        "ret R0",
        *SLOTS,
        rows="  tensor t1 float32[2] at 0 or 64",
        storage=128,
    )
    for _ in range(3):
        result = interpreter.run(0, [tensor(*X), tensor(*Y)])
        assert isinstance(result, Adt)
        assert [numbers(f) for f in result.fields] == [[2, 4], [20, 60], [40, 120], [20, 60]]


def test_a_row_without_an_offset_is_a_new_tensor_each_time() -> None:
    result = run("R2:t0 = invoke k1, (R0)", "R3:t0 = invoke k1, (R1)", "R0 = make_adt #0, (R2, R3)", "ret R0")
    assert isinstance(result, Adt)
    assert [numbers(f) for f in result.fields] == [[2, 4], [20, 60]]


def test_invoke_into_writes_the_tensors_that_it_is_given() -> None:
    assert numbers(run("R2 = copy R0", "invoke_into k0, (R0!, R1!), (R2)", "ret R2")) == [11, 32]


@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_alloc_tensor_takes_its_shape_from_a_tensor(dtype: str) -> None:
    result = run("R2 = alloc_tensor R0!, int8", "ret R2", arguments=[tensor(2, 3, dtype=dtype), tensor(*Y)])
    assert isinstance(result, Tensor)
    assert str(result.type) == "int8[2, 3]"


def test_shape_of_is_a_vector_and_for_a_scalar_a_scalar() -> None:
    matrix = wrap(tvm.nd.array(np.zeros((3, 0, 5), "int8")))
    scalar = wrap(tvm.nd.array(np.int8(7)))
    result = run("R2 = shape_of R0", "ret R2", arguments=[matrix, scalar])
    assert isinstance(result, Tensor)
    assert (numbers(result), result.type.dtype) == ([3, 0, 5], "int64")
    assert numbers(run("R2 = shape_of R1", "ret R2", arguments=[matrix, scalar])) == 0


def test_reshape_shares_the_storage_and_keeps_it_alive() -> None:
    source = tensor(*X)
    rows = "  tensor t1 float32[2, 1] owned"
    result = run("R2 = reshape R0!, t1", "ret R2", arguments=[source, tensor(*Y)], rows=rows)
    assert isinstance(result, Tensor)
    assert result.data == source.data
    del source
    gc.collect()
    assert numbers(result) == [[1], [2]]


def test_reshape_to_takes_its_shape_from_a_tensor() -> None:
    shape = tensor(1, 2, 1, dtype="int64")
    assert numbers(run("R2 = reshape_to R0!, R1!", "ret R2", arguments=[tensor(*X), shape])) == [[[1], [2]]]


@pytest.mark.parametrize("shape", [(3,), (1,), (-1, -2)])
def test_reshape_to_another_number_of_elements_is_an_error_and_no_wild_read(shape: tuple[int, ...]) -> None:
    with pytest.raises(ExecutionError, match=r"instruction 0 .*float32\[2\] cannot be reshaped to"):
        run("R2 = reshape_to R0, R1", "ret R2", arguments=[tensor(*X), tensor(*shape, dtype="int64")])


@pytest.mark.parametrize("shape", [(-1,), (2**62, 2**62), (2**62,), (2**45,)])
def test_alloc_tensor_of_an_impossible_size_is_an_error(shape: tuple[int, ...]) -> None:
    with pytest.raises(ExecutionError, match=r"@main, instruction 0 .*(no possible tensor|no memory)"):
        run("R2 = alloc_tensor R1, float32", "ret R2", arguments=[tensor(*X), tensor(*shape, dtype="int64")])


DYNAMIC = """
function f0 @main(R0 x: float32[2], R1 y: float32[2], R2 shape: int64[1])
  frame 4 registers, 0 slots, 0 bytes, 4 live, 1 regions
  tensor t0 float32[?] in g0.0
  tensor t1 float32[?] in g0.1
  tensor t2 float32[?] owned
"""


def run_dynamic(*instructions: str, shape: tuple[int, ...] = (2,)) -> tuple[Value, Interpreter]:
    engine = machine(DYNAMIC + "\n".join((*instructions, "place_tensors g0, ()", "fatal")))
    return engine.run(0, [tensor(*X), tensor(*Y), tensor(*shape, dtype="int64")]), engine


def test_a_dynamic_row_without_a_place_is_a_new_tensor_of_the_shape_that_is_set() -> None:
    value, _ = run_dynamic("set_shape t2, R2!", "R3:t2 = invoke k1, (R0)", "ret R3")
    assert numbers(value) == [2, 4]


def test_place_tensors_puts_tensors_side_by_side() -> None:
    value, engine = run_dynamic(
        "set_shape t0, R2",
        "set_shape t1, R2!",
        "place_tensors g0, (t0, t1)",
        "R2:t0 = invoke k1, (R0)",
        "R3:t1 = invoke k1, (R1)",
        "ret R2",
    )
    assert numbers(value) == [2, 4]
    assert engine.arena_bytes == 128


def test_a_tensor_of_a_region_that_is_the_result_is_copied_out() -> None:
    value, engine = run_dynamic(
        "set_shape t0, R2!", "place_tensors g0, (t0)", "R3:t0 = invoke k1, (R0)", "ret R3"
    )
    assert numbers(value) == [2, 4]
    assert engine.run(0, [tensor(*Y), tensor(*X), tensor(2, dtype="int64")])
    assert numbers(value) == [2, 4]


@pytest.mark.parametrize(
    ("shape", "message"),
    [((-1,), "no possible tensor"), ((2**62,), "no possible"), ((1, 2), r"cannot have the shape \[1, 2\]")],
)
def test_set_shape_refuses_what_no_tensor_of_the_row_can_have(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ExecutionError, match=rf"@main, instruction 0 \(set_shape t2, R2!\): .*{message}"):
        run_dynamic("set_shape t2, R2!", "R3:t2 = invoke k1, (R0)", "ret R3", shape=shape)


@pytest.mark.parametrize("instruction", ["R2 = copy R0", "R2 = device_copy R0, d1"])
def test_a_copy_owns_its_storage(instruction: str) -> None:
    source = tensor(*X)
    result = run(instruction, "ret R2", arguments=[source, tensor(*Y)])
    assert isinstance(result, Tensor)
    assert result.data != source.data
    assert numbers(result) == [*X]


def test_make_adt_and_get_field() -> None:
    result = run(
        "R2 = make_adt #-7, (R0, R1)", "R3 = get_field R2, .1", "R2 = make_adt #5, (R2, R3)", "ret R2"
    )
    assert isinstance(result, Adt)
    inner, field = result.fields
    assert result.tag == 5
    assert isinstance(inner, Adt)
    assert inner.tag == -7
    assert field is inner.fields[1]


def test_references_are_read_and_written_through_every_alias() -> None:
    result = run("R2 = make_ref R0", "R3 = move R2", "write_ref R2, R1", "R0 = read_ref R3", "ret R0")
    assert numbers(result) == [*Y]


SECOND = """
function f1 @second(R0 a: float32[2], R1 b: float32[2], R2 c: float32[2])
  frame 3 registers, 0 slots, 0 bytes, 3 live
  R0 = make_adt #1, (R0!, R1!, R2!)
  ret R0!
"""


def fields(value: Value) -> list[Any]:
    assert isinstance(value, Adt)
    return [numbers(f) for f in value.fields]


def test_call_passes_arguments_in_order_and_comes_back() -> None:
    result = run("R2 = call f1, (R1, R0, R1)", "R3 = get_field R2, .1", "ret R2", tail=SECOND)
    assert fields(result) == [[*Y], [*X], [*Y]]


def test_tail_call_goes_on_in_its_place() -> None:
    assert fields(run("tail_call f1, (R1, R0, R1)", tail=SECOND)) == [[*Y], [*X], [*Y]]


def test_a_closure_binds_the_last_parameters() -> None:
    made = "R2 = make_closure f1, (R1!)"
    assert fields(run(made, "R3 = call_closure R2, (R0, R0)", "ret R3", tail=SECOND)) == [[*X], [*X], [*Y]]
    assert fields(run(made, "tail_call_closure R2!, (R0, R0)", tail=SECOND)) == [[*X], [*X], [*Y]]


@pytest.mark.parametrize("call", ["R3 = call_closure R2, (R0)", "tail_call_closure R2, (R0)"])
@pytest.mark.parametrize("captured", ["", "R0", "R0, R0, R0"])
def test_a_closure_that_is_called_with_another_number_of_values_is_an_error(call: str, captured: str) -> None:
    with pytest.raises(
        ExecutionError, match=r"@main, instruction 1 .*@second takes 3 values, but is called with"
    ):
        run(f"R2 = make_closure f1, ({captured})", call, "ret R0", tail=SECOND)


def test_branch_reads_the_condition() -> None:
    rows = "  tensor t1 bool[] at 0"
    code = ("R2:t1 = invoke k2, (R0)", "branch R2!, @2, @3", "ret R0", "ret R1")
    assert numbers(run(*code, rows=rows, storage=64)) == [*X]
    assert numbers(run(*code, rows=rows, storage=64, arguments=[tensor(-1, 0), tensor(*Y)])) == [*Y]


def test_jump_goes_to_its_target() -> None:
    assert numbers(run("jump @2", "fatal", "ret R1")) == [*Y]


@pytest.mark.parametrize(("tag", "expected"), [(3, X), (4, Y)])
def test_branch_tag_reads_the_tag(tag: int, expected: tuple[float, float]) -> None:
    code = (f"R2 = make_adt #{tag}, ()", "branch_tag R2!, #3, @2, @3", "ret R0", "ret R1")
    assert numbers(run(*code)) == [*expected]


def test_fatal_is_a_match_error_with_its_place() -> None:
    with pytest.raises(
        MatchError, match=r"@main, instruction 0 \(fatal\): no clause of the match fits the value"
    ):
        run("fatal")


def test_spill_and_reload() -> None:
    assert numbers(run("spill s0, R1", "spill s1, R0!", "R1 = reload s1", "R0 = reload s0", "ret R1")) == [*X]


def test_a_spilled_value_stays_in_its_slot() -> None:
    assert numbers(run("spill s1, R1!", "R1 = reload s1", "R1 = copy R0", "R1 = reload s1", "ret R1")) == [*Y]


def live_bytes_at(interpreter: Interpreter, function: int, pc: int) -> list[int]:
    """Fills up, as the program runs, with the bytes that are live whenever it comes to an instruction."""
    seen: list[int] = []
    steps = interpreter._codes[function].steps
    step = steps[pc]

    def observed(registers: Any, buffers: Any) -> int:
        seen.append(interpreter.owned.live_bytes)
        return step(registers, buffers)

    steps[pc] = observed
    return seen


RELEASED = [
    "drop (R2!)",
    "drop (R2)",
    "R2 = move R0",
    "R2 = load_const c0",
    "R3 = shape_of R2!",
    "branch R2!, @2, @2",
    "R2 = read_ref R1",
]
HELD = ["R3 = shape_of R2", "R3 = move R2!", "R3 = make_ref R2!", "R3 = make_adt #0, (R2!)", "spill s0, R2!"]


@pytest.mark.parametrize(
    ("instruction", "live"), [*((i, 0) for i in RELEASED), *((i, 8) for i in HELD)], ids=[*RELEASED, *HELD]
)
def test_a_value_is_let_go_with_its_last_use_and_not_before(instruction: str, live: int) -> None:
    interpreter = main(
        "R2 = copy R0",
        instruction,
        "R1 = shape_of R0",
        "ret R1",
        "R3 = copy R0",
        *SLOTS,
        parameters="R0 x: float32[2], R1 cell: reference",
        tail="constant c0 float32[1] = 0x00000000",
    )
    seen = live_bytes_at(interpreter, 0, 2)
    interpreter.run(0, [tensor(*X), Ref(tensor(*Y))])
    assert seen == [live]


@pytest.mark.parametrize(
    "call", ["R1 = call f1, (R2!)", "tail_call f1, (R2!)", "R1 = call_closure R1, (R2!)"]
)
def test_a_callee_that_is_the_last_to_use_an_argument_lets_it_go(call: str) -> None:
    interpreter = main(
        "R1 = make_closure f1, ()",
        "R2 = copy R0",
        call,
        "ret R1",
        "R3 = copy R0",
        *SLOTS,
        tail="""
function f1 @callee(R0 x: float32[2])
  frame 1 registers, 0 slots, 0 bytes, 1 live
  R0 = shape_of R0!
  ret R0!
""",
    )
    seen = live_bytes_at(interpreter, 1, 1)
    interpreter.run(0, [tensor(*X), tensor(*Y)])
    assert seen == [0]


def test_a_result_that_its_user_let_go_is_not_held_by_the_machine() -> None:
    interpreter = main("R0 = copy R0!", "ret R0!", "R2 = copy R0", "R3 = copy R0", *SLOTS)
    result = interpreter.run(0, [tensor(*X), tensor(*Y)])
    assert interpreter.owned.live_bytes == 8
    del result
    assert interpreter.owned.live_bytes == 0


def test_a_long_list_is_let_go_without_recursion() -> None:
    value: Value = tensor(*X)
    for _ in range(300_000):
        value = Adt(1, (value,))
    parameters = "R0 x: List, R1 y: float32[2]"
    run("drop (R0!)", "R0 = copy R1", "ret R1", arguments=[value, tensor(*Y)], parameters=parameters)


RECURSION = """
function f1 @down(R0 x: float32[2], R1 n: List)
  frame 3 registers, 0 slots, 128 bytes, 3 live
  tensor t0 float32[2] at 0
  branch_tag R1, #1, @1, @5
  R1 = get_field R1!, .0
  R2:t0 = invoke k1, (R0!)
  R0 = call f1, (R2!, R1!)
  jump @5
  R0 = copy R0!
  ret R0!
"""


def peano(depth: int) -> Value:
    value: Value = Adt(0, ())
    for _ in range(depth):
        value = Adt(1, (value,))
    return value


def recursion(stack_limit: int) -> Interpreter:
    return machine(
        """
function f0 @main(R0 x: float32[2], R1 n: List)
  frame 2 registers, 0 slots, 0 bytes, 2 live
  tail_call f1, (R0!, R1!)
"""
        + RECURSION,
        stack_limit,
    )


def test_each_frame_has_an_arena_of_its_own() -> None:
    assert numbers(recursion(100).run(0, [tensor(*X), peano(5)])) == [32, 64]


def test_the_stack_limit_is_an_error_that_names_the_function_and_the_mend() -> None:
    interpreter = recursion(stack_limit=10)
    assert numbers(interpreter.run(0, [tensor(*X), peano(10)])) == [1024, 2048]
    with pytest.raises(StackLimitError, match=r"@down: .*stack limit of 10 frames; raise the limit"):
        interpreter.run(0, [tensor(*X), peano(11)])


@pytest.mark.thorough
def test_recursion_a_hundred_thousand_deep_needs_no_python_stack() -> None:
    assert numbers(recursion(1_000_000).run(0, [tensor(0, 0), peano(100_000)])) == [0, 0]


def test_frames_that_an_error_ended_are_used_again() -> None:
    interpreter = recursion(stack_limit=10)
    interpreter.run(0, [tensor(*X), peano(10)])
    taken = interpreter.allocated_bytes
    for _ in range(3):
        with pytest.raises(StackLimitError):
            interpreter.run(0, [tensor(*X), peano(30)])
        assert numbers(interpreter.run(0, [tensor(*X), peano(10)])) == [1024, 2048]
    assert interpreter.allocated_bytes == taken


def test_an_error_of_a_kernel_names_function_and_instruction_and_the_machine_goes_on() -> None:
    interpreter = main("R0:t0 = invoke k0, (R0!, R1!)", "ret R0", "R2 = copy R0", "R3 = copy R0", *SLOTS)
    for _ in range(2):
        with pytest.raises(
            KernelError, match=r"^@main, instruction 0 \(R0:t0 = invoke k0, \(R0!, R1!\)\): \S"
        ):
            interpreter.run(0, [tensor(*X), tensor(1, 2, 3)])
        assert numbers(interpreter.run(0, [tensor(*X), tensor(*Y)])) == [11, 32]


def test_a_value_of_the_wrong_kind_is_an_error_with_its_place() -> None:
    with pytest.raises(ExecutionError, match=r"^@main, instruction 1 \(R3 = copy R2!\): AttributeError"):
        run(
            "R2 = read_ref R0",
            "R3 = copy R2!",
            "ret R3",
            arguments=[Ref(Adt(0, ())), tensor(*Y)],
            parameters=CELL,
        )


CELL = "R0 cell: reference, R1 y: float32[2]"


def test_an_arena_that_does_not_fit_into_memory_is_an_error() -> None:
    rows = f"  tensor t1 int8[{2**60}] at 0"
    with pytest.raises(ExecutionError, match=rf"@main: no memory for a frame of {2**60} bytes"):
        run("ret R0", rows=rows, storage=2**60)


def test_kernels_that_the_library_lacks_are_named() -> None:
    program = load("").program
    with pytest.raises(ExecutionError, match="no kernel library is given; the program calls add, double"):
        Interpreter(program, None)
    other = tvm.build(tvm.IRModule({tvm.ir.GlobalVar("add"): unrelated()}), "llvm")
    with pytest.raises(ExecutionError, match="lacks double, positive, halves; load the executable with"):
        Interpreter(program, other)


def unrelated() -> Any:
    x = tvm.te.placeholder((1,), "float32")
    function = tvm.te.create_prim_func([x, tvm.te.compute((1,), lambda i: x[i])])
    return function.with_attr("global_symbol", "add")
