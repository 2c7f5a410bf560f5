"""Conditionals and loops, nested in each other, in both of TensorFlow's forms.

The same programs are built twice: with v1 control flow (Switch, Merge, Enter, Exit, NextIteration, LoopCond)
and with v2 (If and While with functions, in their stateless and stateful kinds).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from relay_conformance.cases.case import Build, Case, ControlFlow, Form, ImportRefusal, Inputs
from relay_conformance.cases.operands import Uniform, given, tensor

_COND_V1 = ("Switch", "Merge")
_LOOP_V1 = ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond")

Tensors = Mapping[str, Any]


def _square(tf: Any, t: Tensors) -> Any:
    return tf.cond(t["p"], lambda: t["x"] * t["x"], lambda: t["x"] + t["y"])


def _several_outputs(tf: Any, t: Tensors) -> Any:
    x, y = t["x"], t["y"]
    return tf.cond(t["p"], lambda: (x + y, x * y, y), lambda: (x - y, y, x))


def _computed_predicate(tf: Any, t: Tensors) -> Any:
    return tf.cond(tf.reduce_sum(t["x"]) > 0.0, lambda: t["x"] * 3.0, lambda: t["y"] - t["x"])


def _passes_through(tf: Any, t: Tensors) -> Any:
    return tf.cond(t["p"], lambda: tf.identity(t["x"]), lambda: tf.identity(t["y"]))


def _nested(tf: Any, t: Tensors) -> Any:
    x, y = t["x"], t["y"]
    return tf.cond(t["p"], lambda: tf.cond(t["q"], lambda: x * 2.0, lambda: x + y), lambda: -x)


def _nested_then_read(tf: Any, t: Tensors) -> Any:
    """``y`` is read in the inner branches, and once more after the outer conditional."""
    x, y = t["x"], t["y"]
    r = tf.cond(t["p"], lambda: tf.cond(t["q"], lambda: y - x, lambda: 2.0 * y), lambda: -x)
    return 3.0 * r + y


def _nested_in_else(tf: Any, t: Tensors) -> Any:
    x, y = t["x"], t["y"]
    return tf.cond(t["p"], lambda: x, lambda: tf.cond(t["q"], lambda: y, lambda: x * y))


def _three_deep(tf: Any, t: Tensors) -> Any:
    x, y = t["x"], t["y"]
    inner = lambda: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x + 1.0, lambda: y + 1.0)  # noqa: E731
    return tf.cond(t["p"], lambda: tf.cond(t["q"], inner, lambda: x * 5.0), lambda: y * 7.0)


def _read_twice(tf: Any, t: Tensors) -> Any:
    r = tf.cond(t["p"], lambda: -t["x"], lambda: -t["y"])
    return r + r


def _one_after_the_other(tf: Any, t: Tensors) -> Any:
    first = tf.cond(t["p"], lambda: t["x"] + 1.0, lambda: t["y"])
    return tf.cond(t["q"], lambda: first * t["x"], lambda: first - t["y"])


def _two_live(tf: Any, t: Tensors) -> Any:
    first = tf.cond(t["p"], lambda: t["x"] + 1.0, lambda: t["y"])
    second = tf.cond(t["q"], lambda: t["x"] * 2.0, lambda: t["y"] * 3.0)
    return first - second


def _case_of_three(tf: Any, t: Tensors) -> Any:
    x, y = t["x"], t["y"]
    return tf.case([(t["p"], lambda: x + y), (t["q"], lambda: x - y)], default=lambda: x * y)


def _loop_inside(tf: Any, t: Tensors) -> Any:
    def loop() -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a + t["y"]), (0, t["x"] * 1.0))[1]

    return tf.cond(t["p"], loop, lambda: t["y"] * 2.0)


_CONDITIONALS: dict[str, Build] = {
    "square": _square,
    "several-outputs": _several_outputs,
    "computed-predicate": _computed_predicate,
    "passes-through": _passes_through,
    "nested": _nested,
    "nested-then-read": _nested_then_read,
    "nested-in-else": _nested_in_else,
    "three-deep": _three_deep,
    "read-twice": _read_twice,
    "one-after-the-other": _one_after_the_other,
    "two-live": _two_live,
    "case": _case_of_three,
    "loop-inside": _loop_inside,
}
_TWO_PREDICATES = {
    "nested",
    "nested-then-read",
    "nested-in-else",
    "three-deep",
    "one-after-the-other",
    "two-live",
    "case",
}


def _conditionals() -> tuple[Case, ...]:
    cases = []
    for name, build in _CONDITIONALS.items():
        names = "pq" if name in _TWO_PREDICATES else "p"
        for choices in (
            [True, False] if len(names) == 1 else [(True, True), (True, False), (False, True), (False, False)]
        ):
            chosen = dict(zip(names, [choices] if isinstance(choices, bool) else choices, strict=True))
            predicates = {key: given(value, "bool") for key, value in chosen.items()}
            if name == "computed-predicate":
                sign = 1.0 if chosen["p"] else -1.0
                predicates = {}
                x = tensor(2, 3, values=Uniform(sign * 0.5, sign * 2.0) if sign > 0 else Uniform(-2.0, -0.5))
            else:
                x = tensor(2, 3)
            suffix = "".join("t" if value else "f" for value in chosen.values())
            inputs: Inputs = {**predicates, "x": x, "y": tensor(2, 3)}
            covers = _LOOP_V1 if name == "loop-inside" else _COND_V1
            cases.append(Case("cond", f"{name}-{suffix}", inputs, build=build, covers=covers))
    return tuple(cases)


def _accumulate(tf: Any, t: Tensors) -> Any:
    """The captured ``y`` and the initial ``x`` are different tensors."""
    return tf.while_loop(lambda i, _: i < t["n"], lambda i, a: (i + 1, a * 0.5 + t["y"]), (0, t["x"] * 1.0))


def _invariant_is_initial(tf: Any, t: Tensors) -> Any:
    x = t["x"]
    return tf.while_loop(lambda i, _: i < t["n"], lambda i, y: (i + 1, y + x), (0, x))[1]


def _counter(tf: Any, t: Tensors) -> Any:
    return tf.while_loop(lambda i: i < t["n"], lambda i: (i + 2,), (tf.constant(0),))


def _fibonacci(tf: Any, t: Tensors) -> Any:
    def body(i: Any, a: Any, b: Any) -> Any:
        return i + 1, b, a + b

    return tf.while_loop(lambda i, *_: i < t["n"], body, (0, t["x"] * 1.0, t["y"] * 1.0))


def _swap(tf: Any, t: Tensors) -> Any:
    """Both are read before either is written."""
    return tf.while_loop(
        lambda i, *_: i < t["n"], lambda i, a, b: (i + 1, b, a), (0, t["x"] * 2.0, t["y"] * 3.0)
    )


def _data_decides(tf: Any, t: Tensors) -> Any:
    return tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) > 1.0, lambda a: (a * 0.5,), (t["x"] * 4.0,))


def _nested_loops(tf: Any, t: Tensors) -> Any:
    def body(i: Any, a: Any) -> Any:
        inner = tf.while_loop(lambda j, _: j < 2, lambda j, b: (j + 1, b + t["y"]), (0, a * 1.0))
        return i + 1, inner[1] * 0.5

    return tf.while_loop(lambda i, _: i < t["n"], body, (0, t["x"] * 1.0))[1]


def _conditional_inside(tf: Any, t: Tensors) -> Any:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(i % 2 > 0, lambda: a * 2.0, lambda: a + t["y"])

    return tf.while_loop(lambda i, _: i < t["n"], body, (0, t["x"] * 1.0))[1]


def _early_exit(tf: Any, t: Tensors) -> Any:
    def condition(i: Any, a: Any) -> Any:
        return tf.logical_and(i < t["n"], tf.reduce_max(a) < 10.0)

    return tf.while_loop(condition, lambda i, a: (i + 1, a + tf.abs(t["y"])), (0, t["x"] * 1.0))


def _second_after_first(tf: Any, t: Tensors) -> Any:
    first = tf.while_loop(lambda i, _: i < t["n"], lambda i, a: (i + 1, a + 1.0), (0, t["x"] * 1.0))
    return tf.while_loop(lambda i, _: i < first[0] + 2, lambda i, b: (i + 1, b * 0.9), (0, first[1]))[1]


def _read_after(tf: Any, t: Tensors) -> Any:
    out = tf.while_loop(lambda i, _: i < t["n"], lambda i, a: (i + 1, a + t["y"]), (0, t["x"] * 1.0))[1]
    return out * t["y"] + t["x"]


def _growing(tf: Any, t: Tensors) -> Any:
    """Each turn appends a row."""
    shapes = (tf.TensorShape([]), tf.TensorShape([None, 3]))
    body = lambda i, a: (i + 1, tf.concat([a, t["x"]], 0))  # noqa: E731
    return tf.while_loop(lambda i, _: i < t["n"], body, (0, t["y"] * 1.0), shape_invariants=shapes)[1]


def _many_carried(tf: Any, t: Tensors) -> Any:
    start = tuple(t["x"] * float(number) for number in range(1, 7))

    def body(i: Any, *values: Any) -> Any:
        return (i + 1, *values[1:], values[0] + t["y"])

    return tf.while_loop(lambda i, *_: i < t["n"], body, (tf.constant(0), *start))


def _unused_carried(tf: Any, t: Tensors) -> Any:
    body = lambda i, a, b: (i + 1, a + 1.0, b)  # noqa: E731
    return tf.while_loop(lambda i, *_: i < t["n"], body, (0, t["x"] * 1.0, t["y"] * 2.0))[1]


_LOOPS: dict[str, Build] = {
    "accumulate": _accumulate,
    "invariant-is-initial": _invariant_is_initial,
    "counter": _counter,
    "fibonacci": _fibonacci,
    "swap": _swap,
    "data-decides": _data_decides,
    "nested": _nested_loops,
    "conditional-inside": _conditional_inside,
    "early-exit": _early_exit,
    "second-after-first": _second_after_first,
    "read-after": _read_after,
    "growing": _growing,
    "many-carried": _many_carried,
    "unused-carried": _unused_carried,
}


def _loops() -> tuple[Case, ...]:
    cases = []
    for name, build in _LOOPS.items():
        turns = [("", 0)] if name == "data-decides" else [("-none", 0), ("-once", 1), ("-five", 5)]
        for suffix, count in turns:
            inputs: Inputs = {"n": given(count, "int32"), "x": tensor(2, 3), "y": tensor(2, 3)}
            if name == "data-decides":
                inputs = {"x": tensor(2, 3)}
            elif name == "counter":
                inputs = {"n": given(count, "int32")}
            elif name == "invariant-is-initial":
                inputs = {"n": given(count, "int32"), "x": tensor(2, 3)}
            cases.append(Case("while", f"{name}{suffix}", inputs, build=build, covers=_LOOP_V1))
    return tuple(cases)


def _functional(cases: tuple[Case, ...], covers: tuple[str, ...]) -> tuple[Case, ...]:
    return tuple(
        replace(case, operator=f"{case.operator}_v2", control_flow=ControlFlow.V2, covers=covers)
        for case in cases
    )


def _stateful() -> tuple[Case, ...]:
    """TensorFlow itself chooses the stateful kinds only around operators with state, which freezing removes."""

    def branch(function: Any, tf: Any, *tensors: Any) -> Any:
        specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in tensors]
        return tf.function(function, autograph=False).get_concrete_function(*specs)

    def conditional(then: Any, other: Any) -> Build:
        def build(tf: Any, t: Tensors) -> Any:
            inputs = [t["x"], t["y"]]
            branches = {n: branch(f, tf, *inputs) for n, f in (("then_branch", then), ("else_branch", other))}
            return tf.raw_ops.If(cond=t["p"], input=inputs, Tout=["float32"], **branches)

        return build

    def loop(tf: Any, t: Tensors) -> Any:
        # The importer takes the first variable for a counter and the second for its limit, whatever the body says.
        inputs = [tf.constant(0), t["n"], t["x"], t["y"]]
        parts = {
            "cond": branch(lambda i, n, *_: i < n, tf, *inputs),
            "body": branch(lambda i, n, x, y: (i + 1, n, x + y, y), tf, *inputs),
        }
        return tf.raw_ops.While(input=inputs, **parts)

    pairs = {
        "sum": (lambda x, y: x + y, lambda x, y: x - y),
        "product": (lambda x, y: x * y * y, lambda *both: both[1]),
    }
    conditionals = tuple(
        Case(
            "If",
            f"{name}-{'t' if chosen else 'f'}",
            {"p": given(chosen, "bool"), "x": tensor(2, 3), "y": tensor(2, 3)},
            build=conditional(*pair),
            control_flow=ControlFlow.V2,
        )
        for name, pair in pairs.items()
        for chosen in (True, False)
    )
    loops = tuple(
        Case(
            "While",
            name,
            {"n": given(turns, "int32"), "x": tensor(*shape), "y": tensor(*shape)},
            build=loop,
            control_flow=ControlFlow.V2,
        )
        for name, turns, shape in (
            ("none", 0, (2, 3)),
            ("once", 1, (2, 3)),
            ("four", 4, (3,)),
            ("negative", -2, (2,)),
            ("rank-0", 3, ()),
        )
    )
    return (*conditionals, *loops)


def _calls() -> tuple[Case, ...]:
    """A function of the graph's library, called."""
    functions = {
        "sum": lambda x, y: x + y,
        "two-steps": lambda x, y: (x * y) - x,
        "ignores-one": lambda x, y: y * 2.0,  # noqa: ARG005
        "swapped": lambda x, y: y - x,
    }

    def build(operator: str, function: Any) -> Build:
        def call(tf: Any, t: Tensors) -> Any:
            specs = [tf.TensorSpec(t[name].shape, t[name].dtype) for name in "xy"]
            concrete = tf.function(function, autograph=False).get_concrete_function(*specs)
            return getattr(tf.raw_ops, operator)(args=[t["x"], t["y"]], Tout=["float32"], f=concrete)

        return call

    return tuple(
        Case(operator, name, {"x": tensor(2, 3), "y": tensor(2, 3)}, build=build(operator, function))
        for operator in ("PartitionedCall", "StatefulPartitionedCall")
        for name, function in functions.items()
    )


def _by_index() -> tuple[Case, ...]:
    def build(tf: Any, t: Tensors) -> Any:
        return tf.switch_case(t["i"], [lambda: t["x"], lambda: t["x"] * 2.0, lambda: -t["x"]])

    inputs = {"i": given(1, "int32"), "x": tensor(2, 3)}
    return tuple(
        Case(
            "Case",
            f"refused-{index}",
            {**inputs, "i": given(index, "int32")},
            build=build,
            control_flow=ControlFlow.V2,
            refusal=ImportRefusal("Case"),
            only=Form.PLACEHOLDERS,
        )
        for index in range(3)
    )


_V1 = (*_conditionals(), *_loops())
CASES = (
    *_V1,
    *_functional(_conditionals(), ("StatelessIf",)),
    *_functional(_loops(), ("StatelessWhile",)),
    *_stateful(),
    *_calls(),
    *_by_index(),
)
