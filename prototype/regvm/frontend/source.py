"""Take what users hand to the compiler: a module, a function, a target; lower it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tvm
from tvm import relay

from regvm.errors import CompileError
from regvm.frontend import kernels, passes

MAIN = "main"


@dataclass(frozen=True)
class LoweredSource:
    """A lowered module with the target it was lowered for, notes on passes that were skipped, and the functions
    where programs start.

    ``plainly`` lowers once more with kernels that every LLVM accepts, for those that this one refuses.
    """

    module: tvm.IRModule
    target: tvm.target.Target
    notes: tuple[str, ...]
    plainly: Callable[[], tvm.IRModule]
    entries: tuple[str, ...] = (MAIN,)


def as_module(mod: Any) -> tvm.IRModule:
    """The module of a module, function or expression; raises CompileError for anything else."""
    if mod is None:
        return tvm.IRModule()
    if isinstance(mod, tvm.IRModule):
        return mod
    if isinstance(mod, relay.Expr):
        return tvm.IRModule.from_expr(mod)
    raise CompileError(f"compile takes a tvm.IRModule or relay.Function, not {type(mod).__name__}")


def with_main(mod: tvm.IRModule, expression: Any) -> tvm.IRModule:
    """A module whose ``main`` is the expression, over the other definitions of ``mod``."""
    if isinstance(expression, tvm.ir.GlobalVar):
        expression = mod[expression]
    if not isinstance(expression, relay.Function):
        expression = relay.Function(relay.analysis.free_vars(expression), expression)
    result = mod.clone()
    result["main"] = expression
    return result


def lower(
    mod: Any,
    target: Any,
    target_host: Any,
    params: Mapping[str, Any] | None,
    observe: passes.Observer | None = None,
    entries: Sequence[str] = (MAIN,),
) -> LoweredSource:
    """Check a module and run the Relay passes on it for one target; ``observe`` is shown each.

    Raises CompileError if one of the ``entries`` is missing or several targets are given.
    """
    module = as_module(mod)
    require_entries(module, entries)
    chosen = choose_target(target, target_host)
    lowered = passes.lower(module, chosen, params, observe, entries)
    context = tvm.transform.PassContext.current()

    def plainly() -> tvm.IRModule:
        config = {**context.config, **kernels.PLAIN_OPTIONS}
        with tvm.transform.PassContext(opt_level=context.opt_level, config=config), warnings.catch_warnings():
            # The notes of the first time stand.
            warnings.simplefilter("ignore", RuntimeWarning)
            return passes.lower(module, chosen, params, entries=entries).module

    return LoweredSource(lowered.module, chosen, lowered.notes, plainly, tuple(entries))


def require_entries(module: tvm.IRModule, entries: Sequence[str]) -> None:
    """Raise CompileError for a function that is not in the module, or if none is named."""
    names = sorted(str(v.name_hint) for v in module.get_global_vars())
    present = ", ".join(names) or "no function"
    if not entries:
        raise CompileError(f"no entry is given; the module has {present}")
    for entry in entries:
        if entry not in names:
            raise CompileError(
                f"the module has no @{entry}, which is where a program starts; it has {present}"
            )


def choose_target(target: Any, host: Any) -> tvm.target.Target:
    """The one target to compile for. Raises CompileError for several, or for one that is not supported."""
    if isinstance(target, Mapping):
        if len(target) != 1:
            raise CompileError("several targets are given; the register VM compiles for one, such as 'llvm'")
        (target,) = target.values()
    try:
        chosen = tvm.target.Target(target, host=host or target)
    except (TypeError, ValueError) as error:
        raise CompileError(
            f"target {target} is not one that TVM knows: {passes.summary_of(error)}"
        ) from error
    if chosen.kind.name not in ("llvm", "c"):
        raise CompileError(f"target {chosen.kind.name} is not supported; use 'llvm'")
    return chosen
