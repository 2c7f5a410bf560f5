"""The strategies of whole programs, one for each profile, and their draws by number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from relay_conformance.errors import BadArgumentError
from relay_conformance.strategies import syntax
from relay_conformance.strategies.blocks import PAIR, UNARY, Blocks, chain, has_names
from relay_conformance.strategies.drawer import Drawer, Scope
from relay_conformance.strategies.recursion import draw_functions
from relay_conformance.strategies.syntax import CHAIN, TREE, Expr, FuzzProgram, Pack, Var
from relay_conformance.strategies.tensors import op
from relay_conformance.strategies.types import CELL, Ref, Tensor, Tuple, Type


@dataclass(frozen=True)
class Profile:
    """What programs are made of: types that ``let`` binds, kinds of functions, and inputs of ``main``."""

    summary: str
    types: tuple[Type, ...]
    kinds: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ("x", "x1", "p0", "p1")
    tensors: bool = False
    lets: int = 5


_MATRIX, _ROW = Tensor((2, 3), "int32"), Tensor((3,), "int32")
_TENSORS: tuple[Type, ...] = (
    _MATRIX,
    _ROW,
    Tensor((2, 3), "float32"),
    Tensor((), "int32"),
    Tensor((2, 1, 3), "int8"),
    Tensor((3, 2), "int64"),
    Tensor((4,), "uint8"),
    Tensor((2, 3), "bool"),
    Tensor((2, 2, 3), "float32"),
    Tensor((1, 2, 3, 3), "float32"),
)

PROFILES: Mapping[str, Profile] = {
    "int32-1x1": Profile("arithmetic, let, if and calls over int32 (1, 1)", (CELL,), ("plain",), lets=4),
    "tensors": Profile("dtypes, shapes, broadcasting, reductions, nn", _TENSORS, inputs=(), tensors=True),
    "control": Profile(
        "recursion, loops, closures, functions of functions",
        (CELL, UNARY),
        ("loop", "recursion", "higher_order", "adder", "plain"),
    ),
    "data": Profile(
        "tuples, algebraic data, nested match, references",
        (CELL, PAIR, CHAIN, TREE, Ref(CELL)),
        ("fold_chain", "build", "fold_tree", "plain"),
    ),
    "dynamic": Profile(
        "dimensions known only at run time",
        (_ROW, Tensor((2,), "int32"), Tensor((), "int32")),
        ("growing",),
        inputs=(),
        tensors=True,
        lets=4,
    ),
}
_DYNAMIC_SHAPES: tuple[tuple[int | str, ...], ...] = (("n",), ("n", 2), (2, "n"), ("n", "m"), (3, "m", 2))


def profile(name: str) -> Profile:
    """The profile of that name. Raises BadArgumentError if there is none."""
    if name not in PROFILES:
        raise BadArgumentError("profile", f"there is no profile {name}; choose one of {', '.join(PROFILES)}")
    return PROFILES[name]


def programs(name: str) -> st.SearchStrategy[FuzzProgram]:
    """Programs of a profile, each well typed, ending, and defined on its own inputs."""
    return _programs(profile(name), name == "dynamic")


@st.composite
def _programs(draw: Any, chosen: Profile, dynamic: bool) -> FuzzProgram:
    drawer = Drawer(draw)
    blocks = Blocks(drawer, chosen.types, chosen.tensors)
    if chosen.kinds:
        draw_functions(drawer, blocks, chosen.kinds, 2)
    scope: Scope = tuple(drawer.add_input(CELL, (1, 1), name) for name in chosen.inputs)
    if dynamic:
        scope = tuple(_dynamic_inputs(drawer))
    drawer.may_add_inputs = chosen.tensors and not dynamic
    body = _main(drawer, blocks, scope, chosen.lets)
    main = syntax.Function("main", tuple(given.variable for given in drawer.inputs), body)
    return FuzzProgram((*drawer.functions, main), tuple(drawer.inputs))


def _main(drawer: Drawer, blocks: Blocks, scope: Scope, lets: int) -> Expr:
    """Bindings, then some of what is in scope, so that early values live up to the end."""
    bound: list[tuple[Var, Expr]] = []
    for _ in range(drawer.number(1, lets)):
        value = blocks.binding(scope, 2)
        bound.append((drawer.variable(value.type), value))
        scope = (*scope, bound[-1][0])
    results = [v for v in reversed(scope) if _is_result(v.type)]
    if not results:
        return chain(bound, Pack((drawer.atom(_first_tensor(blocks), scope),)))
    chosen: list[Expr] = [drawer.choose(results) for _ in range(drawer.number(1, 3))]
    cells = [variable for variable, _ in bound if variable.type == CELL]
    if len(cells) > 1 and drawer.number(0, 1):
        chosen.append(_joined(cells))
    return chain(bound, Pack(tuple(chosen)))


def _joined(cells: list[Var]) -> Expr:
    """All of them in one result, so that none is dead and each lives up to the end."""
    joined: Expr = cells[0]
    for number, variable in enumerate(cells[1:]):
        name = ("subtract", "bitwise_xor", "add")[number % 3]
        joined = op(name, joined, variable, to=CELL)
    return joined


def _first_tensor(blocks: Blocks) -> Tensor:
    return next(t for t in blocks.types if isinstance(t, Tensor))


def _is_result(type_: Type) -> bool:
    return isinstance(type_, Tensor) or (isinstance(type_, Tuple) and bool(type_.fields))


def _dynamic_inputs(drawer: Drawer) -> Iterator[Var]:
    sizes = {"n": drawer.choose((2, 1, 3, 5)), "m": drawer.choose((1, 2, 4))}
    for shape in [drawer.choose(_DYNAMIC_SHAPES) for _ in range(drawer.number(1, 3))]:
        type_ = Tensor(shape, drawer.choose(("int32", "float32", "int64")))
        assert has_names(type_)
        yield drawer.add_input(type_, tuple(sizes[d] if isinstance(d, str) else d for d in shape))
