"""A model on disk is read whole or refused."""

from pathlib import Path
from typing import Any

import pytest

from relay_conformance.errors import BadArgumentError, BadInputError
from relay_conformance.tensorflow_import.sources import read_model

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def frozen(tf: Any, tmp_path: Path) -> Path:
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, (None, 3), "x")
        tf.add(tf.multiply(x, 3.0, name="triple"), 1.0, name="out")
    path = tmp_path / "model.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    return path


def test_a_frozen_graph(frozen: Path) -> None:
    model = read_model(frozen, 2)
    assert (model.inputs[0].shape, model.outputs) == ((2, 3), ("out:0",))
    assert read_model(frozen, 2, ("triple",)).outputs == ("triple:0",)


def test_a_keras_file(tf: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)]).save(path)
    assert read_model(path, 2).inputs[0].shape == (2, 4)


def test_a_truncated_graph_is_refused(frozen: Path) -> None:
    frozen.write_bytes(frozen.read_bytes()[:-20])
    with pytest.raises(BadInputError, match="no frozen graph or is cut short"):
        read_model(frozen, 1)


def test_an_empty_graph_is_refused(frozen: Path) -> None:
    frozen.write_bytes(b"")
    with pytest.raises(BadInputError, match="it has no nodes"):
        read_model(frozen, 1)


def test_an_unknown_output_is_refused(frozen: Path) -> None:
    with pytest.raises(BadArgumentError, match="no tensor nothing:0"):
        read_model(frozen, 1, ("nothing",))


@pytest.mark.parametrize("name", ["broken.keras", "model.h5", "folder"])
def test_other_files_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"nothing of the kind")
    with pytest.raises(BadInputError, match=name):
        read_model(path, 1)
