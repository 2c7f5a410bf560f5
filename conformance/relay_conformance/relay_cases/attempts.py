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
from regvm.executable import Program as Bytecode
from regvm.frontend import source, translate
from regvm.ir.prune import prune
from relay_conformance.execution import EXECUTOR_ERRORS, Failure, Stage
from relay_conformance.executors import Executor
from relay_conformance.executors.lowering import RETRY_OPTIONS
from relay_conformance.executors.reference_cache import compile_reference
from relay_conformance.program import Array, Program, one_line
from relay_conformance.relay_cases import last_uses
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


def attempt(executor: Executor, cases: tuple[RelayCase, ...], level: int) -> list[list[Attempt]]:
    """Every variation of each case. Executors of others run each case's own module, and ``main`` only.

    Raises what compiling the batch does.
    """
    with warnings.catch_warnings():
        # A pass that is skipped is the compiler's affair; the results decide.
        warnings.simplefilter("ignore", RuntimeWarning)
        match executor.name:
            case "regvm" | "regvm-native" as name:
                engine = "native" if name == "regvm-native" else "interpreter"
                return [list(_register_vm(engine, cases, level, n)) for n in range(len(cases))]
            case "tvm-vm":
                return _reference(cases, level)
            case _:
                return [_registered(executor, case) for case in cases]


@dataclass(frozen=True)
class Part:
    """One case's functions, and the library of their kernels."""

    module: ir.Module
    library: Any


def parts(module: Any, count: int, build: Callable[[Mapping[str, Any]], Any]) -> tuple[Part, ...]:
    """The cases of a lowered batch; ``build`` gives the library of PrimFuncs by name."""
    whole, prim_funcs = translate.translate(module)
    numbers = {function.name: number for number, function in enumerate(whole.functions)}
    pruned = [prune(whole, [numbers[entry(number)]]) for number in range(count)]
    return tuple(Part(part, build({k.name: prim_funcs[k.name] for k in part.kernels})) for part in pruned)


class _ById(tuple[RelayCase, ...]):
    """Cases that are equal where their ids are: arrays have no equality that a cache can use."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(case.id for case in self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and [c.id for c in self] == [c.id for c in other]


@lru_cache(maxsize=4)
def _lower(cases: _ById, level: int) -> tuple[Part, ...]:
    """Shared by the interpreter and the native engine, which follow each other on the same batch."""
    with _passes(cases, level):
        lowered = source.lower(module_of(cases), "llvm", None, None)

        def build(prim_funcs: Mapping[str, Any]) -> Any:
            return kernels.build(
                prim_funcs, lowered.target, lambda: translate.translate(lowered.plainly())[1]
            ).module

        return parts(lowered.module, len(cases), build)


def _passes(cases: Sequence[RelayCase], level: int, **options: Any) -> Any:
    disabled = [] if len(cases) == 1 else list(QUADRATIC_PASSES)
    return tvm.transform.PassContext(opt_level=level, disabled_pass=disabled, **options)


def _register_vm(engine: str, cases: tuple[RelayCase, ...], level: int, number: int) -> Iterator[Attempt]:
    case = cases[number]
    if case.refusal is not None:
        with _passes(cases, level):
            executable = regvm.compile(module_alone(case), check=True)
        raise AssertionError(f"{case.id} compiled to {executable.bytecode}")
    yield from run_part(_lower(_ById(cases), level)[number], case, number, engine, level)


def run_part(part: Part, case: RelayCase, number: int, engine: str, level: int) -> Iterator[Attempt]:
    """Every variation of case ``number`` of a batch on an engine; the native one takes long to load each."""
    for variation, program in _programs(part, level, thorough=engine == "interpreter"):
        missing = last_uses.unmarked(program)
        assert not missing, f"level {level}{variation}: {missing[0]}"
        executable = api.Executable(program, part.library)
        machine = regvm.VirtualMachine(executable, tvm.cpu(), engine=engine)

        def invoke(arguments: Sequence[Array], machine: Any = machine) -> Any:
            return machine.invoke(entry(number), *map(tvm.nd.array, arguments))

        yield Attempt(f"level {level}{variation}", _run_all("regvm", case, invoke))


def programs(cases: tuple[RelayCase, ...], level: int, number: int) -> Iterator[tuple[str, Bytecode]]:
    """What the register VM's compiler makes of case ``number`` of a batch, by variation."""
    return _programs(_lower(_ById(cases), level)[number], level, thorough=True)


def _programs(part: Part, level: int, thorough: bool) -> Iterator[tuple[str, Bytecode]]:
    def generate(**options: Any) -> Bytecode:
        return compiler.generate(part.module, compiler.Options(check=True, **options))

    if thorough or level == FULL_LEVEL:
        return _variations(generate, level if thorough else None)
    return iter([("", generate())])


def _variations(generate: Callable[..., Bytecode], level: int | None) -> Iterator[tuple[str, Bytecode]]:
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
    generate: Callable[..., Bytecode], level: int | None, most: int
) -> Iterator[tuple[str, Bytecode]]:
    if level == FULL_LEVEL:
        assert generate() == generate(), "compiling again gives another program"
    yield from _limited(generate, range(1, most + 1), only_smallest=level != FULL_LEVEL)
    for strategy in STRATEGIES_AT.get(level, ()):
        yield f", strategy {strategy}", generate(storage_strategy=strategy)


def _limited(
    generate: Callable[..., Bytecode], limits: Sequence[int], only_smallest: bool
) -> Iterator[tuple[str, Bytecode]]:
    """Under each limit that the widest instruction allows."""
    for limit in limits:
        try:
            program = generate(register_limit=limit)
        except CompileError as error:
            if "register limit" not in str(error):
                raise
            continue
        widest = max(function.num_registers for function in program.functions)
        assert widest <= limit, f"{widest} registers under a limit of {limit}"
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


def _registered(executor: Executor, case: RelayCase) -> list[Attempt]:
    try:
        executable = executor.compile(program_of(module_alone(case)), "llvm")
    except EXECUTOR_ERRORS as error:
        if case.refusal is not None:
            raise
        return [Attempt("", (Failure(executor.name, Stage.COMPILE, one_line(error)),))]
    return [Attempt("", _run_all(executor.name, case, lambda arguments: executable.bind(arguments)()))]


def program_of(module: Any) -> Program:
    """Of a module that may be wrong: whether it is, is the executor's to say."""
    return Program(module, {}, ())


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
