"""Where the tests keep compiled kernels: in the checkout, shared by all runs, unless the environment says otherwise.

Whole compilations are not kept: a test that compiles must meet the compiler, not what it once made.
"""

import os
from pathlib import Path

os.environ.setdefault("REGVM_CACHE", "kernels")
os.environ.setdefault("REGVM_CACHE_DIR", str(Path(__file__).parent / ".regvm_cache"))
