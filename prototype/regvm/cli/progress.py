"""Standard error belongs to this command: what TVM writes there is dropped, and a progress display may be shown."""

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status

DELAY_S = 2.0


@contextmanager
def working(description: str) -> Iterator[None]:
    """While TVM works: a display after two seconds, on a terminal only.

    TVM and LLVM write to the file descriptor past Python. Python's warnings are dropped too, since what they say
    of a compilation stands in its notes.
    """
    own = os.dup(2)
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 2)
    os.close(sink)
    try:
        with os.fdopen(own, "w", closefd=False) as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with _display(Console(file=stream), description):
                yield
    finally:
        os.dup2(own, 2)
        os.close(own)


@contextmanager
def _display(console: Console, description: str) -> Iterator[None]:
    status = Status(description, console=console)
    timer = threading.Timer(DELAY_S, status.start)
    timer.daemon = True
    if console.is_terminal:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if timer.ident is not None:
            # It may be starting the display at this moment.
            timer.join()
        status.stop()
