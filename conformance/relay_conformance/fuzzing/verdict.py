"""Class what the executors made of a program, by NumPy's evaluation of it.

The reference has defects of its own, which must not fail the suite: where it alone is wrong or without a
result, and NumPy confirms the others, the program is counted as a defect of the reference if it has the marks
of one that is known. Everything else is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from relay_conformance.fuzzing.running import Failure, Result, Stage
from relay_conformance.program import Array
from relay_conformance.strategies import Expected, FuzzProgram, syntax
from relay_conformance.values import Outputs, outputs_from_value

REFERENCE = "tvm-vm"


class Kind(Enum):
    """What a program showed; the values are shown to users."""

    AGREE = "agree"
    KILLED_REGISTER = "reference kills live registers"
    NO_REFERENCES = "reference lacks references"
    REFUSED_SIMPLIFICATION = "reference refused by SimplifyExpr"
    REFUSED_KERNEL = "reference refused by LLVM"
    DIFFERENCE = "difference"
    CRASH = "crash"
    COMPILE_FAILURE = "compile failure"
    RUN_FAILURE = "run failure"
    TIME_OUT = "time-out"

    @property
    def is_failure(self) -> bool:
        return self not in (
            Kind.AGREE,
            Kind.KILLED_REGISTER,
            Kind.NO_REFERENCES,
            Kind.REFUSED_SIMPLIFICATION,
            Kind.REFUSED_KERNEL,
        )


_STAGES = {
    Stage.COMPILE: Kind.COMPILE_FAILURE,
    Stage.RUN: Kind.RUN_FAILURE,
    Stage.CRASH: Kind.CRASH,
    Stage.TIME_OUT: Kind.TIME_OUT,
}


@dataclass(frozen=True)
class Verdict:
    """``executor`` is the one at fault, ``detail`` one line of what it did; both empty where all agree."""

    kind: Kind
    executor: str = ""
    detail: str = ""


def judge(program: FuzzProgram, expected: Expected, results: Mapping[str, Result]) -> Verdict:
    """The verdict on one program's results by executor."""
    return judge_outputs(program, outputs_from_value(expected.value), expected.exact, results)


def judge_outputs(
    program: FuzzProgram | None, right: Outputs, exact: bool, results: Mapping[str, Result]
) -> Verdict:
    """The verdict by the right outputs; without a program nothing passes for a known defect."""
    wrong = {name: problem for name in results if (problem := _problem(name, results, right, exact))}
    if not wrong:
        return Verdict(Kind.AGREE)
    if set(wrong) == {REFERENCE} and program is not None:
        known = _known_defect(program, results[REFERENCE])
        if known is not None:
            return Verdict(known, REFERENCE, wrong[REFERENCE])
    name = next((n for n in wrong if n != REFERENCE), REFERENCE)
    result = results[name]
    kind = _STAGES[result.stage] if isinstance(result, Failure) else Kind.DIFFERENCE
    return Verdict(kind, name, wrong[name])


def _problem(name: str, results: Mapping[str, Result], right: Outputs, exact: bool) -> str:
    """What is wrong with one executor's result; NumPy decides, or, of rounded floats, the first that has one."""
    result = results[name]
    if isinstance(result, Failure):
        return result.reason
    if result.structure != right.structure:
        return f"the outputs nest as {result.structure}, not as {right.structure}"
    if not exact:
        others = [r for n, r in results.items() if isinstance(r, Outputs) and n != REFERENCE]
        right = others[0] if others and others[0].structure == right.structure else right
    return first_difference(result, right)


def first_difference(result: Outputs, right: Outputs) -> str:
    """The first output that is not equal bit for bit, or nothing."""
    for number, (got, wanted) in enumerate(zip(result.arrays, right.arrays, strict=True)):
        if got is None or wanted is None:
            return f"output {number} is missing"
        if got.dtype != wanted.dtype or got.shape != wanted.shape:
            return f"output {number} is {got.dtype}{list(got.shape)}, not {wanted.dtype}{list(wanted.shape)}"
        if not _equal(got, wanted):
            place = tuple(int(i) for i in np.argwhere(~_same(got, wanted))[0])
            return f"output {number} at {place} is {got[place]}, not {wanted[place]}"
    return ""


def _same(got: Array, wanted: Array) -> Any:
    # A zero's sign depends on how the compiler negates; NaN equals NaN.
    return (got == wanted) | ((got != got) & (wanted != wanted))


def _equal(got: Array, wanted: Array) -> bool:
    return bool(np.all(_same(got, wanted)))


def _known_defect(program: FuzzProgram, result: Result) -> Kind | None:
    """Which defect of the reference this has the marks of."""
    if isinstance(result, Failure) and result.stage is Stage.COMPILE:
        if _holds(program, syntax.NewRef):
            return Kind.NO_REFERENCES
        if "free variables" in result.reason:
            return Kind.REFUSED_SIMPLIFICATION
        if "LLVM module verification failed" in result.reason:
            # FoldConstant builds kernels without the options that LLVM needs; others go on without it.
            return Kind.REFUSED_KERNEL
        return None
    return Kind.KILLED_REGISTER if _has_nested_branches(program) else None


def _has_nested_branches(program: FuzzProgram) -> bool:
    return any(
        _holds(part, (syntax.If, syntax.Match))
        for branch in _nodes(program)
        if isinstance(branch, syntax.If | syntax.Match)
        for part in _parts(branch)
    )


def _parts(branch: syntax.If | syntax.Match) -> list[Any]:
    if isinstance(branch, syntax.If):
        return [branch.then, branch.otherwise]
    # A pattern inside a pattern is a test inside a test.
    patterns = [
        f for c in branch.clauses if isinstance(c.pattern, syntax.Constructed) for f in c.pattern.fields
    ]
    nested = any(isinstance(field, syntax.Constructed) for field in patterns)
    return [branch] if nested else [clause.body for clause in branch.clauses]


def _holds(node: Any, kinds: Any) -> bool:
    return any(isinstance(inner, kinds) for inner in _nodes(node))


def _nodes(node: Any) -> Any:
    yield node
    if isinstance(node, tuple):
        for item in node:
            yield from _nodes(item)
    elif hasattr(node, "__dataclass_fields__"):
        for name in node.__dataclass_fields__:
            yield from _nodes(getattr(node, name))
