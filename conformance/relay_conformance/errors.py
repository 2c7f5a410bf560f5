"""The errors of the suite: bad input, an executor that is not to be had, or a promise that does not hold."""


class ConformanceError(Exception):
    """Base of every error that this package raises on purpose; the message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class BadInputError(ConformanceError):
    """A model, file, option or name that cannot be used; the message says what would be right."""


class BadArgumentError(BadInputError, ValueError):
    """An argument of :func:`relay_conformance.check_equal` that cannot be used."""

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(f"{argument}: {message}")
        self.argument = argument


class UnsupportedModelError(BadInputError):
    """TVM's TensorFlow importer does not know the model's operators, or fails on them."""


class UnavailableExecutorError(ConformanceError):
    """An executor is registered, but what it needs is not installed."""


class DisagreementError(ConformanceError, AssertionError):
    """The executors do not agree, or one of them failed; the message says which, where and by how much."""
