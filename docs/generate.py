"""Writes docs/reference from the code: commands, routes, those of AutoMem, settings, tools and
kinds, the types of the page, the routes that a client needs, the names of variables that the
command line compares with, and docs/man/madeleine.1.

`make docs` runs it; a test fails when a committed file differs from what it would write.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import fields
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

import madeleine
from madeleine.api.contract.memories import CONTRACT, ErrorAnswer
from madeleine.api.contract.typescript import render_typescript
from madeleine.api.operation import Operation
from madeleine.api.operations import OPERATIONS
from madeleine.api.reference import render_routes_page
from madeleine.cli.man_page import render_man_page
from madeleine.cli.reference import render_page as commands_page
from madeleine.errors import MadeleineError
from madeleine.ingest.transcripts import IntakeStop
from madeleine.model.cause import (
    ActivityKind,
    HookProblem,
    NoteKind,
    ReasonKind,
    SilenceKind,
    SpaceKind,
    WhisperSilence,
)
from madeleine.model.setting import setting_specs
from madeleine.server.automem.reference import render_automem_page
from madeleine.server.mcp.reference import render_tools_page
from madeleine.settings import ENVIRONMENT_PREFIX, Settings, known_variables
from madeleine.sleep.values import AskedInstead, StopKind

REFERENCE = Path(__file__).parent / "reference"
ROOT = Path(__file__).parents[1]
PAGE_TYPES = ROOT / "web" / "src" / "parts" / "contract.ts"
CLIENT_ROUTES = ROOT / "src" / "madeleine" / "api" / "routes.py"
MAN_PAGE = ROOT / "docs" / "man" / "madeleine.1"
VARIABLE_NAMES = ROOT / "src" / "madeleine" / "cli" / "variable_names.py"

ROUTES_MODULE = '''"""How each operation is called over HTTP: what a client of a daemon has to know.

Made by `make docs` from the declarations (`api/operation.py`), so that a command that talks to the
daemon need not import the functions beside which they stand.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Route(NamedTuple):
    """One operation as a client calls it. `{{id}}` in the path is an id or the beginning of one."""

    name: str
    method: str
    path: str
    unbounded: bool = False
    """Whether it may take longer than a client otherwise waits for an answer."""


ROUTES: tuple[Route, ...] = (
{routes}
)

ROUTE_BY_NAME = MappingProxyType({{route.name: route for route in ROUTES}})
'''

VARIABLES_MODULE = '''"""The variables of the environment that mean something, as plain names.

Made by `make docs` from the settings, so that a command need not import the rooms that declare
them to see that all variables are right.
"""

VARIABLE_NAMES = frozenset(
    [
{names}
    ]
)
'''

SETTINGS_HEAD = f"""# Settings

Settings stand in `config.toml` in the home folder, one table per section, and may be given in the
environment as `{ENVIRONMENT_PREFIX}<SECTION>_<NAME>`, which wins. A value of
the wrong kind or outside of its range, and an unknown name in the file, are refused when a command
starts. A variable that begins like one of ours and means nothing is named once when a command or
the daemon starts, with the nearest right name. A running daemon reads them at its next start.
`madeleine config` lists what is in force and changes the file ([how](../guides/settings.md)).

```toml
[server]
port = 8788

[embedder]
kind = "none"
```
"""

KINDS_HEAD = """# Kinds

What a program can act on. A sentence may be reworded or translated; a kind stays as it is, and
new ones may be added. Treat one that you do not know by what stands beside it: an error by its
`code`, the rest by its sentence.

## Errors

An error is `{"error": {"code", "kind", "message", "hint", "parts"}}` over HTTP, with `--json` and
in the results of a batch. `code` says what to do about it, `kind` what it is, and `parts` has the
values that the message is made of. MCP has code and kind of a refused call in
`_meta["madeleine/error"]`; in Python an error has `.kind` and `.parts`.

| kind | code | status | parts | means |
|---|---|--:|---|---|
"""

ADVANCED_HEAD = """
## [advanced]

What hardly anybody has to change: sizes, thresholds and intervals that the defaults were measured
with. There is no section of this name; each of them stands in its own, as all others do.
"""
CAUSES: tuple[tuple[str, str, tuple[type[StrEnum], ...]], ...] = (
    (
        "Why a memory is an answer",
        "`reasons_parts` has one object for each sentence in `reasons`, in the same order: its "
        "`kind`, and beside it the parts that are named here. So do the rows of a whisper.",
        (ReasonKind,),
    ),
    (
        "Why a question got no answer",
        "`silence_parts` of a recall stands beside the sentence `silence`, and is null with it.",
        (SilenceKind,),
    ),
    (
        "Why nothing was whispered",
        "`silence_parts` of a whisper, of its line in the log, and of the event `whispered`.",
        (WhisperSilence,),
    ),
    (
        "Notes",
        "`notes_parts` has one object for each sentence in `notes` of what was remembered, "
        "changed, recalled or reconciled. Other notes have no parts yet.",
        (NoteKind,),
    ),
    (
        "What happened",
        "`what_parts` of an entry of `madeleine log` stands beside the sentence `what`. "
        "`memories` are those that it happened to, an `id` and a `title` each, the first few of "
        "`count`; `reason` is why, in the words of whoever did it.",
        (ActivityKind,),
    ),
    (
        "Why a run of a job stopped",
        "`stopped_parts` beside the sentence `stopped` in a report has the kind and its parts. A "
        "report with an `error` has its `error_kind`: a kind of error, `judge_silent` if the judge "
        "gave no answer at all, or `cut_off` if the process ended meanwhile.",
        (StopKind,),
    ),
    (
        "Why a folder belongs to a space",
        "`because_parts` of `GET /agent/space`.",
        (SpaceKind,),
    ),
    (
        "What a run does instead",
        "The part `instead` of the two kinds that say too much.",
        (AskedInstead,),
    ),
    (
        "Why taking in stopped",
        "`stopped_kind` in the report of a session or text that was not taken in whole: a kind of "
        "error, or one of these.",
        (IntakeStop,),
    ),
    (
        "Problems of hooks",
        "`problem_kinds` beside the `problems` of hooks in the status, in the same order: a kind "
        "of error, a kind of taking in, or one of these.",
        (HookProblem,),
    ),
)


def pages() -> dict[str, str]:
    """Return the generated pages by file name."""
    return {
        "automem.md": render_automem_page(),
        "commands.md": commands_page(),
        "kinds.md": kinds_page(),
        "routes.md": render_routes_page(),
        "settings.md": settings_page(),
        "tools.md": render_tools_page(),
    }


def page_types() -> str:
    """Return the types of the page as TypeScript."""
    return render_typescript(CONTRACT, [*(each.answer for each in OPERATIONS), ErrorAnswer])


def routes_module() -> str:
    """Return the module with the routes that a client calls."""
    return ROUTES_MODULE.format(routes="\n".join(_route_row(each) for each in OPERATIONS))


def _route_row(operation: Operation[Any]) -> str:
    row = f'    Route("{operation.name}", "{operation.method}", "{operation.path}"'
    return f"{row}, unbounded=True)," if operation.unbounded else f"{row}),"


def variables_module() -> str:
    """Return the module with the names of all variables that mean something."""
    names = "\n".join(f'        "{each}",' for each in sorted(known_variables()))
    return VARIABLES_MODULE.format(names=names)


def kinds_page() -> str:
    """Return the page of every kind that an answer may name."""
    rows = "".join(_error_row(each) for each in sorted(all_errors(), key=lambda each: each.kind))
    return KINDS_HEAD + rows + "".join(_enum_section(*each) for each in CAUSES)


def _enum_section(title: str, where: str, kinds: tuple[type[StrEnum], ...]) -> str:
    rows = "".join(
        f"| `{value}` | {means} |\n" for each in kinds for value, means in members(each).items()
    )
    return f"\n## {title}\n\n{where}\n\n| kind | means |\n|---|---|\n{rows}"


def members(kinds: type[StrEnum]) -> dict[str, str]:
    """Return what is written below each member of an enum, by the member's value."""
    body = ast.parse(inspect.getsource(kinds)).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for statement, after in pairwise([*body.body, ast.Pass()]):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            said = after.value if isinstance(after, ast.Expr) else None
            text = str(said.value) if isinstance(said, ast.Constant) else ""
            found[str(statement.value.value)] = " ".join(text.split())
    return found


def all_errors() -> list[type[MadeleineError]]:
    """Return every error class of the project, wherever it is defined."""
    for each in pkgutil.walk_packages(madeleine.__path__, "madeleine."):
        if not each.name.endswith("__main__"):
            importlib.import_module(each.name)
    return list(_family(MadeleineError))


def _family(error: type[MadeleineError]) -> Iterator[type[MadeleineError]]:
    yield error
    for each in error.__subclasses__():
        yield from _family(each)


def _error_row(error: type[MadeleineError]) -> str:
    """Return one row; the parts are what the class is made from."""
    given = [] if "__init__" not in vars(error) else [*inspect.signature(error).parameters]
    parts = ", ".join(f"`{each}`" for each in given if each not in ("message", "hint", "parts"))
    means = " ".join((error.__doc__ or "").split())
    return f"| `{error.kind}` | `{error.code}` | {error.http_status} | {parts} | {means} |\n"


def settings_page() -> str:
    """Return the page of every setting with its default, the advanced ones last."""
    parts = [SETTINGS_HEAD, *_tables(is_advanced=False), ADVANCED_HEAD, *_tables(is_advanced=True)]
    return "".join(parts)


def _tables(is_advanced: bool) -> Iterator[str]:
    """Give a table for each section that has settings of this kind."""
    for section in fields(Settings):
        values = getattr(Settings(), section.name)
        listed = {
            name: facts
            for name, facts in setting_specs(values).items()
            if facts.is_advanced == is_advanced
        }
        if not listed:
            continue
        about = (
            f"### `[{section.name}]`"
            if is_advanced
            else f"## [{section.name}]\n\n{type(values).__doc__}"
        )
        yield f"\n{about}\n\n| setting | default | meaning |\n|---|---|---|\n"
        for name, facts in listed.items():
            default, allowed = _shown(getattr(values, name)), _allowed(facts.least, facts.most)
            yield f"| `{name}` | {default} | {facts.help}{allowed} |\n"


def _allowed(least: float | None, most: float | None) -> str:
    return "" if least is None or most is None else f" ({least:g} to {most:,.10g})"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


if __name__ == "__main__":
    for name, text in pages().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
    PAGE_TYPES.write_text(page_types(), encoding="utf-8")
    CLIENT_ROUTES.write_text(routes_module(), encoding="utf-8")
    VARIABLE_NAMES.write_text(variables_module(), encoding="utf-8")
    MAN_PAGE.parent.mkdir(exist_ok=True)
    MAN_PAGE.write_text(render_man_page(), encoding="utf-8")
