"""The engine: one machine's context, and runs of its program.

A run goes into machine code and stays there until the program ends, but for a moment every twentieth of a second in
a long loop, so that Python can handle a signal: an exception that a handler raises ends the run.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from dataclasses import dataclass
from typing import Any

from regvm.errors import ExecutionError, KernelError, MatchError, StackLimitError
from regvm.executable import Program, TensorType
from regvm.native.boundary import Exporter, Importer
from regvm.native.code import Code
from regvm.native.frame_layout import pool_types
from regvm.native.layout import Cell, Context, Frame, FunctionRecord, ObjectKind, Status
from regvm.native.lowering import FUNCTIONS, lower
from regvm.native.support import PREFIX
from regvm.native.tables import addresses_of, constant_objects, fill_record, pools
from regvm.runtime.interpreter import where
from regvm.runtime.kernels import calls, tensors
from regvm.runtime.kernels import native as tvm_native
from regvm.runtime.kernels.owned import OwnedStorage
from regvm.runtime.values import Tensor, Value

_MESSAGES = {
    Status.MATCH: "no clause of the match fits the value",
    Status.NOT_A_TENSOR: "the value is no tensor",
    Status.NOT_DATA: "the value is neither tuple nor algebraic data",
    Status.NOT_A_FUNCTION: "the value is no function",
    Status.NOT_A_REFERENCE: "the value is no reference",
    Status.NO_FIELD: "the value has no such field",
    Status.ARITY: "the function takes another number of arguments",
    Status.RESHAPE: "the tensor cannot be reshaped to a shape of more or fewer elements",
    Status.BAD_RANK: "the shape has another number of dimensions than the tensor",
    Status.BAD_SHAPE: "the shape is no vector of at most 64 integers",
}


@dataclass(frozen=True)
class _Entry:
    """The functions of the compiled support, as Python calls them."""

    start: Any
    resume: Any
    finish: Any
    dispose: Any
    take_result: Any
    external: Any
    make_fields: Any
    make_cell: Any
    drop_value: Any


_POINTER, _I32, _I64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "start": (_I32, _POINTER, _I32, _POINTER),
    "resume": (_I32, _POINTER),
    "finish": (None, _POINTER),
    "dispose": (None, _POINTER),
    "take_result": (_POINTER, _POINTER),
    "external": (_POINTER, _POINTER, _POINTER),
    "make_fields": (_POINTER, _POINTER, _I32, _I32, _I64),
    "make_cell": (_POINTER, _POINTER, _POINTER),
    "drop_value": (None, _POINTER, _POINTER),
}


_LONG = ("start", "resume")


def _compile(program: Program) -> tuple[Code, Code]:
    """A program's machine code, and that of the support."""
    # Only where something is compiled: a shared object needs no LLVM.
    from regvm.native import machine_code

    return machine_code.compiled_program(
        lower(program, tvm_native.dtype_word)
    ), machine_code.compiled_support()


@functools.lru_cache(maxsize=8)
def _entry(code: Code) -> _Entry:
    return _Entry(
        **{
            # What may run for long lets other threads go on; the rest keeps the interpreter's lock, which is quicker.
            n: (ctypes.CFUNCTYPE if n in _LONG else ctypes.PYFUNCTYPE)(*types)(code.address(PREFIX + n))
            for n, types in _SIGNATURES.items()
        }
    )


class NativeEngine:
    """Runs one program as machine code; not to be shared by threads.

    ``stack_limit`` is the number of frames that a recursion may have at once; ``compiled`` is the program's machine
    code where it has been compiled already, together with the support.
    """

    def __init__(
        self, program: Program, library: Any, stack_limit: int = 1_000_000, compiled: Code | None = None
    ) -> None:
        self.program = program
        self.stack_limit = stack_limit
        self.owned = OwnedStorage()
        code, support = (compiled, compiled) if compiled else _compile(program)
        self._entry = _entry(support)
        self._constants = [tensors.load_constant(c) for c in program.constants]
        self._constants_by_handle = {c.handle: c for c in self._constants}
        self._context, pools_, held = _context(
            program,
            self._constants,
            calls.find_kernels(library, [k.name for k in program.kernels]),
            code,
            stack_limit,
        )
        self._address = ctypes.addressof(self._context)
        self._types_by_pool = dict(zip(addresses_of(pools_), pool_types(program), strict=True))
        self._held_bytes = 0
        self._given: list[Value] = []
        self._value: Value | None = None
        self._arguments = [(ctypes.c_uint64 * max(1, len(f.parameters)))() for f in program.functions]
        weakref.finalize(
            self, _dispose, self._entry.dispose, self._context, (held, pools_, code, self._constants)
        )

    @property
    def allocated_bytes(self) -> int:
        """Bytes of arenas and of tensors that own their storage, each at its largest."""
        return int(self._context.arena_peak + max(self._context.peak_bytes, self.owned.peak_bytes))

    @property
    def live_objects(self) -> int:
        """Objects on the machine's heap; none between two runs."""
        return int(self._context.live_objects)

    def run(self, function: int, arguments: list[Value]) -> Value:
        """Call a function, and give its result.

        Raises an ExecutionError that names the function and instruction; the machine stays usable.
        """
        self.perform(function, arguments)
        return self.result()

    def perform(self, function: int, arguments: list[Value]) -> None:
        """Call a function; its result stays on the machine's heap until it is asked for, or until the next call.

        Raises what ``run`` raises.
        """
        self._value = None
        given = self._arguments[function]
        for number, argument in enumerate(arguments):
            if type(argument) is not Tensor:
                self._value = self._run_on_objects(function, arguments)
                return
            given[number] = argument.handle | 1
        self._given = arguments
        self._call(function, given)

    def result(self) -> Value:
        """The result of the last call, which must have succeeded."""
        if self._value is None:
            self._value = self._tensors_result(self._given)
        return self._value

    def _run_on_objects(self, function: int, arguments: list[Value]) -> Value:
        importer = Importer(self._address, self._entry)
        given = self._arguments[function]
        try:
            for number, argument in enumerate(arguments):
                given[number] = importer.argument(argument)
            self._call(function, given)
            return self._result(importer)
        finally:
            importer.release()
            self._entry.finish(self._address)

    def _call(self, function: int, given: Any) -> None:
        held = self.owned.live_bytes
        if held != self._held_bytes:
            self._context.live_bytes += held - self._held_bytes
            self._held_bytes = held
        done = False
        try:
            status = self._entry.start(self._address, function, given)
            while status == Status.PAUSED:
                status = self._entry.resume(self._address)
            if status:
                raise self._error(Status(status))
            done = True
        finally:
            if not done:
                self._entry.finish(self._address)

    def _tensors_result(self, arguments: list[Any]) -> Value:
        """The result of a run on tensors alone; most often one tensor, which need not pass the exporter."""
        context = self._context
        taken = self._entry.take_result(self._address)
        if not taken:
            try:
                return self._exporter(arguments, {}).value(context.result)
            finally:
                self._entry.finish(self._address)
        if context.taken_kind == ObjectKind.OWNED:
            pool = context.taken_pool
            type_ = self._types_by_pool[pool] if pool else tvm_native.type_at(taken)
            return tvm_native.hand_over(taken, context.taken_data, type_)
        for argument in arguments:
            if argument.handle == taken:
                return argument  # type: ignore[no-any-return]
        return self._constants_by_handle[taken]

    def _exporter(self, arguments: list[Tensor], done: dict[int, Value]) -> Exporter:
        by_handle = {a.handle: a for a in arguments}
        return Exporter(
            lambda handle: by_handle.get(handle) or self._constants_by_handle[handle],
            self._pool_type,
            self.owned,
            done,
        )

    def _result(self, importer: Importer) -> Value:
        exporter = self._exporter(list(importer.tensors.values()), importer.done)
        for address, ref in importer.cells.items():
            ref.value = exporter.value(Cell.from_address(address).value)
        return exporter.value(self._context.result)

    def _pool_type(self, address: int) -> TensorType:
        return self._types_by_pool[address]

    def _error(self, status: Status) -> ExecutionError:
        """What went wrong, with the instruction of the context's current frame."""
        frame = self._context.frame
        if not frame:
            return ExecutionError("no memory for a frame")
        function = self.program.functions[Frame.from_address(frame).function]
        place = where(function, self._context.pc)
        match status:
            case Status.KERNEL:
                return KernelError(f"{place}: {calls.last_error()}")
            case Status.STACK_LIMIT:
                return StackLimitError(
                    f"@{function.name}: the recursion is deeper than the stack limit of {self.stack_limit} "
                    "frames; raise the limit, or make the call a tail call"
                )
            case Status.MATCH:
                return MatchError(f"{place}: {_MESSAGES[status]}")
            case Status.NO_MEMORY:
                return ExecutionError(f"{place}: there is no memory")
            case _:
                return ExecutionError(f"{place}: {_MESSAGES[status]}")


def _dispose(dispose: Any, context: Context, held: Any) -> None:
    """Free a machine's memory; ``held`` is what must live until then."""
    dispose(ctypes.addressof(context))
    del held


def _context(
    program: Program, constants: list[Tensor], kernels: list[Any], code: Code, stack_limit: int
) -> tuple[Context, Any, Any]:
    """A machine's context, its pools, and what both refer to."""
    objects = constant_objects(constants)
    made, shapes = pools(pool_types(program), tvm_native.dtype_word)
    records = (FunctionRecord * len(program.functions))()
    entries = (ctypes.c_void_p * len(records)).from_address(code.variable(FUNCTIONS))
    templates = [
        fill_record(record, n, function, entries[n] or 0, tvm_native.dtype_word)
        for n, (record, function) in enumerate(zip(records, program.functions, strict=True))
    ]
    handles = (ctypes.c_void_p * max(1, len(kernels)))(*tvm_native.handles(kernels))
    table = (ctypes.c_void_p * len(objects))(*addresses_of(objects))
    context = Context(
        call_kernel=tvm_native.address_of("TVMFuncCall"),
        array_alloc=tvm_native.address_of("TVMArrayAlloc"),
        array_free=tvm_native.address_of("TVMArrayFree"),
        kernels=ctypes.addressof(handles),
        constants=ctypes.addressof(table),
        pools=ctypes.addressof(made),
        functions=ctypes.addressof(records),
        num_functions=len(records),
        num_pools=len(made),
        stack_limit=stack_limit,
    )
    return context, made, (objects, table, shapes, records, templates, handles, kernels)
