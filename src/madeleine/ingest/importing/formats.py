"""Every format that can be brought in, and the one way to read them.

Whatever comes from another program is looked through for keys, tokens and passwords before it goes
anywhere: what is remembered is shown to agents. Exports of our own and Ormah's vaults hold what was
remembered already and come as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import cast

from madeleine.errors import InvalidValue, UnknownWord
from madeleine.ingest.importing import (
    agents_md,
    automem,
    automem_server,
    basic_memory,
    chatgpt,
    claude_ai,
    claude_code,
    claude_mem,
    madeleine,
    mcp_memory,
    mem0,
    mempalace,
    obsidian,
    ormah,
)
from madeleine.ingest.importing.guessing import hint_for
from madeleine.ingest.importing.table import FORMATS
from madeleine.ingest.importing.values import (
    ForeignServer,
    ImportItem,
    ImportNote,
    ImportProblem,
    Json,
    NotThatFormat,
    ReaderOutput,
)
from madeleine.language.secrets import redact_secrets
from madeleine.model.draft import MemoryLimits
from madeleine.model.metadata import read_metadata

READERS: Mapping[str, Callable[[Path], Iterator[ReaderOutput]]] = {
    "agents-md": agents_md.read,
    "automem": automem.read,
    "basic-memory": basic_memory.read,
    "chatgpt": chatgpt.read,
    "claude-ai": claude_ai.read,
    "claude-code": claude_code.read,
    "claude-mem": claude_mem.read,
    "madeleine": madeleine.read,
    "mcp-memory": mcp_memory.read,
    "mem0": mem0.read,
    "mempalace": mempalace.read,
    "obsidian": obsidian.read,
    "ormah": ormah.read,
}
SERVER_READERS: Mapping[str, Callable[[ForeignServer], Iterator[ReaderOutput]]] = {
    "automem": automem_server.read,
}
AS_IT_IS = frozenset({"madeleine", "ormah"})
NAMES = frozenset({"id", "target", "session", "superseded_by"})  # what something is known by
BOUNDS = MemoryLimits()


def read(form: str, path: Path, space: str | None = None) -> Iterator[ReaderOutput]:
    """Give what is at a path, read as the format says; `space` puts all of it there. What is of
    another format is refused, with the one that it looks like."""
    if form not in READERS:
        raise UnknownWord("format", form, list(FORMATS))
    try:
        guarded = _guard_items(READERS[form](path), space, form in AS_IT_IS)
        yield from _add_doubt(guarded, lambda: hint_for(form, path))
    except NotThatFormat as error:
        error.hint = hint_for(form, path) or error.hint
        raise


def read_server(
    form: str, server: ForeignServer, space: str | None = None
) -> Iterator[ReaderOutput]:
    """Give what a running server of another program has."""
    if form not in SERVER_READERS:
        raise UnknownWord("format of a server", form, list(SERVER_READERS))
    yield from _guard_items(SERVER_READERS[form](server), space, as_it_is=False)


def _add_doubt(found: Iterator[ReaderOutput], hint: Callable[[], str]) -> Iterator[ReaderOutput]:
    """Add what the path looks like, if all that was found is broken; where nothing was, say so."""
    items = broken = said = 0
    for each in found:
        items += isinstance(each, ImportItem)
        broken += isinstance(each, ImportProblem)
        said += isinstance(each, ImportNote)
        yield each
    doubt = hint() if not items and (broken or not said) else ""
    if doubt:
        yield ImportNote(doubt)
    if not (items or broken or said):
        yield ImportNote("it is of that format, and nothing is in it")


def _guard_items(
    found: Iterator[ReaderOutput], space: str | None, as_it_is: bool
) -> Iterator[ReaderOutput]:
    secrets = 0
    for each in found:
        if not isinstance(each, ImportItem):
            yield each
            continue
        values = each.values if space is None else {**each.values, "space": space}
        if not as_it_is:
            values, count = _redact_values(values)
            secrets += count
            values = _fit_to_limits(values)
        yield ImportItem(values, each.place)
    if secrets:
        words = "1 secret was" if secrets == 1 else f"{secrets:,} secrets were"
        yield ImportNote(f"{words} found and left out, marked as [redacted]")


def _redact_values(values: Json) -> tuple[Json, int]:
    """Return the values without keys, tokens and passwords, and how many there were."""
    count = 0

    def clean(value: object) -> object:
        nonlocal count
        if isinstance(value, str):
            text, found = redact_secrets(value)
            count += found
            return text
        if isinstance(value, dict):
            return {name: each if name in NAMES else clean(each) for name, each in value.items()}
        return [clean(each) for each in value] if isinstance(value, list) else value

    return cast("Json", clean(values)), count


def _fit_to_limits(values: Json) -> Json:
    """Return the values within the bounds of one memory: other programs have others, and a note
    with a thousand links is worth its text and the first of them."""
    fitted = dict(values)
    title, tags, links = (values.get(name) for name in ("title", "tags", "connections"))
    if isinstance(title, str) and len(title) > BOUNDS.title_chars:
        fitted["title"] = f"{title[: BOUNDS.title_chars - 1]}…"
    if isinstance(tags, list):
        short = [each for each in tags if len(str(each)) <= BOUNDS.tag_chars]
        fitted["tags"] = short[: BOUNDS.tags]
    if isinstance(links, list):
        fitted["connections"] = links[: BOUNDS.connections]
    try:
        read_metadata(values.get("metadata"))
    except InvalidValue:
        fitted["metadata"] = None
    return fitted
