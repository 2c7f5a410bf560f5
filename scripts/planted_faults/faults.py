"""The faults, read from ``faults.toml``: each a change of one place in the source of ``regvm``."""

import sys
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PATH = Path(__file__).with_name("faults.toml")


@dataclass(frozen=True)
class Fault:
    """``kind`` says what goes wrong; in ``file``, below ``prototype/regvm``, ``new`` takes the place of ``old``.

    ``survives`` says why nothing can show, of a fault that is none.
    """

    id: str
    kind: str
    file: str
    old: str
    new: str
    survives: str = ""


FAULTS = tuple(Fault(**entry) for entry in tomllib.loads(PATH.read_text(encoding="utf-8"))["fault"])
