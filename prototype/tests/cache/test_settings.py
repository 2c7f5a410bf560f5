"""What the environment variables of the cache mean."""

from pathlib import Path

import platformdirs
import pytest

from regvm.cache.settings import DEFAULT_MEGABYTES, Mode, Settings, read
from regvm.errors import ArgumentError


@pytest.mark.parametrize("unset", [{}, {"REGVM_CACHE": "", "REGVM_CACHE_DIR": "", "REGVM_CACHE_MB": ""}])
def test_by_default_everything_is_kept_in_the_platforms_folder(unset: dict[str, str]) -> None:
    folder = platformdirs.user_cache_path("relay-regvm", appauthor=False)
    assert read(unset) == Settings(Mode.ON, folder, DEFAULT_MEGABYTES * 1_000_000)


def test_each_variable_is_read(tmp_path: Path) -> None:
    variables = {"REGVM_CACHE": "kernels", "REGVM_CACHE_DIR": str(tmp_path), "REGVM_CACHE_MB": "7"}
    assert read(variables) == Settings(Mode.KERNELS, tmp_path, 7_000_000)


def test_the_process_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGVM_CACHE", "off")
    assert read().mode is Mode.OFF


@pytest.mark.parametrize(
    ("name", "value"),
    [("REGVM_CACHE", "yes"), *(("REGVM_CACHE_MB", v) for v in ("0", "-1", "1.5", "many", "²"))],
)
def test_a_value_that_makes_no_sense_is_named(name: str, value: str) -> None:
    with pytest.raises(ArgumentError, match=f"{name} is '{value}'"):
        read({name: value})
