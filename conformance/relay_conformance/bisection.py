"""Where in a program two executors first differ: its bindings are made outputs, and their values compared.

The program is brought to A-normal form, in which each operation of ``main`` has a name, and is run once more with the
tensors of all names as its outputs. Other outputs change what is fused and how long values live, so that a
difference may hide; then there is nothing to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from relay_conformance.comparison import bit_differences
from relay_conformance.execution import Failure, Measurement, execute
from relay_conformance.executors.protocol import Executor
from relay_conformance.isolation import Worker
from relay_conformance.program import Array, Program
from relay_conformance.tvm_api import relay, tvm
from relay_conformance.values import Outputs


@dataclass(frozen=True)
class Binding:
    """A name in ``main`` and its value; ``tensor`` where its value can be an output."""

    variable: Any
    value: Any
    tensor: bool

    def __str__(self) -> str:
        return f"binding {self.variable.name_hint}: {_operation(self.value)}"


def first_difference(
    worker: Worker, reference: Executor, subject: Executor, program: Program, inputs: Sequence[Array]
) -> str | None:
    """The first binding in which ``subject`` leaves ``reference``, and how; ``None`` if that does not show."""
    bound = _bindings(program)
    tensors = [binding for binding in bound if binding.tensor]
    if not tensors:
        return None
    expected = execute(worker, reference, _exposing(program, bound, len(bound)), inputs, 0)
    if isinstance(expected, Failure):
        return None
    found = execute(worker, subject, _exposing(program, bound, len(bound)), inputs, 0)
    if isinstance(found, Failure):
        return _first_failure(worker, subject, program, bound, inputs)
    return _first_of(tensors, expected, found)


def _first_of(tensors: Sequence[Binding], expected: Measurement, found: Measurement) -> str | None:
    for binding, *pair in zip(tensors, expected.outputs.arrays, found.outputs.arrays, strict=True):
        differences = bit_differences(*(Outputs((array,), "*") for array in pair))
        if differences:
            return f"{binding}: {str(differences[0]).removeprefix('output 0: ')}"
    return None


def _first_failure(
    worker: Worker, subject: Executor, program: Program, bound: Sequence[Binding], inputs: Sequence[Array]
) -> str | None:
    """By halving: the program cut off after a binding fails from that binding on."""
    low, high = 0, len(bound)
    while high - low > 1:
        middle = (low + high) // 2
        result = execute(worker, subject, _exposing(program, bound, middle), inputs, 0)
        low, high = (low, middle) if isinstance(result, Failure) else (middle, high)
    return f"{bound[high - 1]}: {subject.name} fails there"


def _bindings(program: Program) -> list[Binding]:
    main = _normal_form(program).body
    found = []
    while isinstance(main, relay.Let):
        trivial = isinstance(main.value, relay.Constant | relay.Var)
        tensor = isinstance(main.var.checked_type, relay.TensorType) and not trivial
        found.append(Binding(main.var, main.value, tensor))
        main = main.body
    return found


def _normal_form(program: Program) -> Any:
    module = relay.transform.ToANormalForm()(program.module)
    return relay.transform.InferType()(module)["main"]


def _exposing(program: Program, bound: Sequence[Binding], count: int) -> Program:
    """The program with the tensors of its first ``count`` bindings as outputs."""
    main = program.module["main"]
    body: Any = relay.Tuple([binding.variable for binding in bound[:count] if binding.tensor])
    for binding in reversed(bound[:count]):
        body = relay.Let(binding.variable, binding.value, body)
    parameters = _parameters(main, body)
    module = tvm.IRModule(program.module.functions, program.module.type_definitions)
    module["main"] = relay.Function(parameters, body)
    return Program(relay.transform.InferType()(module), program.params, program.inputs)


def _parameters(main: Any, body: Any) -> list[Any]:
    """The parameters by the variables that the bindings use: a pass may have made new ones of the same names."""
    free = {variable.name_hint: variable for variable in relay.analysis.free_vars(body)}
    return [free.get(parameter.name_hint, parameter) for parameter in main.params]


def _operation(value: Any) -> str:
    match value:
        case relay.Call() if isinstance(value.op, tvm.ir.Op):
            return str(value.op.name)
        case relay.Call() if isinstance(value.op, relay.GlobalVar):
            return f"call of @{value.op.name_hint}"
        case _:
            return type(value).__name__.lower()
