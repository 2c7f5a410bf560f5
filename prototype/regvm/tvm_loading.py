"""Load TVM so that it can share a process with TensorFlow; every other module imports TVM after this one.

``libtvm.so`` and TensorFlow each bring an LLVM. Loaded the ordinary way, the symbols of the first one
answer the calls of the second, and the process dies in ``Session.run``. ``RTLD_DEEPBIND`` makes ``libtvm.so``
prefer its own symbols, and ``RTLD_LOCAL`` keeps them out of TensorFlow's sight. TVM asks ctypes for
``RTLD_GLOBAL``, so that constant is replaced while ``import tvm`` runs.
"""

import ctypes
import os
import sys


def _import_tvm() -> None:
    flags = ctypes.RTLD_GLOBAL
    ctypes.RTLD_GLOBAL = ctypes.RTLD_LOCAL | os.RTLD_DEEPBIND
    try:
        import tvm  # noqa: F401
    finally:
        ctypes.RTLD_GLOBAL = flags


if "tvm" not in sys.modules:
    # TVM would otherwise try to download schedules at each compile.
    os.environ.setdefault("TOPHUB_LOCATION", "NONE")
    _import_tvm()
