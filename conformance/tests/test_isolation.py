"""A crash, a hang and an exception are results, and the worker is there for the next call."""

import ctypes
import os
import time

import pytest

from relay_conformance.isolation import Crashed, Raised, Returned, TimedOut, Worker, shared_worker

pytestmark = pytest.mark.thorough


def test_a_result_comes_back(worker: Worker) -> None:
    assert worker.call(divmod, 7, 2) == Returned((3, 1))


def test_calls_share_a_process_that_is_not_this_one(worker: Worker) -> None:
    first, second = worker.call(os.getpid), worker.call(os.getpid)
    assert first == second != Returned(os.getpid())


def test_a_worker_that_grows_keeps_what_it_holds() -> None:
    with Worker(30.0) as worker:
        first = worker.call(os.getpid)
        worker.call(exec, "import builtins; builtins.held = b'x' * 400_000_000")
        for _ in range(2):
            # The pool looks at the size of its processes about once a second.
            worker.call(time.sleep, 1.1)
        assert worker.call(os.getpid) == first
        assert worker.call(eval, "len(held)") == Returned(400_000_000)


def test_an_exception_comes_back(worker: Worker) -> None:
    outcome = worker.call(int, "x")
    assert isinstance(outcome, Raised)
    assert isinstance(outcome.error, ValueError)


def test_a_crash_is_a_result_and_names_the_signal() -> None:
    with Worker(30.0) as worker:
        crashed = worker.call(ctypes.string_at, 0)
        assert isinstance(crashed, Crashed)
        assert "SIGSEGV" in crashed.cause
        assert worker.call(divmod, 7, 2) == Returned((3, 1))


def test_the_last_words_of_a_process_are_kept() -> None:
    with Worker(30.0) as worker:
        assert worker.call(os.write, 2, b"about to fail\n") == Returned(14)
        crashed = worker.call(os.abort)
        assert isinstance(crashed, Crashed)
        assert "SIGABRT" in crashed.cause
        assert crashed.last_words == "about to fail"


def test_an_exit_is_a_crash_too() -> None:
    with Worker(30.0) as worker:
        crashed = worker.call(os._exit, 3)
        assert isinstance(crashed, Crashed)
        assert crashed.cause == "EXIT(3)"


def test_the_time_limit_is_kept_from_outside() -> None:
    with Worker(1.0) as worker:
        start = time.monotonic()
        assert worker.call(time.sleep, 60) == TimedOut(1.0)
        assert time.monotonic() - start < 20
        assert worker.call(divmod, 7, 2) == Returned((3, 1))


def test_a_process_keeps_one_worker_for_each_time_limit() -> None:
    first = shared_worker(50.0)
    assert first is shared_worker(50.0)
    assert first is not shared_worker(51.0)
    assert first.call(divmod, 7, 2) == Returned((3, 1))


def test_what_the_worker_prints_stays_out_of_the_report(worker: Worker, capfd: object) -> None:
    worker.call(os.write, 1, b"noise\n")
    assert hasattr(capfd, "readouterr")
    assert capfd.readouterr() == ("", "")
