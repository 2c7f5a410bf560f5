"""Draw tensor expressions of a given type, from the type down to the operands, so that each is valid.

Undefined results are excluded where they could arise:

* a divisor is a constant other than 0 and -1 (``x / 0`` and ``INT_MIN / -1`` kill the process), or a number
  from 1 to 8 that is computed;
* a shift's amount is from 0 to the number of bits less one (more is undefined in LLVM);
* a cast goes to a type that holds every value of the operand's (a float out of range is undefined);
* operands of what depends on order are atoms (``operators`` says why);
* floats are never compared nor divided, so that rounding can't change a decision.
"""

from __future__ import annotations

from collections.abc import Callable

from relay_conformance.strategies import operators
from relay_conformance.strategies.drawer import Drawer, Scope, static_shape
from relay_conformance.strategies.syntax import Attribute, Const, Expr, Op, Pack
from relay_conformance.strategies.types import BOOL, CELL, INT, Dim, Tensor

_WIDER = {
    "int32": ("int8", "uint8", "bool"),
    "int64": ("int32", "int8", "uint8", "bool"),
    "float32": ("int8", "uint8", "bool"),
}
Production = Callable[[], Expr]
_ATOMS = 5
"""One expression in this many and one is an atom, also where it might be larger."""
_CONSTANTS = 5
"""One operand in this many and one is a constant: each constant makes a kernel of its own."""


def op(name: str, *arguments: Expr, to: Tensor, **attributes: Attribute) -> Op:
    return Op(name, arguments, tuple(attributes.items()), to)


def condition(drawer: Drawer, scope: Scope) -> Expr:
    """A truth value: a comparison of integers in scope, or two of them joined."""
    if drawer.number(0, 5) == 5:
        joined = drawer.choose(operators.LOGICAL)
        return op(joined, _comparison(drawer, scope), _comparison(drawer, scope), to=BOOL)
    return _comparison(drawer, scope)


def _comparison(drawer: Drawer, scope: Scope) -> Expr:
    integers = [v.type for v in scope if isinstance(v.type, Tensor) and v.type.is_integer]
    type_ = drawer.choose(list(dict.fromkeys(integers)) or [INT])
    name = drawer.choose(operators.COMPARISONS)
    left = drawer.atom(type_, scope)
    if static_shape(type_) in ((), (1, 1)):
        constant = drawer.number(0, _CONSTANTS) == 0
        right = drawer.constant(type_.dtype) if constant else drawer.atom(type_, scope)
        compared = op(name, left, right, to=Tensor(type_.shape, "bool"))
        return compared if type_.shape == () else op("squeeze", compared, to=BOOL)
    axes = tuple(range(len(type_.shape)))
    largest = op(drawer.choose(("max", "min")), left, to=Tensor((), type_.dtype), axis=axes)
    return op(name, largest, drawer.constant(type_.dtype), to=BOOL)


def cell(drawer: Drawer, scope: Scope, depth: int, type_: Tensor = CELL) -> Expr:
    """An integer expression by elementwise operators alone."""
    if depth <= 0 or drawer.number(0, _ATOMS) == 0:
        return drawer.atom(type_, scope)
    productions = _elementwise(drawer, scope, depth, type_, lambda: cell(drawer, scope, depth - 1, type_))
    return drawer.choose(productions)()


def tensor(drawer: Drawer, scope: Scope, depth: int, type_: Tensor) -> Expr:
    """An expression of any tensor type; one with dynamic dimensions must be in scope."""
    if depth <= 0 or drawer.number(0, _ATOMS) == 0:
        return drawer.atom(type_, scope)
    productions = [
        *_elementwise(drawer, scope, depth, type_, lambda: tensor(drawer, scope, depth - 1, type_)),
        *_reductions_of_scope(drawer, scope, type_),
    ]
    if static_shape(type_) is not None:
        productions += _static(drawer, scope, depth, type_)
    return drawer.choose(productions)()


def _elementwise(
    drawer: Drawer, scope: Scope, depth: int, type_: Tensor, same: Production
) -> list[Production]:
    def atom() -> Expr:
        return drawer.atom(type_, scope)

    def other() -> Expr:
        """The second operand, which the first one's shape may stretch."""
        if drawer.number(0, _CONSTANTS) == 0:
            return drawer.constant(type_.dtype)
        options: list[Production] = [same]
        if len(type_.shape) > 1 and isinstance(type_.shape[-1], int):
            row = Tensor(type_.shape[-1:], type_.dtype)
            options.append(lambda: tensor(drawer, scope, depth - 1, row))
        return drawer.choose(options)()

    if type_.dtype == "bool":
        integer = Tensor(type_.shape, "int32")
        joined: list[Production] = [
            lambda: op(drawer.choose(operators.LOGICAL), same(), same(), to=type_),
            lambda: op("logical_not", same(), to=type_),
        ]
        if static_shape(type_) is not None or any(v.type == integer for v in scope):
            joined.append(lambda: _compared(drawer, scope, integer))
        return joined
    ring = operators.RING if type_.is_integer else operators.RING[:3]
    productions: list[Production] = [
        lambda: op(drawer.choose(ring), same(), other(), to=type_),
        lambda: op(drawer.choose(operators.ORDER), atom(), atom(), to=type_),
    ]
    if not type_.dtype.startswith("uint"):
        productions.append(lambda: op("negative", same(), to=type_))
    if not type_.is_integer:
        return [*productions, lambda: op("nn.relu", atom(), to=type_)]
    bits = type_.bits
    productions += [
        lambda: op(drawer.choose(operators.DIVISIONS), atom(), _divisor(drawer, scope, type_), to=type_),
        lambda: op("left_shift", same(), _amount(drawer, scope, type_, bits), to=type_),
        lambda: op("right_shift", atom(), _amount(drawer, scope, type_, bits), to=type_),
        lambda: op("where", _compared(drawer, scope, type_), same(), same(), to=type_),
    ]
    if static_shape(type_) is not None:
        # TVM has no shape function of `abs`, and the one that it has of `bitwise_not` fails.
        productions.append(lambda: op("bitwise_not", same(), to=type_))
        if not type_.dtype.startswith("uint"):
            productions.append(lambda: op("abs", atom(), to=type_))
    return productions


def _compared(drawer: Drawer, scope: Scope, integer: Tensor) -> Expr:
    name = drawer.choose(operators.COMPARISONS)
    left = drawer.atom(integer, scope)
    constant = drawer.number(0, _CONSTANTS) == 0
    right = drawer.constant(integer.dtype) if constant else drawer.atom(integer, scope)
    return op(name, left, right, to=Tensor(integer.shape, "bool"))


def _divisor(drawer: Drawer, scope: Scope, type_: Tensor) -> Expr:
    scalar = Tensor((), type_.dtype)
    if drawer.number(0, 2) == 2:
        low = op("bitwise_and", drawer.atom(type_, scope), Const(7, scalar), to=type_)
        return op("add", low, Const(1, scalar), to=type_)
    signed = (-2, -7) if not type_.dtype.startswith("uint") else ()
    return Const(drawer.choose((1, 2, 3, 10, *signed)), scalar)


def _amount(drawer: Drawer, scope: Scope, type_: Tensor, bits: int) -> Expr:
    scalar = Tensor((), type_.dtype)
    if drawer.number(0, 2) == 2:
        return op("bitwise_and", drawer.atom(type_, scope), Const(bits - 1, scalar), to=type_)
    return Const(drawer.choose((0, 1, 2, bits - 1)), scalar)


def _reductions_of_scope(drawer: Drawer, scope: Scope, type_: Tensor) -> list[Production]:
    """Of variables that become ``type_`` when one axis is reduced; the only way to lose a dynamic dimension."""
    sources = [
        (variable, axis)
        for variable in scope
        if isinstance(variable.type, Tensor) and variable.type.dtype == type_.dtype != "bool"
        for axis in range(len(variable.type.shape))
        if variable.type.shape[:axis] + variable.type.shape[axis + 1 :] == type_.shape
    ]

    def reduce() -> Expr:
        source, axis = drawer.choose(sources)
        return op(drawer.choose(operators.REDUCTIONS), source, to=type_, axis=(axis,))

    return [reduce] if sources else []


def _static(drawer: Drawer, scope: Scope, depth: int, type_: Tensor) -> list[Production]:
    shape = static_shape(type_)
    assert shape is not None
    dtype, rank = type_.dtype, len(shape)

    def sub(*sizes: Dim, kind: str = dtype) -> Expr:
        return tensor(drawer, scope, depth - 1, Tensor(sizes, kind))

    def atom(*sizes: Dim, kind: str = dtype) -> Expr:
        return drawer.atom(Tensor(sizes, kind), scope)

    def reduce() -> Expr:
        axis, size = drawer.number(0, rank), drawer.number(1, 3)
        source = (*shape[:axis], size, *shape[axis:])
        return op(drawer.choose(operators.REDUCTIONS), atom(*source), to=type_, axis=(axis,))

    def reshape() -> Expr:
        count = 1
        for size in shape:
            count *= size
        source = drawer.choose([(count,), (count, 1), (1, count)])
        return op("reshape", sub(*source), to=type_, newshape=shape)

    productions: list[Production] = [reshape]
    if dtype != "bool":
        productions.append(reduce)
    if dtype in _WIDER:
        productions.append(
            lambda: op("cast", atom(*shape, kind=drawer.choose(_WIDER[dtype])), to=type_, dtype=dtype)
        )
    if rank > 0:
        productions += _shaped(drawer, type_, shape, sub)
    if rank > 0 and dtype == "float32":
        productions.append(lambda: op(drawer.choose(operators.INEXACT), atom(*shape), to=type_))
    if dtype in ("int32", "float32"):
        productions += _products(drawer, type_, shape, atom)
    return productions


def _shaped(
    drawer: Drawer, type_: Tensor, shape: tuple[int, ...], sub: Callable[..., Expr]
) -> list[Production]:
    """Operators that move elements about."""
    rank = len(shape)

    def transpose() -> Expr:
        turned = tuple(reversed(range(rank)))
        return op("transpose", sub(*reversed(shape)), to=type_, axes=turned)

    def slice_() -> Expr:
        begin = tuple(drawer.number(0, 1) for _ in shape)
        source = [size + first + drawer.number(0, 1) for size, first in zip(shape, begin, strict=True)]
        end = tuple(size + first for size, first in zip(shape, begin, strict=True))
        ones = (1,) * rank
        return op("strided_slice", sub(*source), to=type_, begin=begin, end=end, strides=ones, axes="None")

    def concatenate() -> Expr:
        axis = drawer.choose([a for a in range(rank) if shape[a] > 1])
        first = drawer.number(1, shape[axis] - 1)
        parts = [(*shape[:axis], size, *shape[axis + 1 :]) for size in (first, shape[axis] - first)]
        return op("concatenate", Pack(tuple(sub(*part) for part in parts)), to=type_, axis=axis)

    def expand() -> Expr:
        axis = drawer.choose([a for a in range(rank) if shape[a] == 1])
        return op("expand_dims", sub(*shape[:axis], *shape[axis + 1 :]), to=type_, axis=axis)

    def reverse() -> Expr:
        return op("reverse", sub(*shape), to=type_, axis=drawer.number(0, rank - 1))

    def squeeze() -> Expr:
        return op("squeeze", sub(1, *shape), to=type_, axis=(0,))

    productions: list[Production] = [
        transpose,
        slice_,
        squeeze,
        reverse,
        lambda: op("broadcast_to", sub(*shape[1:]), to=type_, shape=shape),
    ]
    if max(shape) > 1:
        productions.append(concatenate)
    if 1 in shape:
        productions.append(expand)
    return productions


def _products(
    drawer: Drawer, type_: Tensor, shape: tuple[int, ...], atom: Callable[..., Expr]
) -> list[Production]:
    """Sums of products, and windows."""
    match shape:
        case (rows, columns):

            def dense() -> Expr:
                inner = drawer.number(1, 3)
                return op("nn.dense", atom(rows, inner), atom(columns, inner), to=type_, units="None")

            return [dense]
        case (batch, rows, columns):

            def matmul() -> Expr:
                inner = drawer.number(1, 3)
                left, right = atom(batch, rows, inner), atom(batch, columns, inner)
                return op("nn.batch_matmul", left, right, to=type_, transpose_b=True)

            return [matmul]
        case (batch, channels, height, width) if type_.dtype == "float32":

            def convolution() -> Expr:
                inner, pad = drawer.number(1, 2), drawer.number(0, 1)
                data = atom(batch, inner, height + 2 - 2 * pad, width + 2 - 2 * pad)
                weight = atom(channels, inner, 3, 3)
                window = (3, 3)
                padding = (pad,) * 4
                return op(
                    "nn.conv2d",
                    data,
                    weight,
                    to=type_,
                    padding=padding,
                    kernel_size=window,
                    channels=channels,
                )

            def pool() -> Expr:
                return op(
                    "nn.max_pool2d", atom(batch, channels, height + 1, width + 1), to=type_, pool_size=(2, 2)
                )

            return [convolution, pool]
        case _:
            return []
