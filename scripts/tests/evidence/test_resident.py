"""What an invocation adds is measured in a process that only loads and runs, by machine."""

import sys

import numpy as np
import pytest
from scripts.evidence.measure import LOOP
from scripts.evidence.resident import MACHINES, measure
from tvm import relay

from relay_conformance.program import program_from_module

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/smaps_rollup")

PAGE = 4096
BIG = """#[version = "0.0.5"]
def @main(%x: Tensor[(1048576), float32]) -> float32 {
  let %a = exp(%x);
  let %b = reverse(%a, axis=0);
  let %c = reverse(%b, axis=0);
  sum(%c)
}
"""


@pytest.mark.slow
def test_two_buffers_of_4_mebibytes_take_turns_on_the_register_vm() -> None:
    pytest.importorskip("llvmlite", reason="llvmlite (extra 'native') is not installed")
    program = program_from_module(relay.fromtext(BIG))
    found = measure(program, {"x": np.zeros(1 << 20, "float32")})
    assert set(found) == set(MACHINES)
    for machine in ("interpreter", "native"):
        assert found[machine]["result_bytes"] == 4
        assert abs(found[machine]["growth_bytes"] - found[machine]["counted_bytes"]) <= 2 * PAGE
    # Two of equal size is what the reference's pool manages as well.
    assert abs(found["reference"]["growth_bytes"] - (2 << 22)) <= 2 * PAGE


@pytest.mark.slow
def test_a_loop_grows_on_the_reference_alone() -> None:
    pytest.importorskip("llvmlite", reason="llvmlite (extra 'native') is not installed")
    program = program_from_module(relay.fromtext(LOOP))
    found = measure(program, {"n": np.array(2_000, "int32"), "x": np.ones((1, 1), "float32")})
    assert found["reference"]["growth_bytes"] > 2_000 * PAGE
    for machine in ("interpreter", "native"):
        assert found[machine]["growth_bytes"] <= 2 * PAGE
