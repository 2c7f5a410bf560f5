"""Which cases run together, and which of them in the default run.

Cases of one family share a graph, up to a number that keeps a failed graph cheap to take apart. What is known to
fail, and what has an unknown dimension (an operator without shape function sinks the whole graph), runs alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from relay_conformance.cases import catalog, ledger
from relay_conformance.cases.case import Case, FeedRefusal, Form, ImportRefusal
from relay_conformance.errors import BadInputError

BATCH_SIZE = 16
# Importing a function or an operation on a TensorArray checks the types of all that was imported before it.
SMALLER = {"control_flow": 4, "tensor_array": 4}
# Of each operator in the default run, beside one case that is refused.
DEFAULT_CASES = 3


@dataclass(frozen=True)
class Batch:
    """Cases that run as one graph."""

    family: str
    form: Form
    cases: tuple[Case, ...]

    @property
    def id(self) -> str:
        if len(self.cases) == 1:
            return case_id(self.cases[0], self.form)
        return f"{self.family}:{self.cases[0].id}..{self.cases[-1].id}-{self.form.value}"


def case_id(case: Case, form: Form) -> str:
    return f"{case.id}-{form.value}"


def full() -> tuple[Batch, ...]:
    """Every case in every form."""
    return tuple(
        batch
        for family, cases in catalog.families().items()
        for form in Form
        for batch in _batches(family, form, (case for case in cases if form in case.forms))
    )


def default() -> tuple[Batch, ...]:
    """A few cases of every operator, one of each known defect, and every refusal of the importer."""
    chosen = _default_ids()
    return tuple(
        batch
        for family, cases in catalog.families().items()
        for form in Form
        for batch in _batches(family, form, (case for case in cases if case_id(case, form) in chosen))
    )


def matching(patterns: Iterable[str]) -> tuple[Batch, ...]:
    """The cases whose id, with or without its form, or whose operator or family matches a pattern."""
    wanted = tuple(patterns)

    def matches(family: str, case: Case, form: Form) -> bool:
        names = (family, case.operator, case.id, case_id(case, form))
        return any(fnmatchcase(name, pattern) for name in names for pattern in wanted)

    return tuple(
        batch
        for family, cases in catalog.families().items()
        for form in Form
        for batch in _batches(
            family, form, (case for case in cases if form in case.forms and matches(family, case, form))
        )
    )


def chosen(patterns: Sequence[str], everything: bool) -> tuple[Batch, ...]:
    """What the command line asks for.

    Raises:
        BadInputError: no case matches.
    """
    if not patterns:
        return full() if everything else default()
    found = matching(patterns)
    if not found:
        raise BadInputError(
            f"no case matches {' '.join(patterns)}; give an operator such as Conv2D, a family such as "
            f"{next(iter(catalog.families()))}, or a pattern such as 'Pad-*'"
        )
    return found


def _batches(family: str, form: Form, cases: Iterable[Case]) -> Iterator[Batch]:
    together: list[Case] = []
    for case in cases:
        if _alone(case, form):
            yield Batch(family, form, (case,))
        elif together and (
            len(together) == SMALLER.get(family, BATCH_SIZE) or together[0].control_flow != case.control_flow
        ):
            yield Batch(family, form, tuple(together))
            together = [case]
        else:
            together.append(case)
    if together:
        yield Batch(family, form, tuple(together))


def _alone(case: Case, form: Form) -> bool:
    opened = any(operand.open_dimensions for operand in case.operands.values())
    return case.alone or opened or ledger.defect_of(case_id(case, form)) is not None


def _default_ids() -> frozenset[str]:
    chosen: set[str] = set()
    count: dict[str, int] = {}
    met: set[str] = set()
    for case in (case for cases in catalog.families().values() for case in cases):
        if isinstance(case.refusal, ImportRefusal):
            chosen.add(case_id(case, case.forms[0]))
            continue
        # The forms take turns, so that the default run has both of every operator.
        turn = sum(count.get(operator, 0) for operator in case.covered)
        forms = case.forms[turn % len(case.forms) :] + case.forms[: turn % len(case.forms)]
        name = case_id(case, forms[0])
        # A defect may show in one form alone, whose turn need not be.
        for known in (case_id(case, form) for form in forms):
            defect = ledger.defect_of(known)
            if defect is not None and defect.id not in met:
                met.add(defect.id)
                chosen.add(known)
        if ledger.defect_of(name) is not None:
            continue
        refusal = case.refusal is FeedRefusal.SHAPE
        if refusal or (case.refusal is None and any(count.get(o, 0) < DEFAULT_CASES for o in case.covered)):
            chosen.add(name)
            if not refusal:
                for operator in case.covered:
                    count[operator] = count.get(operator, 0) + 1
    return frozenset(chosen)
