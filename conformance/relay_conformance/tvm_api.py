"""TVM for this package: loaded by ``regvm`` in the way that lets TensorFlow share the process.

The other modules take ``tvm`` and ``relay`` from here, so that no order of imports can load it otherwise.
"""

import tvm
from tvm import relay

import regvm

__all__ = ["regvm", "relay", "tvm"]
