"""The RFC's evidence, measured and rendered."""

import os

# Compile times are measured, not read from the cache.
os.environ.setdefault("REGVM_CACHE", "off")

# Before TVM, so that it is loaded in the way that lets TensorFlow share the process.
import regvm as regvm
