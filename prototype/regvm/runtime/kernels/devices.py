"""The device that the machine runs on: the CPU."""

from __future__ import annotations

from typing import Any

import tvm

from regvm.errors import ArgumentError
from regvm.runtime.kernels.header import CPU


def require_cpu(device: Any) -> None:
    """Raise ArgumentError unless ``device`` is the CPU, or a list with it."""
    devices = device if isinstance(device, list | tuple) else [device]
    if not all(isinstance(d, tvm.runtime.Device) and d.device_type == CPU for d in devices):
        raise ArgumentError(f"device {device} is not supported; the register VM runs on tvm.cpu()")
