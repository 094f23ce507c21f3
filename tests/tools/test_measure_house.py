"""The figures of docs/decisions about names and ways can be measured again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.measure_house import KINDS, ROOT, find_functions, source_files

MODULE = '''
"""A module."""


def told():
    """Return what is told."""
    return _one()


def embed(text):
    return _twice(_twice(text))


def _one():
    return 1


def _twice(text):
    return text


class Shelf:
    def __init__(self):
        self._fill_up()

    def _fill_up(self):
        first = 1
        return first
'''


def kinds(tree: Path) -> dict[str, list[str]]:
    """Return the functions of a tree by kind of name."""
    functions = find_functions(tree)
    return {kind: [f.name for f in functions if belongs(f)] for kind, belongs in KINDS.items()}


def test_names_are_told_by_their_words_and_callers(tmp_path: Path) -> None:
    room = tmp_path / "src" / "madeleine" / "model"
    room.mkdir(parents=True)
    (room / "shelf.py").write_text(MODULE, encoding="utf-8")

    assert kinds(tmp_path) == {
        "one-word": ["told", "embed", "_one", "_twice"],
        "participle": ["told"],
        "private": ["_one", "_twice", "_fill_up"],
        "one-caller": ["_one", "_fill_up"],
        "one-line": ["_one"],
    }


def test_the_source_of_the_packages_counts_as_well() -> None:
    files = {file.relative_to(ROOT).parts[:2] for file in source_files(ROOT)}

    assert {("src", "madeleine"), ("packages", "falkordb"), ("packages", "minilm")} <= files


def test_a_verb_is_followed_through_the_files_that_it_passes() -> None:
    command = [sys.executable, str(ROOT / "tools" / "measure_house.py"), "ways"]
    listed = subprocess.run(
        [*command, "--list", "remember"], capture_output=True, encoding="utf-8", check=True
    ).stdout

    passed = {line.split()[1] for line in listed.splitlines()}
    assert {"api/madeleine.py", "write/remember.py", "write/commit.py"} <= passed
    assert "recall/recall.py" not in passed
