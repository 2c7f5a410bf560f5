"""Everything that is promised of one program, checked; the same for the smoke run and the long run."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

from regvm import compiler
from regvm.ir import Module
from regvm.ir.wellformed import check_well_formed
from regvm_testing import register_damage, storage_damage
from regvm_testing.compiled import Compiled, compile_module
from regvm_testing.dynamic import make_dynamic
from regvm_testing.liveness import largest_live_set
from regvm_testing.programs import module_of
from regvm_testing.scratch import needs_scratch
from regvm_testing.symbolic import Trace, paths

PATHS = 12
"""Sampled paths for each function; every way to decide the first four branches is among them."""


@dataclass
class Tally:
    """Of each kind of damage, how many instances were made, changed the program, and of those were rejected."""

    made: Counter[enum.Enum] = field(default_factory=Counter)
    changed: Counter[enum.Enum] = field(default_factory=Counter)
    rejected: Counter[enum.Enum] = field(default_factory=Counter)

    def add(self, kind: enum.Enum, *, changed: bool, rejected: bool) -> None:
        """Count one instance."""
        self.made[kind] += 1
        self.changed[kind] += changed
        self.rejected[kind] += changed and rejected

    def share_rejected(self, kind: enum.Enum) -> float:
        """Of the instances that changed the program, the share that was rejected."""
        return self.rejected[kind] / self.changed[kind] if self.changed[kind] else 1.0


def check(seed: int, tally: Tally, spilled: Tally) -> int:
    """Check the program of a seed, damage included; returns its number of functions.

    ``spilled`` counts the damage to the same functions in as few registers as can be.

    Raises AssertionError that names the seed and what does not hold.
    """
    module = module_of(seed)
    random = Random(seed)
    for compiled in compile_module(module):
        where = f"seed {seed}, @{compiled.function.name}"
        assert not check_well_formed(compiled.function), f"{where}: ill-formed"
        check_registers(compiled, where)
        check_runs(compiled, random, where)
        damage_registers(compiled, random, tally)
        damage_storage(compiled, random, tally)
        narrow = compiled.spilled()
        if narrow is not None:
            check_runs(narrow, random, f"{where}, spilled")
            damage_registers(narrow, random, spilled)
    for compiled in compile_module(make_dynamic(module, random)):
        check_runs(compiled, random, f"seed {seed}, @{compiled.function.name}, dynamic")
        damage_storage(compiled, random, tally)
    check_generation(module, f"seed {seed}")
    return len(module.functions)


def check_registers(compiled: Compiled, where: str) -> None:
    """As few registers as the largest live set, and one more only where moves need a scratch."""
    largest = largest_live_set(compiled.function)
    extra = compiled.allocated.num_registers - largest
    assert compiled.allocated.max_live == largest, f"{where}: largest live set"
    assert extra in (0, 1), f"{where}: {compiled.allocated.num_registers} registers for {largest}"
    assert not extra or needs_scratch(compiled, largest), f"{where}: a register more, and no cycle of moves"


def check_runs(compiled: Compiled, random: Random, where: str) -> None:
    """Code and placement do what the function does, and both checkers say so."""
    assert not compiled.objections(), f"{where}: {compiled.objections()}"
    assert not compiled.storage_objections(), f"{where}: {compiled.storage_objections()}"
    for path in paths(random, PATHS):
        assert compiled.run_code(path) == compiled.expected(path), f"{where}, registers, {path}"
        assert compiled.run_placed(path) == compiled.expected_bytes(path), f"{where}, storage, {path}"


def check_generation(module: Module, where: str) -> None:
    """The whole pipeline takes the module, twice to the same result."""
    options = compiler.Options(check=True)
    assert compiler.generate(module, options) == compiler.generate(module, options), f"{where}: differs"


def damage_registers(compiled: Compiled, random: Random, tally: Tally) -> None:
    """Damage the code in every way, and see whether that changes the program, and whether it is rejected."""
    sampled = paths(random, PATHS)
    expected = [compiled.expected(p) for p in sampled]
    damage = register_damage.damaged(random, compiled.allocated.blocks, compiled.allocated.num_registers)
    for kind, blocks in damage:
        changed = _differs(expected, (compiled.run_code(p, blocks) for p in sampled))
        tally.add(kind, changed=changed, rejected=bool(compiled.objections(blocks)))


def damage_storage(compiled: Compiled, random: Random, tally: Tally) -> None:
    """Damage the placement in every way, likewise."""
    sampled = paths(random, PATHS)
    expected = [compiled.expected_bytes(p) for p in sampled]
    for kind, storage in storage_damage.damaged(random, compiled.function, compiled.storage):
        changed = _differs(expected, (compiled.run_placed(p, storage) for p in sampled))
        tally.add(kind, changed=changed, rejected=bool(compiled.storage_objections(storage)))


def _differs(expected: list[Trace], traces: Iterable[Trace]) -> bool:
    return any(not e.agrees_with(t) for e, t in zip(expected, traces, strict=False))


def run(
    seeds: Iterable[int], tally: Tally, spilled: Tally, progress: Callable[[int], None] = lambda _: None
) -> int:
    """Check the programs of all seeds; returns the number of functions."""
    functions = 0
    for seed in seeds:
        functions += check(seed, tally, spilled)
        progress(seed)
    return functions
