"""What every operator with a fed operand must refuse once compiled: an input of another dtype or shape."""

from dataclasses import replace

from relay_conformance.cases.case import Case, FeedRefusal


def with_refusals(cases: tuple[Case, ...], without: tuple[str, ...] = ()) -> tuple[Case, ...]:
    """The cases, and for each operator two negative ones on the operands of its first case that is fed.

    ``without`` are operators whose compiled program has no input left to refuse.
    """
    seen = set(without)
    extra: list[Case] = []
    for case in cases:
        if case.operator in seen or not case.fed or case.refusal is not None:
            continue
        seen.add(case.operator)
        extra += [replace(case, kind=f"refuses-{refusal.value}", refusal=refusal) for refusal in FeedRefusal]
    return (*cases, *extra)
