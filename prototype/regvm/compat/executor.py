"""Evaluate expressions as ``relay.create_executor`` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tvm import relay
from tvm.relay.backend.interpreter import Executor

from regvm import api
from regvm.errors import ArgumentError
from regvm.frontend import source
from regvm.runtime.machine import VirtualMachine

VM = "vm"
_REFERENCE_KINDS = ("debug", "graph", "aot")

# Taken before the shim can replace it.
_create_reference_executor = relay.create_executor


class VMExecutor(Executor):  # type: ignore[misc]  # TVM has no types.
    """Evaluates a module on the register VM.

    ``evaluate()`` gives a function of ``main``'s arguments, by position or by name; ``evaluate(expr)`` that of a
    function, or the value of any other expression, over the definitions of the module. ``options`` are the machine's.
    """

    compile: Callable[..., api.Executable] = staticmethod(api.compile)
    machine: Callable[..., VirtualMachine] = VirtualMachine

    def __init__(
        self,
        mod: Any,
        device: Any = None,
        target: Any = "llvm",
        params: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.mod = source.as_module(mod)
        self.device = device
        self.target = target
        self.executable: api.Executable | None = None
        self.vm: VirtualMachine | None = None
        self._params = params
        self._options = options

    def _make_executor(self, expr: Any = None) -> Callable[..., Any]:
        mod = self.mod if expr is None else source.with_main(self.mod, expr)
        self.executable = self.compile(mod, self.target, params=self._params)
        machine = self.machine(self.executable, self.device, **self._options)
        self.vm = machine

        def run(*args: Any, **kwargs: Any) -> Any:
            if args or kwargs:
                machine.set_input("main", *args, **kwargs)
            return machine.invoke("main")

        return run


def create_executor(*args: Any, **kwargs: Any) -> Any:
    """An executor over a module: ``create_executor([kind,] mod, device, target, params, engine=…)``.

    As ``relay.create_executor``, but for the kind, which may be left out, and is "vm" then. Other kinds are the
    reference's own. Raises ArgumentError for a kind that neither has.
    """
    if args and isinstance(args[0], str):
        return _create(*args, **kwargs)
    return _create(kwargs.pop("kind", VM), *args, **kwargs)


def _create(
    kind: str,
    mod: Any = None,
    device: Any = None,
    target: Any = "llvm",
    params: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    if kind in _REFERENCE_KINDS:
        return _create_reference_executor(kind, mod, device, target, params)
    if kind != VM:
        raise ArgumentError(
            f"there is no executor {kind!r}; choose one of {', '.join((VM, *_REFERENCE_KINDS))}"
        )
    return VMExecutor(mod, device, target, params, **options)
