"""What holds for every program on the register VM, each a function that raises AssertionError with the program.

They run in this process: the register VM is not expected to crash it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from regvm import api
from regvm.frontend import source
from regvm.memory.strategies.registry import STRATEGIES
from relay_conformance.fuzzing import engines
from relay_conformance.fuzzing.running import Failure, run_module
from relay_conformance.fuzzing.verdict import first_difference
from relay_conformance.strategies import FuzzProgram, arrays, evaluate, render
from relay_conformance.tvm_api import regvm, relay
from relay_conformance.values import Outputs, outputs_from_value

Property = Callable[[FuzzProgram], None]


def agrees_with_numpy(program: FuzzProgram) -> None:
    """All checkers accept, nothing is written to an input, and the outputs are NumPy's where that is exact."""
    engine = engines.RegisterVMEngine()
    (result,) = run_module(engine, render(program), [("main", arrays(program))], alone=True)
    assert not isinstance(result, Failure), _message(program, str(result))
    expected = evaluate(program)
    if expected.exact:
        _assert_equal(program, "NumPy", outputs_from_value(expected.value), result)


def every_register_limit_gives_the_same(program: FuzzProgram) -> None:
    """From the smallest limit that is accepted up to the largest number of live values."""
    executable = _compile(program)
    wanted = _run(program, executable)
    most = max(function.max_live for function in executable.functions)
    accepted = 0
    for limit, limited in _limited(program, most):
        accepted += 1
        assert all(f.num_registers <= limit for f in limited.functions), _message(program, f"limit {limit}")
        _assert_equal(program, f"limit {limit}", wanted, _run(program, limited))
    assert accepted > 0, _message(program, f"no limit up to {most} is accepted")


def every_storage_strategy_gives_the_same(program: FuzzProgram) -> None:
    """All that need no package of their own; the checkers accept each plan."""
    wanted = _run(program, _compile(program))
    for strategy in sorted(STRATEGIES.keys() - {"default", "optimal"}):
        planned = _compile(program, storage_strategy=strategy)
        _assert_equal(program, f"strategy {strategy}", wanted, _run(program, planned))


def the_native_engine_gives_the_same(program: FuzzProgram) -> None:
    """As the interpreter, also with as few registers as the program allows."""
    executable = _compile(program)
    most = max(function.max_live for function in executable.functions)
    _, smallest = next(_limited(program, most))
    for name, code in (("native", executable), ("native, few registers", smallest)):
        _assert_equal(program, name, _run(program, code), _run(program, code, "native"))


def recompiling_gives_the_same_bytes(program: FuzzProgram) -> None:
    """Also of a module that is parsed anew, whose objects lie elsewhere."""
    with engines.pass_context(alone=True):
        modules = [relay.fromtext(render(program)) for _ in range(2)]
        first, second = (bytes(regvm.compile(module, check=True).save()[0]) for module in modules)
    assert first == second, _message(program, "the bytes differ")


def saving_and_loading_changes_nothing(program: FuzzProgram) -> None:
    """Neither the listing, nor the bytes, nor the outputs."""
    executable = _compile(program)
    code, library = executable.save()
    loaded = regvm.Executable.load_exec(code, library)
    assert loaded.bytecode == executable.bytecode, _message(program, "the listings differ")
    assert loaded.save()[0] == code, _message(program, "the bytes differ")
    _assert_equal(program, "loaded", _run(program, executable), _run(program, loaded))


PROPERTIES: Mapping[str, Property] = {
    function.__name__: function
    for function in (
        agrees_with_numpy,
        every_register_limit_gives_the_same,
        every_storage_strategy_gives_the_same,
        the_native_engine_gives_the_same,
        recompiling_gives_the_same_bytes,
        saving_and_loading_changes_nothing,
    )
}


def _compile(program: FuzzProgram, **options: Any) -> Any:
    """Relay's passes run once a program, whatever the options."""
    with engines.pass_context(alone=True):
        return api.generate(_lower(program), check=True, **options)


@lru_cache(maxsize=1)
def _lower(program: FuzzProgram) -> source.LoweredSource:
    return source.lower(relay.fromtext(render(program)), "llvm", None, None)


def _limited(program: FuzzProgram, most: int) -> Iterator[tuple[int, Any]]:
    """Limits that are large enough for the program, with its code under each."""
    for limit in range(1, most + 1):
        code = _compile_within(program, limit)
        if code is not None:
            yield limit, code


def _compile_within(program: FuzzProgram, limit: int) -> Any:
    try:
        return _compile(program, register_limit=limit)
    except regvm.errors.CompileError as error:
        if "register limit" not in str(error):
            raise
    return None


def _run(program: FuzzProgram, executable: Any, engine: str = "interpreter") -> Outputs:
    return outputs_from_value(engines.bind(executable, engine)("main", arrays(program)))


def _assert_equal(program: FuzzProgram, name: str, wanted: Outputs, got: Outputs) -> None:
    assert got.structure == wanted.structure, _message(
        program, f"{name}: {got.structure}, {wanted.structure}"
    )
    difference = first_difference(got, wanted)
    assert not difference, _message(program, f"{name}: {difference}")


def _message(program: FuzzProgram, problem: str) -> str:
    inputs = [
        f"%{given.variable.name} = {array.tolist()}"
        for given, array in zip(program.inputs, arrays(program), strict=True)
    ]
    return "\n".join([problem, render(program), *inputs])
