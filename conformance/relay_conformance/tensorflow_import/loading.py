"""Import TensorFlow when it is first needed, and without its start-up messages if so wished."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from relay_conformance.errors import BadInputError

_silent = False


def tensorflow() -> Any:
    """The module ``tensorflow``.

    Raises:
        BadInputError: it is not installed, or TVM was loaded in a way that rules it out.
    """
    try:
        # Its C++ side writes before it has read any level, straight to the file descriptor.
        with _standard_error_held_back() if _silent else nullcontext():
            import tensorflow
    except ImportError as error:
        raise BadInputError(
            f"this model needs TensorFlow, which can't be imported ({error}); pip install tensorflow-cpu"
        ) from error
    return tensorflow


def silence_tensorflow() -> None:
    """For a command, whose terminal belongs to its report: no warnings when TensorFlow comes to be needed."""
    global _silent
    _silent = True
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    logging.getLogger("tensorflow").setLevel(logging.ERROR)


@contextmanager
def _standard_error_held_back() -> Iterator[None]:
    """Drop what the block writes to standard error; its exceptions pass."""
    sys.stderr.flush()
    kept = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
