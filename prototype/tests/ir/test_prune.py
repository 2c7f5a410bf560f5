"""Functions, kernels and constants that the first function does not reach go, and the rest is numbered anew."""

from hypothesis import given, settings

from regvm import isa
from regvm.executable import Constant
from regvm.ir import Module
from regvm.ir.printer import show
from regvm.ir.prune import prune
from regvm_testing.behaviour import assert_same_behaviour
from regvm_testing.programs import modules
from regvm_testing.writing import KERNELS, block, function, invoke, ret, uses

CONSTANTS = tuple(Constant("float32", (), bytes([n] * 4)) for n in range(3))


def test_renumbers_what_is_left() -> None:
    main = function(block([], isa.LoadConst(0, 2), isa.Call(1, 3, uses(0)), ret(1)), name="main")
    unused = function(block([], isa.Call(0, 1, ()), ret(0)), name="unused")
    bound = function(block([0], invoke(1, 0, 0), ret(1)), name="bound", tensors=1)
    called = function(block([0], isa.MakeClosure(1, 2, uses(0)), isa.TailCall(3, uses(1))), name="called")
    pruned = prune(Module((main, unused, bound, called), CONSTANTS, KERNELS))
    assert pruned.constants == CONSTANTS[2:]
    assert pruned.kernels == (KERNELS[2],)
    assert [show(f).splitlines()[2:] for f in pruned.functions] == [
        ["  %0 = load_const c0", "  %1 = call f2, (%0)", "  ret %1"],
        ["  %1:t0 = invoke k0, (%0)", "  ret %1"],
        ["  %1 = make_closure f1, (%0)", "  tail_call f2, (%1)"],
    ]


def test_keeps_what_any_root_reaches() -> None:
    main = function(block([0], invoke(1, 0, 0), ret(1)), name="main", tensors=1)
    unused = function(block([], isa.LoadConst(0, 0), ret(0)), name="unused")
    other = function(block([], isa.LoadConst(0, 1), ret(0)), name="other")
    pruned = prune(Module((main, unused, other), CONSTANTS, KERNELS), roots=(0, 2))
    assert [f.name for f in pruned.functions] == ["main", "other"]
    assert pruned.constants == CONSTANTS[1:2]


@settings(max_examples=20, deadline=None)
@given(modules())
def test_keeps_behaviour_and_prunes_all_at_once(module: Module) -> None:
    pruned = prune(module)
    assert prune(pruned) == pruned
    before = {f.name: f for f in module.functions}
    for after in pruned.functions:
        assert_same_behaviour(before[after.name], after, (module, pruned))
