"""Pass contexts that differ from the current one in their configuration alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm


def configured(options: Mapping[str, Any]) -> tvm.transform.PassContext:
    """The current context with ``options`` over its configuration."""
    current = tvm.transform.PassContext.current()
    return tvm.transform.PassContext(
        opt_level=current.opt_level,
        required_pass=current.required_pass,
        disabled_pass=current.disabled_pass,
        instruments=current.instruments,
        config={**current.config, **options},
    )
