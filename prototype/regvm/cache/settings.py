"""What the user sets by environment variables: where the cache is, how large, and what it keeps."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import platformdirs

from regvm.errors import ArgumentError

DEFAULT_MEGABYTES = 1024


class Mode(Enum):
    """What is kept: ``ON`` keeps kernels and whole compilations.

    ``KERNELS`` is for those who test the compiler: everything but the kernels is compiled each time.
    """

    ON = "on"
    KERNELS = "kernels"
    OFF = "off"


@dataclass(frozen=True)
class Settings:
    """``limit`` is in bytes."""

    mode: Mode
    folder: Path
    limit: int


def read(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of REGVM_CACHE, REGVM_CACHE_DIR and REGVM_CACHE_MB; unset or empty means the default.

    Raises ArgumentError that names the variable.
    """
    variables = os.environ if environment is None else environment
    folder = variables.get("REGVM_CACHE_DIR") or platformdirs.user_cache_path("relay-regvm", appauthor=False)
    return Settings(
        _mode(variables.get("REGVM_CACHE")), Path(folder), _limit(variables.get("REGVM_CACHE_MB"))
    )


def _mode(text: str | None) -> Mode:
    try:
        return Mode(text or "on")
    except ValueError:
        raise ArgumentError(f"REGVM_CACHE is {text!r}; set it to on, kernels or off") from None


def _limit(text: str | None) -> int:
    if text and not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise ArgumentError(f"REGVM_CACHE_MB is {text!r}; set it to a number of megabytes above 0")
    return int(text or DEFAULT_MEGABYTES) * 1_000_000
