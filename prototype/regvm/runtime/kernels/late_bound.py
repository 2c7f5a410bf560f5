"""Late-bound constants: large weights that travel beside an executable instead of in it.

Names and file format are the reference's (``const_3`` for constant 3, a TVM parameter dictionary), so that the
files are readable by whatever reads TVM parameters.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tvm

from regvm.errors import ArgumentError, FormatError
from regvm.executable import Constant
from regvm.runtime.kernels.tensors import load_constant, unwrap, wrap


def take_out(constants: Sequence[Constant], byte_limit: int) -> tuple[tuple[Constant, ...], dict[str, Any]]:
    """The constants without the data of those of ``byte_limit`` bytes or more, and these by name as NDArrays."""
    kept: list[Constant] = []
    taken: dict[str, Any] = {}
    for number, constant in enumerate(constants):
        if constant.data is None or len(constant.data) < byte_limit:
            kept.append(constant)
            continue
        name = f"const_{number}"
        taken[name] = unwrap(load_constant(constant))
        kept.append(dataclasses.replace(constant, data=None, name=name))
    return tuple(kept), taken


def put_in(constants: Sequence[Constant], arrays: Mapping[str, Any]) -> tuple[Constant, ...]:
    """The constants with the data of those that lack it taken from ``arrays``.

    Raises ArgumentError for a missing or unused name, or for an array of another type than the constant's.
    """
    names = {c.name for c in constants if c.data is None}
    missing, unused = sorted(names - set(arrays)), sorted(set(arrays) - names)
    if missing or unused:
        raise ArgumentError(
            f"late-bound constants: missing {', '.join(missing) or 'none'}; not of this executable "
            f"{', '.join(unused) or 'none'}; load the constants that were saved with it"
        )
    return tuple(_filled(c, arrays[c.name]) if c.data is None else c for c in constants)


def _filled(constant: Constant, array: Any) -> Constant:
    type_ = wrap(array).type
    if (type_.shape, type_.dtype) != (constant.shape, constant.dtype):
        raise ArgumentError(
            f"late-bound constant {constant.name} is {constant.dtype}{list(constant.shape)}, "
            f"but the array given for it is {type_}"
        )
    return dataclasses.replace(constant, data=array.numpy().tobytes(), name="")


def write(path: str | os.PathLike[str], arrays: Mapping[str, Any]) -> None:
    """Save arrays by name as a TVM parameter dictionary."""
    Path(path).write_bytes(tvm.runtime.save_param_dict(dict(arrays)))


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arrays that ``write`` saved. Raises FormatError for another file."""
    try:
        return {str(k): v for k, v in tvm.runtime.load_param_dict(Path(path).read_bytes()).items()}
    except tvm.error.TVMError as error:
        raise FormatError(
            f"{path}: no late-bound constants; write them with move_late_bound_consts"
        ) from error
