"""Hypothesis strategies of Relay programs that are valid by construction, and what such a program means.

``programs(profile)`` draws a :class:`FuzzProgram`; ``render`` writes it as Relay, ``evaluate`` computes it with
NumPy on the inputs that were drawn with it, ``arrays``.
"""

from relay_conformance.strategies.evaluate import Expected, arrays, evaluate
from relay_conformance.strategies.programs import PROFILES, programs
from relay_conformance.strategies.render import entry, render, render_batch
from relay_conformance.strategies.syntax import FuzzProgram

__all__ = [
    "PROFILES",
    "Expected",
    "FuzzProgram",
    "arrays",
    "entry",
    "evaluate",
    "programs",
    "render",
    "render_batch",
]
