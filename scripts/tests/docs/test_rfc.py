"""The RFC says what the code and the measured results say, and each of its rules is held somewhere."""

import json
import re
from pathlib import Path

import pytest
from scripts.evidence.figures import stale_figures
from scripts.evidence.render import rendered_files

from regvm import isa
from regvm.verifier import Rule

ROOT = Path(__file__).parents[3]
RFC = (ROOT / "rfc" / "0001-register-vm.md").read_text(encoding="utf-8")
INSTRUCTIONS = (ROOT / "rfc" / "instructions.md").read_text(encoding="utf-8")
TESTS = "\n".join(
    p.read_text(encoding="utf-8") for p in sorted((ROOT / "prototype" / "tests").rglob("test_*.py"))
)


KINDS = ("struct", "valid", "exec", "comp")
RESULTS = json.loads((ROOT / "rfc" / "results" / "evidence.json").read_text(encoding="utf-8"))


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


@pytest.mark.parametrize("rule", sorted(set().union(*(ids(kind, RFC) for kind in KINDS))))
def test_each_rule_has_a_test_that_carries_its_id(rule: str) -> None:
    assert f"def test_{rule.replace('-', '_')}" in TESTS


# "valid" is a word of other tests too; the verifier's own list is compared above.
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "valid"])
def test_each_id_of_a_test_is_a_rule(kind: str) -> None:
    rules = ids(kind, RFC)
    named = set(re.findall(rf"def test_{kind}_(\w+)", TESTS))
    orphans = {
        n for n in named if not any(n.startswith(r.removeprefix(f"{kind}-").replace("-", "_")) for r in rules)
    }
    assert orphans == set()


def test_figures_show_the_results() -> None:
    assert stale_figures(ROOT / "rfc" / "figures", RESULTS) == [], "run: python -m scripts.evidence write"


@pytest.mark.parametrize("group", ["all", *RESULTS["population"]["groups"]])
def test_no_function_takes_more_than_one_register_above_its_bound(group: str) -> None:
    population = RESULTS["population"]
    found = population["all"] if group == "all" else population["groups"][group]
    assert found["above_bound"].keys() <= {"0", "1"}
    assert sum(found["above_bound"].values()) == found["functions"] > 0


@pytest.mark.parametrize("model", sorted(RESULTS["code"]))
def test_the_plan_of_each_model_is_near_the_bound_and_below_the_graph_executors(model: str) -> None:
    storage = RESULTS["code"][model]["storage"]
    assert storage["default"] <= 1.02 * storage["bound"]
    assert storage["default"] <= RESULTS["graph_plan"].get(model, storage["default"])


@pytest.mark.parametrize("model", sorted(RESULTS["resident"]))
def test_what_is_resident_is_what_the_plan_says_and_less_than_the_references(model: str) -> None:
    found = RESULTS["resident"][model]
    for machine in ("interpreter", "native"):
        # The arena begins somewhere in a page.
        assert found[machine]["growth_bytes"] <= found[machine]["counted_bytes"] + 4096
        assert found[machine]["growth_bytes"] < found["reference"]["growth_bytes"]


def test_only_the_references_bytes_differ_between_processes() -> None:
    assert RESULTS["determinism"] == {"reference": False, "regvm": True}


def test_minimalloc_is_fitted_as_promised() -> None:
    tables = RESULTS["minimalloc"]["tables"].values()
    assert len(tables) == 11
    assert sum(table["optimal"]["excess"] == 0 for table in tables) >= 4
    assert sum(table["search"]["excess"] for table in tables) / len(tables) < 0.2


def test_no_figure_is_left_unmeasured() -> None:
    assert "-->?<!--" not in RFC
