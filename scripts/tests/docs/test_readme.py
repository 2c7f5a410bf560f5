"""What README and CONTRIBUTING promise exists: commands, environments, links, extras; the examples run."""

import configparser
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "rfc/README.md")
TOX_SUBCOMMANDS = {"list"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", read(name), re.MULTILINE | re.DOTALL)


def wrapper_calls(name: str) -> Iterator[list[str]]:
    """The arguments of every ``scripts/toxw`` that stands as a command, in a block or between backquotes."""
    text = read(name)
    lines = [line for block in blocks(name, "sh") for line in block.splitlines()]
    for code in lines + re.findall(r"`([^`\n]+)`", text):
        words = shlex.split(code)
        if "scripts/toxw" in words and all("=" in word for word in words[: words.index("scripts/toxw")]):
            yield words[words.index("scripts/toxw") + 1 :]


CALLS = [(name, call) for name in DOCUMENTS for call in wrapper_calls(name)]
EXAMPLES = blocks("README.md", "python")


@pytest.fixture(scope="module")
def tox() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf-8")
    return parser


def defined(tox: configparser.ConfigParser) -> set[str]:
    return {section.removeprefix("testenv:") for section in tox.sections() if section.startswith("testenv:")}


def labels(tox: configparser.ConfigParser) -> dict[str, list[str]]:
    lines = tox["tox"]["labels"].strip().splitlines()
    return {name.strip(): members.split(", ") for name, members in (line.split(" = ") for line in lines)}


def test_the_two_commands_are_the_demonstration_and_all_tests() -> None:
    assert [block.strip() for block in blocks("README.md", "sh")] == ["scripts/toxw -e demo", "scripts/toxw"]


def test_continuous_integration_runs_the_command_that_the_readme_gives_for_all_tests() -> None:
    commands = [line for line in read(".ci/run").splitlines() if "toxw" in line]
    assert commands == ["exec scripts/toxw </dev/null"]


def test_all_tests_are_the_kinds_that_the_readme_counts_up(tox: configparser.ConfigParser) -> None:
    assert tox["tox"]["env_list"].split(", ") == ["lint", "types", "docs", "fast", "thorough", "conformance"]


def test_the_demonstration_compares_mobilenet(tox: configparser.ConfigParser) -> None:
    assert tox["testenv:demo"]["commands"].strip() == "relay-conformance compare {posargs:mobilenet_v1}"


@pytest.mark.parametrize(("document", "call"), CALLS, ids=[shlex.join(call) or "all" for _, call in CALLS])
def test_a_documented_call_names_what_tox_defines(
    document: str, call: list[str], tox: configparser.ConfigParser
) -> None:
    match call[: call.index("--")] if "--" in call else call:
        case []:
            pass
        case ["-e", names]:
            assert set(names.split(",")) <= defined(tox), document
        case ["-m", label]:
            assert label in labels(tox), document
        case [subcommand]:
            assert subcommand in TOX_SUBCOMMANDS, document
        case _:
            pytest.fail(f"{document}: no rule for scripts/toxw {shlex.join(call)}")


def test_calls_are_found_in_both_documents() -> None:
    assert {name for name, _ in CALLS} >= {"README.md", "CONTRIBUTING.md"}


def test_every_environment_has_a_description(tox: configparser.ConfigParser) -> None:
    without = [name for name in defined(tox) if not tox[f"testenv:{name}"].get("description")]
    assert without == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_relative_links_lead_to_something(document: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(document))
    relative = [link for link in links if not link.startswith("https://")]
    assert [link for link in relative if not (ROOT / document).parent.joinpath(link).exists()] == []


def test_the_extras_are_those_of_the_distribution() -> None:
    section = read("README.md").split("## Extras")[1].split("\n## ")[0]
    documented = [
        name
        for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    ]
    declared = read("pyproject.toml").split("[project.optional-dependencies]\n")[1].split("\n[")[0]
    assert sorted(documented) == sorted(re.findall(r"^(\w+) =", declared, re.MULTILINE))


@pytest.mark.tensorflow
@pytest.mark.parametrize("example", EXAMPLES, ids=["regvm", "check_equal"])
def test_an_example_runs_as_it_stands(example: str, tmp_path: Path) -> None:
    # In a process of its own, because the order of its imports is part of what it shows.
    result = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
