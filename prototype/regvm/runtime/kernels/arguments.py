"""What users hand in and get back, and the values that registers hold.

Accepted as the reference accepts it: NDArrays, NumPy arrays, Python and NumPy scalars, tuples and lists of
these, TVM's ADT objects, None for an empty tensor. Results are NDArrays and ADT objects, as the reference's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np
import tvm

from regvm.errors import ArgumentError
from regvm.executable import ObjectType, Parameter, ParamType, TensorType, TupleType
from regvm.runtime.kernels.tensors import unwrap, wrap
from regvm.runtime.values import Adt, Closure, Ref, Tensor, Value

_ADT = tvm.runtime.container.ADT
_UNKNOWN = ObjectType("")
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_SCALAR_DTYPES = frozenset(("bool", "float16", "float32", "float64", *_INTEGERS))


def to_value(argument: Any, parameter: Parameter, function: str, *, strict: bool = True) -> Value:
    """One argument as a value, checked against its parameter; a number takes a scalar parameter's data type.

    Without ``strict`` a tensor may have another type than its parameter, or come in a tuple of one.

    Raises ArgumentError that names the parameter, what it takes and what it got.
    """
    place = f"@{function}, parameter {parameter.name}"
    value = _convert(argument, parameter.type, place)
    if (
        not strict
        and isinstance(value, Adt)
        and isinstance(parameter.type, TensorType)
        and len(value.fields) == 1
    ):
        (value,) = value.fields
    _check(value, parameter.type, place, strict)
    return value


@dataclass(frozen=True, eq=False)
class Data:
    """A tuple or constructor's value that holds a function or reference, which TVM's ADT objects cannot hold."""

    tag: int
    fields: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.fields)

    def __getitem__(self, index: int) -> Any:
        return self.fields[index]


_CONTAINERS = (tuple, list, _ADT, Data)

_Open = tuple[int, Iterator[tuple[Any, ParamType]], list[Value]]
"""A container that is being converted: its tag, the fields still to come, and those that are done."""


def _convert(argument: Any, type_: ParamType, place: str) -> Value:
    """Without recursion, since lists nest as deep as they are long."""
    if not isinstance(argument, _CONTAINERS):
        return _convert_leaf(argument, type_, place)
    opened = [_open(argument, type_)]
    while True:
        tag, fields, done = opened[-1]
        for field, field_type in fields:
            if isinstance(field, _CONTAINERS):
                opened.append(_open(field, field_type))
                break
            done.append(_convert_leaf(field, field_type, place))
        else:
            opened.pop()
            made = Adt(tag, tuple(done))
            if not opened:
                return made
            opened[-1][2].append(made)


def _open(container: Any, type_: ParamType) -> _Open:
    tag = 0 if isinstance(container, tuple | list) else int(container.tag)
    types: Iterable[ParamType] = type_.fields if isinstance(type_, TupleType) else ()
    fields = (container[n] for n in range(len(container)))
    return tag, zip(fields, chain(types, repeat(_UNKNOWN)), strict=False), []


def _convert_leaf(argument: Any, type_: ParamType, place: str) -> Value:
    match argument:
        case Tensor() | Adt() | Closure() | Ref():
            return argument
        case tvm.nd.NDArray():
            if argument.device.device_type != tvm.cpu().device_type:
                raise ArgumentError(
                    f"{place}: the array is on {argument.device}, not on the CPU; copy it there"
                )
            return wrap(argument)
        case np.ndarray():
            return _from_numpy(argument, str(argument.dtype), place)
        case bool() | int() | float() | np.generic():
            return _from_numpy(argument, _scalar_dtype(argument, type_), place)
        case None:
            return wrap(tvm.nd.array(np.array([])))
        case _:
            raise ArgumentError(f"{place}: {type(argument).__name__} is no array, number or tuple of these")


def _from_numpy(array: Any, dtype: str, place: str) -> Tensor:
    try:
        return wrap(tvm.nd.array(np.asarray(array, dtype)))
    except (OverflowError, TypeError, ValueError) as error:
        raise ArgumentError(f"{place}: TVM cannot take {array!r:.60} as {dtype}") from error


def _scalar_dtype(scalar: Any, expected: ParamType) -> str:
    """The parameter's data type where it holds the number exactly; else the reference's rule.

    By that rule float16 stays, whole numbers are int32, all else is float32.
    """
    if isinstance(expected, TensorType) and not expected.shape and _holds(expected.dtype, scalar):
        return expected.dtype
    if isinstance(scalar, np.float16):
        return "float16"
    return "int32" if isinstance(scalar, bool | int | np.integer) else "float32"


def _holds(dtype: str, scalar: Any) -> bool:
    if dtype not in _SCALAR_DTYPES:
        return False
    if isinstance(scalar, float | np.floating):
        return dtype.startswith("float")
    if dtype == "bool":
        return isinstance(scalar, bool | np.bool_)
    if dtype.startswith("float"):
        with np.errstate(over="ignore"):
            return abs(scalar) < 2**63 and bool(np.dtype(dtype).type(scalar) == scalar)
    return bool(np.iinfo(dtype).min <= int(scalar) <= np.iinfo(dtype).max)


def _check(value: Value, expected: ParamType, place: str, strict: bool) -> None:
    match expected:
        case TensorType():
            if not isinstance(value, Tensor):
                raise ArgumentError(
                    f"{place}: takes a tensor {expected}, not a {type(value).__name__.lower()}"
                )
            if strict and not _fits(value.type, expected):
                raise ArgumentError(f"{place}: takes {expected}, but the argument is {value.type}")
        case TupleType(fields):
            if not isinstance(value, Adt) or len(value.fields) != len(fields):
                raise ArgumentError(f"{place}: takes a tuple {expected}")
            for number, (field, type_) in enumerate(zip(value.fields, fields, strict=True)):
                _check(field, type_, f"{place}.{number}", strict)
        case ObjectType("function"):
            _require(value, Closure, expected, place)
        case ObjectType("reference"):
            _require(value, Ref, expected, place)
        case ObjectType():
            pass


def _require(value: Value, cls: type, expected: ParamType, place: str) -> None:
    if not isinstance(value, cls):
        raise ArgumentError(f"{place}: takes a {expected}, not a {type(value).__name__.lower()}")


def _fits(actual: TensorType, expected: TensorType) -> bool:
    return (
        actual.dtype == expected.dtype
        and len(actual.shape) == len(expected.shape)
        and all(want is None or got == want for got, want in zip(actual.shape, expected.shape, strict=True))
    )


def _data(tag: int, fields: list[Any]) -> Any:
    if all(isinstance(f, tvm.nd.NDArray | tvm.runtime.Object) for f in fields):
        return _ADT(tag, fields)
    return Data(tag, tuple(fields))


def to_user(value: Value) -> Any:
    """A result as the user gets it: NDArray or ADT object, for functions and references the value itself, and Data
    for what holds such a value.

    Nested data is converted without recursion, since lists nest as deep as they are long.
    """
    if isinstance(value, Tensor):
        return unwrap(value)
    done: dict[int, Any] = {}
    pending: list[Value] = [value]
    while pending:
        current = pending[-1]
        if isinstance(current, Adt):
            missing = [f for f in current.fields if id(f) not in done]
            if missing:
                pending.extend(missing)
                continue
            done[id(current)] = _data(current.tag, [done[id(f)] for f in current.fields])
        elif isinstance(current, Tensor):
            done[id(current)] = unwrap(current)
        else:
            done[id(current)] = current
        pending.pop()
    return done[id(value)]
