"""The versions that a result depends on."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("relay-regvm", "xtc-tvm-python-bindings", "tensorflow-cpu", "tensorflow", "numpy")


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that a result depends on, as far as they are installed."""
    found = {package: installed_version(package) for package in _PACKAGES}
    known = {package: text for package, text in found.items() if text is not None}
    return {"python": platform.python_version(), **known}


def installed_version(package: str) -> str | None:
    """The version of a distribution, or ``None``."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def installed_tensorflow() -> str | None:
    """The version of the TensorFlow that is installed, under whichever of its names, or ``None``."""
    return installed_version("tensorflow-cpu") or installed_version("tensorflow")
