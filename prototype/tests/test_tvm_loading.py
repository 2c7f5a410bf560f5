"""TVM and TensorFlow share a process in both orders; where they cannot, an error says so before a crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

PROTOTYPE = Path(__file__).parents[1]

RUN_TVM = """
from tvm import relay
import numpy as np
import tvm
argument = relay.var("x", shape=(3,), dtype="float32")
module = tvm.IRModule.from_expr(relay.Function([argument], argument * argument + relay.const(1.0)))
machine = tvm.runtime.vm.VirtualMachine(relay.vm.compile(module, "llvm"), tvm.cpu())
assert machine.invoke("main", np.float32([1, 2, 3])).numpy().tolist() == [2, 5, 10]
"""
RUN_TENSORFLOW = """
import numpy as np
with tf.Graph().as_default():
    argument = tf.compat.v1.placeholder(tf.float32, (3, 3))
    product = tf.matmul(argument, argument)
    with tf.compat.v1.Session() as session:
        assert session.run(product, {argument: 2 * np.eye(3)}).tolist() == (4 * np.eye(3)).tolist()
compiled = tf.function(lambda value: value * value + 1.0, jit_compile=True)
assert compiled(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [2, 5, 10]
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(PROTOTYPE), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def assert_succeeds(script: str) -> None:
    finished = run(script)
    assert finished.returncode == 0, finished.stderr


def test_import_regvm_loads_tvm_out_of_sight_of_other_libraries() -> None:
    assert_succeeds(
        "import regvm, sys; assert 'tvm' in sys.modules\n"
        "assert not regvm.tvm_loading.tvm_symbols_are_global()\n" + RUN_TVM
    )


def test_ctypes_keeps_its_own_constant() -> None:
    assert_succeeds(
        "import ctypes; before = ctypes.RTLD_GLOBAL\nimport regvm\nassert ctypes.RTLD_GLOBAL == before"
    )


def test_tvm_downloads_nothing_unless_told_to() -> None:
    assert_succeeds("import os, regvm; assert os.environ['TOPHUB_LOCATION'] == 'NONE'")
    assert_succeeds(
        "import os; os.environ['TOPHUB_LOCATION'] = 'here'\n"
        "import regvm; assert os.environ['TOPHUB_LOCATION'] == 'here'"
    )


def test_tvm_loaded_first_still_works_without_tensorflow() -> None:
    assert_succeeds("import tvm, regvm\nassert regvm.tvm_loading.tvm_symbols_are_global()\n" + RUN_TVM)


def test_tvm_loaded_first_refuses_a_later_tensorflow_and_names_the_mend() -> None:
    finished = run("import tvm, regvm\nimport tensorflow")
    assert finished.returncode == 1
    last_line = finished.stderr.splitlines()[-1]
    assert "UnsafeTVMLoadError: cannot import tensorflow" in last_line
    assert "`import regvm` before `import tvm`" in last_line


def test_the_refusal_leaves_the_question_whether_tensorflow_is_installed() -> None:
    assert_succeeds("import tvm, regvm\nfrom importlib.util import find_spec\nassert find_spec('tensorflow')")


def test_loading_again_installs_one_guard() -> None:
    assert_succeeds(
        "import sys, tvm, regvm\nbefore = len(sys.meta_path)\n"
        "regvm.tvm_loading.load()\nassert len(sys.meta_path) == before"
    )


@pytest.mark.tensorflow
def test_regvm_then_tensorflow() -> None:
    assert_succeeds("import regvm\nimport tensorflow as tf\n" + RUN_TVM + RUN_TENSORFLOW + RUN_TVM)


@pytest.mark.tensorflow
def test_tensorflow_then_regvm() -> None:
    assert_succeeds("import tensorflow as tf\nimport regvm\n" + RUN_TENSORFLOW + RUN_TVM + RUN_TENSORFLOW)


@pytest.mark.tensorflow
@pytest.mark.parametrize("first", ["tvm", "tensorflow"])
def test_both_loaded_the_unsafe_way_is_an_error_that_names_the_mend(first: str) -> None:
    second = {"tvm": "tensorflow", "tensorflow": "tvm"}[first]
    finished = run(
        f"import os, {first}\nimport {second}\nprint('both loaded', flush=True)\n"
        "try:\n    import regvm\nexcept ImportError as error:\n"
        "    print(type(error).__name__, error, flush=True)\n"
        # Leaving in the ordinary way would run the destructors of the two mixed-up libraries.
        "    os._exit(7)"
    )
    if finished.returncode < 0 and "both loaded" not in finished.stdout:
        pytest.skip("this TensorFlow crashes in its own import, before regvm is asked")
    assert finished.returncode == 7, finished.stderr
    assert "UnsafeTVMLoadError cannot use tvm and tensorflow in one process" in finished.stdout
    assert "`import regvm` before `import tvm`" in finished.stdout
