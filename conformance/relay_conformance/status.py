"""Where a case ends on an executor: one list of classes for every kind of case."""

from enum import Enum

from relay_conformance.comparison import Difference, Kind
from relay_conformance.execution import Cause, Failure, Stage


class Status(Enum):
    """Where a case ended on an executor; everything but ``AGREE`` is a failure."""

    AGREE = "agree"
    IMPORT = "import"
    COMPILE = "compile"
    RUN = "run"
    SHAPE = "shape"
    DTYPE = "dtype"
    VALUE = "value"
    ACCEPTED = "accepted"
    CRASH = "crash"
    TIME_OUT = "time-out"


def failure_status(failure: Failure) -> Status:
    """By its cause, and an error by the step that it came from."""
    match failure.cause:
        case Cause.CRASH:
            return Status.CRASH
        case Cause.TIME_OUT:
            return Status.TIME_OUT
        case Cause.ERROR:
            return Status.COMPILE if failure.stage is Stage.COMPILE else Status.RUN


def difference_status(difference: Difference) -> Status:
    """By what differs first."""
    match difference.kind:
        case Kind.DTYPE:
            return Status.DTYPE
        case Kind.SHAPE | Kind.COUNT | Kind.STRUCTURE:
            return Status.SHAPE
        case Kind.VALUE | Kind.MISSING:
            return Status.VALUE
