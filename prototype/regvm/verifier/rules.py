"""The rules of valid bytecode. Each has an id, which stands in the RFC, at the check and in the tests' names."""

from __future__ import annotations

import enum


class Rule(enum.Enum):
    """The rules of valid bytecode."""

    REGISTER = "valid-register"
    SLOT = "valid-slot"
    TARGET = "valid-target"
    END = "valid-end"
    INDEX = "valid-index"
    ARITY = "valid-arity"
    ASSIGNED = "valid-assigned"
    KIND = "valid-kind"
    TENSOR = "valid-tensor"
    REGION = "valid-region"
    OUTS = "valid-outs"
    CONSTANT = "valid-constant"


Broken = tuple[Rule, str]
"""A rule that is broken, and a message."""
