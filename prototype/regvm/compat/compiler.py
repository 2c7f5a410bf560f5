"""The compiler in steps, as ``tvm.relay.backend.vm.VMCompiler`` offers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm

from regvm import api
from regvm.errors import CompileError
from regvm.frontend import source


class VMCompiler:
    """Compiles one module: ``set_params``, ``lower``, ``codegen``, ``get_exec``.

    ``lower`` runs the Relay passes; bytecode and kernels are made by ``codegen``, so what the register VM does
    not support is refused there.
    """

    def __init__(self) -> None:
        self._params: dict[str, Any] = {}
        self._lowered: source.LoweredSource | None = None
        self._executable: api.Executable | None = None

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Values for parameters of ``main``, by name, as NDArrays or NumPy arrays."""
        for name, value in params.items():
            data = value.data if isinstance(value, tvm.relay.Constant) else value
            self._params[name] = data if isinstance(data, tvm.nd.NDArray) else tvm.nd.array(data)

    def get_params(self) -> dict[str, Any]:
        """The values that were set, as NDArrays."""
        return dict(self._params)

    def lower(self, mod: Any, target: Any = None, target_host: Any = None) -> None:
        """Run the Relay passes. Raises CompileError as ``regvm.compile`` does."""
        self._lowered = source.lower(mod, target, target_host, self._params)

    def codegen(self) -> None:
        """Make bytecode and kernels. Raises CompileError before ``lower``, UnsupportedError as ``compile`` does."""
        if self._lowered is None:
            raise CompileError("there is no lowered module yet; call lower first")
        self._executable = api.generate(self._lowered)

    def optimize(
        self,
        mod: Any,
        target: Any = None,
        target_host: Any = None,
        params: Mapping[str, Any] | None = None,
    ) -> tuple[tvm.IRModule, dict[str, Any]]:
        """The lowered module in A-normal form, without memory operators, and the parameters."""
        if params:
            self.set_params(params)
        self.lower(mod, target, target_host)
        assert self._lowered is not None
        return self._lowered.module, self.get_params()

    def get_exec(self) -> api.Executable:
        """The executable. Raises CompileError before ``codegen``."""
        if self._executable is None:
            raise CompileError("there is no executable yet; call lower and codegen first")
        return self._executable
