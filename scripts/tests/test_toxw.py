"""``scripts/toxw`` where it cannot do its work: status 2, one line on standard error that names the mend."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
TOOLS = ("chmod", "dirname", "mkdir", "mktemp", "mv", "readlink", "rm", "sh", "uname")
RUNNING = f"python{sys.version_info.major}.{sys.version_info.minor}"
NO_SUCH_INDEX = "http://127.0.0.1:9/simple"


class Checkout:
    """A checkout with the wrapper alone, and a ``PATH`` that holds only what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        for path in (self.bin, folder / "home", folder / "scripts"):
            path.mkdir()
        shutil.copy(ROOT / "scripts" / "toxw", folder / "scripts" / "toxw")
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found, tool
            (self.bin / tool).symlink_to(found)

    def program(self, name: str, script: str) -> Path:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def python(self, name: str, folder: Path | None = None) -> Path:
        """A working Python; making an environment with it gives one whose pip reaches no index."""
        failing_pip = r"printf '#!/bin/sh\nexit 1\n'"
        return self.program(
            str((folder or self.bin) / name),
            f'if [ "$1" = -m ]; then mkdir -p "$3/bin"; {failing_pip} > "$3/bin/python"; '
            f'chmod +x "$3/bin/python"; else exec "{sys.executable}" "$@"; fi',
        )

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.folder / "scripts" / "toxw"), *arguments],
            env={"PATH": str(self.bin), "HOME": str(self.folder / "home"), **environment},
            cwd="/",
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    def refusal(self, **environment: str) -> str:
        result = self.run("-e", "fast", **environment)
        assert result.returncode == 2, result
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1, result.stderr
        assert result.stderr.startswith("toxw: ")
        return result.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_no_python_at_all_is_refused(checkout: Checkout) -> None:
    assert "no usable Python 3.10, 3.11 or 3.12 found: install one" in checkout.refusal()


def test_a_python_that_is_too_new_is_named(checkout: Checkout) -> None:
    checkout.program("python3", 'case "$2" in *platform*) echo 3.13.0 ;; *) exit 1 ;; esac')
    assert "(python3 is 3.13.0)" in checkout.refusal()


def test_a_shim_that_fails_is_no_python(checkout: Checkout) -> None:
    checkout.program(RUNNING, f'echo "pyenv: {RUNNING}: command not found" >&2; exit 127')
    assert "no usable Python" in checkout.refusal()


def test_a_name_that_lies_about_its_version_is_no_python(checkout: Checkout) -> None:
    other = "python3.12" if RUNNING != "python3.12" else "python3.11"
    checkout.python(other)
    assert "no usable Python" in checkout.refusal()


def test_without_its_modules_it_is_no_python(checkout: Checkout) -> None:
    checkout.program(
        RUNNING,
        f'exec "{sys.executable}" -c "import sys; sys.modules[\'venv\'] = None; exec(sys.argv[1])" "$2"',
    )
    assert "no usable Python" in checkout.refusal()


def test_a_named_python_that_does_not_exist_is_refused(checkout: Checkout) -> None:
    assert "TOXW_PYTHON=/no/python is not a program" in checkout.refusal(TOXW_PYTHON="/no/python")


def test_a_named_python_that_does_not_fit_is_refused_though_another_would(checkout: Checkout) -> None:
    checkout.python(RUNNING)
    broken = checkout.program("broken", "exit 1")
    assert f"TOXW_PYTHON={broken} cannot be used" in checkout.refusal(TOXW_PYTHON=str(broken))


@pytest.mark.parametrize("machine", ["Darwin arm64", "Linux aarch64"])
def test_another_platform_is_refused(checkout: Checkout, machine: str) -> None:
    checkout.python(RUNNING)
    checkout.program("uname", f"echo {machine}")
    assert f"this machine is '{machine}'" in checkout.refusal()


def test_a_failing_shim_does_not_hide_the_python_behind_it(checkout: Checkout) -> None:
    pyenv = checkout.folder / "pyenv"
    checkout.program(str(pyenv / "shims" / RUNNING), "exit 127")
    checkout.python(RUNNING, pyenv / "versions" / f"{RUNNING.removeprefix('python')}.1" / "bin")
    assert "is there a network?" in checkout.refusal(PATH=f"{pyenv}/shims:{checkout.bin}")


def test_an_index_that_is_out_of_reach_is_said_and_leaves_nothing_half_built(checkout: Checkout) -> None:
    checkout.python(RUNNING)
    assert "is there a network?" in checkout.refusal()
    assert [path.name for path in (checkout.folder / ".toxw").iterdir()] == ["install.log"]


def test_a_checkout_that_cannot_be_written_is_refused(checkout: Checkout) -> None:
    checkout.python(RUNNING)
    (checkout.folder / ".toxw").write_text("in the way")
    assert "make the checkout writable" in checkout.refusal()


@pytest.mark.slow
def test_a_real_pip_without_a_network_ends_in_the_same_line(checkout: Checkout) -> None:
    line = checkout.refusal(
        TOXW_PYTHON=sys.executable, PIP_INDEX_URL=NO_SUCH_INDEX, PIP_CONFIG_FILE=os.devnull
    )
    assert "is there a network?" in line
