"""Does every machine that runs Relay agree with every other, bit for bit, and with TensorFlow?

``regvm`` is imported first, here, because it loads TVM in the one way that lets TensorFlow share the process.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

# Where TVM can't be loaded, `doctor` must still start to say why; everything else meets the error again.
with suppress(ImportError, OSError):
    import regvm as _regvm  # noqa: F401

if TYPE_CHECKING:
    from relay_conformance.equality import check_equal

__all__ = ["check_equal"]


def __getattr__(name: str) -> Any:
    if name == "check_equal":
        from relay_conformance.equality import check_equal

        return check_equal
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
