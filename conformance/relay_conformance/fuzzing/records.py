"""A program that failed, as a file: Relay text, inputs, what is right; enough to run it again anywhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relay_conformance.errors import BadInputError
from relay_conformance.fuzzing.engines import Engine
from relay_conformance.fuzzing.running import run_text
from relay_conformance.fuzzing.verdict import Verdict, judge_outputs
from relay_conformance.isolation import Worker
from relay_conformance.program import Array
from relay_conformance.strategies import FuzzProgram, arrays, evaluate, render
from relay_conformance.values import Outputs, outputs_from_value


@dataclass(frozen=True)
class Record:
    """``exact``: the right outputs count for floats too, which were not rounded on the way."""

    text: str
    names: tuple[str, ...]
    inputs: tuple[Array, ...]
    right: Outputs
    exact: bool


def record_of(program: FuzzProgram) -> Record:
    """The program with its inputs and NumPy's results."""
    expected = evaluate(program)
    names = tuple(given.variable.name for given in program.inputs)
    return Record(render(program), names, arrays(program), outputs_from_value(expected.value), expected.exact)


def write(path: Path, record: Record, about: dict[str, Any]) -> None:
    """Write a record with notes for the reader, such as the profile, the seed and the verdict."""
    inputs = zip(record.names, record.inputs, strict=True)
    content = {
        **about,
        "program": record.text.splitlines(),
        "inputs": [{"name": name, **_tensor(array)} for name, array in inputs],
        "structure": record.right.structure,
        "outputs": [_tensor(array) for array in record.right.arrays if array is not None],
        "exact": record.exact,
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


def read(path: Path) -> Record:
    """Raises BadInputError for a file that ``write`` did not write."""
    try:
        content = json.loads(path.read_text())
        inputs = tuple(_array(given) for given in content["inputs"])
        right = Outputs(tuple(_array(given) for given in content["outputs"]), str(content["structure"]))
        names = tuple(str(given["name"]) for given in content["inputs"])
        return Record("\n".join(content["program"]) + "\n", names, inputs, right, bool(content["exact"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInputError(
            f"{path}: not a program that was kept by `relay-conformance fuzz --keep` ({error})"
        ) from error


def replay(worker: Worker, engines: Sequence[Engine], record: Record) -> Verdict:
    """Run the program again on every engine."""
    cases = [("main", record.inputs)]
    results = {e.name: run_text(worker, e, record.text, list(cases), alone=True)[0] for e in engines}
    return judge_outputs(None, record.right, record.exact, results)


def _tensor(array: Array) -> dict[str, Any]:
    # Floats as text, because JSON has no NaN; repr gives each float32 back exactly.
    values = [repr(v) if isinstance(v, float) else v for v in array.reshape(-1).tolist()]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": values}


def _array(given: dict[str, Any]) -> Array:
    values = [float(v) if isinstance(v, str) else v for v in given["values"]]
    array: Array = np.array(values, dtype=given["dtype"]).reshape(given["shape"])
    return array
