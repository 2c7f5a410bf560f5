"""What each storage strategy reaches on published problems and tables, and how long the default one takes.

The tables are not part of this repository: REGVM_DATA names the folder that holds ``minimalloc``, by default
``../shared/data`` beside the checkout.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from scripts.plan_report import PUBLISHED, WITHOUT_SOLVER, Measurement
from scripts.plan_report import measure as measure_plan

from regvm.memory import STRATEGIES, Options, Request, assert_plan, lower_bound, plan
from regvm.memory.benchmarks import generated_program
from regvm.memory.table import read_table

CHECKOUT = Path(__file__).parents[2]
CAPACITY = 1 << 20
SECONDS = {"search": 5.0, "optimal": 60.0}
BINDINGS = (100, 1_000, 10_000, 100_000)
_ALIGNMENT = 64
_PAGE = 4096
_WORKERS = 2
_SEED = 0


def minimalloc() -> dict[str, Any]:
    """Excess over the capacity and seconds, by table and strategy; every plan is checked.

    Raises ClickException where there are no tables.
    """
    folder = Path(os.environ.get("REGVM_DATA", CHECKOUT.parent / "shared" / "data")) / "minimalloc"
    files = sorted(folder.glob("[A-K].*.csv"))
    if not files:
        raise click.ClickException(f"{folder} holds no tables; set REGVM_DATA to the folder with minimalloc/")
    tables = {file.name.partition(".")[0]: read_table(file) for file in files}
    load = os.getloadavg()[0]
    found: dict[str, dict[str, Any]] = {}
    for strategy in sorted(STRATEGIES):
        seconds = SECONDS.get(strategy)
        options = Options(seed=_SEED, seconds=seconds, capacity=CAPACITY, workers=_WORKERS)
        for name, requests in tables.items():
            planned = measure_plan(name, requests, strategy, _ALIGNMENT, options)
            found.setdefault(name, {})[strategy] = _figures(planned)
    return {
        "capacity": CAPACITY,
        "time_limits_s": SECONDS,
        "workers": _WORKERS,
        "load": load,
        "requests": {name: len(requests) for name, requests in tables.items()},
        "tables": found,
    }


def published() -> dict[str, Any]:
    """Bytes of the problems that others publish figures for, by strategy, without alignment."""
    return {name: _published(name, requests) for name, requests in PUBLISHED.items()}


def _published(name: str, requests: Sequence[Request]) -> dict[str, Any]:
    plans = {s: measure_plan(name, requests, s, 1, Options(page=_PAGE)) for s in WITHOUT_SOLVER}
    return {
        "requests": len(requests),
        "lower_bound": plans["default"].lower_bound,
        "bytes": {strategy: planned.bytes for strategy, planned in plans.items()},
    }


def plan_time() -> dict[str, Any]:
    """CPU seconds of the default strategy on generated programs, and the excess over the largest live sum."""
    return {str(bindings): _plan_time(generated_program(bindings, _SEED)) for bindings in BINDINGS}


def _plan_time(program: Sequence[Request]) -> dict[str, float]:
    started = time.process_time()
    planned = plan(program)
    seconds = time.process_time() - started
    assert_plan(program, planned)
    return {"cpu_seconds": seconds, "excess": planned.bytes / lower_bound(program) - 1}


def _figures(planned: Measurement) -> dict[str, Any]:
    return {"bytes": planned.bytes, "excess": planned.excess, "seconds": planned.seconds}
