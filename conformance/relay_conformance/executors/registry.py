"""Executors by name: the ones of this package, and those that others register as entry points.

An entry point of the group ``relay_conformance.executors`` is called without arguments and gives an
:class:`~relay_conformance.executors.protocol.Executor` whose ``name`` is that of the entry point.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points

from relay_conformance.errors import BadArgumentError, ConformanceError
from relay_conformance.executors.protocol import Executor
from relay_conformance.executors.register_vm import RegisterVMExecutor
from relay_conformance.executors.relax_vm import RelaxExecutor
from relay_conformance.executors.relay_executors import RelayExecutor
from relay_conformance.executors.tvm_vm import TVMVirtualMachineExecutor

ENTRY_POINT_GROUP = "relay_conformance.executors"

BUILT_IN: Mapping[str, Callable[[], Executor]] = {
    "tvm-vm": TVMVirtualMachineExecutor,
    "regvm": RegisterVMExecutor,
    "regvm-native": lambda: RegisterVMExecutor("regvm-native", "native"),
    "tvm-debug": lambda: RelayExecutor("tvm-debug", "debug"),
    "tvm-graph": lambda: RelayExecutor("tvm-graph", "graph"),
    "relax-vm": RelaxExecutor,
}


def names() -> tuple[str, ...]:
    """All registered names, the built-in ones first."""
    others = {point.name for point in entry_points(group=ENTRY_POINT_GROUP)} - BUILT_IN.keys()
    return (*BUILT_IN, *sorted(others))


def get(name: str) -> Executor:
    """The executor of that name.

    Raises:
        BadArgumentError: no executor is registered under it.
        ConformanceError: two are, or the one that is calls itself differently.
    """
    points = tuple(entry_points(group=ENTRY_POINT_GROUP, name=name))
    built_in = [BUILT_IN[name]] if name in BUILT_IN else []
    makers: list[Callable[[], Executor]] = [*built_in, *(point.load() for point in points)]
    if not makers:
        raise BadArgumentError("executors", f"no executor is called {name}; there are {', '.join(names())}")
    if len(makers) > 1:
        raise ConformanceError(
            f"executor {name} is registered {len(makers)} times; uninstall all but one package"
        )
    executor: Executor = makers[0]()
    if executor.name != name:
        raise ConformanceError(f"the entry point {name} gives an executor that is called {executor.name}")
    return executor
