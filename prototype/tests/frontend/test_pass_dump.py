"""Each pass of the front end is a stage: named, counted, shown without data, the same each time."""

import numpy as np
import pytest
from tvm import relay

from regvm.errors import CompileError
from regvm.frontend import reading, source
from regvm.frontend.pass_dump import Counts, Stage, count, show, stages

PROGRAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(2, 3), float32]) {
  let %a = nn.relu(add(%x, multiply(2f, 3f)));
  multiply(%a, %w)
}
"""
WEIGHT = np.arange(6, dtype="float32").reshape(2, 3)


def dumped(params: dict[str, np.ndarray] | None = None) -> tuple[Stage, ...]:
    with reading.at_level(3):
        return stages(reading.read_text(PROGRAM), params or {})


def test_the_stages_are_the_input_and_every_pass_in_order() -> None:
    names = [s.name for s in dumped()]
    assert names[:2] == ["input", "InferType"]
    order = ["SimplifyInference", "FoldConstant", "PlanDevices", "FuseOps", "ToANormalForm", "LowerTE"]
    places = [names.index(name) for name in order]
    assert places == sorted(places)


def test_only_passes_that_do_something_are_marked() -> None:
    changed = {s.name for s in dumped() if s.changed}
    assert {"input", "FoldConstant", "FuseOps", "ToANormalForm", "LowerTE"} <= changed
    assert not changed & {"Legalize", "FastMath", "CombineParallelDense"}


def test_a_stage_stays_as_it_was_when_later_passes_run() -> None:
    by_name = {s.name: s for s in dumped()}
    assert "let %" in show(by_name["ToANormalForm"].module)
    assert "multiply(2f" in show(by_name["input"].module)
    assert show(by_name["FuseOps"].module) != show(by_name["ToANormalForm"].module)


def test_the_last_stage_is_what_the_compiler_translates() -> None:
    with reading.at_level(3):
        lowered = source.lower(reading.read_text(PROGRAM), "llvm", None, None).module
    assert show(dumped()[-1].module) == show(lowered)


def test_nodes_calls_constants_and_kernels_are_counted() -> None:
    first, last = dumped()[0], dumped()[-1]
    assert count(first.module) == Counts(nodes=14, calls=4, constants=2, kernels=0)
    assert count(last.module).kernels == 2
    assert "kernels:\n@vm_mod_fused_" in show(last.module)


def test_data_of_constants_and_addresses_are_left_out() -> None:
    for stage in dumped({"w": WEIGHT}):
        text = show(stage.module)
        assert "b64ndarrays" not in text
        assert "Target(" not in text
        assert "span=from_string" not in text
    assert [show(s.module) for s in dumped({"w": WEIGHT})] == [show(s.module) for s in dumped({"w": WEIGHT})]


def test_weights_become_constants() -> None:
    with_weight, without = dumped({"w": WEIGHT})[1], dumped()[1]
    assert count(with_weight.module).constants == count(without.module).constants + 1
    assert "%w" not in show(with_weight.module)


def test_a_module_without_main_is_refused() -> None:
    x = relay.var("x", shape=(1,))
    module = source.as_module(relay.Function([x], x))
    module["other"] = module["main"]
    with pytest.raises(CompileError, match="no @main"):
        stages(reading.read_text('#[version = "0.0.5"]\ndef @other(%x: int32) { %x }'), {})
