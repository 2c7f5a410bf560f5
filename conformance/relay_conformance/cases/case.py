"""A case: one operator on declared operands, or a small graph around it, and what must come of it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from relay_conformance.cases.operands import Operand, Operands, Role

Inputs: TypeAlias = Mapping[str, Operand | Operands]
# Takes the module `tensorflow` and the operands' tensors, and gives the tensors to compare.
Build: TypeAlias = Callable[[Any, Mapping[str, Any]], Any]

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


class Form(Enum):
    """How the fed operands come: the importer and the compiler fold what is constant."""

    PLACEHOLDERS = "placeholders"
    CONSTANTS = "constants"


class ControlFlow(Enum):
    """Which of TensorFlow's two kinds of graph: Switch and Merge with TensorArray, or If and While."""

    V1 = "v1"
    V2 = "v2"


@dataclass(frozen=True)
class ImportRefusal:
    """The importer must refuse the graph, with words that match ``pattern``."""

    pattern: str


class FeedRefusal(Enum):
    """The compiled program must refuse an input that differs from its declaration in this."""

    DTYPE = "dtype"
    SHAPE = "shape"


Refusal: TypeAlias = ImportRefusal | FeedRefusal


@dataclass(frozen=True)
class Case:
    """``kind`` names what sets it apart from the operator's other cases.

    ``steady`` says why its outputs may all be equal; without it they must vary. A graph around several
    operators ``covers`` them all, and its own ``operator`` is then a topic. What would disturb other cases in
    its graph runs ``alone``.
    """

    operator: str
    kind: str
    inputs: Inputs
    attributes: Mapping[str, Any] = field(default_factory=dict)
    build: Build | None = None
    control_flow: ControlFlow = ControlFlow.V1
    refusal: Refusal | None = None
    steady: str = ""
    only: Form | None = None
    covers: tuple[str, ...] = ()
    alone: bool = False

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.kind):
            raise ValueError(f"{self.operator}: the kind {self.kind!r} must be lower case with hyphens")

    @property
    def id(self) -> str:
        return f"{self.operator}-{self.kind}"

    @property
    def covered(self) -> tuple[str, ...]:
        return self.covers or (self.operator,)

    @property
    def forms(self) -> tuple[Form, ...]:
        """Without fed operands both forms are one graph; a wrong feed needs a placeholder."""
        if self.only is not None:
            return (self.only,)
        if isinstance(self.refusal, FeedRefusal) or any(o.open_dimensions for o in self.operands.values()):
            return (Form.PLACEHOLDERS,)
        return tuple(Form) if self.fed else (Form.CONSTANTS,)

    @property
    def operands(self) -> dict[str, Operand]:
        """Every operand by a name of its own; members of a list are numbered."""
        flat: dict[str, Operand] = {}
        for name, value in self.inputs.items():
            if isinstance(value, Operand):
                flat[name] = value
            else:
                flat.update({f"{name}_{number}": item for number, item in enumerate(value.items)})
        return flat

    @property
    def fed(self) -> tuple[str, ...]:
        return tuple(name for name, operand in self.operands.items() if operand.role is not Role.FIXED)


Row: TypeAlias = tuple[Inputs, Mapping[str, Any]] | Inputs
Rows: TypeAlias = dict[str, Row]


def table(operator: str, rows: Mapping[str, Row], **common: Any) -> tuple[Case, ...]:
    """Cases of one operator by kind: operands, or operands and attributes; ``common`` goes to every case."""
    return tuple(
        Case(operator, kind, row[0], row[1], **common)
        if isinstance(row, tuple)
        else Case(operator, kind, row, **common)
        for kind, row in rows.items()
    )
