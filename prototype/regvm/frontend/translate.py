"""Translate Relay in A-normal form into the intermediate representation, one function at a time.

A ``let`` chain becomes straight-line code, an ``if`` or ``match`` becomes blocks that meet in a join, a function
expression becomes a function of its own whose free variables are its last parameters, and a function that calls
itself in tail position becomes a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tvm
from tvm import relay

from regvm import isa
from regvm.errors import UnsupportedError
from regvm.executable import ObjectType, Parameter, ParamType
from regvm.frontend import bindings, types
from regvm.frontend.bindings import Binding, Code, Fields, Value
from regvm.frontend.calls import KernelCalls
from regvm.frontend.matching import Matching
from regvm.frontend.objects import Objects
from regvm.frontend.program import Pending, ProgramBuilder
from regvm.ir import Function, Module
from regvm.ir.builder import Builder
from regvm.ir.dead_code import remove_dead_code
from regvm.ir.merge_blocks import merge_blocks
from regvm.ir.order import order_blocks
from regvm.ir.prune import prune


def translate(module: tvm.IRModule, entries: Sequence[str] = ("main",)) -> tuple[Module, dict[str, Any]]:
    """All functions that ``entries`` reach, and the PrimFuncs of the kernels by name.

    Raises UnsupportedError that names the construct and its function.
    """
    program = ProgramBuilder(module)
    roots = [program.global_function(module.get_global_var(entry)) for entry in entries]
    functions: list[Function] = []
    while program.pending:
        waiting = program.pending.popleft()
        function = _Translator(program, waiting, len(functions)).translate()
        functions.append(order_blocks(merge_blocks(remove_dead_code(function))))
    pruned = prune(Module(tuple(functions), tuple(program.constants), tuple(program.kernels)), roots)
    return pruned, {k.name: program.prim_funcs[k.name] for k in pruned.kernels}


@dataclass(frozen=True)
class _Join:
    """Where an expression's value goes on: a block whose parameters are the leaves of a value of the type."""

    block: int
    type: ParamType


class _Translator:
    """One function. The continuation of an expression is a join, or None for the function's return."""

    def __init__(self, program: ProgramBuilder, waiting: Pending, number: int) -> None:
        self._program = program
        self._waiting = waiting
        self._number = number
        where = f"@{waiting.name}"
        own = waiting.function.params
        parameters = [_parameter(p, where) for p in own]
        free = list(dict.fromkeys(n for _, b in waiting.captured for n in bindings.leaves(b)))
        parameters += [Parameter(f"captured{n}", ObjectType("captured")) for n in range(len(free))]
        self._builder = Builder(waiting.name, parameters)
        self._objects = Objects(self._builder)
        self._kernels = KernelCalls(program, self._builder, self._objects, where)
        self._loop = self._builder.new_block(len(parameters))
        self._builder.jump(self._loop, self._builder.entry_values)
        values = self._builder.enter(self._loop)
        self._bindings: dict[int, Binding] = {_key(p): Value(v) for p, v in zip(own, values, strict=False)}
        names = dict(zip(free, values[len(own) :], strict=True))
        self._bindings.update((_key(v), bindings.renamed(b, names)) for v, b in waiting.captured)
        if waiting.itself is not None:
            self._bindings[_key(waiting.itself)] = Code(number, tuple(Value(v) for v in names.values()))

    def translate(self) -> Function:
        self._tail(self._waiting.function.body, None)
        return self._builder.finish()

    def _tail(self, expression: Any, then: _Join | None) -> None:
        """Translate ``expression`` where its value is the result of what ``then`` says."""
        expression = _strip(expression)
        while isinstance(expression, relay.Let):
            value, body = _strip(expression.value), expression.body
            # A function may name itself, so that it is bound even if the body only gives it back.
            if not isinstance(value, relay.Function) and _returns(expression.var, body):
                return self._tail_value(value, then)
            self._let(expression.var, value)
            expression = _strip(body)
        return self._tail_value(expression, then)

    def _tail_value(self, expression: Any, then: _Join | None) -> None:
        if isinstance(expression, relay.Let):
            self._tail(expression, then)
        elif isinstance(expression, relay.If):
            self._if(expression, then)
        elif isinstance(expression, relay.Match):
            self._match(expression, then)
        elif then is None and isinstance(expression, relay.Call) and self._tail_call(expression):
            return
        else:
            self._leave(self._value(expression), then)

    def _leave(self, result: Binding, then: _Join | None) -> None:
        if then is None:
            self._builder.emit(isa.Ret(isa.Use(self._objects.register(result))))
        else:
            self._builder.jump(then.block, self._objects.flatten(result, then.type))

    def _let(self, variable: Any, value: Any) -> None:
        if isinstance(value, relay.Function) and not _is_primitive(value):
            self._bindings[_key(variable)] = self._function(value, variable)
        else:
            self._bindings[_key(variable)] = self._value(value)

    def _value(self, expression: Any) -> Binding:
        """Translate an expression whose value is used further on in this function."""
        expression = _strip(expression)
        match expression:
            case relay.Var():
                return self._bindings[_key(expression)]
            case relay.GlobalVar():
                return Code(self._program.global_function(expression))
            case relay.Constant():
                return self._define(lambda dst: isa.LoadConst(dst, self._program.constant(expression)))
            case relay.Tuple():
                return Fields(tuple(self._value(f) for f in expression.fields))
            case relay.TupleGetItem():
                return self._objects.field(self._value(expression.tuple_value), int(expression.index))
            case relay.Function():
                return self._function(expression, None)
            case relay.RefCreate():
                return self._unary(isa.MakeRef, expression.value)
            case relay.RefRead():
                return self._unary(isa.ReadRef, expression.ref)
            case relay.RefWrite():
                ref = self._use(expression.ref)
                self._builder.emit(isa.WriteRef(ref, self._use(expression.value)))
                return Fields(())
            case relay.Call():
                return self._call(expression)
            case relay.Let() | relay.If() | relay.Match():
                return self._joined(expression)
            case _:
                raise self._unsupported(type(expression).__name__)

    def _joined(self, expression: Any) -> Binding:
        """An expression with blocks of its own, whose value arrives as parameters of a join."""
        type_ = types.convert(expression.checked_type, f"@{self._waiting.name}")
        join = self._builder.new_block(types.leaves(type_))
        self._tail(expression, _Join(join, type_))
        return self._objects.unflatten(type_, iter(self._builder.enter(join)))

    def _if(self, expression: Any, then: _Join | None) -> None:
        condition = self._use(expression.cond)
        first, second = self._builder.new_block(), self._builder.new_block()
        self._builder.emit(isa.Branch(condition, first, second))
        self._builder.enter(first)
        self._tail(expression.true_branch, then)
        self._builder.enter(second)
        self._tail(expression.false_branch, then)

    def _match(self, expression: Any, then: _Join | None) -> None:
        subject = self._value(expression.data)
        matching = Matching(self._builder, self._objects)
        clauses = list(expression.clauses)
        for clause in clauses:
            exhausted = bool(expression.complete) and clause is clauses[-1]
            otherwise = None if exhausted else self._builder.new_block()
            bound = matching.test(clause.lhs, subject, otherwise)
            self._bindings.update((_key(v), b) for v, b in bound)
            self._tail(clause.rhs, then)
            if otherwise is not None:
                self._builder.enter(otherwise)
        if not clauses or not expression.complete:
            self._builder.emit(isa.Fatal())

    def _function(self, function: Any, itself: Any) -> Binding:
        """A function expression: its code becomes a function of the program, its free variables stay values."""
        free = [v for v in relay.analysis.free_vars(function) if itself is None or not v.same_as(itself)]
        captured = tuple((v, self._bindings[_key(v)]) for v in free)
        name = _stem(str(itself.name_hint)) if itself is not None else "fn"
        number = self._program.add_function(
            Pending(f"{self._waiting.name}.{name}", function, captured, itself)
        )
        registers = dict.fromkeys(n for _, b in captured for n in bindings.leaves(b))
        return Code(number, tuple(Value(n) for n in registers))

    def _call(self, call: Any) -> Binding:
        """A call that is not in tail position."""
        callee = _strip(call.op)
        if isinstance(callee, tvm.ir.Op):
            return self._operator(callee, call)
        if isinstance(callee, relay.Constructor):
            fields = tuple(self._use(a) for a in call.args)
            return self._define(lambda dst: isa.MakeAdt(dst, int(callee.tag), fields))
        function = self._value(callee)
        args = tuple(self._use(a) for a in call.args)
        if isinstance(function, Code):
            args += tuple(isa.Use(self._objects.register(c)) for c in function.captured)
            return self._define(lambda dst: isa.Call(dst, function.function, args))
        closure = isa.Use(self._objects.register(function))
        return self._define(lambda dst: isa.CallClosure(dst, closure, args))

    def _tail_call(self, call: Any) -> bool:
        """Translate a call in tail position; False if it is no call of a function."""
        callee = _strip(call.op)
        if isinstance(callee, (tvm.ir.Op, relay.Constructor)):
            return False
        function = self._value(callee)
        args = [self._objects.register(self._value(a)) for a in call.args]
        if not isinstance(function, Code):
            closure = isa.Use(self._objects.register(function))
            self._builder.emit(isa.TailCallClosure(closure, tuple(isa.Use(a) for a in args)))
            return True
        args += [self._objects.register(c) for c in function.captured]
        if function.function == self._number:
            self._builder.jump(self._loop, args)
        else:
            self._builder.emit(isa.TailCall(function.function, tuple(isa.Use(a) for a in args)))
        return True

    def _operator(self, operator: Any, call: Any) -> Binding:
        name = str(operator.name)
        if name == "call_lowered":
            return self._kernels.call(call, self._value)
        if name == "device_copy":
            device = int(call.attrs.dst_virtual_device.device_type_int)
            source = self._use(call.args[0])
            return self._define(lambda dst: isa.DeviceCopy(dst, source, device))
        raise self._unsupported(f"operator {name}")

    def _unary(self, make: Any, operand: Any) -> Binding:
        source = self._use(operand)
        return self._define(lambda dst: make(dst, source))

    def _define(self, make: Any) -> Value:
        dst = self._builder.new_value()
        self._builder.emit(make(dst))
        return Value(dst)

    def _use(self, expression: Any) -> isa.Use:
        return isa.Use(self._objects.register(self._value(expression)))

    def _unsupported(self, construct: str) -> UnsupportedError:
        return UnsupportedError(f"@{self._waiting.name}: {construct} is not supported by the register VM")


def _parameter(variable: Any, where: str) -> Parameter:
    name = str(variable.name_hint)
    return Parameter(name, types.convert(variable.checked_type, f"{where}, parameter {name}"))


def _key(variable: Any) -> int:
    """The identity of a Relay variable: its node's address, stable while the module is held."""
    return int(variable.handle.value)


def _strip(expression: Any) -> Any:
    """Without the device annotations around an expression: there is one device."""
    while (
        isinstance(expression, relay.Call)
        and isinstance(expression.op, tvm.ir.Op)
        and expression.op.name == "on_device"
    ):
        expression = expression.args[0]
    return expression


def _returns(variable: Any, body: Any) -> bool:
    """Whether ``body`` just gives ``variable`` back, by whatever names."""
    current = variable
    body = _strip(body)
    while isinstance(body, relay.Let):
        value = _strip(body.value)
        if not (isinstance(value, relay.Var) and value.same_as(current)):
            return False
        current, body = body.var, _strip(body.body)
    return isinstance(body, relay.Var) and bool(body.same_as(current))


def _stem(name: str) -> str:
    """A variable's name without the number that the pass to A-normal form counts up all through a process."""
    return name.rstrip("0123456789").removesuffix("_") or "fn"


def _is_primitive(function: Any) -> bool:
    return function.attrs is not None and "Primitive" in list(function.attrs.keys())
