"""Freeze variables into constants: of a ``tf.function``, a SavedModel, a Keras model, or a v1 session."""

from pathlib import Path
from typing import Any

from relay_conformance.errors import BadInputError
from relay_conformance.program import one_line
from relay_conformance.tensorflow_import.graph_model import GraphModel, graph_model
from relay_conformance.tensorflow_import.loading import tensorflow

_SIGNATURE = "serving_default"


def freeze_function(concrete_function: Any, batch: int | None = None) -> GraphModel:
    """Keeps If and While as they are: the importer of lowered ones doesn't know what v2 lowers them to."""
    tensorflow()
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    frozen = convert_variables_to_constants_v2(concrete_function, lower_control_flow=False)
    outputs = tuple(tensor.name for tensor in frozen.outputs)
    return graph_model(frozen.graph.as_graph_def(), outputs, batch)


def freeze_session(session: Any, outputs: tuple[str, ...]) -> GraphModel:
    """Freeze the variables of a ``tf.compat.v1`` session; ``outputs`` are tensor names."""
    tf = tensorflow()
    operations = [name.split(":")[0] for name in outputs]
    frozen = tf.compat.v1.graph_util.convert_variables_to_constants(
        session, session.graph.as_graph_def(), operations
    )
    return graph_model(frozen, outputs)


def freeze_keras(model: Any, batch: int) -> GraphModel:
    """A Keras model with a batch of that size; an input with another unknown dimension keeps it unknown."""
    tf = tensorflow()
    signature = [
        tf.TensorSpec((batch, *tensor.shape[1:]), tensor.dtype, name=f"input_{number}")
        for number, tensor in enumerate(model.inputs)
    ]

    @tf.function(input_signature=signature)  # type: ignore[untyped-decorator, unused-ignore]
    def call(*inputs: Any) -> Any:
        return model(inputs[0] if len(inputs) == 1 else list(inputs), training=False)

    return freeze_function(call.get_concrete_function())


def freeze_saved_model(folder: Path, batch: int) -> GraphModel:
    """The signature ``serving_default`` of a SavedModel.

    Raises:
        BadInputError: the folder is no SavedModel, can't be read, or lacks that signature.
    """
    tf = tensorflow()
    if not any((folder / name).is_file() for name in ("saved_model.pb", "saved_model.pbtxt")):
        raise BadInputError(f"{folder} is not a SavedModel: it has no saved_model.pb")
    try:
        loaded = tf.saved_model.load(str(folder))
    except (OSError, ValueError, tf.errors.OpError) as error:
        raise BadInputError(f"{folder} can't be loaded as a SavedModel: {one_line(error)}") from error
    signatures = dict(loaded.signatures)
    if _SIGNATURE not in signatures:
        have = ", ".join(signatures) or "none"
        raise BadInputError(f"{folder} has no signature {_SIGNATURE} (it has {have}); save it with one")
    return freeze_function(signatures[_SIGNATURE], batch)
