"""Ways to damage allocated code, each as a change of one place of one block."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterator
from random import Random

from regvm import isa
from regvm.isa import Kind

Blocks = tuple[tuple[isa.Instruction, ...], ...]
_Code = list[isa.Instruction]


class Damage(enum.Enum):
    """What goes wrong; the last two waste a register or keep a value alive, and are harmless by design."""

    REGISTERS_SWAPPED = "two registers swapped from some instruction on"
    MOVE_DROPPED = "a move dropped"
    MOVE_DUPLICATED = "a move duplicated"
    MOVES_REORDERED = "two moves reordered"
    MOVE_REDIRECTED = "a wrong branch argument"
    MARKED_EARLY = "a last use marked early"
    READS_ANOTHER = "a read of another register"
    WRITES_ANOTHER = "a write to another register"
    WRONG_TARGET = "a wrong branch target"
    INSTRUCTION_DROPPED = "an instruction dropped"
    INSTRUCTIONS_REORDERED = "two instructions reordered"
    DROP_ADDED = "a drop added"
    FIELD_CHANGED = "another kernel, constant, function, tag, field or row"
    SLOT_REUSED = "a spill into the slot of another value"
    SLOT_MISREAD = "a reload of another slot"
    SPILL_DROPPED = "a spill dropped"
    RELOAD_DROPPED = "a reload dropped"
    DROP_LEFT_OUT = "a drop left out"
    MARK_LEFT_OUT = "a last use not marked"


def damaged(random: Random, blocks: Blocks, num_registers: int) -> Iterator[tuple[Damage, Blocks]]:
    """For each kind of damage one random instance, where the code has a place for it."""
    for kind, hurt in _HURT.items():
        for number in random.sample(range(len(blocks)), len(blocks)):
            code = hurt(random, list(blocks[number]), num_registers, len(blocks))
            if code is not None and tuple(code) != blocks[number]:
                yield kind, (*blocks[:number], tuple(code), *blocks[number + 1 :])
                break


def _at(random: Random, code: _Code, fits: Callable[[isa.Instruction], bool]) -> int | None:
    places = [n for n, i in enumerate(code) if fits(i)]
    return random.choice(places) if places else None


def _is_move(instruction: isa.Instruction) -> bool:
    return isinstance(instruction, isa.Move)


def _swap_registers(random: Random, code: _Code, num_registers: int, _: int) -> _Code | None:
    if num_registers < 2:
        return None
    a, b = random.sample(range(num_registers), 2)
    swapped = {a: b, b: a}
    start = random.randrange(len(code))
    return code[:start] + [
        isa.rewrite(
            i,
            use=lambda u: isa.Use(swapped.get(u.register, u.register), u.last),
            define=lambda d: swapped.get(d, d),
        )
        for i in code[start:]
    ]


def _drop_move(random: Random, code: _Code, *_: int) -> _Code | None:
    at = _at(random, code, _is_move)
    return None if at is None else code[:at] + code[at + 1 :]


def _duplicate_move(random: Random, code: _Code, *_: int) -> _Code | None:
    at = _at(random, code, _is_move)
    return None if at is None else [*code[: at + 1], code[at], *code[at + 1 :]]


def _reorder(random: Random, code: _Code, fits: Callable[[isa.Instruction], bool]) -> _Code | None:
    pairs = [n for n in range(len(code) - 1) if fits(code[n]) and fits(code[n + 1])]
    if not pairs:
        return None
    at = random.choice(pairs)
    return [*code[:at], code[at + 1], code[at], *code[at + 2 :]]


def _reorder_moves(random: Random, code: _Code, *_: int) -> _Code | None:
    return _reorder(random, code, _is_move)


def _reorder_instructions(random: Random, code: _Code, *_: int) -> _Code | None:
    return _reorder(random, code, lambda i: not isa.row_of(i).ends_block)


def _change_use(
    random: Random,
    code: _Code,
    fits: Callable[[isa.Instruction, isa.Use], bool],
    change: Callable[[isa.Use], isa.Use],
) -> _Code | None:
    places = [(n, k) for n, i in enumerate(code) for k, u in enumerate(isa.uses(i)) if fits(i, u)]
    if not places:
        return None
    at, chosen = random.choice(places)
    numbers = iter(range(len(isa.uses(code[at]))))
    code[at] = isa.rewrite(code[at], use=lambda u: change(u) if next(numbers) == chosen else u)
    return code


def _read_another(random: Random, code: _Code, num_registers: int, _: int) -> _Code | None:
    return _change_use(
        random,
        code,
        lambda i, _: not isinstance(i, isa.Drop),
        lambda u: isa.Use(random.randrange(num_registers), u.last),
    )


def _redirect_move(random: Random, code: _Code, num_registers: int, _: int) -> _Code | None:
    return _change_use(
        random, code, lambda i, _: _is_move(i), lambda u: isa.Use(random.randrange(num_registers), u.last)
    )


def _mark_early(random: Random, code: _Code, *_: int) -> _Code | None:
    return _change_use(random, code, lambda _, u: not u.last, lambda u: isa.Use(u.register, True))


def _leave_mark_out(random: Random, code: _Code, *_: int) -> _Code | None:
    return _change_use(
        random, code, lambda i, u: u.last and not isinstance(i, isa.Drop), lambda u: isa.Use(u.register)
    )


def _change_slot(random: Random, code: _Code, kind: type[isa.Spill] | type[isa.Reload]) -> _Code | None:
    slots = sorted({i.slot for i in code if isinstance(i, isa.Spill | isa.Reload)})
    at = _at(random, code, lambda i: isinstance(i, kind))
    if at is None or len(slots) < 2:
        return None
    found = code[at]
    assert isinstance(found, isa.Spill | isa.Reload)
    code[at] = dataclasses.replace(found, slot=random.choice([s for s in slots if s != found.slot]))
    return code


def _reuse_slot(random: Random, code: _Code, *_: int) -> _Code | None:
    return _change_slot(random, code, isa.Spill)


def _misread_slot(random: Random, code: _Code, *_: int) -> _Code | None:
    return _change_slot(random, code, isa.Reload)


def _drop_spill(random: Random, code: _Code, *_: int) -> _Code | None:
    at = _at(random, code, lambda i: isinstance(i, isa.Spill))
    return None if at is None else code[:at] + code[at + 1 :]


def _drop_reload(random: Random, code: _Code, *_: int) -> _Code | None:
    at = _at(random, code, lambda i: isinstance(i, isa.Reload))
    return None if at is None else code[:at] + code[at + 1 :]


def _write_another(random: Random, code: _Code, num_registers: int, _: int) -> _Code | None:
    at = _at(random, code, lambda i: bool(isa.defs(i)))
    if at is None:
        return None
    chosen = random.choice(isa.defs(code[at]))
    other = random.randrange(num_registers + 1)
    code[at] = isa.rewrite(code[at], define=lambda d: other if d == chosen else d)
    return code


def _retarget(random: Random, code: _Code, _: int, num_blocks: int) -> _Code | None:
    if num_blocks < 2 or not isa.targets(code[-1]):
        return None
    chosen = random.choice(isa.targets(code[-1]))
    other = random.randrange(1, num_blocks)
    code[-1] = isa.rewrite(code[-1], target=lambda t: other if t == chosen else t)
    return code


def _drop_instruction(random: Random, code: _Code, *_: int) -> _Code | None:
    at = _at(random, code, lambda i: not isinstance(i, isa.Drop | isa.Move))
    return None if at is None else code[:at] + code[at + 1 :]


def _add_drop(random: Random, code: _Code, num_registers: int, _: int) -> _Code | None:
    if not num_registers:
        return None
    at = random.randrange(len(code))
    dropped = isa.Use(random.randrange(num_registers), True)
    return [*code[:at], isa.Drop((dropped,)), *code[at:]]


def _leave_drop_out(random: Random, code: _Code, *_: int) -> _Code | None:
    at = _at(random, code, lambda i: isinstance(i, isa.Drop))
    return None if at is None else code[:at] + code[at + 1 :]


_NUMBERS = (Kind.CONSTANT, Kind.KERNEL, Kind.FUNCTION, Kind.TENSOR, Kind.TAG, Kind.INDEX)


def _change_field(random: Random, code: _Code, *_: int) -> _Code | None:
    at = _at(random, code, lambda i: any(k in _NUMBERS for _, k in isa.row_of(i).fields))
    if at is None:
        return None
    if isinstance(code[at], isa.Invoke) and random.random() < 0.5:
        code[at] = isa.rewrite(code[at], tensor=lambda t: t + 1)
        return code
    name = random.choice([n for n, k in isa.row_of(code[at]).fields if k in _NUMBERS])
    code[at] = dataclasses.replace(code[at], **{name: getattr(code[at], name) + 1})
    return code


_HURT: dict[Damage, Callable[[Random, _Code, int, int], _Code | None]] = {
    Damage.REGISTERS_SWAPPED: _swap_registers,
    Damage.MOVE_DROPPED: _drop_move,
    Damage.MOVE_DUPLICATED: _duplicate_move,
    Damage.MOVES_REORDERED: _reorder_moves,
    Damage.MOVE_REDIRECTED: _redirect_move,
    Damage.MARKED_EARLY: _mark_early,
    Damage.READS_ANOTHER: _read_another,
    Damage.WRITES_ANOTHER: _write_another,
    Damage.WRONG_TARGET: _retarget,
    Damage.INSTRUCTION_DROPPED: _drop_instruction,
    Damage.INSTRUCTIONS_REORDERED: _reorder_instructions,
    Damage.DROP_ADDED: _add_drop,
    Damage.FIELD_CHANGED: _change_field,
    Damage.SLOT_REUSED: _reuse_slot,
    Damage.SLOT_MISREAD: _misread_slot,
    Damage.SPILL_DROPPED: _drop_spill,
    Damage.RELOAD_DROPPED: _drop_reload,
    Damage.DROP_LEFT_OUT: _leave_drop_out,
    Damage.MARK_LEFT_OUT: _leave_mark_out,
}
