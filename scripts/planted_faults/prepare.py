"""Lower what every fault is tried on, once: the Relay-level cases, and drawn programs of each profile.

Relay's passes and TVM's lowering are not under test here, and take most of the time.
"""

import pickle
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tvm
from tvm import relay

from regvm.frontend import source
from relay_conformance.fuzzing.draws import draw_programs
from relay_conformance.relay_cases import catalog
from relay_conformance.relay_cases.attempts import FULL_LEVEL, QUADRATIC_PASSES
from relay_conformance.relay_cases.batches import batches, module_of
from relay_conformance.relay_cases.case import RelayCase, Run
from relay_conformance.strategies import PROFILES, arrays, evaluate, render_batch
from relay_conformance.values import outputs_from_value

SEED = 23
PROGRAMS = 16
# The families that most faults show in come first.
FIRST = ("machine", "recursion", "matching", "functions")


@dataclass(frozen=True)
class Prepared:
    """``lowered`` is a module as TVM's JSON; its functions ``main_0``, ``main_1``, … are the cases."""

    cases: tuple[RelayCase, ...]
    lowered: str


def prepare(path: Path) -> int:
    """Write what ``check`` reads; returns how many programs there are."""
    prepared = [*_relay_cases(), *_drawn_programs()]
    path.write_bytes(pickle.dumps(prepared))
    return sum(len(batch.cases) for batch in prepared)


def read(path: Path) -> list[Prepared]:
    """What ``prepare`` wrote."""
    found: list[Prepared] = pickle.loads(path.read_bytes())
    return found


def _relay_cases() -> Iterator[Prepared]:
    families = catalog.families()
    order = [*FIRST, *(name for name in families if name not in FIRST)]
    # TVM's JSON can't carry a constant without elements; the ledger has it as empty-constant-not-loaded.
    cases = [
        case
        for name in order
        for case in families[name]
        if case.refusal is None and all(constant.size for constant in case.constants.values())
    ]
    for batch in batches(cases, frozenset()):
        yield Prepared(batch, _lower(module_of(batch)))


def _drawn_programs() -> Iterator[Prepared]:
    for profile in PROFILES:
        drawn = [(p, outputs_from_value(evaluate(p).value)) for p in draw_programs(profile, SEED, PROGRAMS)]
        # NumPy says to the bit what integers are; of floats it leaves the rounding and the sign of zero open.
        exact = [(p, o) for p, o in drawn if all(a is not None and a.dtype.kind in "biu" for a in o.arrays)]
        cases = tuple(
            RelayCase("fuzz", f"{profile}-{number}", "", (Run(arrays(program), outputs),))
            for number, (program, outputs) in enumerate(exact)
        )
        module = relay.transform.InferType()(relay.fromtext(render_batch([p for p, _ in exact])))
        yield Prepared(cases, _lower(module))


def _lower(module: Any) -> str:
    disabled: Sequence[str] = QUADRATIC_PASSES
    with warnings.catch_warnings(), tvm.transform.PassContext(FULL_LEVEL, disabled_pass=list(disabled)):
        warnings.simplefilter("ignore", RuntimeWarning)
        return str(tvm.ir.save_json(source.lower(module, "llvm", None, None).module))
