"""Read a model from a file: a frozen graph, a SavedModel folder or a ``.keras`` file."""

from pathlib import Path
from typing import Any

from relay_conformance.errors import BadInputError
from relay_conformance.program import one_line
from relay_conformance.tensorflow_import.freezing import freeze_keras, freeze_saved_model
from relay_conformance.tensorflow_import.graph_model import GraphModel, graph_model
from relay_conformance.tensorflow_import.loading import tensorflow


def read_model(path: Path, batch: int, outputs: tuple[str, ...] | None = None) -> GraphModel:
    """The frozen graph of a model on disk.

    Raises:
        BadInputError: it is none of the three, can't be read, or has no such output.
    """
    if path.is_dir():
        return _with_outputs(freeze_saved_model(path, batch), outputs)
    if path.suffix == ".keras":
        return _with_outputs(freeze_keras(_load_keras(path), batch), outputs)
    if path.suffix == ".pb":
        return graph_model(_parse(path), outputs, batch)
    raise BadInputError(f"{path} is neither a frozen graph (.pb), a SavedModel folder nor a .keras file")


def _with_outputs(model: GraphModel, outputs: tuple[str, ...] | None) -> GraphModel:
    return model if outputs is None else graph_model(model.graph_def, outputs)


def _parse(path: Path) -> Any:
    tf = tensorflow()
    from google.protobuf.message import (  # type: ignore[import-untyped, unused-ignore]
        DecodeError,
    )

    graph_def = tf.compat.v1.GraphDef()
    try:
        graph_def.ParseFromString(path.read_bytes())
    except (DecodeError, OSError) as error:
        raise BadInputError(f"{path} is no frozen graph or is cut short: {one_line(error)}") from error
    if not graph_def.node:
        raise BadInputError(f"{path} is no frozen graph: it has no nodes")
    return graph_def


def _load_keras(path: Path) -> Any:
    tf = tensorflow()
    try:
        return tf.keras.models.load_model(str(path), compile=False)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadInputError(f"{path} can't be loaded as a Keras model: {one_line(error)}") from error
