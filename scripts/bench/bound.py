"""The bound: a loop in machine code that calls a program's kernels, on fixed buffers, and does nothing else.

The interpreter runs the program once and writes down every kernel call with the addresses of its tensors. No tensor
dies meanwhile, so the calls can be made again, in the same order on the same memory, and give the same result. What
is left of a machine's time above this is its own: dispatch, allocation, counting references.
"""

from __future__ import annotations

import contextlib
import ctypes
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from regvm.runtime.interpreter import Interpreter
from regvm.runtime.kernels import calls
from regvm.runtime.kernels import native as tvm_native
from regvm.runtime.values import Tensor, Value

_DLTENSOR_HANDLE = 7

REPLAY = """
%Call = type { ptr, ptr, i64 }

define i32 @replay(ptr %call_kernel, ptr %calls, ptr %codes, ptr %order, i64 %count) {
entry:
  %value = alloca i64
  %code = alloca i64
  br label %head
head:
  %at = phi i64 [ 0, %entry ], [ %following, %next ]
  %more = icmp slt i64 %at, %count
  br i1 %more, label %body, label %done
body:
  %place = getelementptr i32, ptr %order, i64 %at
  %number = load i32, ptr %place
  %wide = zext i32 %number to i64
  %call = getelementptr %Call, ptr %calls, i64 %wide
  %kernel = load ptr, ptr %call
  %tensors.at = getelementptr %Call, ptr %call, i32 0, i32 1
  %tensors = load ptr, ptr %tensors.at
  %arity.at = getelementptr %Call, ptr %call, i32 0, i32 2
  %arity.wide = load i64, ptr %arity.at
  %arity = trunc i64 %arity.wide to i32
  %failed = call i32 %call_kernel(ptr %kernel, ptr %tensors, ptr %codes, i32 %arity, ptr %value, ptr %code)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %failure, label %next
next:
  %following = add i64 %at, 1
  br label %head
failure:
  ret i32 %failed
done:
  ret i32 0
}
"""


@dataclass
class Trace:
    """What one run did: instructions, tensors that own their storage, and kernel calls.

    ``unique`` are the different calls, as a kernel's handle and the addresses of its tensors; ``order`` says which
    was made when. ``held`` keeps the tensors alive.
    """

    instructions: int
    allocations: int
    unique: list[tuple[int, ...]]
    order: array[int]
    result: Value
    held: list[Any]


class _Recorder(calls.CallSite):
    """A call site that writes down what it calls."""

    __slots__ = ("arity", "handle", "inner")
    numbers: dict[tuple[int, ...], int]
    order: array[int]

    def __init__(self, kernel: Any, count: int) -> None:
        super().__init__(kernel, count)
        self.handle = int(kernel.handle.value)
        self.inner = self.run
        self.run = self._record

    def _record(self) -> int:
        call = (self.handle, *self.values)
        self.order.append(self.numbers.setdefault(call, len(self.numbers)))
        return self.inner()


class _Counter:
    """Counts the steps of an interpreter."""

    def __init__(self, machine: Interpreter) -> None:
        self.steps = 0
        for code in machine._codes:
            code.steps[:] = [self._counted(step) for step in code.steps]

    def _counted(self, step: Any) -> Any:
        def run(registers: Any, buffers: Any) -> int:
            self.steps += 1
            return int(step(registers, buffers))

        return run


def trace(program: Any, library: Any, function: int, arguments: list[Value]) -> Trace:
    """Run a function on the interpreter and record it."""
    numbers: dict[tuple[int, ...], int] = {}
    order = array("i")
    recorder = type("Recorder", (_Recorder,), {"__slots__": (), "numbers": numbers, "order": order})
    with _replaced(calls, "CallSite", recorder):
        machine = Interpreter(program, library)
    counter = _Counter(machine)
    held: list[Any] = [machine, arguments]
    allocated = 0
    allocate = machine.owned.allocate

    def counting(type_: Any) -> Tensor:
        nonlocal allocated
        allocated += 1
        return allocate(type_)

    machine.owned.allocate = counting  # type: ignore[method-assign]
    with _kept(held):
        result = machine.run(function, arguments)
    return Trace(counter.steps, allocated, list(numbers), order, result, held)


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def _kept(held: list[Any]) -> Iterator[None]:
    """No tensor that is made meanwhile dies before ``held`` does."""
    make = Tensor.__init__

    def keeping(tensor: Tensor, *parts: Any) -> None:
        make(tensor, *parts)
        held.append(tensor)

    with _replaced(Tensor, "__init__", keeping):
        yield


class _Call(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_void_p), ("tensors", ctypes.c_void_p), ("arity", ctypes.c_int64)]


class Replay:
    """Makes the calls of a trace again; raises RuntimeError where a kernel fails."""

    def __init__(self, recorded: Trace) -> None:
        self.trace = recorded
        self._tensors = [(ctypes.c_uint64 * (len(c) - 1))(*c[1:]) for c in recorded.unique]
        self._calls = (_Call * max(1, len(recorded.unique)))(
            *(
                _Call(c[0], ctypes.addressof(t), len(t))
                for c, t in zip(recorded.unique, self._tensors, strict=True)
            )
        )
        widest = max((len(t) for t in self._tensors), default=1)
        self._codes = (ctypes.c_int * widest)(*[_DLTENSOR_HANDLE] * widest)
        self._engine = _compile(REPLAY)
        address = self._engine.get_function_address("replay")
        pointers = [ctypes.c_void_p] * 4
        self._run = ctypes.CFUNCTYPE(ctypes.c_int32, *pointers, ctypes.c_int64)(address)
        self._arguments: Sequence[Any] = (
            tvm_native.address_of("TVMFuncCall"),
            ctypes.addressof(self._calls),
            ctypes.addressof(self._codes),
            recorded.order.buffer_info()[0],
            len(recorded.order),
        )

    def __call__(self) -> None:
        if self._run(*self._arguments):
            raise RuntimeError(calls.last_error())


def _compile(text: str) -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    return engine
