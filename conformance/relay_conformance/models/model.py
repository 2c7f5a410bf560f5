"""A model ready to be compared: its Relay program, its seeded inputs, and the voice that can confirm."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from relay_conformance.program import Array, Program, TensorSpec
from relay_conformance.tensorflow_import.graph_model import GraphModel
from relay_conformance.values import Outputs


class Voice(Enum):
    """Who computes the outputs besides the machines under test."""

    TENSORFLOW = "TensorFlow"
    NUMPY = "NumPy"
    INTERPRETER = "Relay's interpreter"


@dataclass(frozen=True)
class Model:
    """``evaluate`` takes inputs by name and a number of repeats, and gives outputs and the median seconds.

    ``output_names`` are TensorFlow's, or empty; ``graph`` is the frozen graph that the program was imported from.
    """

    name: str
    program: Program
    inputs: tuple[TensorSpec, ...]
    seeded_inputs: Callable[[int], Mapping[str, Array]]
    voice: Voice
    evaluate: Callable[[Mapping[str, Array], int], tuple[Outputs, float]]
    output_names: tuple[str, ...]
    graph: GraphModel | None = None
