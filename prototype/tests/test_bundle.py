"""One file holds an executable; it is the same for the same executable, written whole, and checked when read."""

import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regvm import bundle
from regvm.errors import FormatError

CODE = bytes(range(256)) * 4
KERNELS = [f"; kernel {n}\n" * 50 for n in range(12)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("bundle") / "model.regvm"
    bundle.write(path, CODE, KERNELS)
    return path.read_bytes()


def test_what_is_written_is_read_back_in_order(tmp_path: Path) -> None:
    bundle.write(tmp_path / "a", CODE, KERNELS)
    assert bundle.read(tmp_path / "a") == (CODE, KERNELS)


def test_more_than_a_thousand_kernel_texts_keep_their_order(tmp_path: Path) -> None:
    many = [str(n) for n in range(1100)]
    bundle.write(tmp_path / "a", CODE, many)
    assert bundle.read(tmp_path / "a")[1] == many


def test_no_kernels_are_no_members(tmp_path: Path) -> None:
    bundle.write(tmp_path / "a", CODE, [])
    assert bundle.read(tmp_path / "a") == (CODE, [])


def test_the_same_executable_is_the_same_file(tmp_path: Path, written: bytes) -> None:
    bundle.write(tmp_path / "elsewhere", CODE, KERNELS)
    assert (tmp_path / "elsewhere").read_bytes() == written


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    bundle.write(tmp_path / "a", CODE, KERNELS)
    with pytest.raises(TypeError):
        bundle.write(tmp_path / "a", CODE, [KERNELS[0], 7])  # type: ignore[list-item]
    assert os.listdir(tmp_path) == ["a"]
    assert bundle.read(tmp_path / "a") == (CODE, KERNELS)


def test_a_folder_that_does_not_exist_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        bundle.write(tmp_path / "absent" / "a", CODE, KERNELS)
    with pytest.raises(FileNotFoundError):
        bundle.read(tmp_path / "absent")


def _refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(FormatError) as refused:
        bundle.read(path)
    return str(refused.value)


def test_another_file_is_refused_with_its_name_and_the_mend(tmp_path: Path) -> None:
    message = _refused(tmp_path / "a", b"not a zip archive")
    assert message.startswith(f"{tmp_path / 'a'}: not a register VM executable")
    assert message.endswith("write one with 'regvm compile'")
    assert _refused(tmp_path / "empty", b"")


def test_an_archive_of_other_things_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("readme", "hello")
    assert "program.bin" in _refused(tmp_path / "a", (tmp_path / "z").read_bytes())


def test_kernel_text_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("program.bin", CODE)
        archive.writestr("kernels/000.ll", b"\xff\xfe\xff")
    _refused(tmp_path / "a", (tmp_path / "z").read_bytes())


def test_every_truncation_is_refused(tmp_path: Path, written: bytes) -> None:
    for length in range(0, len(written), 7):
        _refused(tmp_path / "a", written[:length])


@settings(max_examples=300)
@given(data=st.data())
def test_a_flipped_bit_is_refused_or_changes_nothing_that_matters(
    tmp_path_factory: pytest.TempPathFactory, written: bytes, data: st.DataObject
) -> None:
    damaged = bytearray(written)
    damaged[data.draw(st.integers(0, len(written) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path_factory.getbasetemp() / "damaged.regvm"
    path.write_bytes(damaged)
    try:
        code, kernels = bundle.read(path)
    except FormatError:
        return
    assert code == CODE
    # A damaged directory may lose a member; what is read is read right.
    assert set(kernels) <= set(KERNELS)
