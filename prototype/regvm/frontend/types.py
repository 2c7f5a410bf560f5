"""Relay types as the executable keeps them."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relay

from regvm.errors import UnsupportedError
from regvm.executable import ObjectType, ParamType, TensorType, TupleType


def convert(type_: Any, where: str) -> ParamType:
    """The type of a parameter or value; raises UnsupportedError for one that a value cannot have."""
    if isinstance(type_, relay.TensorType):
        return convert_tensor(type_)
    if isinstance(type_, relay.TupleType):
        return TupleType(tuple(convert(f, where) for f in type_.fields))
    if isinstance(type_, relay.FuncType):
        return ObjectType("function")
    if isinstance(type_, relay.TypeCall):
        return ObjectType(str(type_.func.name_hint))
    if isinstance(type_, relay.RefType):
        return ObjectType("reference")
    if isinstance(type_, relay.GlobalTypeVar | relay.TypeVar):
        return ObjectType(str(type_.name_hint))
    raise UnsupportedError(f"{where}: values of type {type_} are not supported")


def convert_tensor(type_: Any) -> TensorType:
    """A Relay tensor type; dimensions that are not known while compiling become None."""
    shape = tuple(int(d) if isinstance(d, tvm.tir.IntImm) else None for d in type_.shape)
    return TensorType(shape, str(type_.dtype))


def leaves(type_: ParamType) -> int:
    """How many values a type has once tuples are taken apart."""
    return sum(leaves(f) for f in type_.fields) if isinstance(type_, TupleType) else 1
