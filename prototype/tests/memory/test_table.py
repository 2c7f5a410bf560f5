"""A CSV table becomes requests; a bad one is refused with file, line and what would be right."""

from pathlib import Path

import pytest

from regvm.memory.errors import InvalidTableError
from regvm.memory.request import Request
from regvm.memory.table import read_table


def _table(folder: Path, text: str) -> Path:
    path = folder / "buffers.csv"
    path.write_text(text)
    return path


def test_rows_become_requests_in_their_order(tmp_path: Path) -> None:
    path = _table(tmp_path, "id,lower,upper,size\nb2,3,9,4\nb1,0,3,8\n")
    assert read_table(path) == [Request("b2", 4, ((3, 9),)), Request("b1", 8, ((0, 3),))]


def test_columns_may_stand_in_any_order_beside_others(tmp_path: Path) -> None:
    path = _table(tmp_path, "size,note,upper,lower,id\r\n4,x,9,3,b\r\n")
    assert read_table(path) == [Request("b", 4, ((3, 9),))]


def test_a_repeated_id_adds_live_ranges(tmp_path: Path) -> None:
    path = _table(tmp_path, "id,lower,upper,size\na,5,9,4\nb,0,1,4\na,0,2,4\n")
    assert read_table(path)[0] == Request("a", 4, ((0, 2), (5, 9)))


def test_a_table_without_rows_has_no_requests(tmp_path: Path) -> None:
    assert read_table(_table(tmp_path, "id,lower,upper,size\n")) == []


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", ":1: ", "column 'id' is missing; the header must name id,lower,upper,size"),
        ("id,lower,upper\na,0,1\n", ":1: ", "column 'size' is missing"),
        ("id,lower,upper,size\na,0,1,4\nb,0,x,4\n", ":3: ", "upper 'x' is no integer"),
        ("id,lower,upper,size\na,0,1,4.5\n", ":2: ", "size '4.5' is no integer"),
        ("id,lower,upper,size\na,0,1\n", ":2: ", "a row needs 4 values"),
        ("id,lower,upper,size\na,0,1,4,5\n", ":2: ", "a row needs 4 values"),
        ("id,lower,upper,size\na,3,3,4\n", ":2: ", r"live range [3, 3) is empty"),
        ("id,lower,upper,size\na,0,1,4\na,2,3,-4\n", ":3: ", "differs from 4 at"),
        ("id,lower,upper,size\nb,0,1,-4\n", ":2: ", "size -4 is negative"),
        ("id,lower,upper,size\na,0,3,4\nb,0,1,4\na,2,5,4\n", ":2: ", "must not start within [0, 3)"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, text: str, place: str, message: str) -> None:
    path = _table(tmp_path, text)
    with pytest.raises(InvalidTableError) as error:
        read_table(path)
    assert str(error.value).startswith(f"{path}{place}")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTableError, match=r"absent\.csv: No such file"):
        read_table(tmp_path / "absent.csv")


def test_binary_data_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "buffers.csv"
    path.write_bytes(b"id,lower,upper,size\n\xff\xfe\x00\x01")
    with pytest.raises(InvalidTableError, match="no CSV text in UTF-8"):
        read_table(path)
