"""Render the RFC's generated parts: blocks between markers, figures in sentences, and the instruction reference.

A block stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``; a figure between ``<!--=EXPRESSION-->``
and ``<!--/-->``. Both are Jinja2 over the results, so that no number in the text is typed by hand.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from scripts.evidence import speed

from regvm import isa

_BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_FIGURE = re.compile(r"(<!--=(.+?)-->).*?(<!--/-->)")


def rendered_files(root: Path, results: Path) -> dict[Path, str]:
    """Every file with generated parts, as it should be."""
    data = json.loads(results.read_text())
    data["bench"] = json.loads(results.with_name("bench.json").read_text())
    environment = _environment(root / "rfc" / "templates", data)
    files = {root / "rfc" / "instructions.md": environment.get_template("instructions.md.j2").render()}
    for path in [root / "rfc" / "0001-register-vm.md"]:
        files[path] = _fill(path.read_text(), environment)
    return files


def _environment(templates: Path, data: Mapping[str, Any]) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.globals.update(data, rows=isa.ROWS, max=max, min=min, sum=sum, len=len, round=round)
    environment.filters.update(
        thousands=lambda n: f"{n:,}",
        mib=lambda n: f"{n / 2**20:.3f}",
        percent=_percent,
        at_most=_at_most,
        largest=lambda histogram: max(map(int, histogram)),
        intermediates=lambda found: max(0, found["growth_bytes"] - found["result_bytes"]),
        by_number=lambda mapping: sorted((int(key), value) for key, value in mapping.items()),
    )
    environment.filters.update(speed.FILTERS)
    return environment


def _percent(share: float) -> str:
    """With one decimal, but never rounded to all or to nothing."""
    text = f"{share:,.1%}".replace(".0%", "%")
    if text == "0%" and share:
        return "< 0.1%"
    return "> 99.9%" if text == "100%" and share < 1 else text


def _at_most(histogram: Mapping[str, int], limit: int) -> float:
    """The share of a histogram's counts at numbers up to ``limit``."""
    return sum(count for n, count in histogram.items() if int(n) <= limit) / sum(histogram.values())


def _fill(text: str, environment: jinja2.Environment) -> str:
    text = _BLOCK.sub(lambda m: m[1] + environment.get_template(f"{m[2]}.md.j2").render() + m[3], text)
    return _FIGURE.sub(lambda m: m[1] + environment.from_string("{{ " + m[2] + " }}").render() + m[3], text)
