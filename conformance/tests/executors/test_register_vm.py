"""The register VM is compiled as the reference is, and its figures are those of its executable."""

from typing import Any

import numpy as np
import pytest

from relay_conformance.executors.lowering import OPT_LEVEL
from relay_conformance.executors.register_vm import RegisterVMExecutor
from relay_conformance.program import Program
from relay_conformance.tvm_api import regvm, tvm


def test_it_compiles_at_the_reference_s_level_since_other_passes_give_other_bits(
    pair_program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = []
    compile_module = regvm.compile

    def compile_and_note(*arguments: Any, **options: Any) -> Any:
        levels.append(tvm.transform.PassContext.current().opt_level)
        return compile_module(*arguments, **options)

    monkeypatch.setattr(regvm, "compile", compile_and_note)
    RegisterVMExecutor().compile(pair_program, "llvm")
    assert levels == [OPT_LEVEL]


def test_its_figures(pair_program: Program) -> None:
    compiled = RegisterVMExecutor().compile(pair_program, "llvm")
    before = compiled.figures()
    assert before.peak_intermediate_bytes is None
    compiled.bind([np.ones(3, np.int32), np.ones(3, np.int32)])()
    after = compiled.figures()
    (main,) = compiled.executable.functions
    assert dict(after.registers) == {"main": main.num_registers}
    assert dict(after.max_live) == {"main": main.max_live}
    assert after.instructions == len(main.instructions)
    assert after.peak_intermediate_bytes is not None
