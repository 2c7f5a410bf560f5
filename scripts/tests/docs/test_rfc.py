"""The RFC says what the code and the measured results say, and each of its rules is held somewhere."""

import re
from pathlib import Path

import pytest
from scripts.evidence.render import rendered_files

from regvm import isa
from regvm.verifier import Rule

ROOT = Path(__file__).parents[3]
RFC = (ROOT / "rfc" / "0001-register-vm.md").read_text(encoding="utf-8")
INSTRUCTIONS = (ROOT / "rfc" / "instructions.md").read_text(encoding="utf-8")
TESTS = "\n".join(
    p.read_text(encoding="utf-8") for p in sorted((ROOT / "prototype" / "tests").rglob("test_*.py"))
)


def ids(kind: str, text: str) -> set[str]:
    return set(re.findall(rf"\| `({kind}-[a-z-]+)` \|", text))


def test_generated_parts_are_what_the_results_and_the_table_give() -> None:
    stale = {
        path.name
        for path, text in rendered_files(ROOT, ROOT / "rfc" / "results" / "evidence.json").items()
        if path.read_text(encoding="utf-8") != text
    }
    assert stale == set(), "run: python -m scripts.evidence write"


def test_the_rules_of_validation_are_the_verifiers() -> None:
    assert ids("valid", RFC) == {rule.value for rule in Rule}


def test_each_instruction_has_its_rule() -> None:
    named = set(re.findall(r"Rule `(exec-[a-z-]+)`", INSTRUCTIONS))
    assert named == {f"exec-{row.mnemonic.replace('_', '-')}" for row in isa.ROWS}


@pytest.mark.parametrize("rule", sorted(ids("valid", RFC) | ids("comp", RFC)))
def test_each_rule_has_a_test_that_carries_its_id(rule: str) -> None:
    assert f"def test_{rule.replace('-', '_')}" in TESTS


def test_no_figure_is_left_unmeasured() -> None:
    assert "-->?<!--" not in RFC
