"""Hypothesis strategies for programs as data: every instruction of the table, every field over its whole range.

Drawn programs are not valid for the machine; they are what codec and text form must carry.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from regvm import isa
from regvm.executable import (
    Constant,
    Function,
    InRegion,
    Kernel,
    ObjectType,
    Parameter,
    ParamType,
    Program,
    TensorSlot,
    TensorType,
    TupleType,
)
from regvm.isa import Kind

NUMBERS = st.sampled_from((0, 1, 63, 64, 127, 128, 2**32, 2**63 - 1)) | st.integers(0, 2**63 - 1)
TAGS = st.sampled_from((-(2**63), -65, -64, -1, 0, 63, 64, 2**63 - 1)) | st.integers(-(2**63), 2**63 - 1)
NAMES = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    (
        "",
        "x:0",
        "a b",
        "0",
        "-",
        'say "hi"',
        "back\\slash",
        "line\nend",
        "kernel",
        "R0",
        "null;drop",
        "\u2028",
    )
)
DTYPES = st.sampled_from(("float32", "bool", "int8", "uint16", "float16", "bfloat16", "int8x4", "float64"))
USES = st.builds(isa.Use, NUMBERS, st.booleans())

_FIELDS: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.USE: USES,
    Kind.USES: st.lists(USES, max_size=3).map(tuple),
    Kind.OUTS: st.lists(st.builds(isa.Out, NUMBERS, NUMBERS), max_size=3).map(tuple),
    Kind.TENSORS: st.lists(NUMBERS, max_size=3).map(tuple),
    Kind.TAG: TAGS,
    Kind.DTYPE: DTYPES,
}


def instructions(row: isa.Row) -> st.SearchStrategy[isa.Instruction]:
    """Instructions of one row of the table."""
    return st.builds(row.cls, *(_FIELDS.get(kind, NUMBERS) for _, kind in row.fields))


_DIMENSIONS = st.lists(st.none() | st.sampled_from((0, 1, 2**63 - 1)) | st.integers(0, 99), max_size=3)
TENSOR_TYPES = st.builds(TensorType, _DIMENSIONS.map(tuple), DTYPES)
TYPES: st.SearchStrategy[ParamType] = st.recursive(
    TENSOR_TYPES | st.builds(ObjectType, NAMES),
    lambda inner: st.builds(TupleType, st.lists(inner, max_size=3).map(tuple)),
    max_leaves=4,
)

FUNCTIONS = st.builds(
    Function,
    NAMES,
    st.lists(st.builds(Parameter, NAMES, TYPES), max_size=3).map(tuple),
    NUMBERS,
    st.lists(st.sampled_from(isa.ROWS).flatmap(instructions), max_size=4).map(tuple),
    st.lists(
        st.builds(
            TensorSlot,
            TENSOR_TYPES,
            st.lists(NUMBERS, max_size=2).map(tuple),
            st.none() | st.builds(InRegion, NUMBERS, NUMBERS),
        ),
        max_size=2,
    ).map(tuple),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
)


@st.composite
def constants(draw: st.DrawFn) -> Constant:
    """Constants with as many bytes as their type says, or late-bound ones."""
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    type_ = TensorType(shape, draw(DTYPES))
    held = draw(st.none() | st.binary(min_size=type_.num_bytes, max_size=type_.num_bytes))
    return Constant(type_.dtype, shape, held, draw(NAMES))


PROGRAMS = st.builds(
    Program,
    st.lists(FUNCTIONS, max_size=2).map(tuple),
    st.lists(constants(), max_size=2).map(tuple),
    st.lists(st.builds(Kernel, NAMES, NUMBERS, NUMBERS), max_size=2).map(tuple),
)
