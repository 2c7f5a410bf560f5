"""Write LLVM assembly: values, memory, and structured control flow, as text.

Text, not an object model: it is what LLVM's parser takes, it is quick to make, and it can be read.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

from regvm.native.layout import Object, field


class Assembly:
    """The body of one LLVM function. Values are strings such as ``%v7``; labels are without the ``%``."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._variables: list[str] = []
        self._count = 0

    def fresh(self, stem: str) -> str:
        """A name that is not used yet."""
        self._count += 1
        return f"{stem}{self._count}"

    def emit(self, line: str) -> None:
        """An instruction without a value."""
        self._lines.append(f"  {line}")

    def let(self, expression: str) -> str:
        """An instruction's value."""
        name = f"%{self.fresh('v')}"
        self._lines.append(f"  {name} = {expression}")
        return name

    def op(self, operation: str, type_: str, left: int | str, right: int | str) -> str:
        """A binary operation on integers."""
        return self.let(f"{operation} {type_} {left}, {right}")

    def label(self, name: str) -> None:
        """Begin a block; the one before must have ended."""
        self._lines.append(f"{name}:")

    def go(self, label: str) -> None:
        """Jump."""
        self.emit(f"br label %{label}")

    def go_if(self, condition: str, then: str, otherwise: str) -> None:
        """Branch on an i1."""
        self.emit(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def variable(self, type_: str, initial: str | None = None) -> str:
        """Memory on the C stack, as an address; allocated once, on entry."""
        name = f"%{self.fresh('m')}"
        self._variables.append(f"  {name} = alloca {type_}, align 8")
        if initial is not None:
            self.emit(f"store {type_} {initial}, ptr {name}")
        return name

    def load(self, type_: str, address: str) -> str:
        """The value at an address."""
        return self.let(f"load {type_}, ptr {address}")

    def store(self, type_: str, value: str, address: str) -> None:
        """Write a value to an address."""
        self.emit(f"store {type_} {value}, ptr {address}")

    def at(self, base: str, offset: int | str) -> str:
        """The address so many bytes after ``base``."""
        if offset == 0:
            return base
        return self.let(f"getelementptr inbounds i8, ptr {base}, i64 {offset}")

    def element(self, base: str, type_: str, index: int | str) -> str:
        """The address of an element of an array of ``type_``."""
        return self.let(f"getelementptr inbounds {type_}, ptr {base}, i64 {index}")

    def address(self, structure: type[ctypes.Structure], base: str, name: str) -> str:
        """The address of a structure's field; the head's fields of an object may be named directly."""
        number, _ = field(structure, name)
        return self.let(f"getelementptr inbounds %{structure.__name__}, ptr {base}, i32 0, i32 {number}")

    def get(self, structure: type[ctypes.Structure], base: str, name: str) -> str:
        """A structure's field."""
        return self.load(field(structure, name)[1], self.address(structure, base, name))

    def set(self, structure: type[ctypes.Structure], base: str, name: str, value: int | str) -> None:
        """Write a structure's field."""
        self.store(field(structure, name)[1], str(value), self.address(structure, base, name))

    def add(self, structure: type[ctypes.Structure], base: str, name: str, amount: int | str) -> str:
        """Add to a field; returns its new value."""
        place = self.address(structure, base, name)
        type_ = field(structure, name)[1]
        changed = self.let(f"add {type_} {self.load(type_, place)}, {amount}")
        self.store(type_, changed, place)
        return changed

    def call(self, type_: str, callee: str, *arguments: str) -> str:
        """Call a function; arguments are written with their types. Returns the value, or "" of a void."""
        text = f"call {type_} {callee}({', '.join(arguments)})"
        if type_ != "void":
            return self.let(text)
        self.emit(text)
        return ""

    def is_null(self, pointer: str) -> str:
        """Whether a pointer is null."""
        return self.let(f"icmp eq ptr {pointer}, null")

    def compare(self, relation: str, type_: str, left: int | str, right: int | str) -> str:
        """An integer comparison: ``eq``, ``ne``, ``slt``, ``ult``, …"""
        return self.let(f"icmp {relation} {type_} {left}, {right}")

    @contextlib.contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """What is written inside runs if the condition holds."""
        then, after = self.fresh("then"), self.fresh("after")
        self.go_if(condition, then, after)
        self.label(then)
        yield
        self.go_on(after)

    @contextlib.contextmanager
    def unless(self, condition: str) -> Iterator[None]:
        """What is written inside runs if the condition does not hold."""
        with self.when(self.let(f"xor i1 {condition}, true")):
            yield

    @contextlib.contextmanager
    def loop(self) -> Iterator[str]:
        """What is written inside runs until it goes to the label that this yields."""
        head, after = self.fresh("head"), self.fresh("after")
        self.go(head)
        self.label(head)
        yield after
        if not self._ended():
            self.go(head)
        self.label(after)

    @contextlib.contextmanager
    def count(self, limit: str) -> Iterator[str]:
        """What is written inside runs for each i64 from 0 up to ``limit``, which this yields."""
        counter = self.variable("i64", "0")
        with self.loop() as done:
            number = self.load("i64", counter)
            more, body = self.compare("slt", "i64", number, limit), self.fresh("body")
            self.go_if(more, body, done)
            self.label(body)
            yield number
            self.store("i64", self.let(f"add i64 {number}, 1"), counter)

    def leave_if(self, condition: str, done: str) -> None:
        """Go to ``done`` if the condition holds."""
        stay = self.fresh("stay")
        self.go_if(condition, done, stay)
        self.label(stay)

    def go_on(self, label: str) -> None:
        """Begin a block that the current one, unless it has ended, runs into."""
        if not self._ended():
            self.go(label)
        self.label(label)

    def function(self, signature: str) -> list[str]:
        """The lines of the whole function."""
        return [f"define {signature} {{", "entry:", *self._variables, *self._lines, "}"]

    def _ended(self) -> bool:
        return bool(self._lines) and self._lines[-1].lstrip().startswith(
            ("br ", "ret ", "switch ", "unreachable")
        )


def head(code: Assembly, object_: str, name: str) -> str:
    """A field of the head that every object begins with."""
    return code.get(Object, object_, name)
