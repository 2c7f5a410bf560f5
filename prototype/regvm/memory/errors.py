"""Errors of the storage planner: each names the request, row or option at fault and what would be right."""


class PlanningError(ValueError):
    """The base of all of them; the command line turns it into one line and exit status 2."""


class InvalidRequestError(PlanningError):
    """A request that no plan could serve: a negative size, or live ranges out of order."""


class UnknownStrategyError(PlanningError):
    """A strategy name that is not registered."""


class InvalidOptionError(PlanningError):
    """An alignment, budget or limit out of its range."""


class MissingPackageError(PlanningError):
    """An optional package is not installed."""


class InvalidTableError(PlanningError):
    """A CSV table of requests that cannot be read; the message starts with file and line."""
