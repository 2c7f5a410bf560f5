"""The cases are many, each named by a rule of the RFC, and what they cover is what the rules say."""

from collections import Counter
from pathlib import Path

import pytest

from regvm import isa
from relay_conformance.relay_cases import attempts, catalog, rules
from relay_conformance.relay_cases.batches import batches, entry, module_of
from relay_conformance.relay_cases.case import Refused, RelayCase, refusals, table

CASES = catalog.all_cases()
# One device is planned for, so that no Relay program compiles to it.
WITHOUT_CASE = {"exec-device-copy"}


def test_there_are_three_hundred() -> None:
    assert len(CASES) >= 300


def test_one_in_ten_is_negative() -> None:
    assert sum(case.negative for case in CASES) * 10 >= len(CASES)


def test_every_rule_has_a_case() -> None:
    assert rules.known() - {case.rule for case in CASES} == WITHOUT_CASE


@pytest.mark.parametrize("rule", rules.LANGUAGE)
def test_each_rule_of_the_language_has_ten(rule: str) -> None:
    assert Counter(case.rule for case in CASES)[rule] >= 10


def test_no_two_cases_run_the_same_program_on_the_same_arguments() -> None:
    count = Counter((c.rule, c.text, repr(c.constants), repr(c.runs)) for c in CASES if c.runs)
    assert [key for key, times in count.items() if times > 1] == []


def test_outputs_of_a_case_with_several_runs_vary() -> None:
    same = [
        case.id
        for case in CASES
        if len(case.runs) > 1
        and case.rule not in ("lang-constant", "lang-argument")
        and not case.negative
        and len({_shown(case, number) for number in range(len(case.runs))}) == 1
    ]
    assert len(same) <= 3, same


def _shown(case: RelayCase, number: int) -> str:
    expected = case.runs[number].expected
    assert not isinstance(expected, Refused)
    return str([array.tolist() for array in expected.arrays if array is not None])


def test_a_duplicate_and_an_unknown_rule_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    case = table("lang-let", {"one": ("def @main() { 1 }", ((), 1))})
    monkeypatch.setattr(catalog, "_cases", lambda _: case)
    with pytest.raises(ValueError, match="several cases are called lang-let-one"):
        catalog.families.__wrapped__()
    monkeypatch.setattr(catalog, "FAMILIES", ("one",))
    monkeypatch.setattr(catalog, "_cases", lambda _: table("lang-leg", {"one": ("", ((), 1))}))
    with pytest.raises(ValueError, match="the RFC has no rule lang-leg"):
        catalog.families.__wrapped__()


def test_a_kind_is_lower_case_with_hyphens() -> None:
    with pytest.raises(ValueError, match="must be lower case"):
        table("lang-let", {"One_two": ("", ((), 1))})


def test_what_is_known_to_fail_and_what_may_not_compile_stand_alone() -> None:
    several = table("lang-let", dict.fromkeys(("a", "b", "c"), ("def @main() { 1 }", ((), 1))))
    refused = refusals("lang-type", {"refuses": ("", "x")})
    found = [
        [case.kind for case in batch] for batch in batches((*several, *refused), frozenset({"lang-let-b"}))
    ]
    assert sorted(found) == [["a", "c"], ["b"], ["refuses"]]


def test_a_batch_keeps_the_functions_of_its_cases_apart() -> None:
    text = "def @f(%x: int32) -> int32 { %x + NUMBER }\ndef @main(%x: int32) { @f(%x) }"
    rows = {str(n): (text.replace("NUMBER", str(n)), (1, n + 1)) for n in range(2)}
    module = module_of(table("lang-call", rows))
    names = {str(variable.name_hint) for variable in module.get_global_vars()}
    assert names >= {entry(0), entry(1), "f_0", "f_1", "main"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.rule.startswith("exec-")], ids=lambda case: str(case.id)
)
def test_the_instruction_of_a_case_is_in_its_program(case: RelayCase) -> None:
    """In one of its variations: what is spilled depends on the register limit."""
    wanted = case.rule.removeprefix("exec-").replace("-", "_")
    found = {
        isa.row_of(instruction).mnemonic
        for _, program in attempts.programs((case,), attempts.FULL_LEVEL, 0)
        for function in program.functions
        for instruction in function.instructions
    }
    assert wanted in found


def test_the_rules_of_the_compiler_are_the_rfc_s() -> None:
    import re

    rfc = (Path(__file__).parents[3] / "rfc" / "0001-register-vm.md").read_text()
    assert set(re.findall(r"\| `(comp-[a-z-]+)` \|", rfc)) == set(rules.COMPILER)
    language = dict(re.findall(r"\| `(lang-[a-z-]+)` \| (.*) \|", rfc))
    assert language == dict(rules.LANGUAGE)
