"""The command, called in this process."""

import pytest

from regvm.cli import main
from regvm_testing.commands import Call, Finished


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    """Calls the command; standard error is taken from the file descriptor, since TVM writes there."""

    def run(*arguments: object) -> Finished:
        capfd.readouterr()
        status = main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return Finished(status, out, err)

    return run
