"""Keep a run while it goes: a crash, or whoever ends it, loses no more than the graph that was running."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relay_conformance.errors import BadInputError

if TYPE_CHECKING:
    from relay_conformance.cases.verdicts import Judged


def kept(batches: "Iterable[tuple[Judged, ...]]", path: Path) -> "Iterator[tuple[Judged, ...]]":
    """The batches; after each the file holds the report of all so far, unfinished, and so one that doesn't hold.

    Raises:
        BadInputError: the file can't be written.
    """
    judged: list[Judged] = []
    for batch in batches:
        judged += batch
        _replace(path, json.dumps(_unfinished(judged), indent=2, allow_nan=False) + "\n")
        yield batch


def streamed(
    batches: "Iterable[tuple[Judged, ...]]", write: Callable[[str], None]
) -> "Iterator[tuple[Judged, ...]]":
    """The batches; what ``write`` gets is the report as one JSON document, its results as they come."""
    from relay_conformance.cases.verdicts import Verdict, as_entry, as_json

    judged: list[Judged] = []
    write('{\n  "results": [')
    separator = "\n"
    for batch in batches:
        judged += batch
        for one in batch:
            if one.verdict is not Verdict.HOLDS:
                write(f"{separator}    {json.dumps(as_entry(one), allow_nan=False)}")
                separator = ",\n"
        yield batch
    rest = {name: value for name, value in as_json(judged).items() if name != "results"}
    write("\n  ],\n" + json.dumps(rest, indent=2, allow_nan=False).removeprefix("{\n") + "\n")


def _unfinished(judged: "list[Judged]") -> dict[str, Any]:
    from relay_conformance.cases.verdicts import as_json

    return {**as_json(judged), "holds": False, "finished": False}


def _replace(path: Path, text: str) -> None:
    """In one step: a reader, or a crash in between, finds one report or the other."""
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(text)
        os.replace(new, path)
    except OSError as error:
        raise BadInputError(f"--output {path} can't be written: {error.strerror}") from error
