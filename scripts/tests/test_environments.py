"""The tox environments install what their names say, and those of one folder share one installation."""

import configparser
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]

TOX_INI = """
[tox]
env_list = one, two
[testenv]
runner = shared
package = skip
env_dir = {work_dir}/both
[testenv:one]
commands = python -c "import sys, pathlib; pathlib.Path(sys.prefix, 'left-by-one').touch()"
[testenv:two]
commands = python -c "import sys, pathlib; assert pathlib.Path(sys.prefix, 'left-by-one').exists()"
"""


def constraints() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def pinned(name: str, python: str) -> str:
    matching = [
        str(pin.specifier)
        for pin in constraints()
        if pin.name == name and (pin.marker is None or pin.marker.evaluate({"python_version": python}))
    ]
    assert len(matching) == 1, (name, python, matching)
    return matching[0].removeprefix("==")


def matrix() -> list[str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf-8")
    return parser["tox"]["labels"].split("matrix = ")[1].splitlines()[0].split(", ")


@pytest.mark.parametrize("name", matrix())
def test_an_environment_of_the_matrix_has_the_versions_of_its_name(name: str) -> None:
    parts = re.fullmatch(r"py3(\d+)-tf2(\d+)", name)
    assert parts, name
    assert pinned("tensorflow-cpu", f"3.{parts[1]}").startswith(f"2.{parts[2]}.")


def test_the_matrix_covers_the_supported_pythons() -> None:
    assert [name.split("-")[0] for name in matrix()] == ["py310", "py311", "py312"]


def test_the_wrapper_and_the_constraints_name_the_same_tox() -> None:
    wrapper = (ROOT / "scripts" / "toxw").read_text(encoding="utf-8")
    assert f"\nTOX_VERSION={pinned('tox', '3.11')}\n" in wrapper


@pytest.mark.skipif("TOX_ENV_NAME" not in os.environ, reason="only tox promises these versions")
@pytest.mark.parametrize("name", sorted({pin.name for pin in constraints()}))
def test_what_is_installed_is_what_the_constraints_say(name: str) -> None:
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    applicable = [
        pin for pin in constraints() if pin.name == name and (pin.marker is None or pin.marker.evaluate())
    ]
    if applicable:
        assert importlib.metadata.version(name) == pinned(name, running)


def run_tox(folder: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOX")}
    result = subprocess.run(
        [sys.executable, "-m", "tox", "--colored", "no", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture
def shared_project(tmp_path: Path) -> Path:
    (tmp_path / "tox.ini").write_text(TOX_INI)
    shutil.copy(ROOT / "toxfile.py", tmp_path)
    return tmp_path


def test_environments_of_one_folder_share_it_from_run_to_run(shared_project: Path) -> None:
    output = run_tox(shared_project, "run", "-e", "one,two") + run_tox(shared_project, "run", "-e", "two")
    assert "recreate" not in output
    assert "remove tox env folder" not in output


def test_recreation_is_done_once_for_all_of_them(shared_project: Path) -> None:
    run_tox(shared_project, "run", "-e", "one")
    output = run_tox(shared_project, "run", "-r", "-e", "one,two")
    assert output.count("remove tox env folder") == 1
