"""A broken machine is found within a few examples, and its failure shrinks to a small program."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from regvm import isa
from relay_conformance.fuzzing import engines
from relay_conformance.fuzzing.draws import draw_programs
from relay_conformance.fuzzing.running import run_module
from relay_conformance.fuzzing.shrinking import shrink
from relay_conformance.fuzzing.verdict import Verdict, judge
from relay_conformance.program import Array
from relay_conformance.strategies import FuzzProgram, arrays, evaluate, render
from relay_conformance.tvm_api import regvm

pytestmark = pytest.mark.thorough

SEED = 5
EXAMPLES = 40
Fault = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class BrokenEngine:
    """The register VM with a fault in its bytecode, which has passed its verifier before."""

    fault: Fault
    name: str = "regvm"
    batches: bool = True

    def compile(self, module: Any) -> engines.Invoke:
        good = regvm.compile(module)
        program = good.program
        for number, function in enumerate(program.functions):
            broken = tuple(self.fault(program, instruction) for instruction in function.instructions)
            program = program.with_function(number, instructions=broken)
        return engines.bind(replace(good, program=program))


def swap_operands_of_subtract(program: Any, instruction: Any) -> Any:
    if isinstance(instruction, isa.Invoke) and "subtract" in program.kernels[instruction.kernel].name:
        return replace(instruction, args=tuple(reversed(instruction.args)))
    return instruction


def take_the_other_branch(_: Any, instruction: Any) -> Any:
    if isinstance(instruction, isa.Branch):
        return replace(instruction, then=instruction.otherwise, otherwise=instruction.then)
    return instruction


def kill_each_operand(_: Any, instruction: Any) -> Any:
    if isinstance(instruction, isa.Invoke):
        return replace(instruction, args=tuple(use._replace(last=True) for use in instruction.args))
    return instruction


def judged_by(engine: engines.Engine) -> Callable[[FuzzProgram], Verdict]:
    def judge_alone(program: FuzzProgram) -> Verdict:
        cases: Sequence[tuple[str, tuple[Array, ...]]] = [("main", arrays(program))]
        (result,) = run_module(engine, render(program), cases, alone=True)
        return judge(program, evaluate(program), {engine.name: result})

    return judge_alone


@pytest.mark.parametrize(
    ("fault", "needed", "lines"),
    [
        (swap_operands_of_subtract, "subtract", 16),
        (take_the_other_branch, "if (", 20),
        (kill_each_operand, "%", 16),
    ],
)
def test_a_planted_fault_is_found_and_shrunk(fault: Fault, needed: str, lines: int) -> None:
    judge_alone = judged_by(BrokenEngine(fault))
    programs = enumerate(draw_programs("int32-1x1", SEED, EXAMPLES))
    found = next(number for number, program in programs if judge_alone(program).kind.is_failure)
    smallest, verdict = shrink("int32-1x1", SEED, found, judge_alone, seconds=20.0)
    assert verdict.kind.is_failure
    assert needed in render(smallest)
    assert len(render(smallest).splitlines()) <= lines
    assert judge_alone(smallest) == verdict


def test_a_sound_machine_shows_nothing_to_shrink() -> None:
    with pytest.raises(LookupError, match="program 3 shows nothing"):
        shrink("int32-1x1", SEED, 3, judged_by(engines.RegisterVMEngine()))
