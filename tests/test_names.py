"""Names that a reader meets: no public class twice, and every class in a room that ARCHITECTURE.md
names."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "madeleine"
PACKAGES = ROOT / "packages"
WORDS_AT_MOST = 40


def class_files() -> dict[str, list[Path]]:
    """Return the files in which each public class of sources and packages is defined."""
    found: dict[str, list[Path]] = defaultdict(list)
    for file in (*SOURCES.rglob("*.py"), *PACKAGES.glob("*/src/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(file.relative_to(ROOT))
    return found


def chapter(title: str) -> str:
    """Return what ARCHITECTURE.md says under a heading."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def rooms() -> set[str]:
    """Return the rooms and packages that the chapter on rooms names."""
    text = chapter("Rooms")
    lines = re.findall(r"^(?! )(.+?)(?:  .*)?$", text.split("```")[1], re.MULTILINE)
    names = {name for line in lines for name in re.split(r"\s*[|·]\s*", line)}
    return names | set(re.findall(r"`(packages/\w+)`", text))


def room_of(file: Path) -> str:
    """Return the room of a source file, or the package that it belongs to."""
    if file.parts[0] == "packages":
        return "/".join(file.parts[:2])
    return file.with_suffix("").parts[2]


def glossary() -> list[list[str]]:
    """Return the rows of the glossary: word, meaning, where."""
    rows = [line.strip("|").split("|") for line in chapter("Glossary").splitlines() if "|" in line]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_no_public_class_name_exists_twice() -> None:
    twice = {name: files for name, files in class_files().items() if len(files) > 1}

    assert twice == {}


def test_every_class_is_in_a_room_that_the_architecture_names() -> None:
    known = rooms()

    assert {"model", "api", "hooks", "testing", "errors", "packages/falkordb"} <= known
    elsewhere = {
        name: file
        for name, files in class_files().items()
        for file in files
        if room_of(file) not in known
    }
    assert elsewhere == {}


def test_the_glossary_is_short_and_points_to_what_exists() -> None:
    rows = glossary()

    assert 0 < len(rows) <= WORDS_AT_MOST
    for word, meaning, where in rows:
        assert word.replace(" ", "").isalpha(), word
        assert meaning
        places = re.findall(r"`([^`]+)`", where)
        assert places, word
        assert [each for each in places if not (SOURCES / each).exists()] == [], word
