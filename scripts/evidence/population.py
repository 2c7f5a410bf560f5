"""Registers, moves and instructions of every conformance program, compiled up to bytecode: no kernel is built.

Programs are a sample of the operator cases, one graph a case, and drawn programs of each profile. Each is compiled in
a worker, because folding can end a process. The reference compiles likewise all drawn programs and some of the cases.
"""

import itertools
import queue
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from typing_extensions import assert_never

from regvm import compiler, isa
from regvm.errors import RegvmError
from regvm.frontend import source, translate
from relay_conformance.cases import catalog
from relay_conformance.cases.graphs import build_graph
from relay_conformance.errors import ConformanceError
from relay_conformance.executors.tvm_vm import figures_from_listing
from relay_conformance.fuzzing.draws import draw_program
from relay_conformance.isolation import Crashed, Raised, Returned, TimedOut, Worker
from relay_conformance.program import Program, program_from_module
from relay_conformance.strategies import PROFILES, render
from relay_conformance.tensorflow_import.importers import import_graph
from relay_conformance.tvm_api import relay, tvm

SEED = 0
CASES = 500
"""Operator cases, a sample by ``SEED``."""
DRAWN = 16
"""Programs of each profile."""
COMPARED = 200
"""Cases of the sample that the reference compiles too."""
_WORKERS = 2
_TIME_LIMIT = 120.0
_OPT_LEVEL = 3


@dataclass(frozen=True)
class CaseProgram:
    """The operator case at a place of its family."""

    family: str
    number: int


@dataclass(frozen=True)
class DrawnProgram:
    """The program that profile and number name, of ``SEED``."""

    profile: str
    number: int


Source = CaseProgram | DrawnProgram


@dataclass(frozen=True)
class FunctionFigures:
    registers: int
    max_live: int


@dataclass(frozen=True)
class ProgramFigures:
    """``reference_registers`` has one number a function of the reference; none where it was not asked, or failed."""

    functions: tuple[FunctionFigures, ...]
    instructions: int
    moves: int
    reference_registers: tuple[int, ...]
    reference_instructions: int | None


def measure() -> dict[str, Any]:
    """The figures of all programs, together and by group."""
    families = catalog.families()
    cases = [CaseProgram(name, n) for name, all_ in families.items() for n in range(len(all_))]
    cases = [c for c in cases if families[c.family][c.number].refusal is None]
    drawn = [DrawnProgram(name, number) for name in PROFILES for number in range(DRAWN)]
    chosen = random.Random(SEED).sample(cases, CASES)
    origins: list[Source] = [*chosen, *drawn]
    compared: set[Source] = {*chosen[:COMPARED], *drawn}
    groups: dict[str, list[ProgramFigures | str]] = {}
    for origin, found in zip(origins, figures_of_all(origins, compared), strict=True):
        group = "operator cases" if isinstance(origin, CaseProgram) else f"drawn, {origin.profile}"
        groups.setdefault(group, []).append(found)
    together = list(itertools.chain.from_iterable(groups.values()))
    return {
        "seed": SEED,
        "cases": len(cases),
        "chosen": CASES,
        "compared": COMPARED,
        "all": summary(together),
        "groups": {name: summary(found) for name, found in groups.items()},
    }


def figures_of_all(origins: Sequence[Source], compared: Iterable[Source]) -> Iterator[ProgramFigures | str]:
    """Of each program its figures, with the reference's for ``compared``, or why it has none; in order."""
    with_reference = frozenset(compared)
    idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()

    def figures(origin: Source) -> ProgramFigures | str:
        worker = idle.get()
        try:
            return _in_a_worker(worker, origin, origin in with_reference)
        finally:
            idle.put(worker)

    with ExitStack() as stack:
        for _ in range(_WORKERS):
            idle.put(stack.enter_context(Worker(_TIME_LIMIT)))
        pool = stack.enter_context(ThreadPoolExecutor(_WORKERS))
        found = pool.map(figures, origins)
        yield from track(found, "compiling", len(origins), console=Console(stderr=True))


def _in_a_worker(worker: Worker, origin: Source, compared: bool) -> ProgramFigures | str:
    outcome = worker.call(figures_of, origin, compared)
    match outcome:
        case Returned(figures):
            return figures
        case Raised(error):
            # Neither machine's own refusal: worth a look, and no reason to lose hours of measuring.
            click.echo(f"{origin}: {error!r}", err=True)
            return f"raised {type(error).__name__}"
        case Crashed():
            return "crashed"
        case TimedOut():
            return "timed out"
        case _:
            assert_never(outcome)


def figures_of(origin: Source, compared: bool) -> ProgramFigures | str:
    """The figures of one program, or the stage that refuses it."""
    try:
        program = _program(origin)
    except ConformanceError:
        return "import"
    try:
        with tvm.transform.PassContext(opt_level=_OPT_LEVEL):
            lowered = source.lower(program.module, "llvm", None, dict(program.params))
            module, _ = translate.translate(lowered.module)
            generated = compiler.generate(module, compiler.Options(check=True))
    except RegvmError:
        return "compile"
    reference = _reference(program) if compared else None
    instructions = [i for f in generated.functions for i in f.instructions]
    return ProgramFigures(
        functions=tuple(FunctionFigures(f.num_registers, f.max_live) for f in generated.functions),
        instructions=len(instructions),
        moves=sum(isinstance(i, isa.Move) for i in instructions),
        reference_registers=tuple(reference.registers.values()) if reference else (),
        reference_instructions=reference.instructions if reference else None,
    )


def _program(origin: Source) -> Program:
    match origin:
        case CaseProgram(family, number):
            case = catalog.families()[family][number]
            return import_graph(build_graph([case], case.forms[0]).model)
        case DrawnProgram(profile, number):
            return program_from_module(relay.fromtext(render(draw_program(profile, SEED, number))))


def _reference(program: Program) -> Any:
    """The reference's figures from its bytecode alone, or None where its compiler fails."""
    reference = relay.vm.VMCompiler()
    if program.params:
        reference.set_params(dict(program.params))
    try:
        with tvm.transform.PassContext(opt_level=_OPT_LEVEL):
            reference.lower(program.module, "llvm")
            return figures_from_listing(reference.get_exec().bytecode)
    except (tvm.error.TVMError, TypeError, ValueError, AttributeError):
        return None


def summary(found: Iterable[ProgramFigures | str]) -> dict[str, Any]:
    """Counts of programs and functions. What compares with the reference is over what both compile."""
    found = list(found)
    compiled = [one for one in found if isinstance(one, ProgramFigures)]
    both = [one for one in compiled if one.reference_instructions is not None]
    functions = [function for one in compiled for function in one.functions]
    return {
        "programs": len(compiled),
        "refused": dict(Counter(one for one in found if isinstance(one, str))),
        "functions": len(functions),
        "above_bound": _histogram(f.registers - f.max_live for f in functions),
        "registers": _histogram(f.registers for f in functions),
        "instructions": sum(one.instructions for one in compiled),
        "moves": sum(one.moves for one in compiled),
        "both": {
            "programs": len(both),
            "instructions": sum(one.instructions for one in both),
            "reference_instructions": sum(one.reference_instructions or 0 for one in both),
            "not_fewer": sum(one.instructions >= (one.reference_instructions or 0) for one in both),
            "largest": _histogram(max(f.registers for f in one.functions) for one in both),
            "reference_largest": _histogram(max(one.reference_registers) for one in both),
        },
    }


def _histogram(numbers: Iterable[int]) -> dict[str, int]:
    """How often each number occurs, by number; JSON's keys are strings."""
    return {str(number): count for number, count in sorted(Counter(numbers).items())}
