"""The import contracts of ``pyproject.toml`` hold on a sound tree, and each planted violation breaks one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]

SOUND = {
    "relay_conformance": "import regvm.compiler",
    "regvm": "from regvm.compiler import compile",
    "regvm.cli": "import regvm.compiler",
    "regvm.codegen": "import regvm.regalloc.linear_scan, regvm.ir",
    "regvm.compat": "import tvm",
    "regvm.compiler": "import regvm.codegen, regvm.frontend.passes, regvm.verifier, regvm.runtime.kernels",
    "regvm.frontend": "",
    "regvm.frontend.passes": "import tvm.relay",
    "regvm.ir": "import regvm.isa",
    "regvm.isa": "",
    "regvm.memory": "",
    "regvm.memory.checker": "import regvm.ir",
    "regvm.memory.loop_exits": "",
    "regvm.memory.placement": "",
    "regvm.memory.placement_checker": "import regvm.ir",
    "regvm.memory.strategies": "import regvm.ir",
    "regvm.memory.strategies.greedy": "import regvm.ir",
    "regvm.regalloc": "",
    "regvm.regalloc.allocation": "",
    "regvm.regalloc.checker": "import regvm.ir",
    "regvm.regalloc.linear_scan": "import regvm.ir",
    "regvm.runtime": "",
    "regvm.runtime.interpreter": "import regvm.executable",
    "regvm.executable": "",
    "regvm.runtime.kernels": "",
    "regvm.runtime.kernels.prebuilt": "import tvm",
    "regvm.tvm_loading": "import tvm",
    "regvm.verifier": "import regvm.isa",
}
VIOLATIONS = {
    "regvm.codegen": "tensorflow",
    "regvm.frontend.passes": "keras",
    "regvm.runtime": "relay_conformance",
    "regvm.runtime.interpreter": "tvm",
    "regvm.isa": "regvm.ir",
    "regvm.ir": "regvm.regalloc.linear_scan",
    "regvm.regalloc": "regvm.codegen",
    "regvm.memory.strategies": "regvm.compiler",
    "regvm.compiler": "regvm.cli",
    "regvm.regalloc.checker": "regvm.regalloc.allocation",
    "regvm.memory.checker": "regvm.memory.strategies.greedy",
    "regvm.memory.placement_checker": "regvm.memory.loop_exits",
    "regvm.verifier": "regvm.codegen",
}


def plant(folder: Path, modules: dict[str, str]) -> None:
    for name, text in modules.items():
        path = folder.joinpath(*name.split("."), "__init__.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "pyproject.toml", folder)
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as run; run()",
            "--no-cache",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    folder = tmp_path_factory.mktemp("broken")
    plant(
        folder,
        {
            name: f"{text}\nimport {VIOLATIONS[name]}" if name in VIOLATIONS else text
            for name, text in SOUND.items()
        },
    )
    return lint(folder)


def test_a_sound_tree_keeps_every_contract(tmp_path: Path) -> None:
    plant(tmp_path, SOUND)
    result = lint(tmp_path)
    assert result.returncode == 0, result.stdout
    assert " 0 broken" in result.stdout


def test_modules_that_do_not_exist_yet_break_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {"regvm": "", "regvm.tvm_loading": "import tvm", "relay_conformance": ""})
    result = lint(tmp_path)
    assert result.returncode == 0, result.stdout


def test_violations_break_every_contract(broken: subprocess.CompletedProcess[str]) -> None:
    assert broken.returncode == 1
    assert " 0 kept" in broken.stdout, broken.stdout


@pytest.mark.parametrize(("importer", "imported"), VIOLATIONS.items())
def test_a_violation_is_named(importer: str, imported: str, broken: subprocess.CompletedProcess[str]) -> None:
    assert f"{importer} -> {imported} (l.2)" in broken.stdout


def test_a_module_without_a_layer_is_refused(tmp_path: Path) -> None:
    plant(tmp_path, {**SOUND, "regvm.misplaced": ""})
    result = lint(tmp_path)
    assert result.returncode == 1
    assert "regvm.misplaced" in result.stdout
