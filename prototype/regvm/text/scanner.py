"""Read one line of the text form from left to right; errors say where and what was expected."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from regvm.errors import FormatError
from regvm.text.names import QUOTED, WORD

_SPACE = re.compile(r"[ \t]*(;.*)?\r?$|[ \t]*", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]{1,20}")
_HEX = re.compile(r"(?:[0-9a-f]{2})*")
_FOUND = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.$/#@-]+|.')
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Scanner:
    """A line and a position in it. Every method skips blanks and raises FormatError where it finds another thing."""

    def __init__(self, text: str, line: int) -> None:
        self._text = text
        self._line = line
        self._at = 0
        self._taken = 0
        self._ended = 0
        self._skip()

    def at_end(self) -> bool:
        """Whether nothing but a comment is left."""
        return self._at == len(self._text)

    def end(self) -> None:
        """Nothing but a comment may be left."""
        if not self.at_end():
            self.fail("the end of the line")

    def has(self, mark: str) -> bool:
        """Whether a punctuation mark is next."""
        return self._text.startswith(mark, self._at)

    def accept(self, mark: str) -> bool:
        """Take a punctuation mark if it is next."""
        if not self.has(mark):
            return False
        self._advance(self._at + len(mark))
        return True

    def expect(self, mark: str) -> None:
        """Take a punctuation mark."""
        if not self.accept(mark):
            self.fail(repr(mark))

    def word(self, *choices: str) -> None:
        """Take one of some words."""
        if not any(map(self.accept_word, choices)):
            self.fail(" or ".join(choices))

    def accept_word(self, word: str) -> bool:
        """Take a word if it is next."""
        if not self.has_word(word):
            return False
        self._advance(self._at + len(word))
        return True

    def name(self, what: str) -> str:
        """Take a name, bare or quoted."""
        if quoted := QUOTED.match(self._text, self._at):
            try:
                name = str(json.loads(quoted[0]))
            except ValueError:
                self.fail(f"{what} quoted as JSON quotes")
            if _SURROGATE.search(name):
                self.fail(f"{what} without half of a surrogate pair")
            self._advance(quoted.end())
            return name
        found = WORD.match(self._text, self._at)
        if not found:
            self.fail(what)
        self._advance(found.end())
        return found[0]

    def number(self, what: str, prefix: str = "", *, signed: bool = False) -> int:
        """Take a number of at most 64 bits after a prefix, such as ``R3``."""
        start = self._at + len(prefix)
        found = _NUMBER.match(self._text, start) if self._text.startswith(prefix, self._at) else None
        value = int(found[0]) if found else -1
        low, high = (-(2**63), 2**63) if signed else (0, 2**64)
        if not found or not low <= value < high:
            self.fail(f"{what}, such as {prefix}{-1 if signed else 0}")
        self._advance(found.end())
        return value

    def has_number(self) -> bool:
        """Whether a number is next."""
        return self.has_numbered("")

    def has_numbered(self, prefix: str) -> bool:
        """Whether a number after a prefix is next, such as ``R3``."""
        return self.has(prefix) and _NUMBER.match(self._text, self._at + len(prefix)) is not None

    def has_word(self, *words: str) -> bool:
        """Whether one of some words is next."""
        found = WORD.match(self._text, self._at)
        return found is not None and found[0] in words

    def hexadecimal(self, what: str, num_bytes: int) -> bytes:
        """Take so many bytes in hexadecimal."""
        found = _HEX.match(self._text, self._at)
        digits = found[0] if found else ""
        if len(digits) != 2 * num_bytes:
            self.fail(f"{what}, {num_bytes} bytes as {2 * num_bytes} lower-case hexadecimal digits")
        self._advance(self._at + len(digits))
        return bytes.fromhex(digits)

    def fail(self, expected: str, *, behind: bool = False) -> NoReturn:
        """Raise FormatError that says where, what was expected and what stands there.

        ``behind`` means what was taken last.
        """
        at = self._taken if behind else self._at
        found = _FOUND.match(self._text, at)
        if found:
            raise FormatError(f"line {self._line}, column {at + 1}: expected {expected}; found {found[0]}")
        raise FormatError(f"line {self._line}, column {self._ended + 1}: expected {expected}; the line ends")

    def _advance(self, to: int) -> None:
        self._taken = self._at
        self._at = self._ended = to
        self._skip()

    def _skip(self) -> None:
        blank = _SPACE.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
