"""A model from a file of Relay, as text or as TVM's JSON; Relay's own interpreter is its third voice."""

from collections.abc import Mapping
from pathlib import Path

from regvm.errors import CompileError
from regvm.frontend import reading
from relay_conformance import executors
from relay_conformance.errors import BadInputError
from relay_conformance.execution import DEFAULT_TIME_LIMIT, Failure, execute
from relay_conformance.inputs import seeded_inputs
from relay_conformance.isolation import shared_worker
from relay_conformance.models.model import Model, Voice
from relay_conformance.program import Array, program_from_module
from relay_conformance.values import Outputs

SUFFIXES = (".relay", ".json")


def is_relay_file(path: Path) -> bool:
    """By its suffix, as `regvm` tells Relay files."""
    return path.is_file() and path.suffix in SUFFIXES


def read_relay(path: Path) -> Model:
    """The model of a file.

    Raises:
        BadInputError: it can't be read, is no well-typed Relay, or takes something that is no tensor.
    """
    try:
        text = path.read_text(encoding="utf-8")
        module = reading.read_json(text) if path.suffix == ".json" else reading.read_text(text)
    except (OSError, UnicodeDecodeError, CompileError) as error:
        raise BadInputError(f"{path}: {error}") from error
    program = program_from_module(module)

    def evaluate(feed: Mapping[str, Array], repeats: int) -> tuple[Outputs, float]:
        inputs = [feed[spec.name] for spec in program.inputs]
        worker = shared_worker(DEFAULT_TIME_LIMIT)
        result = execute(worker, executors.get("tvm-debug"), program, inputs, repeats)
        if isinstance(result, Failure):
            raise BadInputError(f"{path}: Relay's interpreter can't run it: {result.reason}")
        return result.outputs, result.latency_s

    return Model(
        name=path.name,
        program=program,
        inputs=program.inputs,
        seeded_inputs=lambda seed: seeded_inputs(program.inputs, seed),
        voice=Voice.INTERPRETER,
        evaluate=evaluate,
        output_names=(),
    )
