"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])

json_option = click.option("--json", "json_output", is_flag=True, help="Write JSON.")


def relay_options(command: _Command) -> _Command:
    """How Relay is read and optimised: fields of ``CompileOptions``."""
    for option in (
        click.option(
            "--params", type=click.Path(path_type=Path), metavar="FILE.npz", help="Of Relay: weights."
        ),
        click.option("--target", default="llvm", show_default=True, help="Of Relay: what to compile for."),
        click.option(
            "--opt-level", default=3, show_default=True, type=click.IntRange(0, 4), help="Of Relay."
        ),
    ):
        command = option(command)
    return command


def compile_options(command: _Command) -> _Command:
    """The same, and how bytecode is generated: all fields of ``CompileOptions``."""
    check = click.option(
        "--check", is_flag=True, help="Of Relay: prove registers and storage of every function."
    )
    limit = click.option(
        "--register-limit",
        type=click.IntRange(min=1),
        help="Of Relay: the most registers that a function may use; beyond it values are spilled.",
    )
    return relay_options(limit(check(command)))
