"""The plan as Relay text: as the golden files say, as the planner placed it, and as Relay reads it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from regvm import isa
from regvm.compiler import place_functions
from regvm.errors import CompileError
from regvm.executable import Constant, ObjectType, Parameter, TensorType
from regvm.frontend import reading, source, translate
from regvm.ir import Module
from regvm.memory.placement import Placement
from regvm.text.plan_relay import show_plan
from regvm.text.relay_program import literal
from regvm_testing.programs import modules
from regvm_testing.writing import block, branch, function, invoke, module, ret, uses

PLANS = Path(__file__).parent / "plans"
PROGRAMS = ("branches", "dynamic_chain", "dynamic_shape", "loop", "straight_line")
HEADER = '#[version = "0.0.5"]\n'


def planned(program: Module) -> tuple[Module, list[Placement]]:
    placed = place_functions(program)
    return replace(program, functions=tuple(p.function for p in placed)), [p.placement for p in placed]


def shown(program: Module, *, folded: bool = True) -> str:
    rewritten, placements = planned(program)
    return show_plan(rewritten, placements, folded=folded)


def translated(text: str) -> Module:
    return translate.translate(source.lower(reading.read_text(HEADER + text), "llvm", None, None).module)[0]


@pytest.mark.parametrize("form", ["folded", "unfolded"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_is_as_in_the_file(name: str, form: str) -> None:
    """After a wished-for change: ``regvm plan NAME.relay --relay FORM > NAME.FORM.relay``."""
    program = translated((PLANS / f"{name}.relay").read_text().removeprefix(HEADER))
    assert shown(program, folded=form == "folded") == (PLANS / f"{name}.{form}.relay").read_text()


@pytest.mark.parametrize("form", ["folded", "unfolded"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_relay_reads_and_types_the_text(name: str, form: str) -> None:
    reading.read_text((PLANS / f"{name}.{form}.relay").read_text())


@pytest.mark.parametrize("folded", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "def @main(%b1: int32, %v0: Tensor[(3), float64]) { (%b1 + 2, exp(%v0), True, -1.5f) }",
        "def @main(%x: (Tensor[(8), int8], (int8, bool))) "
        "{ let %s = split(%x.0, indices_or_sections=2); (%x.1, %s.1) }",
        "def @main(%x: Tensor[(8, ?), int8]) { reshape(%x, newshape=[-1]) }",
        "def @main(%x: Tensor[(2, 3), float32]) { nn.softmax(reshape(nn.softmax(%x), newshape=[3, 2])) }",
        "def @f(%n: int32) -> int32 { if (%n == 0) { 0 } else { 1 + @f(%n - 1) } } def @main(%n: int32) { @f(%n) }",
    ],
)
def test_relay_reads_other_programs_over_tensors_and_tuples(text: str, folded: bool) -> None:
    reading.read_text(shown(translated(text), folded=folded))


def test_objects_have_text_for_people_only() -> None:
    made = function(
        block(
            [0],
            isa.MakeAdt(1, 3, uses(0)),
            isa.MakeRef(2, isa.Use(1)),
            isa.WriteRef(isa.Use(2), isa.Use(0)),
            isa.ReadRef(3, isa.Use(2)),
            isa.GetField(4, isa.Use(1), 0),
            isa.MakeClosure(5, 0, uses(3)),
            isa.CallClosure(6, isa.Use(5), ()),
            isa.BranchTag(isa.Use(1), 3, 1, 2),
        ),
        block([], ret(6)),
        block([], isa.Fatal()),
        name="main",
    )
    text = shown(module(made))
    body = [line.strip() for line in text.splitlines()]
    for line in (
        "let %v1 = constructor_3(%p0);",
        "let %v2 = ref(%v1);",
        "let %done_2_0 = ref_write(%v2, %p0);",
        "let %v3 = ref_read(%v2);",
        "let %v4 = %v1.0;",
        "let %v5 = fn () { @main(%v3) };",
        "let %v6 = %v5();",
        "if (has_tag(%v1, 3)) {",
        "match_error()",
    ):
        assert line in body
    with pytest.raises(CompileError):
        reading.read_text(text)


def test_a_block_that_two_jumps_reach_is_a_function_of_its_parameters() -> None:
    made = function(
        block([0, 1], branch(0, 1, 2)),
        block([], isa.Jump(3), passes=[0]),
        block([], isa.Jump(3), passes=[1]),
        block([2], ret(2)),
        name="main",
    )
    assert shown(module(made)) == (
        '#[version = "0.0.5"]\n'
        "\n"
        "def @main(%p0: Tensor[(16), float32], %p1: Tensor[(16), float32]) -> Tensor[(16), float32] {\n"
        "  let %b3 = fn (%v2: Tensor[(16), float32]) -> Tensor[(16), float32] {\n"
        "    %v2\n"
        "  };\n"
        "  if (%p0) {\n"
        "    %b3(%p0)\n"
        "  } else {\n"
        "    %b3(%p1)\n"
        "  }\n"
        "}\n"
    )


def test_an_offset_is_the_end_of_the_tensor_below_it() -> None:
    made = function(
        block([0], invoke(1, 0, 0), invoke(2, 1, 1), invoke(3, 2, 1, 2), ret(3)),
        name="main",
        tensors=[TensorType((3,), "float32"), TensorType((33,), "int64"), TensorType((), "bool")],
    )
    text = shown(module(made), folded=False)
    assert "  let %bytes_1 = 3i64 * ((32i64 + 7i64) / 8i64);\n" in text
    assert "  let %size_1 = (%bytes_1 + 63i64) / 64i64 * 64i64;\n" in text
    assert "  let %offset_2 = 0i64;\n  let %offset_1 = %offset_2 + %size_2;\n" in text
    assert "  let %bytes_3 = (8i64 + 7i64) / 8i64;\n" in text


def test_names_are_plain_words_and_distinct() -> None:
    made = function(block([0, 1], isa.TailCall(1, uses(0, 1))), name="main.fn-1")
    odd = replace(
        made,
        parameters=(Parameter("v1", ObjectType("List")), Parameter("a/b", TensorType((), "int32"))),
    )
    text = shown(module(odd, replace(made, name="main_fn_1")))
    assert "def @main_fn_1(%v1_, %a_b: Tensor[(), int32])" in text
    assert "def @main_fn_1_1(%p0" in text
    assert "  @main_fn_1_1(%v1_, %a_b)\n" in text


def test_long_chains_of_conditionals_are_written() -> None:
    blocks = []
    for n in range(0, 3 * 600, 3):
        blocks.append(block([n // 3], branch(n // 3, n + 1, n + 2)))
        blocks.extend(block([], isa.Jump(n + 3), passes=[n // 3]) for _ in range(2))
    made = function(*blocks, block([600], ret(600)), name="main")
    assert shown(module(made)).count("= fn (") == 600


@pytest.mark.parametrize(
    ("dtype", "data", "text"),
    [
        ("bool", b"\1", "True"),
        ("int32", (7).to_bytes(4, "little"), "7"),
        ("int64", (7).to_bytes(8, "little"), "7i64"),
        ("float32", b"\xcd\xcc\xcc\x3d", "0.100000001f"),
        ("int32", b"\xff\xff\xff\xff", None),
        ("uint8", b"\1", None),
    ],
)
def test_scalars_stand_in_the_text_where_it_has_a_form_for_them(
    dtype: str, data: bytes, text: str | None
) -> None:
    assert literal(Constant(dtype, (), data)) == text


def arithmetic_of(text: str) -> Iterator[dict[str, int]]:
    """For each function of unfolded text the values of its sizes and offsets, computed from its lines."""
    for body in text.split("\ndef ")[1:]:
        values: dict[str, int] = {}
        at_run_time: set[str] = set()
        for name, expression in re.findall(r"let %((?:bytes|size|offset|arena)_\w+) = ([^;]+);", body):
            # What depends on a shape has no value here.
            if name.partition("_")[2] in at_run_time or "prod(" in expression:
                at_run_time.add(name.partition("_")[2])
                continue
            shown_expression = expression.replace("i64", "").replace("/", "//").replace("%", "")
            values[name] = int(eval(shown_expression, {"__builtins__": {}}, dict(values)))
        yield values


@settings(max_examples=60, deadline=None)
@given(modules())
def test_sizes_and_offsets_have_the_values_of_the_plan(program: Module) -> None:
    rewritten, placements = planned(program)
    unfolded = show_plan(rewritten, placements, folded=False)
    bodies = list(arithmetic_of(unfolded))[-len(placements) :]
    for made, placement, values in zip(rewritten.functions, placements, bodies, strict=True):
        assert values.get("arena_bytes", 0) == placement.storage_bytes
        outs = [o for b in made.blocks for i in b.instructions if isinstance(i, isa.Invoke) for o in i.outs]
        for out in outs:
            offsets = placement.offsets.get(out.tensor, ())
            assert values[f"bytes_{out.register}"] == made.tensors[out.tensor].num_bytes
            names = [f"offset_{out.register}_{n}" for n in range(len(offsets))]
            names = names if len(offsets) > 1 else [f"offset_{out.register}"] * len(offsets)
            assert tuple(values[n] for n in names) == offsets
    folded = show_plan(rewritten, placements, folded=True)
    left = re.findall(r"let %(bytes|size|offset|arena_bytes)\w* = ([^;]+);", folded)
    assert all("prod(" in text if kind == "bytes" else "%bytes_" in text for kind, text in left)
