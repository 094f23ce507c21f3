"""New files, and files that are changed."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from madeleine.errors import FileUnreadable
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Claim, Connection, Memory, Origin
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.vault.markdown import read_memory, render_memory, revise_file

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
LATER = datetime(2026, 11, 16, 12, 0, 0, 250_000, tzinfo=UTC)
SEEN = Fingerprint(0, 0)
ONE = "97acbe8e-aaaa-4bbb-8ccc-000000000001"
TWO = "97acbe8e-aaaa-4bbb-8ccc-000000000002"
THREE = "97acbe8e-aaaa-4bbb-8ccc-000000000003"


def says(data: bytes, path: str = "note.md") -> Memory:
    return read_memory(path, data, SEEN).memory


def change(text: str, **values: object) -> str:
    """Return the file with these fields of its memory changed."""
    was = says(text.encode())
    now = dataclasses.replace(was, **values)  # type: ignore[arg-type]  # fields by name
    after = revise_file(text.encode(), now)
    assert says(after) == now
    return after.decode()


def test_a_new_file_has_its_keys_in_the_fixed_order() -> None:
    memory = Memory(
        id=ONE,
        content="Chose it.",
        created=NOON,
        updated=LATER,
        type=MemoryType.DECISION,
        tier=Tier.CORE,
        space="atlas",
        title="SQLite: why",
        tags=("storage", "2026", "a b"),
        source="agent:claude-code",
        confidence=0.9,
        valid_until=LATER,
        superseded_by=TWO,
        origin=Origin("s1", 4, "Ana", "file:///a b"),
        claim=Claim("Ana", "home city", "yes: Ghent"),
        idempotency_key="k#1",
        connections=(
            Connection(TWO, Edge.SUPPORTS, 1.0, "because: yes", "me", NOON, "k", 0.5),
            Connection(THREE),
        ),
    )

    assert render_memory(memory).decode() == (
        f"""---
id: {ONE}
type: decision
tier: core
space: atlas
title: "SQLite: why"
tags: [storage, "2026", a b]
source: agent:claude-code
confidence: 0.9
created: 2026-11-15T12:00:00Z
updated: 2026-11-16T12:00:00.25Z
valid_until: 2026-11-16T12:00:00.25Z
superseded_by: {TWO}
origin:
  session: s1
  turn: 4
  speaker: Ana
  uri: file:///a b
claim:
  subject: Ana
  attribute: home city
  value: "yes: Ghent"
idempotency_key: k#1
connections:
  - target: {TWO}
    edge: supports
    weight: 1.0
    reason: "because: yes"
    by: me
    at: 2026-11-15T12:00:00Z
    kind: k
    confidence: 0.5
  - target: {THREE}
    edge: related_to
    weight: 0.5
---
Chose it.
"""
    )


def test_what_is_not_set_is_left_out() -> None:
    data = render_memory(Memory(ONE, "text", NOON, NOON))

    assert data.decode() == (
        f"---\nid: {ONE}\ntype: fact\ntier: working\nsource: agent:unknown\nconfidence: 1.0\n"
        "created: 2026-11-15T12:00:00Z\nupdated: 2026-11-15T12:00:00Z\n---\ntext\n"
    )


OBSIDIAN = f"""---
# my own note
aliases:
- A
type:   preference   # not a fact
id: {ONE}
created: 2026-01-01
tags: [One,   two]
updated: 2026-01-01 10:00:00+01:00

# the end
---

A text.


"""


def test_a_change_touches_its_own_line_only() -> None:
    after = change(OBSIDIAN, updated=LATER)

    assert after == OBSIDIAN.replace("2026-01-01 10:00:00+01:00", "2026-11-16T12:00:00.25Z")


def test_a_new_key_goes_to_its_place() -> None:
    after = change(OBSIDIAN, tier=Tier.CORE, space="atlas")

    assert after == OBSIDIAN.replace(f"id: {ONE}\n", f"id: {ONE}\ntier: core\nspace: atlas\n")


def test_a_key_that_is_cleared_goes() -> None:
    assert change(OBSIDIAN, tags=()) == OBSIDIAN.replace("tags: [One,   two]\n", "")


def test_new_content_leaves_the_front_matter_alone() -> None:
    after = change(OBSIDIAN, content="Another.")

    assert after == OBSIDIAN.replace("\nA text.\n\n\n", "Another.\n")


def test_windows_files_stay_windows_files() -> None:
    text = "\ufeff" + OBSIDIAN.replace("\n", "\r\n")

    after = change(text, title="New", connections=(Connection(TWO),), content="a\r\nb")

    assert after.startswith("\ufeff---\r\n# my own note\r\n")
    assert after.endswith("# the end\r\n---\r\na\r\nb\r\n")
    assert after.count("\n") == after.count("\r\n")


def test_a_text_without_front_matter_gets_one_when_it_is_changed() -> None:
    """Its id and dates followed from path and age; from now on they stand in it."""
    data = b"Just a text.\n\n"
    was = says(data, "notes/Plain.md")

    after = revise_file(data, dataclasses.replace(was, tier=Tier.CORE, updated=NOON), was)

    assert after.decode() == (
        f"---\nid: {was.id}\ntier: core\ntitle: Plain\n"
        "created: 1970-01-01T00:00:00Z\nupdated: 2026-11-15T12:00:00Z\n---\nJust a text.\n\n"
    )
    assert says(after, "elsewhere.md").id == was.id


def test_a_text_without_front_matter_told_nothing_new_keeps_every_byte() -> None:
    data = b"Just a text.\n\n"
    was = says(data)

    assert revise_file(data, was, was) == data


LINKED = f"""---
id: {ONE}
created: 2026-01-01
updated: 2026-01-01
connections:   # by hand
  # the first
  - target:  {TWO}
    mood: [good, {{x: 1}}]
    edge: supports
    # a remark
    since:
      year: 2026
  - {{target: {ONE}, note: itself}}
  - {{edge: part_of, target: {THREE}, note: "a: b", num: [1, 2]}}
zebra: last
---
text
"""


def test_a_new_connection_leaves_the_others_alone() -> None:
    was = says(LINKED.encode())

    after = change(LINKED, connections=(*was.connections, Connection(TWO, Edge.DEFINES, 1.0)))

    head, rest = LINKED.split(f"  - {{target: {ONE}, note: itself}}\n")
    third = f'  - {{edge: part_of, target: {THREE}, note: "a: b", num: [1, 2]}}\n'
    new = f"  - target: {TWO}\n    edge: defines\n    weight: 1.0\n"
    itself = f"  - {{target: {ONE}, note: itself}}\n"
    assert after == head + third + new + itself + rest.removeprefix(third)


def test_a_changed_connection_keeps_what_else_stands_in_it() -> None:
    first, second = says(LINKED.encode()).connections

    after = change(
        LINKED,
        connections=(dataclasses.replace(first, weight=0.9), dataclasses.replace(second, by="me")),
    )

    assert (
        f"""  - target: {TWO}
    edge: supports
    weight: 0.9
    mood: [good, {{x: 1}}]
    # a remark
    since:
      year: 2026
  - target: {THREE}
    edge: part_of
    weight: 0.5
    by: me
    note: "a: b"
    num: ["1", "2"]
"""
        in after
    )


def test_a_connection_that_goes_takes_its_repetition_along() -> None:
    text = (
        f"---\nid: {ONE}\ncreated: 2026-01-01\nupdated: 2026-01-01\nconnections:\n"
        f"- target: {TWO}\n- target: {THREE}\n- target: {TWO}\n---\nt\n"
    )

    after = change(text, connections=(Connection(THREE),))

    assert after == text.replace(f"- target: {TWO}\n", "")


def test_the_last_connection_takes_the_key_along() -> None:
    text = (
        f"---\nid: {ONE}\ncreated: 2026-01-01\nupdated: 2026-01-01\n"
        f"connections:\n- target: {TWO}\n---\nt\n"
    )

    assert "connections" not in change(text, connections=())


def test_a_list_on_one_line_can_grow() -> None:
    text = (
        f"---\nid: {ONE}\ncreated: 2026-01-01\nupdated: 2026-01-01\n"
        f"connections: [{{target: {TWO}, mood: good}}]\n---\nt\n"
    )

    after = change(text, connections=(Connection(TWO), Connection(THREE)))

    assert f"  - target: {TWO}\n    edge: related_to\n    weight: 0.5\n    mood: good\n" in after


def test_a_changed_claim_keeps_what_else_stands_in_it() -> None:
    text = (
        f"---\nid: {ONE}\ncreated: 2026-01-01\nupdated: 2026-01-01\n"
        "claim:\n    mood: fine\n    subject: Ana\n    attribute: city\n    value: Ghent\n---\nt\n"
    )

    after = change(text, claim=Claim("Ana", "city", "Cork"))

    assert "claim:\n  subject: Ana\n  attribute: city\n  value: Cork\n  mood: fine\n---" in after
    assert "claim" not in change(text, claim=None)


def test_a_changed_origin_keeps_what_else_stands_in_it() -> None:
    text = (
        f"---\nid: {ONE}\ncreated: 2026-01-01\nupdated: 2026-01-01\n"
        "origin:\n    mood: fine\n    session: s1\n---\nt\n"
    )

    after = change(text, origin=Origin("s2", 3))

    assert "origin:\n  session: s2\n  turn: 3\n  mood: fine\n---" in after


def test_keys_of_ormah_are_kept_as_they_are() -> None:
    text = (
        f"---\naccess_count: 7\ncreated: '2026-03-01T10:00:00Z'\ndeleted_at: null\nid: {ONE}\n"
        "last_accessed: '2026-03-05T10:00:00Z'\nupdated: '2026-03-02T10:00:00Z'\n---\n\ntext"
    )

    after = change(text, updated=NOON)

    assert after == text.replace("'2026-03-02T10:00:00Z'", "2026-11-15T12:00:00Z")


def test_a_file_that_does_not_parse_is_not_rewritten() -> None:
    data = f"---\nid: {ONE}\nx: 1\ntype: note\n---\nt\n".encode()

    with pytest.raises(FileUnreadable) as caught:
        revise_file(data, Memory(ONE, "t", NOON, NOON))

    assert caught.value.line == 4
