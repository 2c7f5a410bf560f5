"""What the figures were measured on: processor, memory, system, versions. No names, no paths."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("xtc-tvm-python-bindings", "tensorflow-cpu", "llvmlite", "numpy")


def describe(threads: int) -> dict[str, Any]:
    """The machine as JSON takes it; ``threads`` is how many a kernel may use."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(_memory("MemTotal") / 1e9, 1),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
        "threads": threads,
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def load() -> float:
    """How many processes wanted to run in the last minute."""
    return round(os.getloadavg()[0], 1)


def available_bytes() -> int:
    """Memory that a new process could take without swapping, as Linux estimates it."""
    return _memory("MemAvailable")


def _memory(name: str) -> int:
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    return int(lines[name].split()[0]) * 1024


def _processor() -> str:
    lines = (line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    names = {key.strip(): value.strip() for key, value in lines}
    return names.get("model name", platform.machine())


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"
