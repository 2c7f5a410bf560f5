"""Every public name of the reference's interface is here, and takes the reference's parameters by name."""

import inspect
from typing import Any

import pytest
from tvm.relay.backend import vm as compiling
from tvm.runtime import vm as running

import regvm
from regvm.compat import reference

# The object of TVM's runtime behind an executable; the register VM has none.
_OF_TVM_ALONE = {"module", "mod"}
# A benchmark's options go to TVM's timer as they are.
_PASSED_ON = {"benchmark"}

PAIRS = [
    (compiling.VMCompiler, regvm.VMCompiler),
    (compiling.VMExecutor, regvm.VMExecutor),
    (running.Executable, regvm.Executable),
    (running.VirtualMachine, regvm.VirtualMachine),
    (compiling.VMCompiler, reference.VMCompiler),
    (compiling.VMExecutor, reference.VMExecutor),
    (running.Executable, reference.Executable),
    (running.VirtualMachine, reference.VirtualMachine),
]


def public(cls: Any) -> set[str]:
    fields = getattr(cls, "__dataclass_fields__", ())
    return {n for n in (*dir(cls), *fields) if not n.startswith("_")}


@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
def test_no_name_is_missing(theirs: Any, ours: Any) -> None:
    assert public(theirs) - public(ours) <= _OF_TVM_ALONE


@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
def test_parameters_have_the_same_names_in_the_same_order(theirs: Any, ours: Any) -> None:
    for name in sorted((public(theirs) & public(ours)) - _PASSED_ON):
        if callable(getattr(theirs, name)):
            wanted, taken = (list(inspect.signature(getattr(c, name)).parameters) for c in (theirs, ours))
            assert taken[: len(wanted)] == wanted, name


def test_compile_takes_what_the_references_does() -> None:
    wanted = list(inspect.signature(compiling.compile).parameters)
    assert list(inspect.signature(regvm.compile).parameters)[: len(wanted)] == wanted
    assert list(inspect.signature(reference.compile).parameters) == wanted
