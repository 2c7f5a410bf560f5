"""The checker accepts exactly the right plans: damage is rejected wherever it makes a plan wrong.

What is wrong is decided byte by byte and position by position, from the definition alone.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from regvm.memory.benchmarks import EIGHT_TENSORS, generated_program, random_requests
from regvm.memory.checker import Fault, PlanRejectedError, Violation, assert_plan, check_plan
from regvm.memory.errors import InvalidOptionError, InvalidRequestError
from regvm.memory.planner import plan
from regvm.memory.request import Id, Plan, Request

Damaged = tuple[list[Request], Plan]
ALIGNMENT = 4
ROUNDS = 300


def _is_wrong(requests: list[Request], planned: Plan, alignment: int) -> bool:
    """By counting, for every byte at every position, the requests that are live there."""
    if set(planned.offsets) != {request.id for request in requests}:
        return True
    tenants = np.zeros((max(request.last for request in requests), max(planned.bytes, 0)), int)
    for request in requests:
        offset = planned.offsets[request.id]
        if offset % alignment or offset < 0 or offset + request.size > planned.bytes:
            return True
        for lower, upper in request.ranges:
            tenants[lower:upper, offset : offset + request.size] += 1
    return bool((tenants > 1).any())


def _moved(planned: Plan, changes: Mapping[Id, int]) -> Plan:
    return replace(planned, offsets={**planned.offsets, **changes})


def shift_an_offset(requests: list[Request], planned: Plan, random: Random) -> Damaged:
    id = random.choice(requests).id
    step = random.choice([-8, -4, 4, 8, 16]) * random.randint(1, 4)
    return requests, _moved(planned, {id: planned.offsets[id] + step})


def misalign_an_offset(requests: list[Request], planned: Plan, random: Random) -> Damaged:
    id = random.choice(requests).id
    return requests, _moved(planned, {id: planned.offsets[id] + random.randint(1, ALIGNMENT - 1)})


def shrink_the_arena(requests: list[Request], planned: Plan, random: Random) -> Damaged:
    return requests, replace(planned, bytes=planned.bytes - random.randint(1, 8))


def drop_an_id(requests: list[Request], planned: Plan, random: Random) -> Damaged:
    lost = random.choice(requests).id
    return requests, replace(planned, offsets={id: at for id, at in planned.offsets.items() if id != lost})


def add_an_id(requests: list[Request], planned: Plan, random: Random) -> Damaged:
    return requests, _moved(planned, {"nobody": planned.offsets[random.choice(requests).id]})


def duplicate_an_offset(requests: list[Request], planned: Plan, random: Random) -> Damaged:
    one, other = random.sample(requests, 2)
    return requests, _moved(planned, {one.id: planned.offsets[other.id]})


def swap_two_offsets(requests: list[Request], planned: Plan, random: Random) -> Damaged:
    one, other = random.sample(requests, 2)
    return requests, _moved(planned, {one.id: planned.offsets[other.id], other.id: planned.offsets[one.id]})


def extend_a_lifetime(requests: list[Request], planned: Plan, random: Random) -> Damaged:
    index = random.randrange(len(requests))
    lower, upper = requests[index].ranges[-1]
    longer = replace(
        requests[index], ranges=(*requests[index].ranges[:-1], (lower, upper + random.randint(1, 4)))
    )
    return [*requests[:index], longer, *requests[index + 1 :]], planned


def fill_a_lifetime_hole(requests: list[Request], planned: Plan, random: Random) -> Damaged:
    index = random.randrange(len(requests))
    filled = replace(requests[index], ranges=((requests[index].first, requests[index].last),))
    return [*requests[:index], filled, *requests[index + 1 :]], planned


def grow_a_request(requests: list[Request], planned: Plan, random: Random) -> Damaged:
    index = random.randrange(len(requests))
    larger = replace(requests[index], size=requests[index].size + random.randint(1, 12))
    return [*requests[:index], larger, *requests[index + 1 :]], planned


DAMAGES = [
    shift_an_offset,
    misalign_an_offset,
    shrink_the_arena,
    drop_an_id,
    add_an_id,
    duplicate_an_offset,
    swap_two_offsets,
    extend_a_lifetime,
    fill_a_lifetime_hole,
    grow_a_request,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_rejected_exactly_where_it_does_harm(
    damage: Callable[[list[Request], Plan, Random], Damaged],
) -> None:
    verdicts: Counter[bool] = Counter()
    for seed in range(ROUNDS):
        random = Random(seed)
        requests = random_requests(random, 8, largest=40)
        planned = plan(requests, random.choice(["default", "sweep", "coalesce"]), ALIGNMENT)
        assert not _is_wrong(requests, planned, ALIGNMENT)
        damaged_requests, damaged = damage(requests, planned, random)
        wrong = _is_wrong(damaged_requests, damaged, ALIGNMENT)
        assert bool(check_plan(damaged_requests, damaged, ALIGNMENT)) == wrong, f"seed {seed}"
        verdicts[wrong] += 1
    # A kind of damage that never did harm would prove nothing.
    assert verdicts[True] >= 10, verdicts


def _faults(
    requests: list[Request], offsets: dict[Id, int], size: int, alignment: int = 1
) -> list[Violation]:
    return check_plan(requests, Plan(offsets, size, "by hand", 0), alignment)


A = Request("a", 8, ((0, 4),))
B = Request("b", 8, ((2, 6),))


def test_a_missing_request_is_named() -> None:
    (violation,) = _faults([A, B], {"a": 0}, 16)
    assert (violation.fault, violation.ids) == (Fault.MISSING, ("b",))
    assert str(violation) == "'b' has no offset: 8 bytes are requested"


def test_an_unknown_id_is_named() -> None:
    (violation,) = _faults([A], {"a": 0, "c": 0}, 16)
    assert (violation.fault, violation.ids) == (Fault.UNKNOWN, ("c",))


@pytest.mark.parametrize("offset", [-8, 9])
def test_an_offset_out_of_range_is_named(offset: int) -> None:
    (violation,) = _faults([A], {"a": offset}, 16)
    assert (violation.fault, violation.ids) == (Fault.OUT_OF_RANGE, ("a",))


def test_a_misaligned_offset_is_named() -> None:
    (violation,) = _faults([A], {"a": 12}, 64, alignment=8)
    assert (violation.fault, violation.ids) == (Fault.MISALIGNED, ("a",))


def test_an_overlap_is_named_with_extents_and_position() -> None:
    (violation,) = _faults([A, B], {"a": 0, "b": 4}, 16)
    assert (violation.fault, violation.ids) == (Fault.OVERLAP, ("a", "b"))
    assert violation.detail == "[0, 8) and [4, 12) at position 2"


def test_a_pair_that_overlaps_twice_is_reported_once() -> None:
    twice = [Request("a", 8, ((0, 2), (4, 6))), Request("b", 8, ((1, 5),))]
    assert len(_faults(twice, {"a": 0, "b": 0}, 8)) == 1


def test_every_violation_is_reported() -> None:
    crowd = [Request(index, 8, ((0, 1),)) for index in range(4)]
    violations = _faults(crowd, dict.fromkeys(range(4), 2), 8, alignment=4)
    assert Counter(violation.fault for violation in violations) == {
        Fault.OUT_OF_RANGE: 4,
        Fault.MISALIGNED: 4,
        Fault.OVERLAP: 6,
    }


def test_a_block_inside_a_far_longer_one_is_seen() -> None:
    # The neighbour below in address order is not the one that overlaps.
    requests = [
        Request("long", 100, ((0, 9),)),
        Request("short", 1, ((0, 1),)),
        Request("late", 1, ((2, 3),)),
    ]
    (violation,) = _faults(requests, {"long": 0, "short": 100, "late": 50}, 101)
    assert violation.ids == ("long", "late")


@pytest.mark.parametrize("offset", [0, 4, 8])
def test_zero_size_requests_overlap_nothing(offset: int) -> None:
    assert _faults([A, Request("empty", 0, ((0, 4),))], {"a": 0, "empty": offset}, 8) == []


def test_a_rejected_plan_raises_with_every_violation() -> None:
    with pytest.raises(PlanRejectedError, match=r"(?s)'by hand' rejected, 2 violations.*'a' .*'b' ") as error:
        assert_plan([A, B], Plan({"a": 0, "b": 4}, 8, "by hand", 0), 1)
    assert len(error.value.violations) == 2


def test_an_accepted_plan_raises_nothing() -> None:
    assert_plan(EIGHT_TENSORS, plan(EIGHT_TENSORS))


def test_a_plan_for_a_finer_alignment_is_rejected() -> None:
    assert check_plan(EIGHT_TENSORS, plan(EIGHT_TENSORS, alignment=1), alignment=64)


def test_equal_ids_are_refused() -> None:
    with pytest.raises(InvalidRequestError):
        check_plan([A, A], Plan({"a": 0}, 8, "by hand", 0))


def test_an_alignment_that_is_not_positive_is_refused() -> None:
    with pytest.raises(InvalidOptionError):
        check_plan([A], Plan({"a": 0}, 8, "by hand", 0), alignment=0)


def test_one_fault_among_ten_thousand_requests_is_found() -> None:
    requests = generated_program(10_000)
    planned = plan(requests, "sweep")
    assert check_plan(requests, planned) == []
    assert check_plan(requests, _moved(planned, {5_000: planned.offsets[5_001]}))
