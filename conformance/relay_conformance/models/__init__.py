"""The built-in models, each with seeded inputs and outputs that vary."""

from relay_conformance.models.built_in import BUILT_IN, BuiltIn, load_built_in
from relay_conformance.models.model import Model, Voice

__all__ = ["BUILT_IN", "BuiltIn", "Model", "Voice", "load_built_in"]
