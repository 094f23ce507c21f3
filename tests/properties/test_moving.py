"""Whatever memories a home holds, an export brings them into another one as they were."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from madeleine.ingest.exporting.leaving import Leaving
from madeleine.ingest.exporting.pages import read_page
from madeleine.model.codec import Json
from madeleine.model.draft import one_line
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
    return one_line("text", text[:60], 60) if text else None


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
        return {"items": found.items, "next": found.next, "total": stores.index.counts().memories}

    return page


@given(homes)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_export_brings_any_memories_into_another_home(memories: list[Memory]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, two = (make_stores(Path(folder, name), with_model=False) for name in ("1", "2"))
        for number, memory in enumerate(memories):
            (one.vault.root / f"{number}.md").write_bytes(render_memory(memory))
        reconcile(one)

        Leaving(pages(one), {}).write("jsonl", Path(folder, "m.jsonl"))
        report = imported(two, "madeleine", Path(folder, "m.jsonl"))
        ids = [each.id for each in memories]

        assert report.broken == {}
        assert two.index.memories(ids) == one.index.memories(ids)
        assert vault_bytes(two) == vault_bytes(one)
        assert imported(two, "madeleine", Path(folder, "m.jsonl")).count("known") == len(ids)
        close(one)
        close(two)
