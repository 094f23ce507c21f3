"""Whatever memories a home holds, an export brings them into another one as they were."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from madeleine.errors import Rejected
from madeleine.ingest.exporting.export import MemoryExport
from madeleine.ingest.exporting.pages import read_page
from madeleine.ingest.importing.formats import read
from madeleine.ingest.importing.table import FORMATS
from madeleine.ingest.importing.values import ReaderOutput
from madeleine.model.codec import Json
from madeleine.model.draft import read_one_line
from madeleine.model.memory import Memory, Origin
from madeleine.model.query import Filter
from madeleine.model.words import SELF_SOURCE
from madeleine.vault.markdown import render_memory
from madeleine.write.reconcile import reconcile
from madeleine.write.stores import Stores
from tests.fakes import close, make_stores, vault_bytes
from tests.ingest.importing.bringing import imported
from tests.properties import test_markdown as markdown


def tidy(text: str | None) -> str | None:
    """As a door leaves a text that has to be one line."""
    return read_one_line("text", text[:60], 60) if text else None


def told(memory: Memory) -> Memory:
    """Return the memory as it could have come through a door; files may hold odder things."""
    said = memory.origin or Origin()
    origin = Origin(tidy(said.session), said.turn, tidy(said.speaker), tidy(said.uri))
    return dataclasses.replace(
        memory,
        title=tidy(memory.title),
        space=None if tidy(memory.space) == "global" else tidy(memory.space),
        source=tidy(memory.source) or "file",
        idempotency_key=tidy(memory.idempotency_key),
        tags=tuple(each for each in memory.tags if len(each) <= 80),
        claim=None,
        origin=None if origin == Origin() else origin,
        connections=tuple(
            dataclasses.replace(
                each, reason=tidy(each.reason), by=tidy(each.by), kind=tidy(each.kind)
            )
            for each in memory.connections
            if each.target != memory.id
        ),
    )


homes = st.lists(
    markdown.memories.map(told).filter(lambda each: each.source != SELF_SOURCE),
    max_size=5,
    unique_by=lambda each: each.id,
)


def pages(stores: Stores) -> Callable[[Json], Json]:
    """Answer for `export` as the operation does, two memories at a time."""

    def page(query: Json) -> Json:
        after, now = str(query.get("after") or ""), stores.clock.now()
        found = read_page(stores, Filter(outdated=True), now, after, 2, bool(query.get("files")))
        return {"items": found.items, "next": found.next, "total": stores.search.counts().memories}

    return page


WORDS = [
    "nodes", "relationships", "id", "labels", "properties", "content", "memory", "results", "type",
    "source_id", "target_id", "mapping", "message", "author", "role", "parts", "content_type",
    "create_time", "current_node", "chat_messages", "uuid", "sender", "text", "created_at",
    "attachments", "docs", "name", "observations", "from", "to", "tags", "format", "version",
]  # fmt: skip
odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["Memory", "entity", "relation", "user", "human", "text", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=25,
)  # fmt: skip


@given(odd, st.sampled_from(sorted(FORMATS)), st.sampled_from(["x.json", "projects.json"]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_a_json_file_holds_it_is_read_or_refused(
    value: object, form: str, name: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        for shape in (value, [value], {"results": [value]}, {"nodes": [value]}):
            path.write_text(json.dumps(shape), encoding="utf-8")
            with contextlib.suppress(Rejected):
                assert all(isinstance(each, ReaderOutput) for each in read(form, path))


@given(homes)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_export_brings_any_memories_into_another_home(memories: list[Memory]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, two = (make_stores(Path(folder, name), with_model=False) for name in ("1", "2"))
        for number, memory in enumerate(memories):
            (one.vault.root / f"{number}.md").write_bytes(render_memory(memory))
        reconcile(one)

        MemoryExport(pages(one), {}).write("jsonl", Path(folder, "m.jsonl"))
        report = imported(two, "madeleine", Path(folder, "m.jsonl"))
        ids = [each.id for each in memories]

        assert report.broken == {}
        assert two.index.search.memories(ids) == one.index.search.memories(ids)
        assert vault_bytes(two) == vault_bytes(one)
        assert imported(two, "madeleine", Path(folder, "m.jsonl")).count("known") == len(ids)
        close(one)
        close(two)
