"""Write drawn programs as Relay text: one as a module, or several as one module that is compiled at once."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import assert_never

from relay_conformance.strategies import syntax
from relay_conformance.strategies.syntax import Expr, FuzzProgram, Pattern
from relay_conformance.strategies.types import Tensor, show

_HEADER = '#[version = "0.0.5"]\n'
_STEP = "  "


def render(program: FuzzProgram) -> str:
    """The Relay text of a module whose ``main`` is the program's."""
    return _HEADER + _data_types() + "\n".join(_function(f, "") for f in program.functions)


def entry(number: int) -> str:
    """The name of the function that is the ``main`` of program ``number`` of a batch."""
    return f"main_{number}"


def render_batch(programs: Sequence[FuzzProgram]) -> str:
    """One module of several programs, each under ``entry(number)``; ``main`` keeps them from being removed."""
    texts = [_function(f, f"_{number}") for number, p in enumerate(programs) for f in p.functions]
    parameters, calls = [], []
    for number, program in enumerate(programs):
        names = [f"%{given.variable.name}_{number}" for given in program.inputs]
        types = [show(given.variable.type) for given in program.inputs]
        parameters += [f"{name}: {type_}" for name, type_ in zip(names, types, strict=True)]
        calls.append(f"@{entry(number)}({', '.join(names)})")
    main = f"def @main({', '.join(parameters)}) {{\n  ({', '.join(calls)},)\n}}\n"
    return _HEADER + _data_types() + "\n".join([*texts, main])


def _data_types() -> str:
    texts = []
    for data, constructors in syntax.DATA_TYPES.items():
        shown = [
            f"{c}({', '.join(map(show, fields))})" if fields else c for c, fields in constructors.items()
        ]
        texts.append(f"type {data.name} {{ {', '.join(shown)} }}\n")
    return "".join(texts) + "\n"


def _function(function: syntax.Function, suffix: str) -> str:
    parameters = ", ".join(f"%{p.name}: {show(p.type)}" for p in function.parameters)
    body = _block(function.body, _STEP, suffix)
    return f"def @{function.name}{suffix}({parameters}) -> {show(function.body.type)} {{\n{body}}}\n"


def _block(expression: Expr, indent: str, suffix: str) -> str:
    """Lines of ``let`` and a last one with the value."""
    lines = []
    while isinstance(expression, syntax.Let):
        value = _inline(expression.value, indent, suffix)
        if isinstance(expression.value, syntax.Match):
            # The parser takes a bare `match` at the start of a block only.
            value = f"({value})"
        lines.append(f"{indent}let %{expression.variable.name} = {value};\n")
        expression = expression.body
    return "".join(lines) + f"{indent}{_inline(expression, indent, suffix)}\n"


def _braces(expression: Expr, indent: str, suffix: str) -> str:
    return f"{{\n{_block(expression, indent + _STEP, suffix)}{indent}}}"


def _inline(expression: Expr, indent: str, suffix: str) -> str:
    def all_of(arguments: Sequence[Expr]) -> str:
        return ", ".join(_inline(argument, indent, suffix) for argument in arguments)

    match expression:
        case syntax.Var(name):
            return f"%{name}"
        case syntax.Const(value, type_):
            return _constant(value, type_)
        case syntax.Op(name, arguments, attributes):
            options = [f"{key}={_attribute(value)}" for key, value in attributes]
            return f"{name}({', '.join(filter(None, [all_of(arguments), *options]))})"
        case syntax.Let():
            return _braces(expression, indent, suffix)
        case syntax.If(condition, then, otherwise):
            branches = [_braces(branch, indent, suffix) for branch in (then, otherwise)]
            return f"if ({_inline(condition, indent, suffix)}) {' else '.join(branches)}"
        case syntax.Call(function, arguments):
            return f"@{function}{suffix}({all_of(arguments)})"
        case syntax.Apply(closure, arguments):
            return f"%{closure.name}({all_of(arguments)})"
        case syntax.Lambda(parameters, body):
            shown = ", ".join(f"%{p.name}: {show(p.type)}" for p in parameters)
            return f"fn ({shown}) -> {show(body.type)} {_braces(body, indent, suffix)}"
        case syntax.Pack(items):
            return f"({all_of(items)}{',' if len(items) == 1 else ''})"
        case syntax.Field(variable, index):
            return f"%{variable.name}.{index}"
        case syntax.Make(constructor, arguments):
            return f"{constructor}({all_of(arguments)})" if arguments else constructor
        case syntax.Match(subject, clauses):
            inner = indent + _STEP
            shown = ",\n".join(
                f"{inner}{_pattern(c.pattern)} => {_braces(c.body, inner, suffix)}" for c in clauses
            )
            return f"match ({_inline(subject, indent, suffix)}) {{\n{shown}\n{indent}}}"
        case syntax.NewRef(value):
            return f"ref({_inline(value, indent, suffix)})"
        case syntax.ReadRef(reference):
            return f"ref_read(%{reference.name})"
        case syntax.WriteRef(reference, value):
            return f"ref_write(%{reference.name}, {_inline(value, indent, suffix)})"
        case _:
            assert_never(expression)


def _pattern(pattern: Pattern) -> str:
    match pattern:
        case syntax.Constructed(constructor, fields):
            return f"{constructor}({', '.join(map(_pattern, fields))})" if fields else constructor
        case syntax.Anything(None):
            return "_"
        case syntax.Anything(variable):
            assert variable is not None
            return f"%{variable.name}"
        case _:
            assert_never(pattern)


def _constant(value: int, type_: Tensor) -> str:
    match type_.dtype:
        case "int32":
            return str(value)
        case "int64":
            return f"{value}i64"
        case "float32":
            return f"{value}f"
        case "bool":
            return str(bool(value))
        case dtype:
            return f'cast({value}, dtype="{dtype}")'


def _attribute(value: syntax.Attribute) -> str:
    match value:
        case bool():
            return str(value)
        case int():
            return str(value)
        case "None":
            return value
        case str():
            return f'"{value}"'
        case tuple():
            return f"[{', '.join(map(str, value))}]"
        case _:
            assert_never(value)
