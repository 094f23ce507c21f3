"""Promises that hold over the whole project: invariants, errors, reference pages, wording."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from madeleine import errors
from madeleine.errors import ERROR_BASES, MadeleineError

ROOT = Path(__file__).parents[2]
DUE = tuple(f"I{number}" for number in range(1, 15))
"""All the invariants, in their order."""


def proven() -> set[str]:
    marks = re.compile(r"proves\(\"(I\d+)\"\)")
    return {
        found
        for path in (ROOT / "tests").rglob("test_*.py")
        for found in marks.findall(path.read_text(encoding="utf-8"))
    }


def test_every_invariant_is_numbered_in_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")

    assert re.findall(r"^- \*\*(I\d+)\*\*", text, re.M) == list(DUE)


@pytest.mark.parametrize("invariant", DUE)
def test_every_invariant_that_is_due_has_a_test_that_proves_it(invariant: str) -> None:
    assert invariant in proven()


def all_errors() -> list[type[MadeleineError]]:
    found = [each for each in vars(errors).values() if isinstance(each, type)]
    return [each for each in found if issubclass(each, MadeleineError)]


@pytest.mark.parametrize("error", all_errors(), ids=lambda each: each.__name__)
def test_every_error_says_what_the_caller_should_do(error: type[MadeleineError]) -> None:
    if error is MadeleineError:
        return
    base = next(each for each in ERROR_BASES if issubclass(error, each))

    assert error.code == base.code
    assert error.exit_code == base.exit_code
    assert error.http_status in (401, 403, 404, 405, 409, 413, 422, 429, 500, 503)
    assert error.__doc__


def test_the_error_bases_have_the_documented_codes() -> None:
    assert [(each.code, each.http_status, each.exit_code) for each in ERROR_BASES] == [
        ("rejected", 422, 2),
        ("missing", 404, 3),
        ("conflict", 409, 4),
        ("unavailable", 503, 5),
        ("damaged", 500, 6),
    ]


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name", ["commands.md", "kinds.md", "routes.md", "settings.md", "tools.md"]
)
def test_a_reference_page_says_what_the_code_does(name: str) -> None:
    """Run `make docs` when this fails."""
    committed = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")

    assert committed == generator().pages()[name]


def test_the_types_of_the_page_are_those_of_the_answers() -> None:
    """Run `make docs` when this fails."""
    made = generator()

    assert made.PAGE_TYPES.read_text(encoding="utf-8") == made.page_types()


def test_every_error_class_has_a_documented_kind_of_its_own() -> None:
    module = generator()
    found = module.all_errors()
    kinds = [vars(each).get("kind") for each in found]
    page = (ROOT / "docs" / "reference" / "kinds.md").read_text(encoding="utf-8")

    assert len(found) > len(all_errors())  # those of other rooms are among them
    assert [each.__name__ for each in found if "kind" not in vars(each)] == []
    assert sorted(kinds) == sorted(set(kinds))
    assert [each for each in kinds if not re.fullmatch(r"[a-z]+(_[a-z]+)*", str(each))] == []
    assert [each for each in kinds if f"| `{each}` |" not in page] == []


def sources() -> list[Path]:
    return sorted((ROOT / "src").rglob("*.py"))


def test_broad_except_stands_only_where_it_may() -> None:
    """Once each in the runners of jobs and loops and the HTTP error handler, nowhere else."""
    broad = [
        path.relative_to(ROOT / "src" / "madeleine").as_posix()
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _reraises(node)
    ]

    assert sorted(broad) == ["server/app.py", "server/background.py", "sleep/run.py"]


def _is_broad(node: ast.ExceptHandler) -> bool:
    names = {"Exception", "BaseException"}
    return node.type is None or (isinstance(node.type, ast.Name) and node.type.id in names)


def _reraises(node: ast.ExceptHandler) -> bool:
    return any(isinstance(each, ast.Raise) and each.exc is None for each in ast.walk(node))


def test_documents_link_only_to_files_that_exist() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_names_the_two_commands_first_and_stays_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    text = "\n".join(lines)

    assert 80 <= len(lines) <= 150
    assert text.index("make start") < text.index("make test") < 1000
