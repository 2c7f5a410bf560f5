"""Plant each fault in a copy of ``regvm``, run the prepared programs on it, and say what was noticed.

    python -m scripts.planted_faults --output rfc/results/planted_faults.json

Exit status 0 if at least the wanted share was noticed and every survivor has its reason, 1 if not, 2 if a fault's
place is gone or the unharmed machine fails.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
from scripts.planted_faults.faults import FAULTS, Fault
from scripts.planted_faults.prepare import prepare

from relay_conformance.versions import versions

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "prototype" / "regvm"
WANTED = 0.95


@dataclass(frozen=True)
class Outcome:
    """``how`` is one line of what showed, empty for a fault that survived; ``seconds`` of wall time."""

    fault: Fault
    how: str
    seconds: float

    @property
    def noticed(self) -> bool:
        return bool(self.how)


def planted(fault: Fault, folder: Path) -> Path:
    """A copy of the prototype with the fault, to be put on the path.

    Raises:
        click.UsageError: the place of the fault is not there, or not once.
    """
    target = folder / fault.id
    shutil.copytree(SOURCE, target / "regvm", ignore=shutil.ignore_patterns("__pycache__"))
    file = target / "regvm" / fault.file
    text = file.read_text()
    if text.count(fault.old) != 1:
        raise click.UsageError(f"{fault.id}: its place stands {text.count(fault.old)} times in {fault.file}")
    file.write_text(text.replace(fault.old, fault.new))
    return target


def run(prototype: Path, prepared: Path, time_limit: float) -> str:
    """What showed when the programs ran on a prototype; nothing if all is well."""
    path = os.pathsep.join(map(str, (prototype, ROOT / "conformance", ROOT)))
    command = [sys.executable, "-m", "scripts.planted_faults.check", str(prepared)]
    environment = {**os.environ, "PYTHONPATH": path, "REGVM_CACHE": "kernels", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            env=environment,
            cwd=prototype,
            capture_output=True,
            text=True,
            timeout=time_limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no result within {time_limit:g} s"
    if done.returncode == 0:
        return ""
    if done.returncode < 0:
        return f"its process died of signal {-done.returncode}"
    lines = (done.stdout if done.stdout.strip() else done.stderr).strip().splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"


def measure(faults: Sequence[Fault], prepared: Path, jobs: int, time_limit: float) -> list[Outcome]:
    """Every fault's outcome, ``jobs`` at a time."""

    def one(fault: Fault) -> Outcome:
        started = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="planted-") as folder:
            how = run(planted(fault, Path(folder)), prepared, time_limit)
        outcome = Outcome(fault, how, round(time.perf_counter() - started, 1))
        click.echo(f"{'noticed' if how else 'SURVIVED'}  {fault.id}: {how}"[:160], err=True)
        return outcome

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, faults))


def as_json(outcomes: Sequence[Outcome], programs: int) -> dict[str, Any]:
    """Counts by kind, every fault with what showed, the survivors by name and the reasons that are known."""
    kinds = Counter(outcome.fault.kind for outcome in outcomes)
    noticed = Counter(outcome.fault.kind for outcome in outcomes if outcome.noticed)
    return {
        "planted": len(outcomes),
        "noticed": sum(outcome.noticed for outcome in outcomes),
        "share": round(sum(outcome.noticed for outcome in outcomes) / len(outcomes), 4),
        "programs": programs,
        "kinds": {kind: {"planted": kinds[kind], "noticed": noticed[kind]} for kind in kinds},
        "survivors": [outcome.fault.id for outcome in outcomes if not outcome.noticed],
        "reasons": {o.fault.id: o.fault.survives for o in outcomes if not o.noticed and o.fault.survives},
        "faults": [{**asdict(outcome.fault), "how": outcome.how} for outcome in outcomes],
        "versions": versions(),
    }


@click.command()
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(min=1), help="Faults at a time.")
@click.option("--time-limit", default=600.0, show_default=True, help="Seconds for each fault, at least.")
@click.option("--only", multiple=True, metavar="ID", help="Plant just these.")
@click.option("--prepared", type=click.Path(path_type=Path), help="Where the lowered programs are kept.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the figures here as JSON.")
def main(
    jobs: int, time_limit: float, only: tuple[str, ...], prepared: Path | None, output: Path | None
) -> None:
    """Plant faults in the register VM, one at a time, and see whether the suite notices."""
    faults = [fault for fault in FAULTS if not only or fault.id in only]
    if not faults:
        raise click.UsageError(f"no fault is called {' or '.join(only)}")
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        path = prepared or Path(folder) / "prepared.pickle"
        programs = prepare(path)
        started = time.perf_counter()
        unharmed = run(SOURCE.parent, path, 10 * time_limit)
        # A survivor takes as long as the unharmed machine; on a busy computer that must not pass for a hang.
        limit = max(time_limit, 4 * (time.perf_counter() - started))
        if unharmed:
            raise click.UsageError(f"the machine fails without any fault: {unharmed}")
        outcomes = measure(faults, path, jobs, limit)
    report = as_json(outcomes, programs)
    if output is not None:
        output.write_text(json.dumps(report, indent=1) + "\n")
    click.echo(f"{report['noticed']} of {report['planted']} faults noticed on {programs} programs")
    for survivor in report["survivors"]:
        click.echo(f"survived: {survivor}: {report['reasons'].get(survivor, 'no reason is known')}")
    sys.exit(0 if report["share"] >= WANTED and report["reasons"].keys() == set(report["survivors"]) else 1)


if __name__ == "__main__":
    main()
