"""A program's storage plan as Relay text: ``Storage`` values, sizes, offsets and allocations are explicit.

It stands beside the listing and is for people. Sizes and offsets are expressions, with the rounding
``(size + 63) / 64 * 64``; folded, those that are known while compiling become numbers, and what is left is
computed when the program runs.

A region of dynamic tensors is allocated where it is placed; a machine takes storage that nothing refers to any
more, if it has some that is large enough.

The blocks of the intermediate representation become an expression again (Appel, "SSA is functional
programming", 1998): a block that several jumps reach is a local function of its parameters, and a jump to it a
call. Buffers that take turns stand in a tuple, the next one first, which is handed on from block to block.

Relay's parser reads the text back, and its type checker accepts it, for functions over tensors and tuples. It
has no words for constructors by tag, tests of tags, match errors and references, and it wants the types of
captured values, which the intermediate representation does not keep: what stands here for those is for people
only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from regvm import isa
from regvm.executable import TensorType, dtype_bytes
from regvm.ir.dominators import immediate_dominators
from regvm.ir.function import Function, Module
from regvm.memory.placement import Placement
from regvm.text import relay_storage as storage
from regvm.text.arithmetic import Expression, Number, Term, add, fold, show
from regvm.text.relay_names import show_tuple, show_type, typed, value_names
from regvm.text.relay_program import Names, declarations, literal, names_of

HEADER = '#[version = "0.0.5"]'


def show_plan(module: Module, placements: Sequence[Placement], *, folded: bool) -> str:
    """All functions of a module whose tensors lie where ``placements`` says, one for each function."""
    names = names_of(module)
    functions = [
        "\n".join(_Writer(module, names, number, placement, folded).write())
        for number, placement in enumerate(placements)
    ]
    declared = declarations(module, names, "\n".join(functions))
    uses_storage = any("memory.alloc_storage" in f for f in functions)
    head = [HEADER, *(["type Storage {}"] if uses_storage else []), *declared]
    tail = [storage.METADATA] if any("meta[" in f for f in functions) else []
    return "\n\n".join(["\n".join(head), *functions, *tail]) + "\n"


@dataclass(frozen=True)
class _Line:
    depth: int
    text: str


@dataclass(frozen=True)
class _Visit:
    """A block still to be written; ``turns`` names the tuple of each tensor whose buffers take turns."""

    depth: int
    block: int
    turns: Mapping[int, str]


class _Writer:
    """Writes one function, without recursion: a chain of conditionals nests as deep as it is long."""

    def __init__(self, module: Module, names: Names, number: int, placement: Placement, folded: bool) -> None:
        self._module = module
        self._names = names
        self._function: Function = module.functions[number]
        self._name = names.functions[number]
        self._types = names.types[number]
        self._folded = folded
        self._known: dict[str, int] = {}
        self._values = value_names(self._function)
        self._buffers = storage.buffers_of(self._function, placement)
        self._storage_bytes = placement.storage_bytes
        self._placement = placement
        self._made = {out.tensor: out.register for out in storage.created(self._function)}
        self._rows: dict[int, storage.DynamicRow] = {}
        self._shared = {n for n, p in enumerate(self._function.predecessors()) if len(p) > 1}
        self._children: dict[int, list[int]] = {}
        for block, dominator in immediate_dominators(self._function).items():
            self._children.setdefault(dominator, []).append(block)
        self._lines: list[str] = []

    def write(self) -> list[str]:
        entry = self._function.blocks[0].parameters
        parameters = ", ".join(typed(self._values[v], self._types.values.get(v)) for v in entry)
        written = [_Line(0, f"def @{self._name}({parameters}){self._result()} {{"), *self._prologue()]
        turns = {v: f"%turn_{v}" for v, group in self._buffers.items() if len(group) > 1}
        work: list[_Line | _Visit] = [_Line(0, "}"), _Visit(1, 0, turns)]
        while work:
            item = work.pop()
            if isinstance(item, _Line):
                written.append(item)
            else:
                work.extend(reversed(self._block(item)))
        return [f"{'  ' * line.depth}{line.text}" for line in written]

    def _prologue(self) -> list[_Line]:
        """The frame's arena, with all that is placed in it."""
        if not self._buffers:
            return []
        size = storage.bind_arena(self._buffers, self._storage_bytes, self._bind)
        self._bind("%arena_bytes", size)
        shown = self._value(Term("%arena_bytes"))
        allocation = storage.alloc_storage(shown, f"stack(({shown},), axis=0)", "uint8")
        self._lines.append(f"let %arena: Storage[] = {allocation};")
        for value, group in self._buffers.items():
            if len(group) > 1:
                offsets = show_tuple([self._value(Term(f"%offset_{b.suffix}")) for b in group])
                self._lines.append(f"let %turn_{value} = {offsets};")
        return self._taken(1)

    def _block(self, visit: _Visit) -> list[_Line | _Visit]:
        block = self._function.blocks[visit.block]
        turns = dict(visit.turns)
        for instruction in block.instructions[:-1]:
            self._instruction(instruction, turns)
        found: list[_Line | _Visit] = [*self._taken(visit.depth)]
        # A later block is called by earlier ones, never the other way round but by what it dominates.
        for child in sorted(self._children.get(visit.block, ()), reverse=True):
            if child in self._shared:
                found.extend(self._local_function(child, turns, visit.depth))
        found.extend(self._terminator(visit.block, turns, visit.depth))
        return found

    def _local_function(self, block: int, turns: Mapping[int, str], depth: int) -> list[_Line | _Visit]:
        own = {value: f"%turn_{value}_b{block}" for value in turns}
        parameters = [
            typed(self._values[v], self._types.values.get(v)) for v in self._function.blocks[block].parameters
        ]
        parameters += [f"{name}: {show_tuple(['int64'] * len(self._buffers[v]))}" for v, name in own.items()]
        return [
            _Line(depth, f"let %b{block} = fn ({', '.join(parameters)}){self._result()} {{"),
            _Visit(depth + 1, block, own),
            _Line(depth, "};"),
        ]

    def _terminator(self, number: int, turns: Mapping[int, str], depth: int) -> list[_Line | _Visit]:
        block = self._function.blocks[number]
        match block.terminator:
            case isa.Jump(target):
                arguments = [self._values[a] for a in block.arguments]
                return self._edge(target, arguments, turns, depth)
            case isa.Branch(condition, then, otherwise):
                return self._either(self._use(condition), then, otherwise, turns, depth)
            case isa.BranchTag(src, tag, then, otherwise):
                return self._either(f"has_tag({self._use(src)}, {tag})", then, otherwise, turns, depth)
            case isa.Ret(src):
                return [_Line(depth, self._use(src))]
            case isa.TailCall(callee, args):
                return [_Line(depth, f"@{self._names.functions[callee]}({self._list(args)})")]
            case isa.TailCallClosure(callee, args):
                return [_Line(depth, f"{self._use(callee)}({self._list(args)})")]
            case _:
                return [_Line(depth, "match_error()")]

    def _either(
        self, condition: str, then: int, otherwise: int, turns: Mapping[int, str], depth: int
    ) -> list[_Line | _Visit]:
        return [
            _Line(depth, f"if ({condition}) {{"),
            *self._edge(then, [], turns, depth + 1),
            _Line(depth, "} else {"),
            *self._edge(otherwise, [], turns, depth + 1),
            _Line(depth, "}"),
        ]

    def _edge(
        self, target: int, arguments: list[str], turns: Mapping[int, str], depth: int
    ) -> list[_Line | _Visit]:
        if target in self._shared:
            return [_Line(depth, f"%b{target}({', '.join([*arguments, *turns.values()])})")]
        parameters = self._function.blocks[target].parameters
        bound = zip(parameters, arguments, strict=True)
        lines = [_Line(depth, f"let {self._values[p]} = {argument};") for p, argument in bound]
        return [*lines, _Visit(depth, target, turns)]

    def _instruction(self, instruction: isa.Instruction, turns: dict[int, str]) -> None:
        match instruction:
            case isa.Invoke(kernel, args, outs):
                for out in outs:
                    self._new_tensor(out, turns)
                self._invoke(self._names.kernels[kernel], args, [self._values[o.register] for o in outs])
            case isa.InvokeInto(kernel, args, dests):
                self._invoke(self._names.kernels[kernel], args, [self._use(d) for d in dests])
            case isa.AllocTensor(dst, shape, dtype):
                self._own(dst, self._use(shape), dtype, storage.dynamic_bytes(self._use(shape), dtype))
            case isa.SetShape(row, shape):
                self._set_shape(row, shape)
            case isa.PlaceTensors(group, rows):
                self._place(group, rows)
            case isa.Copy(dst, src) if isinstance(self._types.values.get(dst), TensorType):
                self._copy(dst, src)
            case isa.WriteRef(ref, src):
                self._lines.append(f"let %done_{ref.register}_{src.register} = {self._written(instruction)};")
            case _:
                (dst,) = isa.defs(instruction)
                name = typed(self._values[dst], self._types.values.get(dst))
                self._lines.append(f"let {name} = {self._written(instruction)};")

    def _new_tensor(self, out: isa.Out, turns: dict[int, str]) -> None:
        value, type_ = out.register, self._function.tensors[out.tensor]
        if not type_.is_static:
            self._new_dynamic_tensor(value, type_, self._rows[out.tensor])
            return
        shape = storage.shape_vector(type_)
        group = self._buffers.get(value, ())
        if not group:
            self._own(value, shape, type_.dtype, storage.static_bytes(type_))
            return
        if len(group) == 1:
            offset = self._value(Term(f"%offset_{group[0].suffix}"))
            self._tensor(value, "%arena", offset, shape, type_.dtype)
            return
        turn = turns[value]
        self._tensor(value, "%arena", f"{turn}.0", shape, type_.dtype)
        turns[value] = f"%turn_{value}_next"
        rotated = show_tuple([f"{turn}.{n}" for n in (*range(1, len(group)), 0)])
        self._lines.append(f"let {turns[value]} = {rotated};")

    def _set_shape(self, row: int, shape: isa.Use) -> None:
        """The bytes of a tensor to be, by the name of its value."""
        dtype = self._function.tensors[row].dtype
        num_bytes = storage.dynamic_bytes(self._use(shape), dtype)
        storage.bind_size(str(self._made[row]), num_bytes, self._bind)
        self._rows[row] = storage.DynamicRow(self._use(shape), dtype)

    def _place(self, group: int, rows: Sequence[int]) -> None:
        """A region as large as its slots, each of which begins where the one below ends."""
        slots: dict[int, list[int]] = {}
        for row in rows:
            slots.setdefault(self._placement.within[row].slot, []).append(row)
        end: Expression = Number(0)
        for slot, within in sorted(slots.items()):
            self._bind(f"%offset_g{group}_{slot}", end)
            names = self._largest(within)
            size = names[0]
            if len(names) > 1:
                size = f"%size_g{group}_{slot}"
                self._bind(size, storage.largest(names))
            end = add(Term(f"%offset_g{group}_{slot}"), Term(size))
            for row in within:
                self._rows[row] = replace(
                    self._rows[row], region=f"%region_g{group}", offset=f"%offset_g{group}_{slot}"
                )
        self._bind(f"%bytes_g{group}", end)
        shown = self._value(Term(f"%bytes_g{group}"))
        allocation = storage.alloc_storage(shown, f"stack(({shown},), axis=0)", "uint8")
        self._lines.append(f"let %region_g{group}: Storage[] = {allocation};")

    def _largest(self, rows: Sequence[int]) -> list[str]:
        """The sizes of a slot's tensors; folded, those that are equal for certain once."""
        names = {row: f"%size_{self._made[row]}" for row in rows}
        if not self._folded:
            return list(names.values())
        return list(
            {(self._rows[r].shape, dtype_bytes(self._rows[r].dtype)): names[r] for r in rows}.values()
        )

    def _new_dynamic_tensor(self, value: int, type_: TensorType, row: storage.DynamicRow) -> None:
        if row.region:
            self._tensor(value, row.region, self._value(Term(row.offset)), row.shape, type_.dtype)
            return
        allocation = storage.alloc_storage(f"%size_{value}", row.shape, type_.dtype)
        self._lines.append(f"let %storage_{value}: Storage[] = {allocation};")
        self._tensor(value, f"%storage_{value}", "0i64", row.shape, type_.dtype)

    def _own(self, value: int, shape: str, dtype: str, num_bytes: Expression) -> None:
        """A tensor with storage of its own."""
        size = self._value(storage.bind_size(str(value), num_bytes, self._bind))
        self._lines.append(f"let %storage_{value}: Storage[] = {storage.alloc_storage(size, shape, dtype)};")
        self._tensor(value, f"%storage_{value}", "0i64", shape, dtype)

    def _copy(self, value: int, src: isa.Use) -> None:
        type_ = self._types.values[value]
        assert isinstance(type_, TensorType)
        if type_.is_static:
            self._own(value, storage.shape_vector(type_), type_.dtype, storage.static_bytes(type_))
        else:
            shape = f"%shape_{value}"
            self._lines.append(f'let {shape} = vm.shape_of({self._use(src)}, dtype="int64");')
            self._own(value, shape, type_.dtype, storage.dynamic_bytes(shape, type_.dtype))
        self._invoke(self._names.copies[type_], [src], [self._values[value]])

    def _tensor(self, value: int, place: str, offset: str, shape: str, dtype: str) -> None:
        type_ = self._types.values.get(value)
        dims = type_.shape if isinstance(type_, TensorType) else None
        allocation = storage.alloc_tensor(place, offset, shape, dtype, dims)
        self._lines.append(f"let {typed(self._values[value], type_)} = {allocation};")

    def _invoke(self, kernel: str, args: Sequence[isa.Use], dests: Sequence[str]) -> None:
        call = f"vm.invoke_tvm_op(@{kernel}, {self._tuple(args)}, {show_tuple(dests)})"
        self._lines.append(f"let %done_{dests[0].removeprefix('%')} = {call};")

    def _written(self, instruction: isa.Instruction) -> str:
        """The expression of an instruction that allocates no tensor by itself."""
        match instruction:
            case isa.Move(_, src):
                return self._use(src)
            case isa.LoadConst(_, number):
                inline = literal(self._module.constants[number])
                return inline or f"@{self._names.constants[number]}()"
            case isa.ShapeOf(_, src):
                return f'vm.shape_of({self._use(src)}, dtype="int64")'
            case isa.Reshape(_, src, row):
                type_ = self._function.tensors[row]
                return self._reshape(src, storage.shape_vector(type_), type_.shape)
            case isa.ReshapeTo(dst, src, shape):
                known = self._types.values.get(dst)
                dims = known.shape if isinstance(known, TensorType) else ()
                return self._reshape(src, self._use(shape), dims)
            case isa.Copy(_, src):
                return f"copy({self._use(src)})"
            case isa.DeviceCopy(_, src, device):
                return f"device_copy({self._use(src)}, {device})"
            case isa.MakeAdt(_, tag, fields):
                return self._tuple(fields) if tag == 0 else f"constructor_{tag}({self._list(fields)})"
            case isa.GetField(_, src, index):
                return f"{self._use(src)}.{index}"
            case isa.MakeClosure(_, callee, captured):
                return self._closure(callee, captured)
            case isa.MakeRef(_, src):
                return f"ref({self._use(src)})"
            case isa.ReadRef(_, src):
                return f"ref_read({self._use(src)})"
            case isa.WriteRef(ref, src):
                return f"ref_write({self._use(ref)}, {self._use(src)})"
            case isa.Call(_, callee, args):
                return f"@{self._names.functions[callee]}({self._list(args)})"
            case isa.CallClosure(_, closure, args):
                return f"{self._use(closure)}({self._list(args)})"
            case _:
                raise ValueError(f"{isa.row_of(instruction).mnemonic} belongs to the allocator")

    def _reshape(self, src: isa.Use, shape: str, dims: Sequence[int | None]) -> str:
        newshape = ", ".join("-1" if d is None else str(d) for d in dims)
        return f"vm.reshape_tensor({self._use(src)}, {shape}, newshape=[{newshape}])"

    def _closure(self, callee: int, captured: Sequence[isa.Use]) -> str:
        """A function of the parameters that are not bound yet."""
        parameters = self._module.functions[callee].parameters
        free = parameters[: len(parameters) - len(captured)]
        names = [f"%a{n}" for n in range(len(free))]
        head = ", ".join(typed(n, p.type) for n, p in zip(names, free, strict=True))
        arguments = ", ".join([*names, *(self._use(c) for c in captured)])
        return f"fn ({head}) {{ @{self._names.functions[callee]}({arguments}) }}"

    def _result(self) -> str:
        shown = show_type(self._types.result)
        return f" -> {shown}" if shown else ""

    def _bind(self, name: str, value: Expression) -> None:
        if self._folded:
            value = fold(value, self._known)
            if isinstance(value, Number):
                self._known[name] = value.value
                return
        self._lines.append(f"let {name} = {show(value)};")

    def _value(self, expression: Expression) -> str:
        return show(fold(expression, self._known))

    def _taken(self, depth: int) -> list[_Line]:
        lines, self._lines = self._lines, []
        return [_Line(depth, text) for text in lines]

    def _use(self, use: isa.Use) -> str:
        return self._values[use.register]

    def _list(self, args: Sequence[isa.Use]) -> str:
        return ", ".join(self._use(a) for a in args)

    def _tuple(self, fields: Sequence[isa.Use]) -> str:
        return show_tuple([self._use(f) for f in fields])
