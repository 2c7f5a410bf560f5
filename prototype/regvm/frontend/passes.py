"""Run the Relay passes up to lowered kernels in A-normal form.

The list is the reference compiler's own up to ``LowerTE``, taken from TVM where TVM offers it, since kernels
that are equal bit for bit depend on it. Left out: lambda lifting and dead-code elimination (the translator
converts closures and drops dead values itself, also where references make order matter), and all that comes
after, which makes memory explicit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import tvm
from tvm import relay

from regvm.errors import CompileError
from regvm.frontend import index_checks, repairs, shape_functions
from regvm.frontend.diagnostics import collected

_OPTIMISATIONS = frozenset(
    {
        "EliminateCommonSubexpr",
        "CombineParallelConv2d",
        "CombineParallelDense",
        "CombineParallelBatchMatmul",
        "FoldConstant",
        "FoldScaleAxis",
        "SimplifyExpr",
        "CanonicalizeCast",
        "CanonicalizeOps",
        "FlattenAtrousConv",
        "AlterOpLayout",
        "SimplifyExprPostAlterOp",
        "FastMath",
    }
)
"""Passes that a program is right without."""

_FAILURES = (tvm.error.TVMError, TypeError, ValueError, AttributeError, AssertionError, LookupError)
"""What a pass raises that fails: parts of them are Python, which asserts that a layout is one it knows."""

_UNNAMED = {"sequential": "LowerTE"}
"""Passes whose object carries a name that says nothing."""

Observer = Callable[[str, tvm.IRModule], None]


@dataclass(frozen=True)
class Lowered:
    """A module in A-normal form whose operators are calls of kernels, and the passes that had to be skipped."""

    module: tvm.IRModule
    notes: tuple[str, ...]


def lower(
    mod: tvm.IRModule,
    target: tvm.target.Target,
    params: Mapping[str, Any] | None = None,
    observe: Observer | None = None,
    entries: Sequence[str] = ("main",),
) -> Lowered:
    """Bind ``params`` in ``main`` and run the passes under the current PassContext.

    Functions that no entry reaches are left out.

    ``observe`` is shown the name of each pass and the module after it, in order.

    Raises CompileError where a pass that cannot be skipped fails. An optimisation that fails is skipped with a
    warning and a note: it must not cost the user the compilation.
    """
    config = tvm.target.make_compilation_config(tvm.transform.PassContext.current(), target)
    record = _Record(observe)
    if params:
        mod = _bind(mod, params)
    with target:
        mod = _run_all(_preparation(entries), mod, record)
        mod = _plan_devices(mod, config, record)
        return Lowered(_lower_kernels(mod, config, record), tuple(record.notes))


@dataclass(frozen=True)
class _Record:
    """What is told of the passes while they run."""

    observe: Observer | None
    notes: list[str] = field(default_factory=list)


def _preparation(entries: Sequence[str]) -> list[Any]:
    prefix = tvm.get_global_func("relay.backend.GetPassPrefixSeq")(True, True)
    # TVM's own list keeps only what main reaches.
    own = [s for s in prefix.passes if str(s.info.name) != "RemoveUnusedFunctions"]
    reached = relay.transform.RemoveUnusedFunctions(list(entries))
    return [relay.transform.InferType(), reached, repairs.rewriting(), *own]


def _plan_devices(mod: tvm.IRModule, config: Any, record: _Record) -> tvm.IRModule:
    """There is one device, so that a plan can be done without where TVM fails to make one."""
    try:
        return _run(relay.transform.PlanDevices(config), mod, record)
    except CompileError:
        return _run(repairs.on_one_device(config), mod, record)


@contextmanager
def _lowering() -> Iterator[None]:
    """Kernels are lowered with all shape functions and with their indices checked."""
    with shape_functions.added(), index_checks.context():
        yield


def _kernel_steps(config: Any) -> list[Any]:
    return [
        relay.transform.FuseOps(),
        relay.transform.InferType(),
        # Called on its own a pass runs at every opt level; A-normal form is needed at level 0 too.
        relay.transform.ToANormalForm(),
        relay.transform.InferType(),
        tvm.get_global_func("relay.tec.LowerTE")("vm_mod", config),
        relay.transform.InferType(),
    ]


def _lower_kernels(mod: tvm.IRModule, config: Any, record: _Record) -> tvm.IRModule:
    """Fuse operators and lower them to kernels; without fusion, an optimisation too, where that fails."""
    try:
        with _lowering():
            return _run_all(_kernel_steps(config), mod, record)
    except CompileError as error:
        context = tvm.transform.PassContext.current()
        unfused = tvm.transform.PassContext(
            opt_level=context.opt_level,
            required_pass=context.required_pass,
            disabled_pass=context.disabled_pass,
            config={**context.config, "relay.FuseOps.max_depth": 1},
        )
        try:
            with unfused, _lowering():
                lowered = _run_all(_kernel_steps(config), mod, record)
        except CompileError:
            raise error from None
        _skip("FuseOps", str(error), record.notes)
        return lowered


def _run_all(steps: list[Any], mod: tvm.IRModule, record: _Record) -> tvm.IRModule:
    for step in steps:
        mod = _run(step, mod, record)
    return mod


def _run(step: Any, mod: tvm.IRModule, record: _Record) -> tvm.IRModule:
    name = str(step.info.name)
    name = _UNNAMED.get(name, name)
    after = _after(step, name, mod, record.notes)
    if record.observe is not None:
        record.observe(name, after)
    return after


def _after(step: Any, name: str, mod: tvm.IRModule, notes: list[str]) -> tvm.IRModule:
    with collected() as errors:
        try:
            if name == "ToANormalForm":
                return step(mod)
            # A Sequential of one applies the opt level and runs what the pass requires first.
            return tvm.transform.Sequential([step])(mod)
        except _FAILURES as error:
            reason = errors[0] if errors else summary_of(error)
            if name not in _OPTIMISATIONS:
                raise CompileError(f"Relay pass {name} fails on this module: {reason}") from error
    _skip(name, reason, notes)
    return mod


def _skip(name: str, reason: str, notes: list[str]) -> None:
    note = f"skipped the optimisation {name}, which fails on this module: {reason}"
    notes.append(note)
    warnings.warn(note, RuntimeWarning, stacklevel=2)


def summary_of(error: Exception) -> str:
    """The line of a TVM error that says what is wrong, without its C++ backtrace."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    for line in reversed(lines):
        if "Error:" in line or "Check failed" in line or line.startswith("error:"):
            return line
    return lines[-1] if lines else type(error).__name__


def _bind(mod: tvm.IRModule, params: Mapping[str, Any]) -> tvm.IRModule:
    if "main" not in {str(v.name_hint) for v in mod.get_global_vars()}:
        return mod
    bound = mod.clone()
    main = mod["main"]
    names = {p.name_hint for p in main.params}
    known = {k: v for k, v in params.items() if k in names}
    bound["main"] = relay.build_module.bind_params_by_name(main, known)
    return bound
