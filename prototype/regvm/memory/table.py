"""Read storage requests from a CSV table ``id,lower,upper,size``, the format of the MiniMalloc benchmarks.

Lifetimes are half-open, sizes in bytes. Rows that repeat an id give it further live ranges, at the same size.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regvm.memory.errors import InvalidRequestError, InvalidTableError
from regvm.memory.request import Range, Request

COLUMNS = ("id", "lower", "upper", "size")


def read_table(path: Path) -> list[Request]:
    """The requests of the table, in the order their ids first appear.

    Raises:
        InvalidTableError: the file cannot be read, lacks a column, or has a row that is not a request.
    """
    buffers: dict[str, _Buffer] = {}
    for place, row in _rows(path):
        lower, upper, size = (_integer(place, row, column) for column in COLUMNS[1:])
        buffer = buffers.setdefault(row["id"], _Buffer(size, place))
        if buffer.size != size:
            raise InvalidTableError(
                f"{place}: size {size} of id {row['id']!r} differs from {buffer.size} at {buffer.place}; "
                "give all live ranges of an id the same size, or different ids"
            )
        _require_request(place, row["id"], size, (lower, upper))
        buffer.ranges.append((lower, upper))
    return [buffer.request(id) for id, buffer in buffers.items()]


@dataclass
class _Buffer:
    size: int
    place: str
    ranges: list[Range] = field(default_factory=list)

    def request(self, id: str) -> Request:
        try:
            return Request(id, self.size, tuple(sorted(self.ranges)))
        except InvalidRequestError as error:
            raise InvalidTableError(f"{self.place}: {error}") from error


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Each row with its place, ``file:line``; every column is there and holds text."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True)
            _require_columns(path, reader.fieldnames or [])
            for row in reader:
                place = f"{path}:{reader.line_num}"
                if None in row or None in row.values():
                    raise InvalidTableError(
                        f"{place}: a row needs {len(reader.fieldnames or [])} values, as the header"
                    )
                yield place, row
    except OSError as error:
        raise InvalidTableError(f"{path}: {error.strerror}; give a readable CSV file") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise InvalidTableError(f"{path}: no CSV text in UTF-8: {error}") from error


def _require_columns(path: Path, columns: Sequence[str]) -> None:
    missing = [column for column in COLUMNS if column not in columns]
    if missing:
        raise InvalidTableError(
            f"{path}:1: column {missing[0]!r} is missing; the header must name {','.join(COLUMNS)}"
        )


def _integer(place: str, row: dict[str, str], column: str) -> int:
    try:
        return int(row[column])
    except ValueError:
        raise InvalidTableError(f"{place}: {column} {row[column]!r} is no integer") from None


def _require_request(place: str, id: str, size: int, live: Range) -> None:
    try:
        Request(id, size, (live,))
    except InvalidRequestError as error:
        raise InvalidTableError(f"{place}: {error}") from error
