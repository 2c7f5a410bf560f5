"""Random modules of the intermediate representation, well formed by construction.

From a seed for smoke and long runs, or as a Hypothesis strategy, which shrinks what it finds.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from regvm import isa
from regvm.executable import Constant, Kernel, ObjectType, Parameter, ParamType, TensorType, TupleType
from regvm.ir import Block, Function, Module
from regvm_testing.shapes import Graph, dominators, predecessors, random_graph


class What(enum.Enum):
    """What a value holds, as far as the verifier cares."""

    TENSOR = "tensor"
    ADT = "tuple"
    CLOSURE = "function"
    REF = "reference"


@dataclass(frozen=True)
class Size:
    """Upper limits of a random module."""

    functions: int = 3
    blocks: int = 8
    instructions: int = 5


TENSORS = tuple(TensorType(shape, "float32") for shape in [(1,), (4,), (), (16, 2), (3, 33), (0,), (17,)])
KERNELS = tuple(Kernel(f"k{i}_{o}", i, o) for i in range(4) for o in (1, 2))
CONSTANTS = tuple(Constant("float32", (), bytes([n, 0, 0, 0])) for n in range(3))
TYPES: dict[What, ParamType] = {
    What.TENSOR: TENSORS[1],
    What.ADT: TupleType((TENSORS[1],)),
    What.CLOSURE: ObjectType("function"),
    What.REF: ObjectType("reference"),
}

Signature = tuple[What, ...]


def random_module(random: Random, size: Size | None = None) -> Module:
    """A module whose functions call each other and themselves."""
    size = size or Size()
    signatures = [_signature(random) for _ in range(random.randint(1, size.functions))]
    functions = tuple(_Draft(random, f"f{n}", signatures, s, size).finish() for n, s in enumerate(signatures))
    return Module(functions, CONSTANTS, KERNELS)


def module_of(seed: int, size: Size | None = None) -> Module:
    """The random module of a seed, the same in every process and on every Python."""
    return random_module(Random(seed), size)


def modules(size: Size | None = None) -> st.SearchStrategy[Module]:
    """Random modules as a Hypothesis strategy."""
    return st.randoms(use_true_random=False).map(lambda random: random_module(random, size))


def _signature(random: Random) -> Signature:
    extra = random.choices(list(What), weights=(6, 1, 1, 1), k=random.randint(0, 3))
    return (What.TENSOR, *extra)


class _Draft:
    """One function: first its graph and all block parameters, then instructions block by block."""

    def __init__(
        self, random: Random, name: str, signatures: Sequence[Signature], signature: Signature, size: Size
    ) -> None:
        self._random = random
        self._name = name
        self._signatures = signatures
        self._signature = signature
        self._size = size
        self._kinds: list[What] = []
        self._tensors: list[TensorType] = []
        # Where little escapes, most tensors are in the arena, and loops carry them round.
        self._local = random.random() < 0.4
        self._graph: Graph = random_graph(random, random.randint(1, size.blocks))
        self._parameters = [self._block_parameters(n) for n in range(len(self._graph))]
        self._code: list[tuple[isa.Instruction, ...]] = []
        self._own: list[list[int]] = []

    def finish(self) -> Function:
        dominated_by = dominators(self._graph)
        visible: list[list[int]] = []
        for number in range(len(self._graph)):
            known = [v for d in dominated_by[number] for v in self._own[d]]
            self._known = [*known, *self._parameters[number]]
            before = len(known)
            self._code.append(self._instructions(number))
            self._own.append(self._known[before:])
            visible.append(self._known)
        blocks = tuple(
            Block(tuple(p), c, self._arguments(n, visible[n]))
            for n, (p, c) in enumerate(zip(self._parameters, self._code, strict=True))
        )
        parameters = tuple(Parameter(f"p{n}", TYPES[k]) for n, k in enumerate(self._signature))
        return Function(self._name, parameters, blocks, tuple(self._tensors), len(self._kinds))

    def _value(self, kind: What) -> int:
        self._kinds.append(kind)
        return len(self._kinds) - 1

    def _block_parameters(self, number: int) -> list[int]:
        if number == 0:
            return [self._value(k) for k in self._signature]
        if any(len(self._graph[p]) != 1 for p in predecessors(self._graph)[number]):
            return []
        # The entry's parameters are known everywhere, so an argument of such a kind can always be found.
        return [self._value(self._random.choice(self._signature)) for _ in range(self._random.randint(0, 4))]

    def _arguments(self, number: int, known: list[int]) -> tuple[int, ...]:
        if len(self._graph[number]) != 1:
            return ()
        wanted = self._parameters[self._graph[number][0]]
        return tuple(self._argument(known, wanted, parameter) for parameter in wanted)

    def _argument(self, known: list[int], wanted: list[int], parameter: int) -> int:
        fitting = [v for v in known if self._kinds[v] is self._kinds[parameter]]
        # A loop that hands its own parameters round is what makes cycles of moves, and buffers that take turns.
        rotating = [v for v in fitting if v in wanted]
        if rotating and self._random.random() < 0.4:
            return self._random.choice(rotating)
        return self._random.choice(fitting[-5:])

    def _pick(self, kind: What) -> int | None:
        fitting = [v for v in self._known if self._kinds[v] is kind]
        if not fitting:
            return None
        return self._random.choice(fitting[-4:] if self._random.random() < 0.6 else fitting)

    def _use(self, kind: What = What.TENSOR) -> isa.Use | None:
        picked = self._pick(kind)
        return None if picked is None else isa.Use(picked)

    def _any_use(self) -> isa.Use:
        return isa.Use(self._random.choice(self._known))

    def _tensor_use(self) -> isa.Use:
        # Every function has a tensor as its first parameter.
        use = self._use()
        assert use is not None
        return use

    def _define(self, kind: What) -> int:
        value = self._value(kind)
        self._known.append(value)
        return value

    def _row(self) -> int:
        self._tensors.append(self._random.choice(TENSORS))
        return len(self._tensors) - 1

    def _instructions(self, number: int) -> tuple[isa.Instruction, ...]:
        code: list[isa.Instruction] = []
        for _ in range(self._random.randint(0, self._size.instructions)):
            makers, weights = (_LOCAL, _LOCAL_WEIGHTS) if self._local else (_MAKERS, _WEIGHTS)
            make = self._random.choices(makers, weights=weights)[0]
            code.extend(make(self))
        return (*code, self._terminator(self._graph[number]))

    def _terminator(self, targets: Sequence[int]) -> isa.Instruction:
        if len(targets) == 1:
            return isa.Jump(targets[0])
        if targets:
            source = self._use(What.ADT)
            if source is not None and self._random.random() < 0.5:
                return isa.BranchTag(source, self._random.randint(0, 2), *targets)
            return isa.Branch(self._tensor_use(), *targets)
        if self._local:
            return isa.Ret(isa.Use(self._parameters[0][0]))
        ending = self._random.random()
        if ending < 0.1:
            return isa.Fatal()
        if ending < 0.3:
            function = self._random.randrange(len(self._signatures))
            args = self._call_arguments(function)
            if args is not None:
                return isa.TailCall(function, args)
        if ending < 0.4 and (callee := self._use(What.CLOSURE)) is not None:
            return isa.TailCallClosure(callee, self._some_uses())
        return isa.Ret(self._any_use())

    def _some_uses(self) -> tuple[isa.Use, ...]:
        return tuple(self._any_use() for _ in range(self._random.randint(0, 3)))

    def _call_arguments(self, function: int) -> tuple[isa.Use, ...] | None:
        uses = [self._use(k) for k in self._signatures[function]]
        found = tuple(u for u in uses if u is not None)
        return found if len(found) == len(uses) else None

    def invoke(self) -> list[isa.Instruction]:
        number = self._random.randrange(len(KERNELS))
        kernel = KERNELS[number]
        args = tuple(self._tensor_use() for _ in range(kernel.num_inputs))
        outs = tuple(isa.Out(self._define(What.TENSOR), self._row()) for _ in range(kernel.num_outputs))
        return [isa.Invoke(number, args, outs)]

    def invoke_into(self) -> list[isa.Instruction]:
        number = self._random.choice([n for n, k in enumerate(KERNELS) if k.num_outputs == 1])
        args = tuple(self._tensor_use() for _ in range(KERNELS[number].num_inputs))
        allocation = self.unary(What.TENSOR, lambda dst, src: isa.AllocTensor(dst, src, "float32"))
        return [*allocation, isa.InvokeInto(number, args, (isa.Use(self._known[-1]),))]

    def unary(
        self,
        result: What,
        make: Callable[[int, isa.Use], isa.Instruction],
        operand: What = What.TENSOR,
    ) -> list[isa.Instruction]:
        source = self._use(operand)
        return [] if source is None else [make(self._define(result), source)]

    def constant(self) -> list[isa.Instruction]:
        return [isa.LoadConst(self._define(What.TENSOR), self._random.randrange(len(CONSTANTS)))]

    def reshape(self) -> list[isa.Instruction]:
        return self.unary(What.TENSOR, lambda dst, src: isa.Reshape(dst, src, self._row()))

    def reshape_to(self) -> list[isa.Instruction]:
        shape = self._tensor_use()
        return self.unary(What.TENSOR, lambda dst, src: isa.ReshapeTo(dst, src, shape))

    def tuple_(self) -> list[isa.Instruction]:
        fields = self._some_uses()
        return [isa.MakeAdt(self._define(What.ADT), self._random.randint(0, 2), fields)]

    def reference(self) -> list[isa.Instruction]:
        source = self._any_use()
        return [isa.MakeRef(self._define(What.REF), source)]

    def write_ref(self) -> list[isa.Instruction]:
        ref = self._use(What.REF)
        return [] if ref is None else [isa.WriteRef(ref, self._any_use())]

    def closure(self) -> list[isa.Instruction]:
        function = self._random.randrange(len(self._signatures))
        bound = self._signatures[function][self._random.randint(0, len(self._signatures[function])) :]
        captured = tuple(u for k in bound if (u := self._use(k)) is not None)
        if len(captured) < len(bound):
            return []
        return [isa.MakeClosure(self._define(What.CLOSURE), function, captured)]

    def call(self) -> list[isa.Instruction]:
        function = self._random.randrange(len(self._signatures))
        args = self._call_arguments(function)
        return [] if args is None else [isa.Call(self._define(What.TENSOR), function, args)]

    def call_closure(self) -> list[isa.Instruction]:
        args = self._some_uses()
        return self.unary(What.TENSOR, lambda dst, src: isa.CallClosure(dst, src, args), What.CLOSURE)


_MAKERS: list[Callable[[_Draft], list[isa.Instruction]]] = [
    _Draft.invoke,
    _Draft.invoke_into,
    _Draft.constant,
    _Draft.reshape,
    _Draft.reshape_to,
    lambda d: d.unary(What.TENSOR, isa.ShapeOf),
    lambda d: d.unary(What.TENSOR, isa.Copy),
    lambda d: d.unary(What.TENSOR, lambda dst, src: isa.DeviceCopy(dst, src, 1)),
    _Draft.tuple_,
    lambda d: d.unary(What.TENSOR, lambda dst, src: isa.GetField(dst, src, 0), What.ADT),
    _Draft.reference,
    lambda d: d.unary(What.TENSOR, isa.ReadRef, What.REF),
    _Draft.write_ref,
    _Draft.closure,
    _Draft.call,
    _Draft.call_closure,
]
_WEIGHTS = [24, 2, 2, 4, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 3, 1]
_LOCAL = [_Draft.invoke, _Draft.reshape, _Draft.constant, _MAKERS[6]]
_LOCAL_WEIGHTS = [12, 3, 1, 1]
