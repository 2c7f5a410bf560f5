"""Executors come by name, from here or from another package; a wrong name says which there are."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from relay_conformance.errors import BadArgumentError, ConformanceError
from relay_conformance.executors import registry


@dataclass(frozen=True)
class OtherExecutor:
    name: str = "other"

    def compile(self, program: Any, target: str) -> Any:
        raise NotImplementedError


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """Entry points as if another package had declared them."""
    points: list[EntryPoint] = []

    def entry_points(*, group: str, name: str | None = None) -> list[EntryPoint]:
        assert group == "relay_conformance.executors"
        return [point for point in points if name in (None, point.name)]

    monkeypatch.setattr(registry, "entry_points", entry_points)
    monkeypatch.setattr(EntryPoint, "load", lambda _: OtherExecutor)
    return points


def point(name: str) -> EntryPoint:
    return EntryPoint(name, "other:OtherExecutor", registry.ENTRY_POINT_GROUP)


@pytest.mark.parametrize("name", ["tvm-vm", "regvm", "regvm-native", "tvm-debug", "tvm-graph", "relax-vm"])
def test_the_designed_executors_are_registered_under_their_own_names(name: str) -> None:
    assert name in registry.names()
    assert registry.get(name).name == name


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        BadArgumentError, match="executors: no executor is called nothing; there are tvm-vm, regvm"
    ):
        registry.get("nothing")


def test_another_package_registers_one(installed: list[EntryPoint]) -> None:
    installed.append(point("other"))
    assert registry.names()[-1] == "other"
    assert isinstance(registry.get("other"), OtherExecutor)


@pytest.mark.parametrize("name", ["other", "regvm"])
def test_a_name_that_is_taken_twice_is_an_error(name: str, installed: list[EntryPoint]) -> None:
    installed += [point(name), point(name)]
    with pytest.raises(ConformanceError, match=f"{name} is registered [23] times"):
        registry.get(name)


def test_an_entry_point_must_carry_its_executor_s_name(installed: list[EntryPoint]) -> None:
    installed.append(point("alias"))
    with pytest.raises(ConformanceError, match="alias gives an executor that is called other"):
        registry.get("alias")
