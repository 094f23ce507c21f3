"""docs/contributing names files and commits that are there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "contributing").glob("*.md"))
PATH = re.compile(r"[\w./-]+/[\w./-]*")
COMMIT = re.compile(r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,12}\b")
HOW_TO_ADD = [page for page in PAGES if page.stem.startswith("add-")]


def paths_of(page: Path) -> set[str]:
    """The paths between backticks, but for those with a name that is to be filled in."""
    prose = "".join(page.read_text(encoding="utf-8").split("```")[::2])
    quoted = re.findall(r"`([^`]+)`", prose)
    words = {word for text in quoted if not text.startswith("git ") for word in text.split()}
    return {word for word in words if PATH.fullmatch(word) and not word.startswith(("/", "http"))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    missing = [
        path
        for path in sorted(paths_of(page) - {"dist/"})
        if not (ROOT / path).exists() and not (ROOT / "src" / "madeleine" / path).exists()
    ]

    assert missing == []


def test_the_list_of_pages_is_complete() -> None:
    listed = (ROOT / "docs" / "contributing" / "README.md").read_text(encoding="utf-8")

    assert PAGES
    assert all(f"({page.name})" in listed for page in PAGES if page.name != "README.md")


def run_git(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("page", HOW_TO_ADD, ids=lambda page: page.stem)
def test_every_page_shows_a_commit_of_this_history(page: Path) -> None:
    if run_git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("the history is not here")

    named = set(COMMIT.findall(page.read_text(encoding="utf-8")))

    assert named
    ours = [run_git("merge-base", "--is-ancestor", each, "HEAD").returncode for each in named]
    assert ours == [0] * len(named)
