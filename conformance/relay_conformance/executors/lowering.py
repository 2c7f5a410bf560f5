"""Build kernels with TVM's default options, and again with two passes switched off where LLVM refuses them.

TVM 0.19 under LLVM 21 and later writes debug information that LLVM rejects for a ``let`` of float or vector
type (bilinear resize, ``floor_mod`` on vectors, ``unravel_index``). Without vectorising and common
subexpression elimination they build. Every executor builds through here, so that all get the same kernels.
"""

from collections.abc import Callable
from typing import TypeVar

from relay_conformance.tvm_api import tvm

T = TypeVar("T")

OPT_LEVEL = 3
RETRY_OPTIONS = {"tir.disable_vectorize": True, "tir.disable_cse_tir": True}
_LLVM_REFUSAL = "#dbg_declare"


def build(compile_program: Callable[[], T]) -> T:
    """The result of ``compile_program`` under a pass context; only LLVM's refusal is retried."""
    try:
        with tvm.transform.PassContext(opt_level=OPT_LEVEL):
            return compile_program()
    except tvm.TVMError as error:
        if _LLVM_REFUSAL not in str(error):
            raise
    with tvm.transform.PassContext(opt_level=OPT_LEVEL, config=RETRY_OPTIONS):
        return compile_program()
