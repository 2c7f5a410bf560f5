"""The store gives back what was put, whole or not at all, whatever happens to its folder."""

import os
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from regvm.cache.store import Store

KEY = "ab" + "0" * 62
OTHER = "cd" + "1" * 62


def _only_entry(folder: Path) -> Path:
    (path,) = folder.glob("*/*.entry")
    return path


def test_what_was_put_is_found_by_this_store_and_by_another(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "folder", 1_000)
    assert store.get(KEY) is None
    store.put(KEY, b"kernel")
    assert store.get(KEY) == b"kernel"
    assert Store(tmp_path / "new" / "folder", 1_000).get(KEY) == b"kernel"
    assert store.get(OTHER) is None


def test_nobody_else_may_write_to_the_folder(tmp_path: Path) -> None:
    Store(tmp_path / "cache", 1_000).put(KEY, b"kernel")
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0


def _truncate(entry: bytes) -> bytes:
    return entry[:-1]


def _flip_last_bit(entry: bytes) -> bytes:
    return entry[:-1] + bytes([entry[-1] ^ 1])


def _flip_in_checksum(entry: bytes) -> bytes:
    return entry[:20] + bytes([entry[20] ^ 128]) + entry[21:]


@pytest.mark.parametrize(
    "damage", [_truncate, _flip_last_bit, _flip_in_checksum, lambda _: b"", lambda e: e + b"more"]
)
def test_a_damaged_entry_is_absent_and_makes_room(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    store = Store(tmp_path, 1_000)
    store.put(KEY, b"kernel")
    path = _only_entry(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    assert store.get(KEY) is None
    assert not path.exists()
    store.put(KEY, b"kernel")
    assert store.get(KEY) == b"kernel"


def test_an_entry_under_another_ones_name_is_absent(tmp_path: Path) -> None:
    store = Store(tmp_path, 1_000)
    store.put(KEY, b"kernel")
    target = tmp_path / OTHER[:2] / f"{OTHER}.entry"
    target.parent.mkdir()
    _only_entry(tmp_path).rename(target)
    assert store.get(OTHER) is None


def test_beyond_the_limit_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path, 4_000)
    keys = [f"{number:02x}" + "f" * 62 for number in range(4)]
    for age, key in enumerate(keys):
        store.put(key, bytes(900))
        path = tmp_path / key[:2] / f"{key}.entry"
        os.utime(path, ns=(10**18 + age, 10**18 + age))
    assert store.get(keys[0]) is not None
    store.put(KEY, bytes(900))
    kept = [key for key in [*keys, KEY] if store.get(key) is not None]
    assert kept == [keys[0], keys[3], KEY]


def test_the_store_stays_within_its_limit(tmp_path: Path) -> None:
    store = Store(tmp_path, 10_000)
    for number in range(100):
        store.put(f"{number:064x}", bytes(400))
        assert sum(p.stat().st_size for p in tmp_path.glob("*/*")) <= 10_000


def test_what_is_larger_than_the_store_is_not_kept(tmp_path: Path) -> None:
    store = Store(tmp_path, 1_000)
    store.put(OTHER, b"small")
    store.put(KEY, bytes(1_000))
    assert store.get(KEY) is None
    assert store.get(OTHER) == b"small"


def test_what_a_killed_process_left_is_removed_after_an_hour(tmp_path: Path) -> None:
    folder = tmp_path / "ab"
    folder.mkdir()
    old, new = folder / "old.partial", folder / "new.partial"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    Store(tmp_path, 1_000).put(KEY, b"kernel")
    assert (old.exists(), new.exists()) == (False, True)


WRITE_OFTEN = """
import sys
from pathlib import Path
from regvm.cache.store import Store
key, folder, payload = sys.argv[1], Path(sys.argv[2]), bytes(range(256)) * 400
store = Store(folder, 1_000_000)
for _ in range(200):
    store.put(key, payload)
    assert store.get(key) == payload
"""


@pytest.mark.thorough
def test_two_processes_that_write_the_same_entry_never_see_half_of_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE_OFTEN, KEY, str(tmp_path)]
    writers = [subprocess.Popen(command) for _ in range(2)]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    assert Store(tmp_path, 1_000_000).get(KEY) == bytes(range(256)) * 400
    assert not list(tmp_path.glob("*/*.partial"))


def _warns_once_and_goes_on(folder: Path) -> None:
    store = Store(folder, 10_000_000)
    with pytest.warns(RuntimeWarning, match="nothing more is kept in the cache") as told:
        store.put(KEY, bytes(1_000_000))
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.put(OTHER, b"more")
        assert store.get(KEY) is None
    assert not list(folder.glob("*/*.partial"))


def test_a_place_that_cannot_be_a_folder_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    _warns_once_and_goes_on(tmp_path / "file" / "cache")


def test_a_write_that_the_system_cuts_short_is_told_once_and_leaves_nothing(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, hard))
    try:
        _warns_once_and_goes_on(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


_ON_A_SMALL_DISK = """
import sys, warnings
from pathlib import Path
import regvm.cache.store as s
folder, key = Path(sys.argv[1]), "ab" + "0" * 62
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    store = s.Store(folder, 10_000_000)
    kept = store.get(key)
    store.put("cd" + "1" * 62, bytes(1_000_000))
    store.put("ef" + "2" * 62, b"more")
print(kept, len(told), told[0].message if told else "", len(list(folder.glob("*/*.partial"))))
"""


def _on_a_mounted_folder(folder: Path, prepare: str) -> str:
    """Run the script where ``folder`` is a file system of 100 kB, in a mount namespace of its own."""
    mount = f"mount -t tmpfs -o size=100k none '{folder}'"
    may_mount = subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, check=False)
    if may_mount.returncode:
        pytest.skip(f"this machine lets nobody mount a file system: {may_mount.stderr.decode().strip()}")
    script = f"{mount} && {prepare} && exec '{sys.executable}' -c \"$1\" '{folder}'"
    run = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "sh", _ON_A_SMALL_DISK],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    return run.stdout.strip()


def test_a_full_disk_is_told_once_and_left_clean(tmp_path: Path) -> None:
    told = _on_a_mounted_folder(tmp_path, "true")
    assert told.startswith("None 1 nothing more is kept in the cache")
    assert "No space left on device" in told
    assert told.endswith(" 0")


def test_a_read_only_folder_is_read_and_told_once(tmp_path: Path) -> None:
    made = tmp_path / "made"
    Store(made, 1_000).put(KEY, b"kernel")
    folder = tmp_path / "mounted"
    folder.mkdir()
    told = _on_a_mounted_folder(folder, f"cp -r '{made}/.' '{folder}' && mount -o remount,ro '{folder}'")
    assert told.startswith("b'kernel' 1 nothing more is kept in the cache")
    assert "Read-only file system" in told
