"""Run a batch of cases on one executor at one opt level, in every variation; this is what a worker does.

The register VM is lowered once a level for the batch, and generated anew a case for each register limit and storage
strategy: what differs between variations is its own work, not Relay's passes and kernels.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from regvm import api, binary, compiler, ir, verifier
from regvm.cache import kernels
from regvm.errors import CompileError
from regvm.executable import Program
from regvm.frontend import source, translate
from regvm.ir.prune import prune
from relay_conformance.execution import EXECUTOR_ERRORS, Failure, Stage
from relay_conformance.executors import registry
from relay_conformance.executors.lowering import RETRY_OPTIONS
from relay_conformance.executors.reference_cache import compile_reference
from relay_conformance.program import Array, one_line, program_from_module
from relay_conformance.relay_cases.batches import entry, module_alone, module_of
from relay_conformance.relay_cases.case import RelayCase
from relay_conformance.tvm_api import regvm, tvm
from relay_conformance.values import Outputs, outputs_from_value

FULL_LEVEL = 3
# SimplifyExpr takes time that grows with the square of the module, and refuses valid programs; `fuzzing` says more.
QUADRATIC_PASSES = ("SimplifyExpr", "SimplifyExprPostAlterOp")
# How storage is planned has nothing to do with the level, so that each is tried at one of them. `optimal` is left
# out: it needs a package of its own, and its answer depends on time.
STRATEGIES_AT: Mapping[int | None, tuple[str, ...]] = {
    3: ("none", "exact", "greedy_by_size"),
    2: ("sweep", "search"),
    1: ("greedy_by_conflicts",),
    0: ("coalesce",),
}

Invoke = Callable[[Sequence[Array]], Any]
Result = Outputs | Failure


@dataclass(frozen=True)
class Attempt:
    """One variation of a case: a result for each run, or a single failure to compile."""

    variation: str
    results: tuple[Result, ...]


def levels(executor: str) -> tuple[int, ...]:
    """The opt levels of an executor.

    At level 0 the reference refuses most programs and aborts on some; executors of others choose their own.
    """
    match executor:
        case "regvm" | "regvm-native":
            return (0, 1, 2, 3)
        case "tvm-vm":
            return (1, 2, 3)
        case _:
            return (FULL_LEVEL,)


def attempt(executor: str, cases: tuple[RelayCase, ...], level: int) -> list[list[Attempt]]:
    """Every variation of each case. A batch of several is for executors that can run other functions than ``main``.

    Raises what compiling the batch does.
    """
    with warnings.catch_warnings():
        # A pass that is skipped is the compiler's affair; the results decide.
        warnings.simplefilter("ignore", RuntimeWarning)
        match executor:
            case "regvm":
                return [list(_register_vm(executor, "interpreter", cases, level, n)) for n in range(len(cases))]
            case "regvm-native":
                return [list(_register_vm(executor, "native", cases, level, n)) for n in range(len(cases))]
            case "tvm-vm":
                return _reference(cases, level)
            case _:
                return [_registered(executor, case) for case in cases]


@dataclass(frozen=True)
class _Part:
    """One case's functions, and the library of their kernels."""

    module: ir.Module
    library: Any


class _ById(tuple[RelayCase, ...]):
    """Cases that are equal where their ids are: arrays have no equality that a cache can use."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(case.id for case in self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and [c.id for c in self] == [c.id for c in other]


@lru_cache(maxsize=4)
def _lower(cases: _ById, level: int) -> tuple[_Part, ...]:
    """Shared by the interpreter and the native engine, which follow each other on the same batch."""
    with _passes(cases, level):
        lowered = source.lower(module_of(cases), "llvm", None, None)
        module, prim_funcs = translate.translate(lowered.module)
        numbers = {function.name: number for number, function in enumerate(module.functions)}
        parts = [prune(module, (numbers[entry(number)],)) for number in range(len(cases))]
        return tuple(
            _Part(part, _library({k.name: prim_funcs[k.name] for k in part.kernels}, lowered)) for part in parts
        )


def _library(prim_funcs: Mapping[str, Any], lowered: source.LoweredSource) -> Any:
    return kernels.build(prim_funcs, lowered.target, lambda: translate.translate(lowered.plainly())[1]).module


def _passes(cases: Sequence[RelayCase], level: int, **options: Any) -> Any:
    disabled = [] if len(cases) == 1 else list(QUADRATIC_PASSES)
    return tvm.transform.PassContext(opt_level=level, disabled_pass=disabled, **options)


def _register_vm(
    name: str, engine: str, cases: tuple[RelayCase, ...], level: int, number: int
) -> Iterator[Attempt]:
    case = cases[number]
    if case.refusal is not None:
        with _passes(cases, level):
            executable = regvm.compile(module_alone(case), check=True)
        raise AssertionError(f"{case.id} compiled to {executable.bytecode}")
    part = _lower(_ById(cases), level)[number]

    def generate(**options: Any) -> Program:
        return compiler.generate(part.module, compiler.Options(check=True, **options))

    for variation, program in _variations(generate, level if engine == "interpreter" else None):
        machine = regvm.VirtualMachine(api.Executable(program, part.library), tvm.cpu(), engine=engine)

        def invoke(arguments: Sequence[Array], machine: Any = machine) -> Any:
            return machine.invoke(entry(number), *map(tvm.nd.array, arguments))

        yield Attempt(f"level {level}{variation}", _run_all(name, case, invoke))


def _variations(generate: Callable[..., Program], level: int | None) -> Iterator[tuple[str, Program]]:
    """The case's program as it is, loaded from its bytes, with few registers, planned otherwise; each once."""
    plain = generate()
    yield "", plain
    code = binary.encode(plain)
    loaded = binary.decode(code)
    verifier.assert_verified(loaded)
    assert binary.encode(loaded) == code, "loading and saving gives other bytes"
    yield ", loaded", loaded
    tried = [plain]
    for variation, program in _otherwise(generate, level, max(f.max_live for f in plain.functions)):
        if program not in tried:
            tried.append(program)
            yield variation, program


def _otherwise(
    generate: Callable[..., Program], level: int | None, most: int
) -> Iterator[tuple[str, Program]]:
    if level == FULL_LEVEL:
        assert generate() == generate(), "compiling again gives another program"
    yield from _limited(generate, range(1, most + 1), only_smallest=level != FULL_LEVEL)
    for strategy in STRATEGIES_AT.get(level, ()):
        yield f", strategy {strategy}", generate(storage_strategy=strategy)


def _limited(
    generate: Callable[..., Program], limits: Sequence[int], only_smallest: bool
) -> Iterator[tuple[str, Program]]:
    """Under each limit that the widest instruction allows."""
    for limit in limits:
        try:
            program = generate(register_limit=limit)
        except CompileError as error:
            if "register limit" not in str(error):
                raise
            continue
        yield f", limit {limit}", program
        if only_smallest:
            return


def _reference(cases: tuple[RelayCase, ...], level: int) -> list[list[Attempt]]:
    module = module_alone(cases[0]) if cases[0].refusal is not None else module_of(cases)
    executable = _compile_reference(cases, module, level)
    code, library = executable.save()
    loaded = tvm.runtime.vm.Executable.load_exec(code, library)
    return [
        [
            Attempt(f"level {level}{variation}", _run_all("tvm-vm", case, _reference_invoke(made, number)))
            for variation, made in (("", executable), (", loaded", loaded))
        ]
        for number, case in enumerate(cases)
    ]


def _compile_reference(cases: Sequence[RelayCase], module: Any, level: int) -> Any:
    try:
        with _passes(cases, level):
            return compile_reference(module, "llvm", {})
    except tvm.TVMError as error:
        if "#dbg_declare" not in str(error):
            raise
    with _passes(cases, level, config=RETRY_OPTIONS):
        return compile_reference(module, "llvm", {})


def _reference_invoke(executable: Any, number: int) -> Invoke:
    def invoke(arguments: Sequence[Array]) -> Any:
        # Frames of a call that failed stay on the reference's stack, so each call gets a new machine.
        machine = tvm.runtime.vm.VirtualMachine(executable, tvm.cpu())
        return machine.invoke(entry(number), *map(tvm.nd.array, arguments))

    return invoke


def _registered(executor: str, case: RelayCase) -> list[Attempt]:
    executable = registry.get(executor).compile(program_from_module(module_alone(case)), "llvm")
    return [Attempt("", _run_all(executor, case, lambda arguments: executable.bind(arguments)()))]


def _run_all(executor: str, case: RelayCase, invoke: Invoke) -> tuple[Result, ...]:
    return tuple(_run(executor, invoke, run.arguments) for run in case.runs)


def _run(executor: str, invoke: Invoke, arguments: Sequence[Array]) -> Result:
    before = [array.tobytes() for array in arguments]
    try:
        outputs = outputs_from_value(invoke(arguments))
    except EXECUTOR_ERRORS as error:
        return Failure(executor, Stage.RUN, one_line(error))
    if [array.tobytes() for array in arguments] != before:
        return Failure(executor, Stage.RUN, "it wrote to its inputs")
    return outputs
