"""Kernels that LLVM refuses are built again another way; the others are built as ever."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.errors import CompileError
from regvm.frontend import kernels

LLVM = tvm.target.Target("llvm")


def test_no_kernels_are_no_library() -> None:
    assert kernels.build({}, LLVM, dict) is None


@pytest.mark.parametrize("name", ["floor_divide", "floor_mod"])
def test_an_operator_that_llvm_refuses_at_first_runs_beside_one_that_it_does_not(name: str) -> None:
    x, y = (relay.var(n, shape=(16,), dtype="int32") for n in "xy")
    body = relay.Tuple([getattr(relay, name)(x, y), relay.add(x, y)])
    machine = regvm.VirtualMachine(regvm.compile(relay.Function([x, y], body)))
    a, b = np.arange(-8, 8, dtype="int32"), np.array([3, -3] * 8, dtype="int32")
    quotient, total = (field.numpy() for field in machine.run(a, b))
    np.testing.assert_array_equal(quotient, getattr(np, {"floor_mod": "mod"}.get(name, name))(a, b))
    np.testing.assert_array_equal(total, a + b)


@pytest.mark.parametrize("method", ["linear", "cubic"])
def test_a_kernel_with_a_common_subexpression_of_float_type_runs(method: str) -> None:
    image = relay.var("image", shape=(1, 3, 4, 1), dtype="float32")
    resized = relay.image.resize2d(
        image, (6, 8), layout="NHWC", method=method, coordinate_transformation_mode="asymmetric"
    )
    machine = regvm.VirtualMachine(regvm.compile(relay.Function([image], resized)))
    pixels = np.arange(12, dtype="float32").reshape(1, 3, 4, 1)
    np.testing.assert_allclose(machine.run(pixels).numpy()[:, ::2, ::2], pixels, rtol=1e-6)


def copying(name: str) -> Any:
    x = tvm.te.placeholder((1,), "float32", name)
    return tvm.te.create_prim_func([x, tvm.te.compute((1,), lambda i: x[i])])


class _Module:
    """Stands for a library."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.imported: list[_Module] = []

    def import_module(self, module: _Module) -> None:
        self.imported.append(module)


def refusing(monkeypatch: pytest.MonkeyPatch, refused: list[Any]) -> None:
    """LLVM refuses these kernels, told by their bodies."""

    def build(named: Any, target: Any) -> _Module:
        for function in named.values():
            if any(function.body.same_as(r.body) for r in refused):
                raise tvm.error.TVMError(f"InternalError: refused for {target.kind.name}")
        return _Module(tuple(named))

    monkeypatch.setattr(kernels, "_build", build)


def test_only_the_refused_kernel_is_lowered_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    bad, plain, good = copying("bad"), copying("plain"), copying("good")
    refusing(monkeypatch, [bad])
    built = kernels.build({"bad": bad, "good": good}, LLVM, lambda: {"bad": plain, "good": bad})
    assert isinstance(built, _Module)
    assert built.names == ("good",)
    assert [m.names for m in built.imported] == [("bad",)]


def test_a_kernel_that_cannot_be_built_at_all_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = copying("bad")
    refusing(monkeypatch, [bad])
    with pytest.raises(CompileError, match="kernel bad cannot be built: InternalError: refused"):
        kernels.build({"bad": bad}, LLVM, lambda: {"bad": bad})
