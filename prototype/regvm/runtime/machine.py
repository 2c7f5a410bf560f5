"""The machine that users hold: inputs, invocation and outputs over one executable.

Shaped like ``tvm.runtime.vm.VirtualMachine``. A machine holds mutable state and belongs to one thread; the
executable is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from regvm.errors import ArgumentError
from regvm.executable import Function, Parameter
from regvm.runtime import engines
from regvm.runtime.kernels import arguments, tensors, timing
from regvm.runtime.kernels.devices import require_cpu
from regvm.runtime.values import Adt, Tensor, Value, tensors_in


class VirtualMachine:
    """Runs the functions of an executable.

    Parameters: ``exe``; ``device``, ``tvm.cpu()`` or a list of devices that holds it; ``memory_cfg``, taken for
    the reference's sake and without effect, since storage is planned; ``engine``, one of ``engines.names()``,
    where ``auto`` is the fastest that is installed; ``stack_limit``, how many frames a recursion may have at once;
    ``strict``, whether arguments must fit their parameters; otherwise they are taken as the reference takes them,
    and kernels check what they read.

    Raises ArgumentError for a device or engine that does not exist here.
    """

    NAIVE_ALLOCATOR = 1
    POOLED_ALLOCATOR = 2

    def __init__(
        self,
        exe: engines.Loadable,
        device: Any = None,
        memory_cfg: Any = None,
        *,
        engine: str = "auto",
        stack_limit: int = 1_000_000,
        strict: bool = True,
    ) -> None:
        if device is not None:
            require_cpu(device)
        del memory_cfg
        self._program = exe.program
        self._numbers = exe.program.index_of()
        self._engine = engines.create(engine, exe, stack_limit)
        self._strict = strict
        # For each parameter of a function that was called before: the quick way in for arrays of just its type.
        self._takers: dict[str, Sequence[Callable[[Any], Tensor | None]]] = {}
        self._inputs: dict[str, list[Any]] = {}
        self._destinations: dict[str, Sequence[Any]] = {}
        self._has_result = False

    @property
    def peak_intermediate_bytes(self) -> int:
        """The most memory that intermediate tensors and results have taken so far, in bytes."""
        return self._engine.allocated_bytes

    def invoke(self, func_name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a function on arguments by position and by name, or on those that were set before.

        Returns an NDArray or an ADT object. Raises ArgumentError for arguments that do not fit, ExecutionError
        if the program fails; the machine stays usable.
        """
        self.invoke_stateful(func_name, *args, **kwargs)
        return arguments.to_user(self._engine.result())

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Call ``main``."""
        return self.invoke("main", *args, **kwargs)

    def invoke_stateful(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Call a function and keep the result for ``get_outputs``."""
        if args or kwargs:
            self.set_input(func_name, *args, **kwargs)
        given = self._inputs.get(func_name)
        if given is None or None in given:
            given = self._complete(func_name)
        # A run that fails leaves no result of an earlier one.
        self._has_result = False
        self._engine.perform(self._numbers[func_name], list(given))
        self._has_result = True
        if self._destinations:
            destinations = self._destinations.pop(func_name, None)
            if destinations is not None:
                self._copy_out(func_name, destinations)

    def _complete(self, func_name: str) -> list[Value]:
        """The inputs that were set, if nothing is missing."""
        function = self._function(func_name)
        given = self._inputs.get(func_name, [None] * len(function.parameters))
        missing = [p.name for p, v in zip(function.parameters, given, strict=True) if v is None]
        if missing:
            raise ArgumentError(
                f"@{func_name}: no value is set for {', '.join(missing)}; call set_input first"
            )
        return given

    def invoke_with_outputs(
        self, func_name: str, input_args: Mapping[str, Any] | None, output_args: Sequence[Any]
    ) -> None:
        """Call a function and copy its results into the arrays of ``output_args``, one for each tensor."""
        if input_args:
            self.set_input(func_name, **input_args)
        self._destinations[func_name] = output_args
        self.invoke_stateful(func_name)

    def set_input(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Set all arguments of a function; of ``kwargs`` those that name a parameter are taken."""
        takers = self._takers.get(func_name, ())
        if not kwargs and len(args) == len(takers):
            quick = [take(argument) for take, argument in zip(takers, args, strict=True)]
            if None not in quick:
                self._inputs[func_name] = quick
                return
        function = self._function(func_name)
        named = {k: v for k, v in kwargs.items() if k in function.params}
        if len(args) + len(named) != len(function.parameters):
            raise ArgumentError(
                f"@{func_name} takes {len(function.parameters)} arguments ({', '.join(function.params)}), "
                f"but got {len(args)} by position and {len(named)} by name"
            )
        positional = iter(args)
        given = [named[p.name] if p.name in named else next(positional) for p in function.parameters]
        self._inputs[func_name] = [
            self._to_value(a, p, func_name) for a, p in zip(given, function.parameters, strict=True)
        ]
        self._takers[func_name] = [tensors.taker(p.type) for p in function.parameters]

    def set_one_input(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Set one argument: ``(name or number, value)`` or ``name=value``."""
        if len(args) + 2 * len(kwargs) != 2:
            raise ArgumentError("set_one_input takes a name or number and a value, or name=value")
        tag, value = args or next(iter(kwargs.items()))
        function = self._function(func_name)
        index = self._parameter_index(function, tag)
        values = self._inputs.setdefault(func_name, [None] * len(function.parameters))
        values[index] = self._to_value(value, function.parameters[index], func_name)

    def get_outputs(self) -> list[Any]:
        """The tensors of the last result, as NDArrays; of a tuple one for each field."""
        if not self._has_result:
            raise ArgumentError("there is no result yet; call invoke_stateful first")
        result = self._engine.result()
        fields = result.fields if isinstance(result, Adt) else (result,)
        return [arguments.to_user(f) for f in fields]

    def get_input_index(self, input_name: str, func_name: str = "main") -> int:
        """The number of the parameter with this name, or -1."""
        params = self._function(func_name).params
        return params.index(input_name) if input_name in params else -1

    def benchmark(self, device: Any, *args: Any, func_name: str = "main", **kwargs: Any) -> Any:
        """Time a function as the reference's ``benchmark`` does; returns a ``BenchmarkResult`` in seconds."""
        require_cpu(device)
        return timing.benchmark(self, device, func_name, args, kwargs)

    def _to_value(self, argument: Any, parameter: Parameter, func_name: str) -> Value:
        return arguments.to_value(argument, parameter, func_name, strict=self._strict)

    def _function(self, name: str) -> Function:
        if name not in self._numbers:
            raise ArgumentError(
                f"there is no function @{name}; the executable has {', '.join(sorted(self._numbers))}"
            )
        return self._program.functions[self._numbers[name]]

    def _parameter_index(self, function: Function, tag: Any) -> int:
        if isinstance(tag, str) and tag in function.params:
            return function.params.index(tag)
        if isinstance(tag, int) and 0 <= tag < len(function.parameters):
            return tag
        raise ArgumentError(
            f"@{function.name} has no parameter {tag!r}; it takes {', '.join(function.params)}"
        )

    def _copy_out(self, func_name: str, destinations: Sequence[Any]) -> None:
        results: list[Tensor] = list(tensors_in(self._engine.result()))
        if len(results) != len(destinations):
            raise ArgumentError(
                f"@{func_name} gives {len(results)} tensors, but {len(destinations)} outputs are set"
            )
        for number, (result, destination) in enumerate(zip(results, destinations, strict=True)):
            tensors.copy_out(result, destination, f"@{func_name}, output {number}")
