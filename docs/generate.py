"""Writes docs/reference from the code: commands, routes, settings, tools and kinds, and the types
of the page.

`make docs` runs it; a test fails when a committed file differs from what it would write.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import madeleine
from madeleine.api.contract.memories import CONTRACT, ErrorAnswer
from madeleine.api.contract.table import SHAPES
from madeleine.api.contract.typescript import typescript
from madeleine.api.reference import routes_page
from madeleine.cli.reference import page as commands_page
from madeleine.errors import MadeleineError
from madeleine.model.setting import settings_of
from madeleine.server.mcp.reference import tools_page
from madeleine.settings import ENVIRONMENT_PREFIX, Settings

REFERENCE = Path(__file__).parent / "reference"
PAGE_TYPES = Path(__file__).parents[1] / "web" / "src" / "parts" / "contract.ts"

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
values that the message is made of. MCP has code, kind and parts of a refused call in
`_meta["madeleine/error"]`; in Python an error has `.kind` and `.parts`.

| kind | code | status | parts | means |
|---|---|--:|---|---|
"""

ADVANCED_HEAD = """
## [advanced]

What hardly anybody has to change: sizes, thresholds and intervals that the defaults were measured
with. There is no section of this name; each of them stands in its own, as all others do.
"""


def pages() -> dict[str, str]:
    """Return the generated pages by file name."""
    return {
        "commands.md": commands_page(),
        "kinds.md": kinds_page(),
        "routes.md": routes_page(),
        "settings.md": settings_page(),
        "tools.md": tools_page(),
    }


def page_types() -> str:
    """Return the types of the page as TypeScript."""
    return typescript(CONTRACT, [*(each.answer for each in SHAPES.values()), ErrorAnswer])


def kinds_page() -> str:
    """Return the page of every kind that an answer may name."""
    rows = "".join(_error_row(each) for each in sorted(all_errors(), key=lambda each: each.kind))
    return KINDS_HEAD + rows


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
            for name, facts in settings_of(values).items()
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
