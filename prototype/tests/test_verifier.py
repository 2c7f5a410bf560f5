"""The verifier accepts what the compiler makes and names the broken rule of everything else.

Each test of a violation carries the rule's id in its name.
"""

import dataclasses
import random
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import tvm

from regvm import isa, verifier
from regvm.errors import RegvmError, VerificationError
from regvm.executable import Constant, Function, InRegion, Program, TensorSlot, TensorType
from regvm.isa import Kind, Use
from regvm.runtime.machine import VirtualMachine
from regvm.text.assembler import assemble
from regvm.verifier import Rule
from regvm_testing.kernels import KERNELS, Loadable, library, load

HEAD = "function f0 @main(R0 x: float32[2], R1 data: List)\n"


def code(*instructions: str, frame: str = "2 registers, 0 slots, 0 bytes, 2 live") -> Program:
    """A function over a tensor and algebraic data; R1 holds the latter."""
    return assemble(
        HEAD + f"  frame {frame}\n  tensor t0 float32[2] owned\n" + "\n".join(instructions) + KERNELS
    )


def assert_broken(program: Program, rule: Rule, message: str, at: int = -1) -> None:
    """The program breaks this rule at this instruction, with a message that says so."""
    found = verifier.verify(program)
    matching = [v for v in found if v.rule is rule and re.search(message, v.message)]
    assert matching, found
    assert {v.instruction for v in matching} == {at}


def test_every_rule_has_a_test_that_breaks_it() -> None:
    names = Path(__file__).read_text()
    for rule in Rule:
        assert f"def test_{rule.value.replace('-', '_')}" in names


def test_valid_code_has_no_violations() -> None:
    assert verifier.verify(code("ret R0")) == []


def test_all_violations_are_listed_with_rule_and_place() -> None:
    broken = code("R7 = move R0", "jump @9")
    assert [v.rule for v in verifier.verify(broken)] == [Rule.REGISTER, Rule.TARGET]
    with pytest.raises(VerificationError) as refused:
        verifier.assert_verified(broken)
    lines = str(refused.value).splitlines()
    assert lines[1] == "[valid-register] @main, instruction 0: dst is R7, of 2"
    assert lines[2] == "[valid-target] @main, instruction 1: target is instruction 9, of 2"


@pytest.mark.parametrize(
    "instruction", ["R7 = load_const c0", "R1 = move R7", "drop (R0, R7)", "R7:t0 = invoke k1, (R0)"]
)
def test_valid_register_rejects_a_number_beyond_the_frame(instruction: str) -> None:
    assert_broken(code(instruction, "ret R0"), Rule.REGISTER, "R7, of 2", 0)


@pytest.mark.parametrize(
    "instruction",
    [isa.Move(-1, Use(0)), isa.Move(0, Use(-1)), isa.Invoke(1, (Use(0),), (isa.Out(-1, 0),))],
)
def test_valid_register_rejects_a_negative_number(instruction: isa.Instruction) -> None:
    program = code("ret R0").with_function(0, instructions=(instruction, isa.Ret(Use(0))))
    assert_broken(program, Rule.REGISTER, "R-1", 0)


def test_valid_register_rejects_more_parameters_than_registers() -> None:
    assert_broken(code("ret R0").with_function(0, num_registers=1), Rule.REGISTER, "2 parameters for 1")


def test_valid_register_rejects_registers_that_nothing_writes() -> None:
    # A frame of 2**62 registers would ask for more memory than there is.
    assert_broken(
        code("ret R0").with_function(0, num_registers=2**62), Rule.REGISTER, "at most 2 are ever written"
    )


def test_valid_slot_rejects_a_number_beyond_the_frame() -> None:
    program = code("spill s1, R0", "R0 = reload s2", "ret R0", frame="2 registers, 1 slots, 0 bytes, 2 live")
    assert_broken(program, Rule.SLOT, "slot is slot 1, of 1", 0)
    assert_broken(program, Rule.SLOT, "slot is slot 2, of 1", 1)


@pytest.mark.parametrize("slots", [2**62, 1, -1])
def test_valid_slot_rejects_slots_that_nothing_spills_to(slots: int) -> None:
    assert_broken(code("ret R0").with_function(0, num_slots=slots), Rule.SLOT, f"{slots} slots for 0 spills")


@pytest.mark.parametrize(
    "instruction", ["jump @2", "branch R0, @0, @2", "branch R0, @2, @0", "branch_tag R1, #0, @0, @2"]
)
def test_valid_target_rejects_what_is_outside_the_code(instruction: str) -> None:
    assert_broken(code(instruction, "ret R0"), Rule.TARGET, "instruction 2, of 2", 0)


@pytest.mark.parametrize("last", ["R0 = move R0", "drop (R0)", "R0 = call f0, (R0, R1)"])
def test_valid_end_rejects_code_that_runs_off_its_end(last: str) -> None:
    assert_broken(code("R0 = move R0", last), Rule.END, "runs off its end", 1)


def test_valid_end_rejects_a_function_without_code() -> None:
    assert_broken(code("ret R0").with_function(0, instructions=()), Rule.END, "runs off its end")


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        ("R0 = load_const c3", "constant 3, of 0"),
        ("R0:t0 = invoke k9, (R0)", "kernel 9, of 4"),
        ("invoke_into k9, (R0), (R0)", "kernel 9, of 4"),
        ("R0 = call f1, (R0, R1)", "function 1, of 1"),
        ("R0 = make_closure f1, (R0)", "function 1, of 1"),
        ("R0:t1 = invoke k1, (R0)", "no tensor row 1"),
        ("R0 = reshape R0, t1", "tensor row 1, of 1"),
    ],
)
def test_valid_index_rejects_numbers_of_things_that_do_not_exist(instruction: str, message: str) -> None:
    assert_broken(code(instruction, "ret R0"), Rule.INDEX, message, 0)


def test_valid_index_rejects_a_negative_field() -> None:
    program = code("ret R0").with_function(0, instructions=(isa.GetField(0, Use(1), -1), isa.Ret(Use(0))))
    assert_broken(program, Rule.INDEX, "index is -1", 0)


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        ("R0:t0 = invoke k0, (R0)", "1 inputs and 1 outputs for add, which has 2 and 1"),
        ("invoke k1, (R0)", "1 inputs and 0 outputs for double, which has 1 and 1"),
        ("invoke_into k3, (R0), (R0)", "1 inputs and 1 outputs for halves, which has 1 and 2"),
        ("R0 = call f0, (R0)", "1 arguments for @main, which takes 2"),
        ("R0 = make_closure f0, (R0, R0, R0)", "binds 3 values, more than @main takes"),
    ],
)
def test_valid_arity_rejects_the_wrong_number_of_operands(instruction: str, message: str) -> None:
    assert_broken(code(instruction, "ret R0"), Rule.ARITY, message, 0)


def test_valid_arity_rejects_the_wrong_number_of_operands_of_a_tail_call() -> None:
    assert_broken(code("tail_call f0, (R0)"), Rule.ARITY, "1 arguments for @main", 0)


WIDE = "3 registers, 0 slots, 0 bytes, 3 live"


def test_valid_assigned_rejects_a_register_that_holds_nothing_yet() -> None:
    assert_broken(code("R0 = move R2", "R2 = move R0", "ret R0", frame=WIDE), Rule.ASSIGNED, "reads R2", 0)


@pytest.mark.parametrize("end", ["R1 = move R0!", "drop (R0!)", "drop (R0)"])
def test_valid_assigned_rejects_a_register_after_its_last_use(end: str) -> None:
    assert_broken(code(end, "ret R0"), Rule.ASSIGNED, "reads R0, which may hold nothing", 1)


def test_valid_assigned_rejects_a_register_that_one_path_leaves_empty() -> None:
    program = code("branch R0, @1, @2", "R2 = move R0", "ret R2", frame=WIDE)
    assert_broken(program, Rule.ASSIGNED, "reads R2, which may hold nothing", 2)


def test_valid_assigned_rejects_what_the_second_round_of_a_loop_lacks() -> None:
    program = code("R1 = move R0!", "jump @0")
    assert_broken(program, Rule.ASSIGNED, "reads R0, which may hold nothing", 0)


def test_valid_assigned_rejects_a_read_after_the_last_use_in_one_instruction() -> None:
    assert_broken(code("R0:t0 = invoke k0, (R0!, R0)", "ret R0"), Rule.ASSIGNED, "in the same instruction", 0)


def test_valid_assigned_rejects_a_slot_that_holds_nothing_yet() -> None:
    program = code("R0 = reload s0", "spill s0, R0", "ret R0", frame="2 registers, 1 slots, 0 bytes, 2 live")
    assert_broken(program, Rule.ASSIGNED, "reloads slot 0, which may hold nothing", 0)


@pytest.mark.parametrize(
    ("make", "use", "message"),
    [
        (
            "R1 = make_adt #0, ()",
            "R0:t0 = invoke k1, (R1)",
            "R1 holds a tuple or algebraic data, not a tensor",
        ),
        ("R1 = make_adt #0, ()", "invoke_into k1, (R0), (R1)", "not a tensor"),
        ("R1 = make_adt #0, ()", "R0 = alloc_tensor R1, float32", "not a tensor"),
        ("R1 = make_adt #0, ()", "R0 = shape_of R1", "not a tensor"),
        ("R1 = make_adt #0, ()", "R0 = reshape R1, t0", "not a tensor"),
        ("R1 = make_adt #0, ()", "R0 = reshape_to R0, R1", "not a tensor"),
        ("R1 = make_adt #0, ()", "R0 = copy R1", "not a tensor"),
        ("R1 = make_adt #0, ()", "R0 = device_copy R1, d1", "not a tensor"),
        ("R1 = make_adt #0, ()", "branch R1, @2, @2", "not a tensor"),
        ("R1 = copy R0", "R0 = get_field R1, .0", "R1 holds a tensor, not a tuple or algebraic data"),
        ("R1 = make_ref R0", "branch_tag R1, #0, @2, @2", "R1 holds a reference, not a tuple"),
        ("R1 = copy R0", "R0 = call_closure R1, (R0)", "R1 holds a tensor, not a function"),
        ("R1 = copy R0", "tail_call_closure R1, (R0)", "not a function"),
        ("R1 = make_closure f0, ()", "R0 = read_ref R1", "R1 holds a function, not a reference"),
        ("R1 = copy R0", "write_ref R1, R0", "not a reference"),
    ],
)
def test_valid_kind_rejects_an_operand_of_another_kind(make: str, use: str, message: str) -> None:
    assert_broken(code(make, use, "ret R0"), Rule.KIND, message, 1)


def test_valid_kind_follows_a_value_through_moves_and_slots() -> None:
    program = code(
        "R1 = make_ref R0!",
        "spill s0, R1!",
        "R0 = reload s0",
        "R1 = move R0",
        "R0 = shape_of R1",
        "ret R0",
        frame="2 registers, 1 slots, 0 bytes, 2 live",
    )
    assert_broken(program, Rule.KIND, "R1 holds a reference, not a tensor", 4)


def test_valid_kind_leaves_open_what_two_paths_hold_differently() -> None:
    program = code(
        "branch R0, @1, @3", "R1 = make_ref R0", "jump @4", "R1 = copy R0", "R1 = read_ref R1", "ret R1"
    )
    assert verifier.verify(program) == []


FLOATS = TensorType((2,), "float32")


@pytest.mark.parametrize(
    ("slot", "storage", "message"),
    [
        (TensorSlot(FLOATS, (32,)), 64, "offset 32 is not a multiple of 64"),
        (TensorSlot(FLOATS, (-64,)), 64, "offset -64"),
        (TensorSlot(FLOATS, (64,)), 64, r"float32\[2\] at 64 leaves the arena of 64 bytes"),
        (TensorSlot(FLOATS, (0, 64)), 71, "leaves the arena of 71 bytes"),
        (TensorSlot(TensorType((2**61,), "float32"), (0,)), 64, "leaves the arena"),
        (TensorSlot(TensorType((None,), "float32"), (0,)), 64, "has no static size"),
        (TensorSlot(TensorType((2,), "floaty"), (0,)), 64, "'floaty' is no data type"),
        (TensorSlot(FLOATS), -64, "an arena of -64 bytes"),
    ],
)
def test_valid_tensor_rejects_a_table_that_the_arena_cannot_hold(
    slot: TensorSlot, storage: int, message: str
) -> None:
    program = code("ret R0").with_function(0, tensors=(slot,), storage_bytes=storage)
    assert_broken(program, Rule.TENSOR, message)


REGION_HEAD = """
function f0 @main(R0 x: float32[2], R1 data: List)
  frame 2 registers, 0 slots, 0 bytes, 2 live, 1 regions
  tensor t0 float32[?] in g0.0
  tensor t1 float32[?] owned
  tensor t2 float32[2] owned
  tensor t3 float32[?] in g0.1
"""


def dynamic(*instructions: str) -> Program:
    return assemble(REGION_HEAD + "\n".join(instructions) + KERNELS)


def test_valid_code_makes_tensors_of_a_region_after_they_are_placed() -> None:
    program = dynamic(
        "set_shape t0, R0", "set_shape t3, R0", "place_tensors g0, (t0, t3)", "set_shape t1, R0",
        "R1:t0 = invoke k1, (R0)", "R1:t1 = invoke k1, (R1)", "R1:t3 = invoke k1, (R1)", "ret R1",
    )  # fmt: skip
    assert verifier.verify(program) == []


@pytest.mark.parametrize(
    ("instructions", "message", "at"),
    [
        (["place_tensors g1, ()"], "region is region 1, of 1", 0),
        (["set_shape t0, R0", "place_tensors g0, (t0, t0)"], "places a tensor twice", 1),
        (["set_shape t1, R0", "place_tensors g0, (t1)"], "t1, whose place is not in region 0", 1),
        (["place_tensors g0, (t0)"], "places t0, whose shape may not be set", 0),
        (["set_shape t0, R0", "place_tensors g0, ()", "R1:t0 = invoke k1, (R0)"], "may not be placed", 2),
        (
            ["set_shape t0, R0", "place_tensors g0, (t0)", "set_shape t0, R0", "R1:t0 = invoke k1, (R0)"],
            "creates t0, which may not be placed",
            3,
        ),
        (
            [
                "set_shape t0, R0",
                "place_tensors g0, (t0)",
                "set_shape t3, R0",
                "place_tensors g0, (t3)",
                "R1:t0 = invoke k1, (R0)",
            ],
            "creates t0, which may not be placed",
            4,
        ),
        (
            ["set_shape t0, R0", "branch R0, @2, @3", "place_tensors g0, (t0)", "R1:t0 = invoke k1, (R0)"],
            "creates t0, which may not be placed",
            3,
        ),
    ],
)
def test_valid_region_rejects_tensors_that_are_not_placed(
    instructions: list[str], message: str, at: int
) -> None:
    assert_broken(dynamic(*instructions, "ret R0"), Rule.REGION, message, at)


def test_valid_region_rejects_regions_that_nothing_places() -> None:
    assert_broken(code("ret R0").with_function(0, num_regions=2**62), Rule.REGION, "placed 0 times")


@pytest.mark.parametrize(
    ("instructions", "message", "at"),
    [
        (["set_shape t2, R0"], "sets the shape of t2, which is static", 0),
        (
            ["set_shape t1, R0", "R1:t1 = invoke k1, (R0)", "R1:t1 = invoke k1, (R0)"],
            "creates t1, whose shape is not static and may not be set",
            2,
        ),
        (
            ["set_shape t1, R0", "R0:t1, R1:t1 = invoke k3, (R0)"],
            "creates t1, whose shape is not static and may not be set",
            1,
        ),
    ],
)
def test_valid_tensor_rejects_shapes_that_are_not_set(instructions: list[str], message: str, at: int) -> None:
    assert_broken(dynamic(*instructions, "place_tensors g0, ()", "ret R0"), Rule.TENSOR, message, at)


@pytest.mark.parametrize(
    ("slot", "message"),
    [
        (TensorSlot(FLOATS, (), InRegion(0, 0)), "has a static size and cannot live in a region"),
        (TensorSlot(TensorType((None,), "int8"), (), InRegion(1, 0)), "region 1, of 1"),
        (TensorSlot(TensorType((None,), "int8"), (), InRegion(0, 2**40)), "slot 1099511627776 of a region"),
    ],
)
def test_valid_tensor_rejects_a_table_that_regions_cannot_hold(slot: TensorSlot, message: str) -> None:
    program = dynamic("place_tensors g0, ()", "ret R0").with_function(0, tensors=(slot,))
    assert_broken(program, Rule.TENSOR, message)


@pytest.mark.parametrize("instruction", ["R0:t0 = invoke k1, (R0)", "R0 = reshape R0, t0"])
def test_valid_tensor_rejects_making_a_tensor_whose_shape_is_not_static(instruction: str) -> None:
    program = code(instruction, "ret R0").with_function(
        0, tensors=(TensorSlot(TensorType((None,), "float32")),)
    )
    assert_broken(program, Rule.TENSOR, "creates t0, whose shape is not static", 0)


def test_valid_tensor_rejects_allocating_what_is_no_data_type() -> None:
    instructions = (isa.AllocTensor(0, Use(0), "float"), isa.Ret(Use(0)))
    assert_broken(
        code("ret R0").with_function(0, instructions=instructions), Rule.TENSOR, "'float' is no data", 0
    )


def test_valid_outs_rejects_two_results_in_one_register() -> None:
    program = code("R0:t0, R0:t0 = invoke k3, (R0)", "ret R0")
    assert_broken(program, Rule.OUTS, "two results in one register", 0)


@pytest.mark.parametrize(
    ("constant", "message"),
    [
        (Constant("float32", (2,), bytes(7)), "does not hold 8 bytes"),
        (Constant("float32", (), b""), "does not hold 4 bytes"),
        (Constant("float", (2,), None), "'float' is no data type"),
    ],
)
def test_valid_constant_rejects_data_that_its_type_does_not_describe(
    constant: Constant, message: str
) -> None:
    program = dataclasses.replace(code("ret R0"), constants=(constant,))
    assert_broken(program, Rule.CONSTANT, message)
    assert str(verifier.verify(program)[0]).startswith("[valid-constant] program: c0")


RICH = """
function f0 @main(R0 x: float32[2], R1 y: float32[2])
  frame 5 registers, 1 slots, 128 bytes, 4 live
  tensor t0 float32[2] at 0
  tensor t1 bool[] at 64
  tensor t2 float32[2] owned
  tensor t3 float32[1, 2] owned
  R2:t1 = invoke k2, (R0)
  branch R2!, @2, @8
  R2 = make_ref R0
  spill s0, R2
  R3 = make_closure f1, (R2!)
  R0 = call_closure R3!, (R1)
  R2 = reload s0
  write_ref R2!, R0
  R3:t2 = invoke k0, (R0!, R1!)
  R2 = shape_of R3
  R4 = alloc_tensor R2, float32
  invoke_into k1, (R3), (R4)
  R1 = reshape_to R3, R2!
  R2 = reshape R3!, t3
  R0 = make_adt #3, (R1!, R2!, R4!)
  branch_tag R0, #3, @16, @17
  tail_call f2, (R0!)
  fatal

function f1 @add_to(R0 x: float32[2], R1 cell: reference)
  frame 3 registers, 0 slots, 64 bytes, 3 live, 1 regions
  tensor t0 float32[2] owned
  tensor t1 float32[?] in g0.0
  R2 = read_ref R1!
  R1 = shape_of R0
  set_shape t1, R1!
  place_tensors g0, (t1)
  R1:t1 = invoke k1, (R0!)
  R2:t0 = invoke k0, (R1!, R2!)
  R0 = move R2!
  ret R0!

function f2 @first(R0 data: List)
  frame 3 registers, 0 slots, 0 bytes, 3 live
  R1 = get_field R0, .0
  R2 = get_field R0!, .2
  R1 = copy R1!
  R0 = make_adt #0, (R1!, R2!)
  ret R0!
"""


def _mutate(rng: random.Random, program: Program) -> Program:
    """One instruction with one field changed, or two instructions swapped, or one left out."""
    number = rng.randrange(len(program.functions))
    instructions = list(program.functions[number].instructions)
    at = rng.randrange(len(instructions))
    kind = rng.random()
    if kind < 0.15:
        other = rng.randrange(len(instructions))
        instructions[at], instructions[other] = instructions[other], instructions[at]
    elif kind < 0.3:
        del instructions[at]
    else:
        instructions[at] = _changed(rng, instructions[at])
    return program.with_function(number, instructions=tuple(instructions))


def _changed(rng: random.Random, instruction: isa.Instruction) -> isa.Instruction:
    fields = isa.row_of(instruction).fields
    if not fields:
        return isa.Ret(Use(rng.randrange(3)))
    name, kind = rng.choice(fields)
    value = getattr(instruction, name)
    if kind is Kind.USE:
        value = _use(rng, value)
    elif kind is Kind.USES:
        value = tuple(_use(rng, u) for u in value) if rng.random() < 0.8 else value[:-1]
    elif kind is Kind.OUTS:
        value = tuple(isa.Out(rng.randrange(5), rng.randrange(4)) for _ in value)
    elif kind is Kind.TENSORS:
        value = tuple(rng.randrange(4) for _ in range(rng.randrange(3)))
    elif kind is Kind.DTYPE:
        value = rng.choice(("int8", "float64", "bool"))
    else:
        value = rng.randrange(20) if kind is Kind.TARGET else rng.randrange(5)
    return dataclasses.replace(instruction, **{name: value})


def _use(rng: random.Random, use: Use) -> Use:
    return Use(use.register if rng.random() < 0.5 else rng.randrange(5), rng.random() < 0.5)


class _TooLong(BaseException):
    """Past the machine's own handlers."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _TooLong:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_the_program_that_is_damaged_below_runs() -> None:
    loadable = load(RICH)
    assert verifier.verify(loadable.program) == []
    one, two = np.array([1, 2], "float32"), np.array([10, 20], "float32")
    result = VirtualMachine(loadable).invoke("main", one, two)
    assert [f.numpy().tolist() for f in result] == [[31, 62], [62, 124]]
    result = VirtualMachine(loadable).invoke("main", -one, two)
    assert [f.numpy().tolist() for f in result] == [[9, 18], [18, 36]]


@pytest.mark.parametrize("seed", range(8))
def test_damaged_code_is_rejected_or_runs_to_a_result_or_a_typed_error(seed: int) -> None:
    rng = random.Random(seed)
    ran = rejected = 0
    for _ in range(60):
        program = load(RICH).program
        for _ in range(rng.randint(1, 2)):
            program = _mutate(rng, program)
        if verifier.verify(program):
            rejected += 1
            continue
        ran += 1
        machine = VirtualMachine(Loadable(program, library()), stack_limit=50)
        for sign in (1, -1):
            arguments = sign * np.array([1, 2], "float32"), np.array([10, 20], "float32")
            with _time_limit(0.2):
                try:
                    message = f"@ {machine.invoke('main', *arguments)}"
                except RegvmError as error:
                    message = str(error)
                assert message.startswith("@")
    assert ran
    assert rejected


def test_a_signature_that_lies_about_a_kernel_is_an_error_of_the_kernel() -> None:
    lying = assemble(
        """
function f0 @main(R0 x: float32[3])
  frame 2 registers, 0 slots, 0 bytes, 2 live
  tensor t0 float64[7] owned
  R1:t0 = invoke k1, (R0!)
  ret R1!
"""
        + KERNELS
    )
    assert verifier.verify(lying) == []
    with pytest.raises(RegvmError, match=r"@main, instruction 0 \(R1:t0 = invoke k1, \(R0!\)\): .*double"):
        VirtualMachine(Loadable(lying, library())).invoke("main", tvm.nd.array(np.ones(3, "float32")))


def test_functions_are_immutable_data() -> None:
    function: Function = code("ret R0").functions[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        function.name = "other"  # type: ignore[misc]
