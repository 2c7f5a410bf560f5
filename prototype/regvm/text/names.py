"""Names in the text form: bare where they are plain words, otherwise quoted as JSON strings."""

from __future__ import annotations

import json
import re

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.$/-]*")
"""What may stand without quotes."""

QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def show_name(name: str) -> str:
    """The name as it stands in a listing."""
    return name if WORD.fullmatch(name) else json.dumps(name)
