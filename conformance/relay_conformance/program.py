"""What every executor is given: a Relay module, its weights, and the inputs that ``main`` still needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from relay_conformance.errors import BadArgumentError, BadInputError, UnsupportedModelError
from relay_conformance.tvm_api import relay, tvm

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class TensorSpec:
    """The name, shape and dtype of an input; a dimension of ``None`` takes any size."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str

    def __str__(self) -> str:
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        return f"{self.name}: ({sizes}) {self.dtype}"

    def accepts(self, array: Array) -> bool:
        return (
            str(array.dtype) == self.dtype
            and array.ndim == len(self.shape)
            and all(size in (None, actual) for size, actual in zip(self.shape, array.shape, strict=True))
        )


@dataclass(frozen=True)
class Program:
    """``main`` takes ``inputs`` in this order once ``params`` are bound by name. Pickles as TVM's JSON."""

    module: Any
    params: Mapping[str, Array]
    inputs: tuple[TensorSpec, ...]


def program_from_module(module: Any, params: Mapping[str, Array] | None = None) -> Program:
    """A program of an ``IRModule`` with ``main``.

    Raises:
        BadInputError: the module has no ``main``, fails the type check, or takes something that is no tensor.
    """
    weights = dict(params or {})
    if not any(name.name_hint == "main" for name in module.get_global_vars()):
        raise BadInputError("the Relay module has no function `main`")
    try:
        typed = relay.transform.InferType()(module)
    except tvm.TVMError as error:
        raise UnsupportedModelError(f"the Relay module fails its type check: {one_line(error)}") from error
    arguments = [parameter for parameter in typed["main"].params if parameter.name_hint not in weights]
    return Program(typed, weights, tuple(_spec(argument) for argument in arguments))


def _spec(argument: Any) -> TensorSpec:
    kind = argument.checked_type
    if not isinstance(kind, relay.TensorType):
        raise BadInputError(f"input {argument.name_hint} of `main` must be a tensor, not {kind}")
    shape = tuple(int(size) if isinstance(size, tvm.tir.IntImm) else None for size in kind.shape)
    return TensorSpec(argument.name_hint, shape, kind.dtype)


def check_inputs(specs: Sequence[TensorSpec], given: Mapping[str, Array], argument: str) -> dict[str, Array]:
    """The given arrays in the order of ``specs``; names may carry TensorFlow's ``:0``.

    Raises:
        BadArgumentError: one is missing, unknown, or of another shape or dtype; it names ``argument``.
    """
    arrays = {name.removesuffix(":0"): array for name, array in given.items()}
    known = {spec.name for spec in specs}
    wanted = "; ".join(str(spec) for spec in specs) or "no inputs"
    for name in arrays:
        if name not in known:
            raise BadArgumentError(argument, f"no input is called {name}; the model takes {wanted}")
    for spec in specs:
        if spec.name not in arrays:
            raise BadArgumentError(argument, f"input {spec.name} is missing; the model takes {wanted}")
        array = arrays[spec.name]
        if not spec.accepts(array):
            given_spec = TensorSpec(spec.name, array.shape, str(array.dtype))
            raise BadArgumentError(argument, f"got {given_spec}, but the model takes {spec}")
    return {spec.name: arrays[spec.name] for spec in specs}


def one_line(error: BaseException) -> str:
    """The sentence of an error: TVM puts a stack trace before it and a listing after it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = [line for line in lines if line.split(":")[0].endswith("Error") and " " not in line.split(":")[0]]
    return (named or lines or [type(error).__name__])[0 if not named else -1]
