"""What a test of the command ``regvm`` sees of a call."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finished:
    """What a call left behind."""

    status: int
    out: str
    err: str


Call = Callable[..., Finished]
