"""A forward problem is solved with one visit a block where there is no loop."""

from regvm.ir.dataflow import solve_forward


def test_visits_each_block_of_a_chain_of_diamonds_once() -> None:
    visits: list[int] = []

    def run(number: int, state: frozenset[int]) -> list[tuple[int, frozenset[int]]]:
        visits.append(number)
        if number >= 30:
            return []
        targets = (number + 1, number + 2) if number % 3 == 0 else (number // 3 * 3 + 3,)
        return [(t, state | {number}) for t in targets]

    nothing: frozenset[int] = frozenset()
    states = solve_forward(nothing, run, lambda a, b: a | b)
    assert visits == list(range(31))
    assert states[30] == frozenset(range(30))


def test_goes_round_a_loop_until_nothing_changes() -> None:
    def run(number: int, state: int) -> list[tuple[int, int]]:
        return [(1, min(state + 1, 5))] if number < 2 else []

    assert solve_forward(0, run, max) == {0: 0, 1: 5}
