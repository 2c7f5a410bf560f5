"""Whether a pass over the intermediate representation kept what a function does."""

from __future__ import annotations

from random import Random

from regvm.ir import Function, Module
from regvm_testing.symbolic import Effects, paths, run_function


def assert_same_behaviour(
    before: Function, after: Function, modules: tuple[Module, Module] | None = None
) -> None:
    """Same effects, decisions and result on sampled paths; with ``modules`` numbers stand for what is there."""
    recorder = Effects()
    for path in paths(Random(0), 20):
        traces = []
        for number, function in enumerate((before, after)):
            recorder.module = modules[number] if modules else None
            traces.append(run_function(function, path, recorder))
        assert traces[0].agrees_with(traces[1]), f"@{before.name} on {path}: {traces[0]} became {traces[1]}"
