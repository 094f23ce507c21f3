"""Files as people and other programs write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from madeleine.errors import FileUnreadable
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Claim, Connection, Memory, Origin
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.vault.markdown import id_of_path, read_memory

CHANGED = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
SEEN = Fingerprint(int(CHANGED.timestamp()) * 10**9, 10)
ONE = "97acbe8e-aaaa-4bbb-8ccc-000000000001"
TWO = "97acbe8e-aaaa-4bbb-8ccc-000000000002"


def stored(text: str, path: str = "note.md") -> StoredMemory:
    return read_memory(path, text.encode(), SEEN)


def memory(text: str, path: str = "note.md") -> Memory:
    return stored(text, path).memory


def with_key(line: str) -> Memory:
    return memory(f"---\nid: {ONE}\n{line}\n---\ntext\n")


def complaint(text: str) -> tuple[int, str]:
    with pytest.raises(FileUnreadable) as caught:
        stored(text)
    assert caught.value.path == "note.md"
    return caught.value.line, caught.value.problem


def test_the_documented_file_reads_as_documented() -> None:
    found = memory(
        f"""---
id: {ONE}
type: decision
tier: working
space: atlas
title: SQLite over Postgres
tags: [storage]
source: agent:claude-code
confidence: 1.0
created: 2026-11-15T18:04:00Z
updated: 2026-11-15T18:04:00Z
connections:
  - target: {TWO}
    edge: evolved_from
    weight: 0.9
    reason: newer decision about the same subject
    by: conflict_detector
---
Chose SQLite over Postgres for local-first.
"""
    )

    assert found == Memory(
        id=ONE,
        content="Chose SQLite over Postgres for local-first.",
        created=datetime(2026, 11, 15, 18, 4, tzinfo=UTC),
        updated=datetime(2026, 11, 15, 18, 4, tzinfo=UTC),
        type=MemoryType.DECISION,
        space="atlas",
        title="SQLite over Postgres",
        tags=("storage",),
        source="agent:claude-code",
        connections=(
            Connection(
                TWO,
                Edge.EVOLVED_FROM,
                0.9,
                "newer decision about the same subject",
                "conflict_detector",
            ),
        ),
    )


def test_a_file_of_real_ormah_opens_as_it_is() -> None:
    """Its writer sorts the keys, quotes dates, folds long titles and ends without a line end."""
    found = stored(
        f"""---
access_count: 7
confidence: 0.7
connections:
- edge: defines
  target: {TWO}
  weight: 0.5
- edge: related_to
  target: 97acbe8e-aaaa-4bbb-8ccc-000000000003
  weight: 0.7312345
created: '2026-03-01T10:00:00.123456Z'
deleted_at: null
id: {ONE}
importance: 0.61
last_accessed: '2026-03-05T10:00:00Z'
last_review: null
source: agent:claude-code
space: atlas
stability: 5.814
tags:
- storage
- about_self
tier: core
title: 'A title: so long that the writer which was used for it folded the line in two
  at eighty columns'
type: preference
updated: '2026-03-02T10:00:00Z'
---

Prefers boring databases.""",
        "nodes/preference_a-title_97acbe8e.md",
    )

    assert found.memory.id == ONE
    assert found.memory.content == "Prefers boring databases."
    assert found.memory.title == (
        "A title: so long that the writer which was used for it folded the line in two"
        " at eighty columns"
    )
    assert found.memory.tags == ("storage", "about_self")
    assert found.memory.tier is Tier.CORE
    assert [each.edge for each in found.memory.connections] == [Edge.DEFINES, Edge.RELATED_TO]
    assert found.memory.created == datetime(2026, 3, 1, 10, 0, 0, 123456, tzinfo=UTC)
    assert found.counters == {
        "access_count": 7,
        "importance": 0.61,
        "last_accessed": "2026-03-05T10:00:00Z",
        "stability": 5.814,
    }


def test_counters_that_make_no_sense_are_passed_over() -> None:
    text = f"---\nid: {ONE}\naccess_count: many\nimportance: 7\nstability: [1]\n---\ntext\n"

    assert stored(text).counters == {}


def test_a_plain_text_is_all_content() -> None:
    found = memory("# Shopping\n\nmilk\n", "lists/Shopping list.md")

    assert found.content == "# Shopping\n\nmilk"
    assert found.title == "Shopping list"
    assert found.id == id_of_path("lists/Shopping list.md")
    assert (found.type, found.tier, found.source) == (MemoryType.FACT, Tier.WORKING, "file")
    assert found.created == found.updated == CHANGED


def test_a_file_without_an_id_has_the_same_one_everywhere() -> None:
    assert id_of_path("a/b.md") == "b205aa59-9b77-5303-b687-4a9cf0a405e8"


def test_an_obsidian_note_is_read() -> None:
    found = memory(
        """---
aliases: [Anna, "A. K."]
tags:
  - People/Family
  - "#Friend"
  - two words
cssclasses: wide
date created: 2026-01-01 10:00
type: person
title: >
  Anna
  Karenina
created: 2026-01-01
---

Met her [[2026-01-01|then]].

""",
        "people/Anna.md",
    )

    assert found.title == "Anna Karenina"
    assert found.tags == ("people/family", "friend", "two-words")
    assert found.created == datetime(2026, 1, 1, tzinfo=UTC)
    assert found.content == "Met her [[2026-01-01|then]].\n"


def test_tags_between_commas_are_tags() -> None:
    assert with_key("tags: a, b c,#d").tags == ("a", "b-c", "d")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2024", "2024"),
        ("yes", "yes"),
        ("2026-01-01", "2026-01-01"),
        ("1:30", "1:30"),
        ("0x1F", "0x1F"),
        ("null", None),
        ("~", None),
        ("", None),
        ('""', None),
        ("'null'", "null"),
        ("'it''s'", "it's"),
        ('"a\\tb \\u00e9 \\x41"', "a\tb é A"),
        ("words # and a remark", "words"),
        ("!!str 12", "12"),
        ("|\n  two\n  lines", "two\nlines"),
        (">-\n  one\n  line", "one line"),
        ('"over\n  lines"', "over lines"),
        ("plain over\n  lines", "plain over lines"),
    ],
)
def test_a_title_is_a_text_whatever_it_looks_like(written: str, meant: str | None) -> None:
    assert with_key(f"title: {written}").title == meant


def test_windows_line_ends_and_a_byte_order_mark_are_no_trouble() -> None:
    text = f"\ufeff---\r\nid: {ONE}\r\ntype: goal\r\ntags: [a, b]\r\n---\r\n\r\none\r\ntwo\r\n"

    found = memory(text)

    assert found.content == "one\r\ntwo"
    assert (found.type, found.tags) == (MemoryType.GOAL, ("a", "b"))


def test_a_body_that_looks_like_front_matter_is_content() -> None:
    assert memory(f"---\nid: {ONE}\n---\n---\ntype: x\n---\n").content == "---\ntype: x\n---"


def test_a_ruler_at_the_top_is_no_front_matter() -> None:
    assert memory("---\n\nA text under a ruler.\n").content == "---\n\nA text under a ruler."


def test_a_claim_is_read_in_both_spellings() -> None:
    wanted = Claim("Ana", "home city", "42")

    assert with_key("claim:\n  subject: Ana\n  attribute: home city\n  value: 42").claim == wanted
    flow = "claim: {value: 42, attribute: home city, subject: Ana, mood: x}"
    assert with_key(flow).claim == wanted
    assert with_key("claim:").claim is None


def test_an_origin_is_read_in_both_spellings() -> None:
    wanted = Origin("s 1", 4, "Ana", None)

    assert with_key("origin:\n  session: s 1\n  turn: 4\n  speaker: Ana").origin == wanted
    assert with_key("origin: {speaker: Ana, turn: 4, session: s 1, mood: x}").origin == wanted


def test_a_connection_to_itself_or_said_twice_is_passed_over() -> None:
    found = with_key(
        f"connections:\n- {{target: {ONE}}}\n- {{target: {TWO}, weight: 0.25}}\n- target: {TWO}"
    )

    assert found.connections == (Connection(TWO, Edge.RELATED_TO, 0.25),)


def test_comments_and_blank_lines_change_nothing() -> None:
    found = memory(
        f"---\n# mine\n\nid: {ONE}  # the id\n\n"
        "tags:\n\n# between\n- a\n  # more\n- b\n# end\n---\nt\n"
    )

    assert (found.id, found.tags) == (ONE, ("a", "b"))


def test_an_upper_case_id_is_the_same_id() -> None:
    assert memory(f"---\nid: {ONE.upper()}\n---\ntext\n").id == ONE


def test_the_global_space_is_no_space() -> None:
    assert with_key("space: global").space is None


@pytest.mark.parametrize(
    ("lines", "line", "problem"),
    [
        ("type: note", 3, "unknown type 'note'"),
        ("tier: high", 3, "unknown tier 'high'"),
        ("confidence: 7", 3, "`confidence` is 7.0; it takes a number from 0 to 1"),
        ("confidence: .nan", 3, "`confidence` is '.nan', not a number"),
        ("created: tomorrow", 3, "`created` is 'tomorrow', not a time"),
        ("created: 2026-13-01", 3, "`created` is '2026-13-01', not a time"),
        ("superseded_by: abc", 3, "`superseded_by` is 'abc', not a UUID"),
        ("title: [a, b]", 3, "`title` is not a text"),
        ("tags: {a: b}", 3, "`tags` is neither a list nor words between commas"),
        ("connections: none", 3, "`connections` is not a list"),
        ("connections:\n  - abc", 3, "`connections` holds something that is not a map"),
        ("connections:\n  - edge: supports", 4, "`target` is missing"),
        (f"connections:\n  - target: {TWO}\n    edge: likes", 5, "unknown edge 'likes'"),
        (
            f"connections:\n  - target: {TWO}\n    edge: supports\n    weight: 7",
            6,
            "`weight` is 7.0",
        ),
        (f"connections:\n  - target: {TWO}\n  - target: abc", 5, "`target` is 'abc', not a UUID"),
        ("origin: x", 3, "`origin` is not a map"),
        ("claim: Ana lives in Ghent", 3, "`claim` is not a map"),
        ("claim:\n  subject: Ana\n  value: Ghent", 3, "`claim` has no `attribute`"),
        ("claim:\n  subject: Ana\n  attribute: [a]\n  value: x", 5, "`attribute` is not a text"),
        ("origin:\n  session: s\n  turn: four", 5, "`turn` is 'four', not a whole number"),
        ("x: 1\n<<<<<<< mine", 4, "'<<<<<<< mine' is not a `key: value` line"),
        (f"x: 1\nid: {TWO}", 4, "`id` stands twice"),
        ("title: @home", 3, "`title`: while scanning for the next token"),
        ('title: "open', 3, "`title`: "),
        ("x: 1\ntitle:\n  a: b\n c: d", 6, "`title`: "),
        ("title: a\x00b", 3, "`title`: is not valid YAML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(lines: str, line: int, problem: str) -> None:
    found = complaint(f"---\nid: {ONE}\n{lines}\n---\ntext\n")

    assert found[0] == line
    assert found[1].startswith(problem)


def test_an_id_that_is_none_is_named() -> None:
    assert complaint("---\nid: abc\n---\ntext\n") == (2, "`id` is 'abc', not a UUID")


def test_a_file_that_says_nothing_is_named() -> None:
    assert complaint(f"---\nid: {ONE}\n---\n\n \n") == (4, "the memory has no text")


def test_front_matter_that_never_ends_is_named() -> None:
    assert complaint(f"---\nid: {ONE}\ntext\n") == (1, "the front matter has no closing `---`")


def test_bytes_that_are_not_utf_8_are_named_with_their_line() -> None:
    with pytest.raises(FileUnreadable) as caught:
        read_memory("note.md", b"---\nid: x\n---\ncaf\xe9\n", SEEN)

    assert caught.value.message == "note.md:4: is not valid UTF-8"
    assert caught.value.hint == "fix it, then `madeleine reconcile`"


def test_a_megabyte_with_everything_in_it_reads_back() -> None:
    content = ("---\r\nid: x\n\n\tשלום 😀 ```yaml\n" * 30_000).strip("\n")

    assert memory(f"---\nid: {ONE}\n---\n{content}\n").content == content
