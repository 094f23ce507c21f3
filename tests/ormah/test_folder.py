"""A folder of memories that real Ormah wrote: opened, worked with, and read by it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from madeleine import Madeleine
from madeleine.model.memory import Memory
from madeleine.write.identity import SELF_ID
from tests.cli.running import Cli
from tests.ormah.clients import WRITE_NODES, Ormah
from tests.ormah.installing import PATIENCE_SECONDS

pytestmark = pytest.mark.timeout(PATIENCE_SECONDS)  # the first to run waits for the install

SELF, SQLITE, TABS, GONE, OLD, ODD = (f"{n}7acbe8e-aaaa-4bbb-8ccc-00000000000{n}" for n in range(6))
NODES: list[dict[str, Any]] = [
    {
        "id": SELF,
        "type": "person",
        "tier": "core",
        "title": "Self",
        "source": "system:self",
        "content": "The user.",
        "connections": [{"target": TABS, "edge": "defines", "weight": 1.0}],
    },
    {
        "id": SQLITE,
        "type": "decision",
        "title": "SQLite: chosen over Postgres — for a store that lives on one disk, not far",
        "content": "Chose SQLite.\n\n---\n\n- one file\n- no server\n\n  indented: yes\n",
        "source": "agent:claude-code",
        "space": "atlas",
        "tags": ["storage", "Über alles"],
        "connections": [{"target": TABS, "edge": "related_to", "weight": 0.7312345678}],
        "created": "2026-03-01T10:00:00.123456Z",
        "updated": "2026-03-02T10:00:00Z",
        "last_accessed": "2026-03-05T10:00:00Z",
        "last_review": "2026-03-04T10:00:00Z",
        "access_count": 7,
        "importance": 0.61,
        "stability": 12.5,
        "confidence": 0.7,
    },
    {
        "id": TABS,
        "type": "preference",
        "content": "Prefers tabs: '\"always\"' #yes 海",
        "tags": ["about_self"],
        "access_count": 3,
    },
    {"id": GONE, "type": "fact", "content": "Was deleted", "delete": True},
    {
        "id": OLD,
        "type": "fact",
        "tier": "archival",
        "content": "Was true once",
        "valid_until": "2026-02-01T00:00:00Z",
        "superseded_by": SQLITE,
    },
    {"id": ODD, "type": "concept", "title": "null", "content": "A title that is a word of YAML"},
]
HERE = {each["id"] for each in NODES if not each.get("delete")}


@pytest.fixture
def ormah(venv: Path, tmp_path: Path, folder: Path) -> Ormah:
    """Ormah's code that writes and reads files; it asks nobody."""
    return Ormah(venv, tmp_path, 0, folder)


@pytest.fixture
def memory(ormah: Ormah, tmp_path: Path) -> Path:
    """Ormah's memory folder as it leaves it behind."""
    made = tmp_path / "memory"
    ormah.python(WRITE_NODES, json.dumps(NODES), "write", str(made))
    (made / "index.db").write_bytes(b"SQLite format 3\0its own index")
    return made


def opened(memory: Path, folder: str = "nodes") -> Madeleine:
    """Open a home of ours beside the folder, with the folder as its vault."""
    home = memory.parent / "home"
    home.mkdir(exist_ok=True)
    settings = f'[vault]\npath = "{memory / folder}"\n[embedder]\nkind = "fake"\n'
    (home / "config.toml").write_text(settings, encoding="utf-8")
    return Madeleine.open(home, in_process=True)


def every_byte(folder: Path) -> dict[str, bytes]:
    files = (each for each in folder.rglob("*") if each.is_file())
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


def all_of(ours: Madeleine) -> dict[str, Memory]:
    return {each.id: each for each in ours.list(limit=100, outdated=True)}


def test_what_ormah_wrote_is_read_whole_and_left_as_it_is(memory: Path) -> None:
    before = every_byte(memory)

    with opened(memory) as ours:
        found = all_of(ours)
        ours.recall("which database was chosen?")
        assert ours.status().unreadable == []

    assert found.keys() == HERE
    for node in (each for each in NODES if each["id"] in HERE):
        got = found[node["id"]]
        assert got.content.strip() == node["content"].strip()
        assert (got.type.value, got.title) == (node["type"], node.get("title"))
        assert (got.space, got.tier.value) == (node.get("space"), node.get("tier", "working"))
    assert found[SQLITE].confidence == 0.7
    assert found[SQLITE].created.isoformat() == "2026-03-01T10:00:00.123456+00:00"
    assert found[OLD].superseded_by == SQLITE
    assert every_byte(memory) == before


def test_the_whole_memory_folder_opens_too_without_what_was_deleted(memory: Path) -> None:
    before = every_byte(memory)

    with opened(memory, ".") as ours:
        assert all_of(ours).keys() == HERE

    assert every_byte(memory) == before


def test_its_counters_are_taken_over_once(memory: Path) -> None:
    def counters(ours: Madeleine) -> tuple[object, ...]:
        usage = all_of(ours)[SQLITE].usage
        assert usage.last_accessed is not None
        return usage.access_count, usage.last_accessed.isoformat(), usage.importance

    with opened(memory) as ours:
        first = counters(ours)
        ours.revise(SQLITE, tags=["storage"])
        revised = counters(ours)
        ours.rebuild()
        rebuilt = counters(ours)
    with opened(memory) as ours:
        restarted = counters(ours)
        ours.show(SQLITE)
        used = counters(ours)

    assert first == revised == rebuilt == restarted == (7, "2026-03-05T10:00:00+00:00", 0.61)
    assert used[0] == 8


def test_its_self_is_ours(memory: Path) -> None:
    with opened(memory) as ours:
        ours.remember("Plays the cello", about_self=True)

        selves = [each for each in all_of(ours).values() if each.source == "system:self"]
    assert [each.id for each in selves] == [SELF]


def test_ormah_reads_what_we_changed_and_added(ormah: Ormah, memory: Path) -> None:
    """The way back is open: nothing has to be exported."""
    with opened(memory) as ours:
        added = ours.remember("Atlas ships on Thursdays", space="atlas", tags=["when"]).id
        ours.revise(SQLITE, content="Chose SQLite, after all.")
        ours.link(TABS, SQLITE, edge="supports", weight=0.4)
        ours.forget(ODD)

    nodes = json.loads(ormah.python(WRITE_NODES, "", "read", str(memory)))

    assert nodes.keys() == (HERE - {ODD}) | {added}
    assert nodes[SQLITE]["content"] == "Chose SQLite, after all."
    assert (nodes[SQLITE]["access_count"], nodes[SQLITE]["stability"]) == (7, 12.5)
    assert {"target": SQLITE, "edge": "supports", "weight": 0.4} in nodes[TABS]["connections"]
    assert (nodes[added]["space"], nodes[added]["tags"]) == ("atlas", ["when"])


def test_its_memories_can_be_imported_and_importing_twice_adds_nothing(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    cli, before = Cli(tmp_path / "copy"), every_byte(memory)

    cli.ok("import", "ormah", str(memory), "--dry-run")
    assert cli.ok("list")["memories"] == []
    cli.ok("import", "ormah", str(memory))
    with Madeleine.open(cli.home, in_process=True) as ours:
        first = all_of(ours)
    again = cli.ok("import", "ormah", str(memory))
    with Madeleine.open(cli.home, in_process=True) as ours:
        second = all_of(ours)

    assert every_byte(memory) == before
    assert first.keys() == (HERE - {SELF}) | {SELF_ID}
    assert second == first
    assert again["counts"]["known"] == len(HERE)
    chosen = first[SQLITE]
    assert (chosen.type.value, chosen.space, chosen.confidence) == ("decision", "atlas", 0.7)
    assert chosen.created.isoformat() == "2026-03-01T10:00:00.123456+00:00"
    assert [each.target for each in chosen.connections] == [TABS]
    assert (chosen.usage.access_count, chosen.usage.importance) == (7, 0.61)
    assert first[OLD].superseded_by == SQLITE
