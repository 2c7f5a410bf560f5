"""A pytest plugin: ``pytest -p regvm.compat.plugin …`` runs tests of the reference on the register VM."""

from regvm.compat import shim


def pytest_configure() -> None:
    """Before test modules are imported."""
    shim.install()


def pytest_unconfigure() -> None:
    """After the last test."""
    shim.uninstall()
