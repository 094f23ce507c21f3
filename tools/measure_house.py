"""Measures what it costs to read this house: names, lines, and how far a verb's way is.

    python tools/measure_house.py names     shares of names; `--list KIND` says which
    python tools/measure_house.py lines     lines by room: all, and without comments
    python tools/measure_house.py ways      functions and files that a verb passes

The figures stand in docs/decisions/0035-the-house-measured.md. `ways` runs the verbs for real, in
this process, on a home in a temporary folder with the stand-in for a model, and counts which
functions of ours are called until the verb returns.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parents[1]

PARTICIPLE = re.compile(
    r"""(?!(embed|exceed|feed|need|proceed|seed|shed)$)  # in -ed, but no participles
    ( \w+ed
    | begun|bound|built|chosen|drawn|found|given|gone|heard|held|kept|known|left|lent|lost|made
    | meant|met|paid|said|seen|sent|shown|shrunk|spent|taken|taught|told|torn|worn|written )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method of the source, without dunder methods."""

    name: str
    file: Path
    line: int
    statements: int
    mentions: int
    """How often its name stands in its file, beside its definition."""

    @property
    def is_private(self) -> bool:
        return self.name.startswith("_")

    @property
    def is_one_word(self) -> bool:
        return "_" not in self.name.strip("_")

    @property
    def is_participle(self) -> bool:
        return self.is_one_word and PARTICIPLE.fullmatch(self.name.strip("_")) is not None

    @property
    def has_one_caller(self) -> bool:
        return self.is_private and self.mentions == 1

    @property
    def is_one_line_with_one_caller(self) -> bool:
        return self.has_one_caller and self.statements == 1


KINDS: dict[str, Callable[[Function], bool]] = {
    "one-word": lambda each: each.is_one_word,
    "participle": lambda each: each.is_participle,
    "private": lambda each: each.is_private,
    "one-caller": lambda each: each.has_one_caller,
    "one-line": lambda each: each.is_one_line_with_one_caller,
}


def source_files(root: Path) -> list[Path]:
    """Return the source files of Madeleine and its packages."""
    return sorted([*root.glob("src/madeleine/**/*.py"), *root.glob("packages/**/*.py")])


def find_functions(root: Path) -> list[Function]:
    """Return every function and method of the source."""
    found = []
    for file in source_files(root):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        mentions = Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        found += [
            Function(
                node.name,
                file.relative_to(root),
                node.lineno,
                len(_without_docstring(node)),
                mentions[node.name],
            )
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and not re.fullmatch("__.*__", node.name)
        ]
    return found


def _without_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """Return the statements of a function's body."""
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


def print_names(root: Path, listed: str | None) -> None:
    """Print the shares of the kinds of names, or the functions of one kind."""
    functions = find_functions(root)
    if listed is not None:
        for each in filter(KINDS[listed], functions):
            print(f"{each.file}:{each.line}: {each.name}")
        return
    print(f"functions and methods: {len(functions)}")
    for kind, belongs in KINDS.items():
        count = sum(map(belongs, functions))
        print(f"  {kind:<12}{count:>6}  {100 * count / len(functions):.1f} %")


def print_lines(root: Path) -> None:
    """Print the lines of Python by room and package: all, and those that are code."""
    total, code = Counter[str](), Counter[str]()
    for file in source_files(root):
        parts = file.relative_to(root).with_suffix("").parts
        room = f"packages/{parts[1]}" if parts[0] == "packages" else parts[2]
        text = file.read_text(encoding="utf-8")
        total[room] += len(text.splitlines())
        code[room] += _count_code(text)
    for room, count in total.most_common():
        print(f"{room:<24}{count:>8}{code[room]:>8}")
    print(f"{'all':<24}{total.total():>8}{code.total():>8}")


def _count_code(text: str) -> int:
    """Return how many lines a text has without empty ones, comments and docstrings."""
    spoken = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return sum(
        number not in spoken and line.strip() != "" and not line.lstrip().startswith("#")
        for number, line in enumerate(text.splitlines(), 1)
    )


class PassedFunctions:
    """The functions of ours that were called while it watched."""

    def __init__(self, folder: Path) -> None:
        self._folder = f"{folder}{os.sep}"
        self.codes: set[CodeType] = set()

    def count_by_file(self) -> Counter[str]:
        """Return how many of them stand in each file."""
        return Counter(code.co_filename.removeprefix(self._folder) for code in self.codes)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note what is called in this thread, and in those that start meanwhile."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        is_named = not code.co_name.startswith("<")
        if event == "call" and is_named and code.co_filename.startswith(self._folder):
            self.codes.add(code)


NOTES = (
    "Tea is kept in the left drawer of the kitchen",
    "Coffee is kept in the right drawer of the kitchen",
    "We decided to deploy from the main branch on Fridays",
    "The staging server runs PostgreSQL 16",
    "Ada prefers short commit messages",
)


def measure_ways(root: Path) -> dict[str, Counter[str]]:
    """Return how many functions of each file a verb passes, in one process with five memories."""
    os.environ["MADELEINE_EMBEDDER_KIND"] = "fake"
    sys.path.insert(0, str(root / "src"))
    from madeleine import Madeleine  # noqa: PLC0415  # of the tree that is measured

    folder = root / "src" / "madeleine"
    found = {}
    with tempfile.TemporaryDirectory() as home, Madeleine.open(home, in_process=True) as m:
        for note in NOTES:
            m.remember(note)
        change = str(m.forget(m.remember("Forgotten, and brought back by undo")).change)
        m.recall("which server runs there?")  # the first one opens what later ones find open
        ways: dict[str, Callable[[], object]] = {
            "remember": lambda: m.remember("The cat is called Minka"),
            "recall": lambda: m.recall("where is the tea kept?"),
            "whisper": lambda: m.whisper("where do we keep the tea?", session_id="s"),
            "undo": lambda: m.undo(change),
            "auto_linker": lambda: m.sleep("auto_linker"),
        }
        for name, go in ways.items():
            passed = PassedFunctions(folder)
            with passed.watching():
                go()
            found[name] = passed.count_by_file()
    return found


def print_ways(root: Path, listed: str | None) -> None:
    """Print how many functions and files the verbs pass, or the files of one of them."""
    ways = measure_ways(root)
    if listed is not None:
        for file, count in sorted(ways[listed].items()):
            print(f"{count:>4}  {file}")
        return
    for name, counts in ways.items():
        print(f"{name:<12}{counts.total():>5} functions {len(counts):>4} files")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure names, lines and ways of the source.")
    parser.add_argument("what", choices=("names", "lines", "ways"))
    parser.add_argument("--list", metavar="NAME", help=f"{', '.join(KINDS)}; or a verb")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    given = parser.parse_args()
    root = given.root.resolve()
    match given.what:
        case "names":
            print_names(root, given.list)
        case "lines":
            print_lines(root)
        case _:
            print_ways(root, given.list)


if __name__ == "__main__":
    main()
