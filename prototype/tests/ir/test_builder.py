"""A function is built block by block, and only an open block takes instructions."""

import pytest

from regvm import isa
from regvm.executable import Parameter
from regvm.ir.builder import Builder
from regvm.ir.printer import show
from regvm.ir.wellformed import assert_well_formed
from regvm_testing.writing import TENSOR


def test_builds_a_loop() -> None:
    builder = Builder("loop", [Parameter("n", TENSOR)])
    (n,) = builder.entry_values
    header, body, done = builder.new_block(1), builder.new_block(), builder.new_block()
    builder.jump(header, [n])
    (i,) = builder.enter(header)
    builder.emit(isa.Branch(isa.Use(i), body, done))
    builder.enter(body)
    following = builder.new_value()
    builder.emit(isa.Invoke(2, (isa.Use(i),), (isa.Out(following, builder.tensor(TENSOR)),)))
    builder.jump(header, [following])
    builder.enter(done)
    builder.emit(isa.Ret(isa.Use(i)))
    built = builder.finish()
    assert_well_formed(built)
    assert show(built).splitlines() == [
        "function @loop(n: float32[16])",
        "b0(%0):",
        "  jump b1(%0)",
        "b1(%1):",
        "  branch %1, b2, b3",
        "b2():",
        "  %2:t0 = invoke k2, (%1)",
        "  jump b1(%2)",
        "b3():",
        "  ret %1",
    ]


def test_refuses_an_instruction_after_the_end_of_its_block() -> None:
    builder = Builder("f", [])
    builder.emit(isa.Fatal())
    with pytest.raises(ValueError, match="b0 of @f has ended"):
        builder.emit(isa.Fatal())
