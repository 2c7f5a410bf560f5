"""Large constants travel beside the executable, and a machine refuses to start without them."""

from pathlib import Path

import numpy as np
import pytest
import tvm
from tvm import relay

import regvm
from regvm.errors import ArgumentError, FormatError

LARGE = np.arange(64, dtype="float32")
SMALL = np.array([2], "float32")


@pytest.fixture
def executable() -> regvm.Executable:
    x = relay.var("x", shape=(64,))
    return regvm.compile(relay.Function([x], x * relay.const(SMALL) + relay.const(LARGE)), "llvm")


def run(executable: regvm.Executable) -> list[float]:
    result = regvm.VirtualMachine(executable, tvm.cpu()).run(np.ones(64, "float32"))
    return list(result.numpy())


def test_constants_move_to_a_file_and_back(executable: regvm.Executable, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    whole = len(executable.save()[0])
    executable.move_late_bound_consts(path, byte_limit=256)
    code, lib = executable.save()
    assert len(code) <= whole - 256 + 16
    loaded = regvm.Executable.load_exec(code, lib)
    loaded.load_late_bound_consts(path)
    assert run(loaded) == (2 + LARGE).tolist()


def test_constants_move_to_a_map_and_back(executable: regvm.Executable) -> None:
    taken = executable.get_late_bound_consts(byte_limit=256)
    assert [v.numpy().tolist() for v in taken.values()] == [LARGE.tolist()]
    executable.load_late_bound_consts_from_map(taken)
    assert run(executable) == (2 + LARGE).tolist()


def test_the_limit_is_inclusive_and_smaller_constants_stay(executable: regvm.Executable) -> None:
    assert executable.get_late_bound_consts(byte_limit=257) == {}
    assert len(executable.get_late_bound_consts(byte_limit=256)) == 1
    assert len(executable.get_late_bound_consts(byte_limit=0)) == 1


def test_with_none_taken_there_is_nothing_to_load(executable: regvm.Executable, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    executable.move_late_bound_consts(path, byte_limit=10_000)
    executable.load_late_bound_consts(path)
    executable.load_late_bound_consts_from_map({})
    assert run(executable) == (2 + LARGE).tolist()


def test_the_file_is_a_tvm_parameter_dictionary(executable: regvm.Executable, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    executable.move_late_bound_consts(path, byte_limit=256)
    (array,) = tvm.runtime.load_param_dict(path.read_bytes()).values()
    assert array.numpy().tolist() == LARGE.tolist()


def test_a_machine_without_them_is_refused(executable: regvm.Executable) -> None:
    executable.get_late_bound_consts(byte_limit=256)
    with pytest.raises(ArgumentError, match=r"const_\d is late-bound and not loaded"):
        run(executable)


def test_missing_unused_and_ill_typed_ones_are_refused(executable: regvm.Executable) -> None:
    taken = executable.get_late_bound_consts(byte_limit=256)
    (name,) = taken
    with pytest.raises(ArgumentError, match=f"missing {name}"):
        executable.load_late_bound_consts_from_map({})
    with pytest.raises(ArgumentError, match="not of this executable other"):
        executable.load_late_bound_consts_from_map({**taken, "other": taken[name]})
    with pytest.raises(ArgumentError, match=r"float32\[64\]"):
        executable.load_late_bound_consts_from_map({name: tvm.nd.array(LARGE[:3])})
    executable.load_late_bound_consts_from_map(taken)
    assert run(executable) == (2 + LARGE).tolist()


def test_another_file_is_refused(executable: regvm.Executable, tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"something else")
    with pytest.raises(FormatError, match="no late-bound constants"):
        executable.load_late_bound_consts(path)


def test_a_machine_made_before_keeps_its_constants(executable: regvm.Executable) -> None:
    machine = regvm.VirtualMachine(executable, tvm.cpu())
    executable.get_late_bound_consts(byte_limit=0)
    assert machine.run(np.ones(64, "float32")).numpy().tolist() == (2 + LARGE).tolist()
