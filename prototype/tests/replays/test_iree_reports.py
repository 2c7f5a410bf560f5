"""Defects that IREE's VM, the nearest peer, had in its register allocation, as programs of this one."""

import itertools

import numpy as np
import pytest
from tvm import relay

import regvm
from regvm import isa

MANY = 100
X, Y = np.array([3, 5], "int32"), np.array([7, -2], "int32")


def compiled(body: str, parameters: str) -> regvm.Executable:
    return regvm.compile(
        relay.fromtext(f'#[version = "0.0.5"]\ndef @main({parameters}) {{ {body} }}'), check=True
    )


def results(executable: regvm.Executable, *arguments: np.ndarray) -> list[list[int]]:
    return [f.numpy().tolist() for f in regvm.VirtualMachine(executable).invoke("main", *arguments)]


@pytest.fixture(scope="module")
def many() -> regvm.Executable:
    """Each value is read by the one after it and again at the end, so that all are live at once."""
    lets = "".join(f"let %v{n} = add(%v{n - 1}, %v0); " for n in range(1, MANY))
    fields = ", ".join(f"%v{n}" for n in range(MANY))
    return compiled(f"let %v0 = add(%x, %x); {lets}({fields})", "%x: Tensor[(2), int32]")


def test_more_than_63_live_references_iree_1807(many: regvm.Executable) -> None:
    assert many.functions[0].num_registers >= MANY
    assert results(many, X) == [(2 * n * X).tolist() for n in range(1, MANY + 1)]


def test_the_register_file_holds_each_register_that_is_named_iree_14313(many: regvm.Executable) -> None:
    (function,) = many.functions
    reads = itertools.chain.from_iterable(isa.uses(i) for i in function.instructions)
    named = {u.register for u in reads} | {d for i in function.instructions for d in isa.defs(i)}
    assert max(named) == function.num_registers - 1


@pytest.mark.parametrize("chosen", [True, False])
def test_a_choice_into_the_register_of_a_moved_operand_iree_6137(chosen: bool) -> None:
    executable = compiled(
        "let %a = add(%x, %y); let %b = subtract(%x, %y); "
        "let %r = if (%c) { %a } else { %b }; let %s = if (%c) { %b } else { %a }; (%r, %s, multiply(%r, %s))",
        "%c: bool, %x: Tensor[(2), int32], %y: Tensor[(2), int32]",
    )
    r, s = (X + Y, X - Y) if chosen else (X - Y, X + Y)
    assert results(executable, np.array(chosen), X, Y) == [r.tolist(), s.tolist(), (r * s).tolist()]
