"""Notes of other programs: Obsidian, basic-memory, Claude Code's memory, CLAUDE.md."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from madeleine.errors import NoFile, UnknownWord
from madeleine.ingest.importing.values import ImportItem, NotThatFormat
from madeleine.model.words import Edge, MemoryType
from madeleine.write.stores import Stores
from tests.ingest.importing.bringing import Told, found, imported, memories, values


def write(path: Path, text: str, mtime: float = 1_700_000_000.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (mtime, mtime))
    return path


# -- Obsidian ------------------------------------------------------------------------------


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    top = tmp_path / "Notes"
    write(
        top / "Coffee.md",
        "---\ntags: [drinks, Morning]\naliases:\n  - Kaffee\ncreated: 2024-03-01T08:00:00\n"
        "cssclasses: wide\n---\nBrewed with the [[Grinder|old grinder]] and #pour-over.\n\n"
        "- depends on [[Kitchen/Water#Hard water]] (filtered)\n- [ ] buy [[Beans]]\n"
        "![[cup.png]] and ![[Grinder]]\n```\n[[Not a link]] #not-a-tag\n```\n",
    )
    write(top / "Grinder.md", "Older than [[Kaffee]].\n")
    write(top / "Kitchen" / "Water.md", "Hard here. See [[Nowhere]].\n")
    write(top / "Empty.md", "---\ntags: [x]\n---\n\n")
    write(top / ".obsidian" / "workspace.md", "settings of the program")
    return top


def test_a_note_keeps_its_name_tags_date_and_text(notes: Path) -> None:
    coffee = values("obsidian", notes)["Coffee"]

    assert coffee["tags"] == ["drinks", "Morning", "pour-over"]
    assert coffee["created"] == "2024-03-01T08:00:00Z"
    assert str(coffee["content"]).startswith("Brewed with the [[Grinder|old grinder]]")
    assert coffee["origin"] == {"uri": "obsidian:Notes/Coffee.md"}


def test_links_by_name_alias_and_path_become_connections(notes: Path, stores: Stores) -> None:
    told = imported(stores, "obsidian", notes)

    known = memories(stores)
    links = {each.target: each for each in known["Coffee"].connections if each.by != "remember"}
    assert set(known) == {"Coffee", "Grinder", "Water"}
    assert set(links) == {known["Grinder"].id, known["Water"].id}
    assert links[known["Water"].id].edge is Edge.DEPENDS_ON
    assert links[known["Water"].id].reason == "filtered"
    assert known["Coffee"].id in {each.target for each in known["Grinder"].connections}
    assert any("2 links lead nowhere" in note and "Nowhere" in note for note in told.notes)
    assert any("1 empty" in note for note in told.notes)


def test_importing_a_vault_twice_adds_nothing(notes: Path, stores: Stores) -> None:
    first = imported(stores, "obsidian", notes)
    again = imported(stores, "obsidian", notes)

    assert (first.count("written"), again.count("known")) == (3, 3)
    assert first.ids == again.ids


def test_a_note_that_changed_revises_its_memory(notes: Path, stores: Stores) -> None:
    imported(stores, "obsidian", notes)
    write(notes / "Grinder.md", "Broken since Monday, replaced the [[Kaffee]] burrs.\n")

    told = imported(stores, "obsidian", notes)

    assert told.fates["Grinder.md"] == "revised"
    assert told.count("known") == 2
    assert memories(stores)["Grinder"].content.startswith("Broken since Monday")


@pytest.mark.parametrize(
    ("form", "front"),
    [
        ("obsidian", ""),
        ("basic-memory", "---\npermalink: main\n---\n"),
        ("claude-code", "---\nname: ideas\n---\n"),
    ],
)
def test_two_folders_of_one_name_are_two_sources(
    tmp_path: Path, stores: Stores, form: str, front: str
) -> None:
    for place, text in (("a", "Sail to Skye."), ("b", "Plant an orchard.")):
        write(tmp_path / place / "Notes" / "Ideas.md", f"{front}{text}")

    told = [imported(stores, form, tmp_path / place / "Notes") for place in "aba"]

    assert [each.fates["Ideas.md"] for each in told] == ["written", "written", "known"]
    known = stores.search.memories(stores.search.standings().ids).values()
    assert {each.content for each in known} == {"Sail to Skye.", "Plant an orchard."}


@pytest.mark.parametrize("form", ["obsidian", "basic-memory"])
def test_a_folder_that_moved_is_known_by_what_it_says(
    tmp_path: Path, stores: Stores, form: str
) -> None:
    write(tmp_path / "Notes" / "Ideas.md", "Sail to Skye.")
    write(tmp_path / "Notes" / "Old.md", "Went to Mull, see [[Ideas]].")
    imported(stores, form, tmp_path / "Notes")
    (tmp_path / "Notes").rename(tmp_path / "Elsewhere")

    told = imported(stores, form, tmp_path / "Elsewhere")

    assert told.count("known") == 2


@pytest.mark.parametrize("form", ["obsidian", "basic-memory"])
def test_two_notes_with_one_text_are_two_memories(
    tmp_path: Path, stores: Stores, form: str
) -> None:
    write(tmp_path / "Monday.md", "Gym.")
    write(tmp_path / "Tuesday.md", "Gym.")

    told = imported(stores, form, tmp_path)

    assert told.count("written") == 2
    assert set(memories(stores)) == {"Monday", "Tuesday"}


def test_one_note_alone_is_the_one_of_its_folder(notes: Path, stores: Stores) -> None:
    imported(stores, "obsidian", notes)
    write(notes / "Grinder.md", "Sold.")

    assert imported(stores, "obsidian", notes / "Grinder.md").fates["Grinder.md"] == "revised"


def test_a_zip_of_a_vault_is_as_good_as_its_folder(
    notes: Path, tmp_path: Path, stores: Stores
) -> None:
    pack(notes, tmp_path / "Notes.zip")

    told = imported(stores, "obsidian", tmp_path / "Notes.zip")

    assert told.count("written") == 3
    assert memories(stores)["Coffee"].tags[:2] == ("drinks", "morning")


def pack(folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*.md")):
            archive.write(path, path.relative_to(folder).as_posix())


def test_a_broken_note_is_told_with_its_place_and_the_rest_goes_on(
    notes: Path, stores: Stores
) -> None:
    (notes / "Bad.md").write_bytes(b"tea\xe9")

    told = imported(stores, "obsidian", notes)

    assert told.broken == {"Bad.md": "is not UTF-8 at byte 3"}
    assert told.count("written") == 3


def test_no_link_of_the_disk_leads_out_of_the_folder(notes: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.md", "not yours")
    (notes / "Link.md").symlink_to(secret)
    (notes / "Elsewhere").symlink_to(tmp_path, target_is_directory=True)

    assert "not yours" not in json.dumps(values("obsidian", notes))


# -- basic-memory --------------------------------------------------------------------------


@pytest.fixture
def basic(tmp_path: Path) -> Path:
    top = tmp_path / "basic-memory"
    write(
        top / "notes" / "Coffee Brewing.md",
        "---\ntitle: Coffee Brewing\ntype: note\ntags:\n- coffee\n- brewing\n"
        "permalink: notes/coffee-brewing\n---\n\n# Coffee Brewing\n\n## Observations\n"
        "- [method] Pour over brings out more #clarity (tried twice)\n"
        "- [technique] Water at 94 degrees\n- [ ] buy filters\n- [site](https://example.org)\n\n"
        "## Relations\n- requires [[Grinder]] (a good one)\n- [[Water]]\n- part_of [[Kitchen]]\n",
    )
    write(
        top / "Grinder.md",
        "---\ntitle: Grinder\ntype: decision\npermalink: grinder\n---\nBought the flat burrs.\n",
    )
    write(top / "Water.md", "---\ntitle: Water\npermalink: water\n---\nSoft, see [[Grinder]].\n")
    return top


def test_a_basic_memory_note_keeps_observations_and_relations(basic: Path, stores: Stores) -> None:
    told = imported(stores, "basic-memory", basic)

    known = memories(stores)
    coffee = known["Coffee Brewing"]
    links = {each.target: each for each in coffee.connections if each.by != "remember"}
    assert coffee.type is MemoryType.PROCEDURE  # what its observations agree on
    assert known["Grinder"].type is MemoryType.DECISION
    assert set(coffee.tags) == {"coffee", "brewing", "clarity"}
    assert "- [method] Pour over brings out more #clarity" in coffee.content
    assert links[known["Grinder"].id].edge is Edge.DEPENDS_ON
    assert links[known["Grinder"].id].reason == "requires; a good one"
    assert links[known["Water"].id].edge is Edge.RELATED_TO
    assert told.notes == ["1 link leads nowhere, left as text: notes/Coffee Brewing.md → Kitchen"]


def test_a_basic_memory_note_that_moved_is_the_same_memory(basic: Path, stores: Stores) -> None:
    imported(stores, "basic-memory", basic)
    (basic / "Grinder.md").rename(basic / "notes" / "The grinder.md")

    told = imported(stores, "basic-memory", basic)

    assert told.count("known") == 3


# -- Claude Code ---------------------------------------------------------------------------


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    project = tmp_path / ".claude" / "projects" / "-home-ana-code-atlas"
    memory = project / "memory"
    write(
        memory / "MEMORY.md",
        "# Memory\n- [Prefers pytest](prefers-pytest.md) — how she tests\n"
        "- [Who Ana is](user-role.md) — her work\n",
    )
    write(
        memory / "prefers-pytest.md",
        "---\nname: prefers-pytest\ndescription: Ana wants pytest, never unittest\nmetadata:\n"
        "  type: feedback\nmodified: 2026-09-01T10:00:00Z\n---\nUse pytest.\n"
        "**Why:** fixtures.\n**How to apply:** see [[user-role]] and [[gone]].\n",
    )
    write(
        memory / "user-role.md",
        "---\nname: user-role\ndescription: what Ana does\ntype: user\n---\nAna builds Atlas.\n",
    )
    write(project / "a.jsonl", '{"type":"summary"}\n{"type":"user","cwd":"/home/ana/code/atlas"}\n')
    return tmp_path / ".claude"


def test_claude_codes_memory_comes_with_types_titles_and_links(
    claude: Path, stores: Stores
) -> None:
    told = imported(stores, "claude-code", claude)

    known = memories(stores)
    pytest_ = known["Prefers pytest"]
    assert pytest_.type is MemoryType.PREFERENCE
    assert pytest_.space == "atlas"
    assert pytest_.content.startswith("Ana wants pytest, never unittest\n\nUse pytest.")
    assert pytest_.created.isoformat() == "2026-09-01T10:00:00+00:00"
    assert known["Who Ana is"].id in {each.target for each in pytest_.connections}
    assert known["Who Ana is"].space is None
    assert "about_self" in known["Who Ana is"].tags
    assert told.notes == ["1 link leads nowhere, left as text: prefers-pytest.md → gone"]


@pytest.mark.parametrize("form", ["obsidian", "basic-memory", "claude-code"])
def test_a_property_that_is_no_yaml_is_told_with_its_file(
    tmp_path: Path, stores: Stores, form: str
) -> None:
    front = "---\nname: [unclosed\ntype: decision\n---\n"
    write(tmp_path / "-home-ana" / "memory" / "broken.md", f"{front}Sail to Skye.")

    told = imported(stores, form, tmp_path / "-home-ana" / "memory")

    assert "1 property was left out, being no YAML: `name` in broken.md" in told.notes
    assert memories(stores)["broken"].content == "Sail to Skye."


@pytest.mark.parametrize("below", ["", "projects", "projects/-home-ana-code-atlas"])
def test_any_folder_on_the_way_to_claude_codes_memory_will_do(claude: Path, below: str) -> None:
    assert set(values("claude-code", claude / below)) == {"Prefers pytest", "Who Ana is"}


@pytest.mark.parametrize("below", ["", "projects", "projects/-home-ana-code-atlas"])
def test_a_claude_code_that_noted_nothing_yet_is_no_mistake(claude: Path, below: str) -> None:
    """Nor is its CLAUDE.md, which setup writes to, taken for a memory."""
    shutil.rmtree(claude / "projects" / "-home-ana-code-atlas" / "memory")
    write(claude / "CLAUDE.md", "# How we work\nWe test first.\n")

    items, told = found("claude-code", claude / below)

    assert items == []
    assert told.notes == [f"Claude Code has noted nothing in {claude / below} yet"]


def test_a_claude_code_that_never_ran_is_no_mistake(tmp_path: Path) -> None:
    write(tmp_path / ".claude" / "CLAUDE.md", "# How we work\n")

    assert found("claude-code", tmp_path / ".claude")[0] == []


def test_what_stands_in_the_index_itself_is_kept_too(claude: Path) -> None:
    memory = claude / "projects" / "-home-ana-code-atlas" / "memory"
    write(memory / "MEMORY.md", "# Memory\nThe staging database is called harbor.\n")

    assert values("claude-code", memory)["Notes on atlas"]["content"] == (
        "# Memory\nThe staging database is called harbor."
    )


# -- CLAUDE.md -----------------------------------------------------------------------------

INSTRUCTIONS = """---
paths: "**/*.py"
---
# Atlas

Run everything with uv.

<!-- a comment for people -->
## Tests
- Always pytest.

```
# not a heading
```

<!-- madeleine:start -->
## Memory
Written by Madeleine itself.
<!-- madeleine:end -->

## Style
Short functions.
"""


def test_each_section_of_instructions_is_one_memory(tmp_path: Path) -> None:
    write(tmp_path / "atlas" / "CLAUDE.md", INSTRUCTIONS)
    (tmp_path / "atlas" / ".git").mkdir()

    read = values("agents-md", tmp_path / "atlas")

    assert {name: each["content"] for name, each in read.items()} == {
        "Atlas": "Run everything with uv.",
        "Atlas › Tests": "- Always pytest.\n\n```\n# not a heading\n```",
        "Atlas › Style": "Short functions.",
    }
    assert {each["space"] for each in read.values()} == {"atlas"}
    assert read["Atlas › Style"]["origin"] == {"uri": "agents-md:CLAUDE.md#L21"}


def test_the_same_section_in_two_files_is_remembered_once(tmp_path: Path, stores: Stores) -> None:
    write(tmp_path / "CLAUDE.md", INSTRUCTIONS)
    write(tmp_path / "AGENTS.md", INSTRUCTIONS)

    told = imported(stores, "agents-md", tmp_path)

    assert (told.count("written"), told.count("known")) == (3, 3)


def test_a_section_that_is_rewritten_is_revised(tmp_path: Path, stores: Stores) -> None:
    file = write(tmp_path / "AGENTS.md", INSTRUCTIONS)
    imported(stores, "agents-md", file)
    write(file, INSTRUCTIONS.replace("Short functions.", "Functions of ten lines.\n\n## New\nYes."))

    told = imported(stores, "agents-md", file)

    assert sorted(told.fates.values()) == ["known", "known", "revised", "written"]
    assert memories(stores)["Atlas › Style"].content == "Functions of ten lines."


# -- all of them ---------------------------------------------------------------------------


def test_an_unknown_format_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownWord) as refused:
        found("notion", tmp_path)

    assert "obsidian" in refused.value.hint
    assert "chatgpt" in refused.value.hint


@pytest.mark.parametrize(
    "form",
    ["agents-md", "automem", "basic-memory", "chatgpt", "claude-ai", "claude-code", "madeleine",
     "mcp-memory", "mem0", "obsidian", "ormah"],
)  # fmt: skip
def test_a_path_that_is_not_there_is_missing(form: str, tmp_path: Path) -> None:
    with pytest.raises(NoFile):
        found(form, tmp_path / "gone")


FOLDERS = [
    "agents-md", "automem", "basic-memory", "chatgpt", "claude-ai", "claude-code", "madeleine",
    "obsidian", "ormah",
]  # fmt: skip


@pytest.mark.parametrize("form", FOLDERS)
def test_an_empty_folder_is_refused(form: str, tmp_path: Path) -> None:
    with pytest.raises(NotThatFormat):
        found(form, tmp_path)


@pytest.fixture
def others(tmp_path: Path) -> dict[str, Path]:
    """A file or folder of each of some formats."""
    memory = {"id": "1", "memory": "Ana likes tea"}
    chat = {"id": "c", "mapping": {"n": {"message": None}}}
    with zipfile.ZipFile(tmp_path / "gpt.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([chat]))
        archive.writestr("chat.html", "<p>")
    entity = {"type": "entity", "name": "Ana", "observations": ["likes tea"]}
    node = {"id": 1, "labels": ["Memory"], "properties": {"content": "tea"}}
    return {
        "chatgpt": tmp_path / "gpt.zip",
        "mem0": write(tmp_path / "mem0.json", json.dumps({"results": [memory]})),
        "mcp-memory": write(tmp_path / "memory.jsonl", json.dumps(entity)),
        "automem": write(tmp_path / "falkordb_1.json", json.dumps({"nodes": [node]})),
        "obsidian": write(tmp_path / "vault" / "Tea.md", "I like tea").parent,
    }


@pytest.mark.parametrize("other", ["chatgpt", "mem0", "mcp-memory", "automem"])
@pytest.mark.parametrize("form", [*FOLDERS, "mem0", "mcp-memory"])
def test_another_format_brings_nothing_in_and_is_named(
    others: dict[str, Path], form: str, other: str
) -> None:
    if form == other:
        return

    items, told = refused_or_found(form, others[other])

    assert items == []
    assert told.broken
    assert any(f"`madeleine import {other} " in note for note in told.notes)


def refused_or_found(form: str, path: Path) -> tuple[list[ImportItem], Told]:
    """Read everything at a path; a format that is refused is told like something broken."""
    try:
        return found(form, path)
    except NotThatFormat as refused:
        return [], Told(broken={str(path): refused.message}, notes=[refused.hint])


@pytest.mark.parametrize("form", ["chatgpt", "automem"])
def test_a_folder_of_notes_is_named_as_one(others: dict[str, Path], form: str) -> None:
    with pytest.raises(NotThatFormat) as refused:
        found(form, others["obsidian"])

    assert "`madeleine import obsidian " in refused.value.hint


def test_a_backup_is_sent_to_where_it_is_restored(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("manifest.json", '{"format": "madeleine-backup"}')

    with pytest.raises(NotThatFormat) as refused:
        found("madeleine", tmp_path / "b.zip")

    assert "madeleine restore-backup" in refused.value.hint


@pytest.mark.parametrize("form", ["madeleine", "obsidian", "chatgpt"])
def test_a_zip_that_was_cut_is_called_so(others: dict[str, Path], form: str) -> None:
    whole = others["chatgpt"].read_bytes()
    others["chatgpt"].write_bytes(whole[: len(whole) // 2])

    with pytest.raises(NotThatFormat, match="zip that was cut"):
        found(form, others["chatgpt"])


@pytest.mark.parametrize("form", ["madeleine", "obsidian", "chatgpt"])
def test_what_is_only_called_a_zip_is_said_to_be_none(tmp_path: Path, form: str) -> None:
    (tmp_path / "Notes.zip").write_bytes(b"<html>Please log in</html>")

    with pytest.raises(NotThatFormat) as refused:
        found(form, tmp_path / "Notes.zip")

    assert refused.value.message.endswith("Notes.zip: is no zip, whatever its name")


def test_a_note_that_is_damaged_inside_its_zip_is_told_in_plain_words(
    notes: Path, tmp_path: Path
) -> None:
    pack(notes, tmp_path / "Notes.zip")
    data = (tmp_path / "Notes.zip").read_bytes()
    (tmp_path / "Notes.zip").write_bytes(data.replace(b"Older than", b"Newer than"))

    items, told = found("obsidian", tmp_path / "Notes.zip")

    assert told.broken == {"Grinder.md": "is damaged and cannot be unpacked"}
    assert {each.place for each in items} == {"Coffee.md", "Kitchen/Water.md"}


def test_a_folder_of_notes_is_no_folder_of_ormah(notes: Path) -> None:
    with pytest.raises(NotThatFormat) as refused:
        found("ormah", notes)

    assert "holds no memories of Ormah" in refused.value.message
    assert "says its `id` and `type`" in refused.value.message
    assert f"`madeleine import obsidian {notes}`" in refused.value.hint


def test_a_note_that_links_to_a_note_nobody_can_read_is_told(notes: Path) -> None:
    (notes / "Bad.md").write_bytes(b"tea\xe9")
    write(notes / "Tea.md", "See [[Bad]].")

    _, told = found("obsidian", notes)

    assert any("Tea.md → Bad" in note for note in told.notes)


def test_a_space_that_is_named_takes_all_of_it(notes: Path, stores: Stores) -> None:
    imported(stores, "obsidian", notes, space="kitchen")

    assert {each.space for each in memories(stores).values()} == {"kitchen"}


def test_a_planted_key_is_never_stored(tmp_path: Path, stores: Stores) -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3  # put together here: no scanner may take it for a real one
    write(
        tmp_path / "Notes" / "Deploy.md",
        f"Push with {key}, see [[Other]]\n- uses [[Other]] ({key})",
    )
    write(tmp_path / "Notes" / "Other.md", f"---\ntags: [{key}]\n---\nNothing here.")
    write(tmp_path / "CLAUDE.md", f"# Use {key}\nThe token is {key}.")

    told = [
        imported(stores, "obsidian", tmp_path / "Notes"),
        imported(stores, "agents-md", tmp_path / "CLAUDE.md"),
    ]

    assert [each.count("written") for each in told] == [2, 1]
    assert all("left out" in " ".join(each.notes) for each in told)
    stores.journal.flush()
    home = stores.vault.root.parent
    for path in home.rglob("*"):
        assert not path.is_file() or key.lower().encode() not in path.read_bytes().lower(), path


def test_what_is_over_a_bound_of_ours_is_cut_and_not_refused(
    tmp_path: Path, stores: Stores
) -> None:
    links = " ".join(f"[[n{number}]]" for number in range(600))
    tags = " ".join(f"#tag{number}" for number in range(90)) + f" #{'x' * 90}"
    write(tmp_path / "Hub.md", f"{links}\n{tags}")
    for number in range(600):
        write(tmp_path / f"n{number}.md", f"note {number}")
    write(tmp_path / "AGENTS.md", f"# {'long ' * 100}\ntext")

    hub = values("obsidian", tmp_path)["Hub"]
    (section,) = values("agents-md", tmp_path / "AGENTS.md").values()

    assert len(str(section["title"])) == 300
    assert (len(hub["tags"]), len(hub["connections"])) == (64, 500)  # type: ignore[arg-type]  # lists
