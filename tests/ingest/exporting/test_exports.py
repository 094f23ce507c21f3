"""Exports: everything leaves, the same bytes every time, and comes back as it was."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.errors import PlaceTaken
from madeleine.ingest.exporting import jsonl, markdown_zip, obsidian
from madeleine.ingest.exporting.pages import read_page, read_trash
from madeleine.ingest.importing.obsidian import CONNECTIONS, MARK
from madeleine.model.codec import Json
from madeleine.model.memory import Claim, Connection, Memory, Origin
from madeleine.model.query import Filter
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.write.forget import forget
from madeleine.write.reconcile import reconcile
from madeleine.write.record_use import record_use
from madeleine.write.revise import retire
from madeleine.write.stores import Stores
from tests.fakes import close, keep, make_stores, vault_bytes
from tests.ingest.importing.bringing import imported, memories

EVERYTHING = Filter(outdated=True)


@pytest.fixture
def full(stores: Stores) -> Stores:
    """Stores with one of everything."""
    sqlite = keep(
        stores,
        "Chose SQLite over Postgres for local-first.\n\nSee “notes” & café.",
        title="SQLite over Postgres",
        type=MemoryType.DECISION,
        space="atlas",
        tags=("storage", "2026"),
        confidence=0.8,
        origin=Origin("s1", 3, "Ana", "https://example.org/x"),
        claim=Claim("Atlas", "database", "SQLite"),
    )
    postgres = keep(stores, "Postgres for everything", title="Old: use [Postgres]?")
    keep(stores, "Same title", title="SQLite over Postgres", tier=Tier.CORE)
    keep(
        stores,
        "It is fast enough",
        connections=(
            Connection(sqlite.id, Edge.SUPPORTS, 0.9, "measured (twice)"),
            Connection(postgres.id, Edge.CONTRADICTS, 0.4),
        ),
    )
    retire(stores, postgres.id, superseded_by=sqlite.id)
    record_use(stores, [sqlite.id], "opened", "s9", wait=True)
    folder = stores.vault.root / "by hand"
    folder.mkdir()
    note = "---\nid: 99999999-0000-4000-8000-000000000009\ncreated: 2020-01-01T00:00:00Z\n"
    note += "updated: 2020-01-01T00:00:00Z\nsource: file\nmood: good  # kept\n---\nBy hand.\n"
    (folder / "note.md").write_text(note, encoding="utf-8")
    reconcile(stores)
    forget(stores, keep(stores, "Thrown away").id)
    return stores


def items(stores: Stores, files: bool = False, chosen: Filter = EVERYTHING) -> Iterator[Json]:
    """Every memory, two at a time."""
    after: str | None = ""
    while after is not None:
        page = read_page(stores, chosen, stores.clock.now(), after, 2, files)
        yield from page.items
        after = page.next


def states(stores: Stores) -> dict[str, Memory]:
    return {each.id: each for each in memories(stores).values()}


def test_json_lines_bring_everything_back(full: Stores, tmp_path: Path) -> None:
    everything = [*items(full), *read_trash(full, files=False).items]
    assert jsonl.write(tmp_path / "m.jsonl", everything, 5) == 6
    other = make_stores(tmp_path / "other")

    told = imported(other, "madeleine", tmp_path / "m.jsonl")

    assert told.count("written") == 6
    assert states(other) == states(full)  # also how each was used
    assert vault_bytes(other) == vault_bytes(full)
    assert told.notes == []
    assert imported(other, "madeleine", tmp_path / "m.jsonl").count("written") == 0
    close(other)


def test_the_same_memories_give_the_same_bytes(full: Stores, tmp_path: Path) -> None:
    for number in ("1", "2"):
        jsonl.write(tmp_path / f"{number}.jsonl", items(full), 5)
        markdown_zip.write(tmp_path / f"{number}.zip", items(full, files=True), 5)
        obsidian.write(tmp_path / number, obsidian.NoteNames(items(full)), items(full))

    for name in ("jsonl", "zip"):
        one, two = ((tmp_path / f"{number}.{name}").read_bytes() for number in "12")
        assert one == two
    assert tree(tmp_path / "1") == tree(tmp_path / "2")


def tree(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.md"))
    }


def test_an_export_that_was_cut_says_so_when_it_is_read(full: Stores, tmp_path: Path) -> None:
    jsonl.write(tmp_path / "m.jsonl", items(full), 5)
    lines = (tmp_path / "m.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "m.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:20])
    other = make_stores(tmp_path / "other")

    told = imported(other, "madeleine", tmp_path / "m.jsonl")

    assert told.count("written") == 2
    assert list(told.broken) == ["m.jsonl:4", "m.jsonl"]
    assert "it was cut" in told.broken["m.jsonl"]
    close(other)


def test_a_zip_holds_the_files_byte_for_byte(full: Stores, tmp_path: Path) -> None:
    everything = [*items(full, files=True), *read_trash(full, files=True).items]
    markdown_zip.write(tmp_path / "m.zip", everything, 6)

    with zipfile.ZipFile(tmp_path / "m.zip") as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    assert packed == vault_bytes(full)


def test_a_zip_of_files_brings_the_files_back(full: Stores, tmp_path: Path) -> None:
    markdown_zip.write(tmp_path / "m.zip", items(full, files=True), 5)
    other = make_stores(tmp_path / "other")

    imported(other, "madeleine", tmp_path / "m.zip")

    live = {path: data for path, data in vault_bytes(full).items() if "trash/" not in path}
    assert vault_bytes(other) == live
    close(other)


def test_obsidian_gets_notes_with_wikilinks(full: Stores, tmp_path: Path) -> None:
    obsidian.write(tmp_path / "out", obsidian.NoteNames(items(full)), items(full))

    notes = tree(tmp_path / "out")
    by_title = dict(notes.items())
    sqlite = next(name for name in by_title if name.startswith("atlas/SQLite over Postgres"))
    assert len(notes) == 5
    assert "Old use Postgres.md" in notes
    assert "type: decision\n" in notes[sqlite]
    assert "tags:\n  - storage\n  - _2026\n" in notes[sqlite]
    fast = notes["It is fast enough.md"]
    stem = Path(sqlite).stem
    assert f"- supports [[{stem}]] (measured (twice))\n" in fast
    assert "- contradicts [[Old use Postgres]]\n" in fast
    assert f'superseded_by: "[[{stem}]]"\n' in notes["Old use Postgres.md"]


def test_notes_come_back_from_obsidian_as_the_memories_they_were(
    full: Stores, tmp_path: Path
) -> None:
    before = states(full)
    obsidian.write(tmp_path / "out", obsidian.NoteNames(items(full)), items(full))

    same = imported(full, "obsidian", tmp_path / "out")
    fast = tmp_path / "out" / "It is fast enough.md"
    fast.write_text(
        fast.read_text(encoding="utf-8").replace("fast enough", "fast enough for us", 2),
        encoding="utf-8",
    )
    edited = imported(full, "obsidian", tmp_path / "out")

    assert same.count("known") == 5
    assert edited.count("known") == 4
    assert edited.fates["It is fast enough.md"] == "revised"
    now = states(full)
    changed = [each for each in now if now[each].content != before[each].content]
    assert [now[each].content for each in changed] == ["It is fast enough for us"]
    assert [link.edge for link in now[changed[0]].connections][:2] == [
        Edge.SUPPORTS,
        Edge.CONTRADICTS,
    ]


LIST = "## Connections\n\n- relates_to [[Postgres for everything]]"


@pytest.mark.parametrize(
    "own",
    [
        f"Ours to keep.\n\n{LIST}",
        f"Ours to keep.\n\n{LIST.replace(chr(10) * 2, chr(10))}",
        f"Ours to keep.\n\n{MARK}\n{LIST}",
        f"Quoted:\n\n{CONNECTIONS}\n- supports [[x]]\n\nand more",
    ],
)
@pytest.mark.parametrize("linked", [False, True])
def test_a_list_of_connections_that_a_person_wrote_stays(
    stores: Stores, tmp_path: Path, own: str, linked: bool
) -> None:
    other = keep(stores, "Postgres for everything")
    link = Connection(other.id, Edge.SUPPORTS, 0.9)
    kept = keep(stores, own, title="Mine", connections=(link,) if linked else ())
    obsidian.write(tmp_path / "out", obsidian.NoteNames(items(stores)), items(stores))
    fresh = make_stores(tmp_path / "other")

    same = imported(stores, "obsidian", tmp_path / "out")
    imported(fresh, "obsidian", tmp_path / "out")

    assert set(same.fates.values()) == {"known"}
    assert states(stores)[kept.id].content == own
    assert states(fresh)[kept.id].content == own
    close(fresh)


def test_what_is_written_below_our_list_of_connections_comes_along(
    full: Stores, tmp_path: Path
) -> None:
    obsidian.write(tmp_path / "out", obsidian.NoteNames(items(full)), items(full))
    fast = tmp_path / "out" / "It is fast enough.md"
    with fast.open("a", encoding="utf-8") as file:
        file.write("- part_of [[Old use Postgres]]\n\nMeasured again in May.\n")

    imported(full, "obsidian", tmp_path / "out")

    (changed,) = (each for each in states(full).values() if "in May" in each.content)
    assert changed.content == "It is fast enough\n\nMeasured again in May."
    assert Edge.PART_OF in {each.edge for each in changed.connections}


def test_an_obsidian_vault_fills_another_home(full: Stores, tmp_path: Path) -> None:
    obsidian.write(tmp_path / "out", obsidian.NoteNames(items(full)), items(full))
    other = make_stores(tmp_path / "other")

    imported(other, "obsidian", tmp_path / "out")

    def essence(stores: Stores) -> dict[str, object]:
        return {
            each.id: (each.content, each.type, each.tier, each.space, each.tags, each.source)
            for each in states(stores).values()
        }

    assert essence(other) == essence(full)
    close(other)


def test_a_link_means_the_file_of_that_name_before_a_title(stores: Stores, tmp_path: Path) -> None:
    same = [keep(stores, f"It is about {each}", title="Same") for each in ("cats", "trains", "tea")]
    pointing = [
        keep(stores, f"Points to {each.content}", connections=(Connection(each.id, Edge.SUPPORTS),))
        for each in same
    ]
    obsidian.write(tmp_path / "out", obsidian.NoteNames(items(stores)), items(stores))
    other = make_stores(tmp_path / "other")

    imported(other, "obsidian", tmp_path / "out")

    found = states(other)
    for source, target in zip(pointing, same, strict=True):
        drawn = [c.target for c in found[source.id].connections if c.edge is Edge.SUPPORTS]
        assert drawn == [target.id]
    close(other)


def test_filters_decide_what_leaves(full: Stores) -> None:
    current = list(items(full, chosen=Filter()))
    atlas = list(items(full, chosen=Filter(spaces=("atlas",))))

    assert len(current) == 4
    assert [each["title"] for each in atlas] == ["SQLite over Postgres"]
    assert json.dumps(current)  # plain JSON all through


def test_nothing_is_written_over(full: Stores, tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text("mine", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.md").write_text("mine", encoding="utf-8")

    with pytest.raises(PlaceTaken):
        jsonl.write(tmp_path / "m.jsonl", items(full), 5)
    with pytest.raises(PlaceTaken):
        obsidian.write(tmp_path / "out", obsidian.NoteNames(items(full)), items(full))

    assert (tmp_path / "m.jsonl").read_text(encoding="utf-8") == "mine"


def test_an_export_that_fails_leaves_nothing(full: Stores, tmp_path: Path) -> None:
    def breaking() -> Iterator[Json]:
        yield from list(items(full, files=True))[:2]
        raise RuntimeError("the daemon went away")

    for write in (jsonl.write, markdown_zip.write):
        with pytest.raises(RuntimeError):
            write(tmp_path / "new", breaking(), 5)
    with pytest.raises(RuntimeError):
        obsidian.write(tmp_path / "new", obsidian.NoteNames(items(full)), breaking())

    left = [each.name for each in tmp_path.iterdir() if each.name != "home"]
    assert left == []


# -- two vaults of one name ----------------------------------------------------------------


def connected(stores: Stores) -> set[tuple[str, str, str]]:
    """Who is connected to whom, but for what similarity drew."""
    return {
        (each.id, arrow.target, arrow.edge.value)
        for each in states_of_all(stores)
        for arrow in each.connections
        if arrow.by != "remember"
    }


def states_of_all(stores: Stores) -> list[Memory]:
    return list(stores.search.memories(stores.search.standings().ids).values())


@pytest.fixture
def namesakes(stores: Stores, tmp_path: Path) -> Stores:
    """Stores with two vaults of one name, whose notes have the same names and link to them."""
    for place, what in (("a", "boats"), ("b", "trains")):
        top = tmp_path / place / "Notes"
        top.mkdir(parents=True)
        (top / "Plan.md").write_text(f"About {what}, see [[Ideas]].\n", encoding="utf-8")
        (top / "Ideas.md").write_text(f"More {what}. Not [[Gone]] yet.\n", encoding="utf-8")
        (top / "Log.md").write_text(f"- requires [[Plan]]\n\n{what}\n", encoding="utf-8")
        if place == "a":
            (top / "Gone.md").write_text("Sold the boat.\n", encoding="utf-8")
        imported(stores, "obsidian", top)
    return stores


def test_notes_of_two_vaults_link_to_those_of_their_own(namesakes: Stores) -> None:
    known = {each.id: each for each in states_of_all(namesakes)}

    assert len(known) == 7
    for source, target, _ in connected(namesakes):
        both = known[source].content, known[target].content
        assert any(all(word in each for each in both) for word in ("boat", "train"))


def test_two_vaults_of_one_name_come_back_without_false_links(
    namesakes: Stores, tmp_path: Path
) -> None:
    names = obsidian.NoteNames(items(namesakes))
    obsidian.write(tmp_path / "out", names, items(namesakes))
    other = make_stores(tmp_path / "other")

    here = imported(namesakes, "obsidian", tmp_path / "out")
    there = imported(other, "obsidian", tmp_path / "out")
    again = imported(other, "obsidian", tmp_path / "out")

    assert (here.count("known"), there.count("written"), again.count("known")) == (7, 7, 7)
    whole = {each.id: each.connections for each in states_of_all(namesakes)}
    for each in states_of_all(other):
        drawn = {(arrow.target, arrow.edge) for arrow in each.connections if arrow.by != "remember"}
        assert drawn == {(arrow.target, arrow.edge) for arrow in whole[each.id]}
    close(other)


def test_a_link_that_is_added_to_an_exported_note_counts(namesakes: Stores, tmp_path: Path) -> None:
    obsidian.write(tmp_path / "out", obsidian.NoteNames(items(namesakes)), items(namesakes))
    (note,) = (path for path in (tmp_path / "out").rglob("Gone.md"))
    note.write_text(note.read_text(encoding="utf-8") + "\nSee [[Plan]].\n", encoding="utf-8")

    imported(namesakes, "obsidian", tmp_path / "out")

    (gone,) = (each for each in states_of_all(namesakes) if "Sold" in each.content)
    ends = namesakes.index.search.memories([each.target for each in gone.connections]).values()
    assert "Plan" in {each.title for each in ends}
