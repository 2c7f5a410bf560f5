"""The known defects that cases meet: each names its cases by pattern and the executors that fail on them.

The file is ``known_defects.toml``, one ``[[defect]]`` a defect, sorted by id. An entry is strict: an executor that
it names must fail on every case that it matches, and one that it does not name must agree. An entry with the key
``tensorflow`` holds for the releases of TensorFlow that this version specifier contains, such as ``>=2.16``.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from relay_conformance.errors import BadInputError
from relay_conformance.versions import installed_tensorflow

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PATH = Path(__file__).parent.parent.parent / "known_defects.toml"
EVERY_EXECUTOR = "*"
_REQUIRED = ("id", "layer", "symptom", "reproducer", "right", "cause", "executors")


class Layer(Enum):
    """Whose defect it is."""

    IMPORTER = "importer"
    PASS = "pass"
    KERNEL = "kernel"
    REFERENCE_VM = "reference-vm"
    TENSORFLOW = "tensorflow"


@dataclass(frozen=True)
class Defect:
    """``cases`` are patterns of case ids, such as ``Rank-*``, or of one form, ``Rank-*-placeholders``."""

    id: str
    layer: Layer
    symptom: str
    reproducer: str
    right: str
    cause: str
    executors: tuple[str, ...]
    cases: tuple[str, ...] = ()
    issue: int | None = None
    tensorflow: SpecifierSet = field(default_factory=SpecifierSet)

    def holds(self) -> bool:
        """Whether the installed TensorFlow is one of those that show the defect."""
        installed = installed_tensorflow()
        return installed is None or self.tensorflow.contains(installed, prereleases=True)

    def matches(self, case_id: str) -> bool:
        """Whether a pattern matches the id, with its form or without.

        A pattern without the word leaves out the cases that only ask for a refusal.
        """
        names = (case_id, case_id.rpartition("-")[0])
        refusal = "-refuses-" in case_id
        patterns = (p for p in self.cases if not refusal or "refuses" in p)
        return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)

    def fails_on(self, executor: str) -> bool:
        return EVERY_EXECUTOR in self.executors or executor in self.executors


@cache
def defects(path: Path = PATH) -> tuple[Defect, ...]:
    """The ledger's entries.

    Raises:
        BadInputError: the file can't be read, or an entry lacks a key or has an unknown layer; it is named.
    """
    try:
        entries = tomllib.loads(path.read_text()).get("defect", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise BadInputError(f"{path.name} can't be read: {error}") from error
    return tuple(_defect(entry) for entry in entries)


def defect_of(case_id: str) -> Defect | None:
    """The first entry that holds here and matches a case's id with its form."""
    return next((defect for defect in defects() if defect.matches(case_id) and defect.holds()), None)


def _defect(entry: Mapping[str, Any]) -> Defect:
    name = entry.get("id", "an entry without id")
    missing = [key for key in _REQUIRED if not entry.get(key)]
    if missing:
        raise BadInputError(f"{PATH.name}: {name} lacks {', '.join(missing)}")
    layers = {layer.value: layer for layer in Layer}
    if entry["layer"] not in layers:
        raise BadInputError(
            f"{PATH.name}: {name} has the layer {entry['layer']}; there are {', '.join(layers)}"
        )
    return Defect(
        id=entry["id"],
        layer=layers[entry["layer"]],
        symptom=entry["symptom"],
        reproducer=entry["reproducer"],
        right=entry["right"],
        cause=entry["cause"],
        executors=tuple(entry["executors"]),
        cases=tuple(entry.get("cases", ())),
        issue=entry.get("issue"),
        tensorflow=_specifier(name, entry.get("tensorflow", "")),
    )


def _specifier(name: str, text: str) -> SpecifierSet:
    try:
        return SpecifierSet(text)
    except InvalidSpecifier as error:
        raise BadInputError(
            f"{PATH.name}: {name} has the tensorflow {text!r}, which is no version specifier such as '>=2.16'"
        ) from error
