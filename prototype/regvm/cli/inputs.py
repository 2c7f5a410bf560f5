"""Arguments for a run: arrays from files, and seeded random ones for what has no file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from regvm.executable import Function, ObjectType, ParamType, TensorType, TupleType

Array = NDArray[Any]


def read_inputs(options: tuple[str, ...]) -> dict[str, Array]:
    """``NAME=FILE.npy`` each. Raises UsageError for what cannot be read."""
    return dict(_read_input(text) for text in options)


def _read_input(text: str) -> tuple[str, Array]:
    name, separator, file = text.rpartition("=")
    if not separator or not name:
        raise click.UsageError(f"--input {text}: expected NAME=FILE.npy")
    try:
        array = np.load(Path(file), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise click.UsageError(f"--input {name}: cannot read {file} as a .npy file: {error}") from error
    if not isinstance(array, np.ndarray):
        raise click.UsageError(f"--input {name}: {file} holds several arrays; save one with numpy.save")
    return name, array


def arguments(function: Function, given: Mapping[str, Array], seed: int) -> list[Any]:
    """One argument for each parameter; a tuple's fields are named ``name.0``, ``name.1``, and so on.

    An array that is not given is drawn by seed and position. Raises UsageError for a given name that does not
    exist, and for a parameter without an array that none can be drawn for.
    """
    leaves = [leaf for p in function.parameters for leaf in _leaves(p.name, p.type)]
    unknown = sorted(set(given) - set(leaves))
    if unknown:
        raise click.UsageError(
            f"--input {unknown[0]}: @{function.name} has no such parameter; it takes {', '.join(leaves) or 'none'}"
        )
    draws = (np.random.default_rng([seed, n]) for n in range(len(leaves)))
    return [_argument(p.name, p.type, given, draws) for p in function.parameters]


def _leaves(name: str, type_: ParamType) -> Iterator[str]:
    if isinstance(type_, TupleType):
        for number, field in enumerate(type_.fields):
            yield from _leaves(f"{name}.{number}", field)
    else:
        yield name


def _argument(
    name: str, type_: ParamType, given: Mapping[str, Array], draws: Iterator[np.random.Generator]
) -> Any:
    match type_:
        case TupleType(fields):
            return tuple(_argument(f"{name}.{n}", field, given, draws) for n, field in enumerate(fields))
        case ObjectType(kind):
            raise click.UsageError(
                f"parameter {name} is a {kind}; a run from the command line takes arrays only"
            )
        case TensorType():
            draw = next(draws)
            return given[name] if name in given else _random(name, type_, draw)


def _random(name: str, type_: TensorType, draw: np.random.Generator) -> Array:
    if not type_.is_static:
        raise click.UsageError(
            f"parameter {name} is {type_}, whose shape is not known; give it with --input {name}=FILE.npy"
        )
    shape = tuple(d or 0 for d in type_.shape)
    if type_.dtype == "bool":
        return np.asarray(draw.integers(0, 2, shape) == 1)
    if type_.dtype.startswith("uint"):
        return np.asarray(draw.integers(0, 9, shape)).astype(type_.dtype)
    if type_.dtype.startswith("int"):
        return np.asarray(draw.integers(-9, 10, shape)).astype(type_.dtype)
    if type_.dtype in ("float16", "float32", "float64"):
        return np.asarray(draw.standard_normal(shape)).astype(type_.dtype)
    raise click.UsageError(f"parameter {name} is {type_}, a type that NumPy cannot hold")
