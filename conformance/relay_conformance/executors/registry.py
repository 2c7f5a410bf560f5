"""Executors by name: the ones of this package, and those that others register as entry points.

An entry point of the group ``relay_conformance.executors`` is called without arguments and gives an
:class:`~relay_conformance.executors.protocol.Executor` whose ``name`` is that of the entry point. What is not
installed is named by where it is, ``package.module:function``.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points

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
    """The executor of that name, or the one that ``package.module:function`` gives.

    Raises:
        BadArgumentError: no executor is registered under it, or its package can't be imported.
        ConformanceError: two are, or the one that is calls itself differently.
    """
    if ":" in name:
        executor = _call(name, _load(name, EntryPoint(name, name, ENTRY_POINT_GROUP)))
        _LOADED[executor.name] = executor
        return executor
    if name in _LOADED:
        return _LOADED[name]
    points = tuple(entry_points(group=ENTRY_POINT_GROUP, name=name))
    built_in = [BUILT_IN[name]] if name in BUILT_IN else []
    makers: list[Callable[[], Executor]] = [*built_in, *(_load(name, point) for point in points)]
    if not makers:
        raise BadArgumentError("executors", f"no executor is called {name}; there are {', '.join(names())}")
    if len(makers) > 1:
        raise ConformanceError(
            f"executor {name} is registered {len(makers)} times; uninstall all but one package"
        )
    executor = _call(name, makers[0])
    if executor.name != name:
        raise ConformanceError(f"the entry point {name} gives an executor that is called {executor.name}")
    return executor


# Executors that were named by where they are, by the name that they give themselves.
_LOADED: dict[str, Executor] = {}


def _load(name: str, point: EntryPoint) -> Callable[[], Executor]:
    try:
        maker: Callable[[], Executor] = point.load()
    except Exception as error:
        # Code of others may fail in any way when it is imported.
        raise BadArgumentError(
            "executors", f"{name} can't be imported: {type(error).__name__}: {error}"
        ) from error
    return maker


def _call(name: str, maker: Callable[[], Executor]) -> Executor:
    executor = maker() if callable(maker) else maker
    if not isinstance(getattr(executor, "name", None), str) or not hasattr(executor, "compile"):
        raise BadArgumentError(
            "executors", f"{name} gives {type(executor).__name__}, which has no name and no compile"
        )
    return executor
