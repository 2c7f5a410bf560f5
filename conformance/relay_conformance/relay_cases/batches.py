"""Several cases as one Relay module, so that they share passes and kernels; each keeps names of its own."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from relay_conformance.relay_cases.case import RelayCase
from relay_conformance.relay_cases.prelude import DATA_TYPES, HEADER
from relay_conformance.tvm_api import relay, tvm

BATCH_SIZE = 40
_GLOBAL = re.compile(r"@([A-Za-z_]\w*)")


def entry(number: int) -> str:
    """What is the ``main`` of case ``number`` of a batch."""
    return f"main_{number}"


def batches(cases: Sequence[RelayCase], alone: frozenset[str]) -> Iterator[tuple[RelayCase, ...]]:
    """The cases in order; those whose ids are ``alone``, and those that may not compile, each by itself."""
    together: list[RelayCase] = []
    for case in cases:
        if case.alone or case.refusal is not None or case.id in alone:
            yield (case,)
        else:
            together.append(case)
    for start in range(0, len(together), BATCH_SIZE):
        yield tuple(together[start : start + BATCH_SIZE])


def module_of(cases: Sequence[RelayCase]) -> Any:
    """One module with each case's ``main`` as ``entry(number)``.

    A ``main`` that calls every one of them keeps them from being removed.

    Raises:
        tvm.TVMError: Relay's parser or its type checker refuses a case.
    """
    texts = [_GLOBAL.sub(rf"@\1_{number}", case.text) for number, case in enumerate(cases)]
    module = relay.fromtext(HEADER + DATA_TYPES + "\n".join(texts))
    for number, case in enumerate(cases):
        if case.constants:
            _bind(module, entry(number), case)
    module = relay.transform.InferType()(module)
    parameters, calls = [], []
    for number in range(len(cases)):
        variable = module.get_global_var(entry(number))
        types = [parameter.checked_type for parameter in module[variable].params]
        own = [relay.Var(f"a{number}_{place}", type_) for place, type_ in enumerate(types)]
        parameters += own
        calls.append(relay.Call(variable, own))
    module["main"] = relay.Function(parameters, relay.Tuple(calls))
    return relay.transform.InferType()(module)


def module_alone(case: RelayCase) -> Any:
    """The case's own module; one that may not compile is parsed unchecked, for its executor to refuse."""
    with tvm.transform.PassContext(instruments=[_Unchecked()] if case.refusal is not None else []):
        module = relay.fromtext(HEADER + DATA_TYPES + case.text)
    if case.constants:
        _bind(module, "main", case)
    return module


@tvm.instrument.pass_instrument
class _Unchecked:
    """Relay's parser checks types at its end, by a pass; nothing runs under this."""

    def should_run(self, module: Any, info: Any) -> bool:
        del module, info
        return False


def _bind(module: Any, name: str, case: RelayCase) -> None:
    function = module[name]
    constants = {
        parameter: relay.const(tvm.nd.array(case.constants[parameter.name_hint]))
        for parameter in function.params
        if parameter.name_hint in case.constants
    }
    rest = [parameter for parameter in function.params if parameter not in constants]
    body = relay.bind(function.body, constants)
    module[name] = relay.Function(rest, body, function.ret_type, function.type_params)
