"""MODEL on the command line: a path if there is one, else the name of a built-in."""

from pathlib import Path

from relay_conformance.errors import BadInputError
from relay_conformance.models.built_in import BUILT_IN, load_built_in, tensorflow_model
from relay_conformance.models.model import Model
from relay_conformance.models.relay_file import is_relay_file, read_relay
from relay_conformance.tensorflow_import.sources import read_model


def load_model(name: str, batch: int, outputs: tuple[str, ...] | None = None) -> Model:
    """The model at a path or of a name; ``outputs`` are tensor names and only a path takes them.

    Raises:
        BadInputError: there is no such thing, it can't be read, or TVM can't import it.
    """
    path = Path(name)
    if name in BUILT_IN and not path.exists():
        if outputs:
            raise BadInputError(f"--output goes with a file; the built-in {name} has its own outputs")
        return load_built_in(name, batch)
    if not path.exists():
        raise BadInputError(
            f"{name} is neither a file, a folder nor a built-in; the built-ins are {', '.join(BUILT_IN)}"
        )
    if is_relay_file(path):
        if outputs:
            raise BadInputError(
                f"--output goes with a TensorFlow graph; {name} has the outputs of its `main`"
            )
        return read_relay(path)
    return tensorflow_model(name, read_model(path, batch, outputs))
