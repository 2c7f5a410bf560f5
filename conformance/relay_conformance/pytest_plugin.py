"""The fixture ``check_equal`` and the option ``--relay-executors``, for test suites of others.

Asked for by name, in a ``conftest.py``, because it loads TVM, which not every run of pytest should pay for:

    pytest_plugins = ["relay_conformance.pytest_plugin"]
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from relay_conformance import executors
from relay_conformance.equality import DEFAULT_EXECUTORS
from relay_conformance.equality import check_equal as check
from relay_conformance.errors import ConformanceError


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("relay-conformance").addoption(
        "--relay-executors",
        default=",".join(DEFAULT_EXECUTORS),
        metavar="NAMES",
        help="what `check_equal` runs a graph on, with commas; the first is what the others are compared with",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Raises UsageError for an executor that does not exist, before any test runs."""
    try:
        for name in _names(config):
            executors.get(name)
    except ConformanceError as error:
        raise pytest.UsageError(f"--relay-executors: {error}") from error


@pytest.fixture
def check_equal(request: pytest.FixtureRequest) -> Callable[..., None]:
    """:func:`relay_conformance.check_equal` on the executors of ``--relay-executors``."""
    checked: Callable[..., None] = partial(check, executors=_names(request.config))
    return checked


def _names(config: pytest.Config) -> Sequence[str]:
    options: Mapping[str, Any] = vars(config.option)
    return str(options["relay_executors"]).split(",")
