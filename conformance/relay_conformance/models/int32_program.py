"""``int32_1x1``: a Relay program over ``(1, 1)`` int32 tensors; NumPy is its third voice."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from relay_conformance.program import Array, Program, program_from_module
from relay_conformance.tvm_api import relay

_SOURCE = """
#[version = "0.0.5"]
def @combine(%a: Tensor[(1, 1), int32], %b: Tensor[(1, 1), int32]) -> Tensor[(1, 1), int32] {
  let %product = multiply(%a, %b);
  subtract(%product, %a)
}

def @main(%x: Tensor[(1, 1), int32], %x1: Tensor[(1, 1), int32], %p0: Tensor[(1, 1), int32],
          %p1: Tensor[(1, 1), int32]) -> (Tensor[(1, 1), int32], Tensor[(1, 1), int32]) {
  let %sum = add(%x, %p0);
  let %difference = subtract(%x1, %p1);
  let %called = @combine(%sum, %difference);
  let %chosen = if (squeeze(less(%sum, %difference))) {
    add(%called, multiply(%x, %p1))
  } else {
    subtract(%called, multiply(%x1, %p0))
  };
  (add(multiply(%chosen, %sum), %difference), %called)
}
"""
INPUT_NAMES = ("x", "x1", "p0", "p1")


def int32_1x1() -> Program:
    """Adds, subtracts, multiplies, ``let``, a call of a global function and an ``if``."""
    module: Any = relay.fromtext(_SOURCE)
    return program_from_module(module)


def int32_inputs(seed: int) -> Mapping[str, Array]:
    """Numbers so large that some products wrap, as they must in every voice."""
    generator = np.random.default_rng(seed)
    return {name: generator.integers(-100_000, 100_000, (1, 1), np.int32) for name in INPUT_NAMES}
