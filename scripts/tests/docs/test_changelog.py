"""``CHANGELOG.md`` keeps its form, so that a reader finds what is new and a release knows what to say."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]

SECTIONS = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
RELEASE = re.compile(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})")


def test_what_is_not_released_comes_first() -> None:
    assert SECTIONS[0] == "[Unreleased]"


def test_releases_have_a_version_and_a_date_and_fall_in_order() -> None:
    releases = [RELEASE.fullmatch(section) for section in SECTIONS[1:]]
    assert None not in releases, SECTIONS
    dates = [release[2] for release in releases if release]
    assert dates == sorted(dates, reverse=True)


def test_the_version_of_the_distribution_is_the_latest_release_or_ahead_of_it() -> None:
    declared = re.search(
        r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert declared
    latest = RELEASE.fullmatch(SECTIONS[1]) if len(SECTIONS) > 1 else None
    assert latest is None or _numbers(declared[1]) >= _numbers(latest[1])


def test_changes_are_sorted_into_the_known_kinds() -> None:
    for section in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds], section


def test_there_is_no_empty_kind() -> None:
    assert re.search(r"^### .+\n+(?=#|\Z)", TEXT, re.MULTILINE) is None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
