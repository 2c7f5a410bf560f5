"""A progress display on standard error, for what takes over two seconds; a terminal only."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

DELAY_S = 2.0


@contextmanager
def progress_display(console: Console | None = None) -> Iterator[Callable[[str], None]]:
    """Gives a function that is told what starts now."""
    console = console or Console(stderr=True)
    display = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    task = display.add_task("starting")
    timer = threading.Timer(DELAY_S, display.start)
    timer.daemon = True
    if console.is_terminal:
        timer.start()
    try:
        yield lambda description: display.update(task, description=description)
    finally:
        timer.cancel()
        if timer.ident is not None:
            # It may be starting the display at this moment.
            timer.join()
        if display.live.is_started:
            display.stop()
