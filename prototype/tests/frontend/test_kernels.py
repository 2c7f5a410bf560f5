"""Kernels that LLVM refuses as they were lowered are lowered again without the passes that cause it."""

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.frontend import kernels


@pytest.mark.parametrize(("operator", "numpy_operator"), [("floor_divide", "__floordiv__"), ("floor_mod", "__mod__")])
def test_signed_division_on_vectors_runs(operator: str, numpy_operator: str) -> None:
    x, y = (relay.var(name, shape=(4, 5), dtype="int32") for name in "xy")
    function = relay.Function([x, y], getattr(relay, operator)(x, y))
    executable = regvm.compile(tvm.IRModule.from_expr(function))
    left = np.arange(-10, 10, dtype=np.int32).reshape(4, 5)
    right = np.where(left % 2 == 0, 3, -4).astype(np.int32)
    result = regvm.VirtualMachine(executable, device=tvm.cpu()).invoke("main", left, right)
    assert result.numpy().tolist() == getattr(left, numpy_operator)(right).tolist()


def test_bilinear_resizing_runs() -> None:
    image = relay.var("image", shape=(1, 3, 4, 1), dtype="float32")
    resized = relay.image.resize2d(image, (6, 8), layout="NHWC", coordinate_transformation_mode="asymmetric")
    executable = regvm.compile(tvm.IRModule.from_expr(relay.Function([image], resized)))
    pixels = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
    result = regvm.VirtualMachine(executable, device=tvm.cpu()).invoke("main", pixels).numpy()
    assert result.shape == (1, 6, 8, 1)
    np.testing.assert_allclose(result[:, ::2, ::2], pixels)


def test_the_fallback_keeps_the_rest_of_the_context() -> None:
    options = {"tir.disable_assert": True}
    with tvm.transform.PassContext(opt_level=2, disabled_pass=["FoldConstant"], config=options):
        fallback = kernels.fallback_context()
    assert (fallback.opt_level, list(fallback.disabled_pass)) == (2, ["FoldConstant"])
    assert dict(fallback.config) == {**options, **kernels.FALLBACK_OPTIONS}
