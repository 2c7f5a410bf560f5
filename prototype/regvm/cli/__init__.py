"""The command ``regvm``: exit status 0 where it holds, 1 on a violation or a failed run, 2 on bad input."""

from regvm.cli.main import main

__all__ = ["main"]
