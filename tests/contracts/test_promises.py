"""Promises that hold over the whole project: invariants, errors, reference pages, wording."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from madeleine import errors
from madeleine.api.wording import SENTENCES
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
    "name", ["automem.md", "commands.md", "kinds.md", "routes.md", "settings.md", "tools.md"]
)
def test_a_reference_page_says_what_the_code_does(name: str) -> None:
    """Run `make docs` when this fails."""
    committed = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")

    assert committed == generator().pages()[name]


def test_the_types_of_the_page_are_those_of_the_answers() -> None:
    """Run `make docs` when this fails."""
    made = generator()

    assert made.PAGE_TYPES.read_text(encoding="utf-8") == made.page_types()


def test_the_routes_of_a_client_are_those_that_are_declared() -> None:
    """Run `make docs` when this fails."""
    made = generator()

    assert made.CLIENT_ROUTES.read_text(encoding="utf-8") == made.routes_module()


def test_the_manual_page_says_what_the_commands_say() -> None:
    """Run `make docs` when this fails."""
    made = generator()

    assert made.MAN_PAGE.read_text(encoding="utf-8") == made.render_man_page()


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


def test_every_kind_of_cause_is_documented_and_has_a_sentence() -> None:
    module = generator()
    page = (ROOT / "docs" / "reference" / "kinds.md").read_text(encoding="utf-8")
    kinds = [kind for _, _, enums in module.CAUSES for kind in enums]

    assert {each.__name__ for each in kinds} >= {each.__name__ for each in SENTENCES}
    for each in kinds:
        meanings = module.members(each)
        assert list(meanings) == [member.value for member in each]
        assert [value for value, means in meanings.items() if not means] == []
        assert [value for value in meanings if f"| `{value}` |" not in page] == []
    for enum, words in SENTENCES.items():
        assert set(words) == set(enum)


PHRASE = re.compile(r"[a-z]{2,} [a-z]{2,}")
MATCHING = frozenset({"startswith", "endswith", "removeprefix", "removesuffix", "partition"})
READS_OTHERS = (
    "testing/",  # compares what an engine gives back with what the test put in
    "language/",  # what people write
    "ingest/statements.py",
    "whisper/prompts.py",  # whispers that stand in a prompt
    "whisper/rendering.py",
    "database/",  # what PostgreSQL and FalkorDB answer
    "index/falkordb/",
    "agents/toml_text.py",  # what the parser of TOML says
    "vault/read_marks.py",  # what the interpreter leaves when it is ended
    "cli/commands/bench.py",  # a line of a program
    "server/openapi.py",  # the types of the table of routes
)
"""Where a phrase is looked for in a text that is not a message of ours."""


def phrases_compared(tree: ast.AST, constants: Mapping[str, str]) -> Iterator[str]:
    """Yield the phrases that a module compares something with, or looks for in it."""
    for node in ast.walk(tree):
        compared: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            compared = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = node.func
            is_pattern = isinstance(called.value, ast.Name) and called.value.id == "re"
            compared = node.args if called.attr in MATCHING or is_pattern else []
        for each in compared:
            for part in ast.walk(each) if not isinstance(each, ast.Call) else ():
                text = part.value if isinstance(part, ast.Constant) else None
                text = constants.get(part.id) if isinstance(part, ast.Name) else text
                if isinstance(text, str) and PHRASE.search(text):
                    yield text


def texts_named_in(tree: ast.Module, others: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the texts that a module knows by a name: its own, and those that it imports from
    others."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            text = node.value.value
            names = [each.id for each in node.targets if isinstance(each, ast.Name)]
            found |= dict.fromkeys(names, text) if isinstance(text, str) else {}
        elif isinstance(node, ast.ImportFrom) and (texts := others.get(node.module or "")):
            imported = [(each.asname or each.name, each.name) for each in node.names]
            found |= {name: texts[known] for name, known in imported if known in texts}
    return found


def test_nothing_is_decided_by_the_english_of_our_own_messages() -> None:
    """A message may be reworded or translated: decide by its kind."""
    root = ROOT / "src" / "madeleine"
    trees = {
        str(path.relative_to(root)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sources()
    }
    modules = {
        f"madeleine.{name.removesuffix('.py').replace('/', '.')}": tree
        for name, tree in trees.items()
    }
    own = {name: texts_named_in(tree, {}) for name, tree in modules.items()}
    found = [
        f"{name}: {phrase}"
        for name, tree in trees.items()
        if not name.startswith(READS_OTHERS)
        for phrase in phrases_compared(tree, texts_named_in(tree, own))
    ]

    assert found == []


SCRIPT_PATTERN = re.compile(r"/(?![/*])(?:[^/\\\n\[]|\\.|\[[^\]\n]*\])+/[a-z]*(?=[.,;)\n])")
SCRIPT_COMPARED = re.compile(r"(?:[!=]==|\.(?:includes|startsWith|endsWith)\()\s*['\"`]([^'\"`]+)")
WORDS_FROM_FILES = "web/src/parts/words.ts"  # shortens reasons that stand in memories' files


def test_the_page_decides_nothing_by_the_english_of_the_daemons_messages() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in sorted((ROOT / "web" / "src").rglob("*"))
        if path.suffix in (".ts", ".svelte") and str(path.relative_to(ROOT)) != WORDS_FROM_FILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.lstrip().startswith(("/*", "*", "//", "<"))
        for text in [*SCRIPT_PATTERN.findall(line), *SCRIPT_COMPARED.findall(line)]
        if PHRASE.search(text)
    ]

    assert found == []


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
