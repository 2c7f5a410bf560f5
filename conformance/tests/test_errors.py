"""An error is one line, and says which argument it is about."""

from relay_conformance.errors import BadArgumentError, BadInputError, DisagreementError


def test_a_message_is_one_line() -> None:
    assert str(BadInputError("first\n  second")) == "first second"


def test_a_bad_argument_is_named_and_is_a_value_error() -> None:
    error = BadArgumentError("feed", "x is missing")
    assert (error.argument, str(error)) == ("feed", "feed: x is missing")
    assert isinstance(error, ValueError)


def test_a_disagreement_fails_a_test_like_an_assertion() -> None:
    assert issubclass(DisagreementError, AssertionError)
