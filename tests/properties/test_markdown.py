"""Any memory survives its file, and any file survives us."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from madeleine.model.draft import MemoryLimits, normalize_tag
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Claim, Connection, Memory, Origin
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.vault.front_matter import (
    FrontMatterBlock,
    body_from_content,
    content_from_body,
    parse_document,
)
from madeleine.vault.front_matter_values import READER_BY_KEY, InvalidBlock, read_tree
from madeleine.vault.markdown import read_memory, render_memory, revise_file
from madeleine.vault.scalars import (
    UNSURE,
    read_flow_list,
    read_scalar,
    write_flow_list,
    write_scalar,
)
from madeleine.vault.yaml_fallback import load_block

SEEN = Fingerprint(1_700_000_000_000_000_000, 10)

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
awkward = st.text(
    st.sampled_from("aé \t\r\n:#-'\"\\[]{},|>&*!%@`~?=01.é\u2028\u0085\ufeff\x00😀א"), min_size=1
)
words = st.sampled_from(
    ["null", "~", "true", "No", "123", "1e5", "0x1f", "2026-01-01", "1:30", "-", "---", "@a",
     "a: b", " a", "a ", "a #b", "a:", "- a", "<<", "=", ".inf", "y", "#", "'", '"', "\\",
     "[a]", "{a: b}"]
)  # fmt: skip
any_text = texts | awkward | words
ids = st.uuids().map(str)
times = st.datetimes(timezones=st.just(UTC))
units = st.floats(0, 1)
tags = st.lists(
    any_text.map(lambda text: normalize_tag(text, MemoryLimits(tag_chars=10_000))).filter(
        lambda tag: tag and normalize_tag(tag, MemoryLimits(tag_chars=10_000)) == tag
    ),
    unique=True,
    max_size=4,
).map(tuple)
connections = st.lists(
    st.builds(
        Connection,
        target=ids,
        edge=st.sampled_from(Edge),
        weight=units,
        reason=st.none() | any_text,
        by=st.none() | any_text,
        at=st.none() | times,
        kind=st.none() | any_text,
        confidence=st.none() | units,
    ),
    max_size=3,
    unique_by=lambda each: (each.target, each.edge),
).map(tuple)
origins = st.builds(
    Origin,
    session=st.none() | any_text,
    turn=st.none() | st.integers(0, 10**9),
    speaker=st.none() | any_text,
    uri=st.none() | any_text,
).filter(lambda origin: origin != Origin())
claims = st.builds(Claim, any_text, any_text, any_text)
contents = (texts | awkward).filter(lambda text: bool(text.strip("\ufeff\x00").strip()))
memories = st.builds(
    Memory,
    id=ids,
    content=contents,
    created=times,
    updated=times,
    type=st.sampled_from(MemoryType),
    tier=st.sampled_from(Tier),
    space=st.none() | any_text.filter(lambda space: space != "global"),
    title=st.none() | any_text,
    tags=tags,
    source=any_text,
    confidence=units,
    valid_until=st.none() | times,
    superseded_by=st.none() | ids,
    origin=st.none() | origins,
    claim=st.none() | claims,
    idempotency_key=st.none() | any_text,
    connections=connections,
)
lines = st.sampled_from(
    ["---", "--- ", "---\r", "id: x", "title: 'a", "tags:", "- a", "  b: c", "# c", "", "\r",
     "é: 1", "text", "...", "\x00", "a\u2028b", "\ufeff---", '"q": 1', "]", "- a: b"]
)  # fmt: skip
files = st.lists(lines).map("\n".join) | st.text(st.characters(exclude_categories=["Cs"]))


def says(data: bytes) -> Memory:
    return read_memory("a.md", data, SEEN).memory


@given(memories)
def test_any_memory_survives_its_file(memory: Memory) -> None:
    assert says(render_memory(memory)) == memory


@given(files)
@example("---\n---\n")
@example("---\r\nid: x\r\n---")
@example("\ufeff---\na: b\n# c\n\n  d\n---\n\n---\nb")
def test_any_text_is_cut_and_joined_to_the_same_bytes(text: str) -> None:
    data = text.encode()

    assert parse_document(data).render() == data


@given(texts | awkward | st.just(""), st.sampled_from(["\n", "\r\n"]))
@example("\r", "\n")
@example("\n", "\r\n")
@example("\r\n", "\n")
@example("", "\r\n")
def test_any_content_survives_its_body(content: str, newline: str) -> None:
    assert content_from_body(body_from_content(content, newline), newline) == content


@given(memories)
def test_a_file_told_nothing_new_keeps_every_byte(memory: Memory) -> None:
    data = render_memory(memory)

    assert revise_file(data, memory) == data


@given(memories, memories)
def test_a_revised_file_says_what_it_was_told(before: Memory, after: Memory) -> None:
    after = dataclasses.replace(after, id=before.id)

    assert says(revise_file(render_memory(before), after)) == after


@given(memories, memories)
def test_unknown_keys_and_comments_outlive_any_revision(before: Memory, after: Memory) -> None:
    kept = ["# first\n", "aliases: [a,  b]   # two\n", "nested:\n    deep: {x: 1}\n", "\n# last\n"]
    document = parse_document(render_memory(before))
    blocks = [FrontMatterBlock(None, kept[0]), *document.blocks]
    blocks[2:2] = [FrontMatterBlock("aliases", kept[1])]
    blocks += [FrontMatterBlock("nested", kept[2]), FrontMatterBlock(None, kept[3])]
    data = dataclasses.replace(document, blocks=tuple(blocks)).render()

    text = revise_file(data, dataclasses.replace(after, id=before.id)).decode()

    places = [text.index(each) for each in kept]
    assert places == sorted(places)
    assert says(text.encode()).title == after.title


@given(memories, times)
def test_a_new_date_changes_one_line(memory: Memory, moment: datetime) -> None:
    before = parse_document(render_memory(memory))

    after = parse_document(
        revise_file(before.render(), dataclasses.replace(memory, updated=moment))
    )

    assert after.body == before.body
    changed = [new.key for old, new in zip(before.blocks, after.blocks, strict=True) if old != new]
    assert changed in ([], ["updated"])


@given(memories, st.data())
def test_an_untouched_connection_keeps_its_bytes(memory: Memory, data: st.DataObject) -> None:
    target = "97acbe8e-0000-4000-8000-000000000001"
    kept = f"  - edge:   supports  # by hand\n    target: {target}\n    x: [1]\n"
    bare = render_memory(dataclasses.replace(memory, connections=()))
    file = bare.replace(b"\n---\n", f"\nconnections:\n{kept}---\n".encode(), 1)
    was = says(file)
    wanted = dataclasses.replace(was, connections=was.connections + data.draw(connections))

    text = revise_file(file, wanted)

    assert kept.encode() in text
    assert says(text) == wanted


@given(any_text)
def test_any_text_is_a_scalar_to_us_and_to_yaml(text: str) -> None:
    raw = write_scalar(text)

    assert read_scalar(raw) == text
    assert yaml.safe_load(f"title: {raw}\n") == {"title": text}
    assert load_block("title", f"title: {raw}\n") == text


@given(st.lists(any_text))
def test_any_texts_are_a_list_to_us_and_to_yaml(items: list[str]) -> None:
    raw = write_flow_list(tuple(items))

    assert read_flow_list(raw) == items
    assert yaml.safe_load(f"tags: {raw}\n") == {"tags": items}


@given(any_text.map(lambda text: text.strip(" \t\r").replace("\n", " ")))
@example("'it''s'")
@example('"\\x41"')
@example("a # b")
def test_what_we_read_ourselves_yaml_reads_alike(raw: str) -> None:
    """The quick way may only be sure where the slow one would say the same."""
    quick = read_scalar(raw)
    if quick is UNSURE:
        return

    assert load_block("k", f"k: {raw}\n") == quick


@given(st.lists(any_text).map(lambda items: f"[{', '.join(items)}]".replace("\n", " ")))
def test_a_list_we_read_ourselves_yaml_reads_alike(raw: str) -> None:
    quick = read_flow_list(raw)
    if quick is UNSURE:
        return

    assert load_block("k", f"k: {raw}\n") == quick


@given(memories)
def test_every_block_we_write_reads_alike_as_yaml(memory: Memory) -> None:
    for block in parse_document(render_memory(memory)).blocks:
        # A comment is what the quick way leaves to YAML, and changes no meaning.
        slow = FrontMatterBlock(block.key, f"# c\n{block.text}", " # c" + block.inline, block.more)

        assert READER_BY_KEY[block.key](slow) == READER_BY_KEY[block.key](block)


@given(files)
def test_any_value_is_read_or_refused_by_name(text: str) -> None:
    try:
        value = read_tree(FrontMatterBlock("title", f"title: {text}\n", text, ""))
    except InvalidBlock:
        return

    assert value is None or isinstance(value, str | list | dict)


def test_aliases_of_aliases_do_not_multiply() -> None:
    """Nine lines of YAML can stand for a billion items."""
    layers = "".join(f"  - &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))

    value = load_block("tags", f"tags:\n  - &a0 [x, x]\n{layers}")

    assert isinstance(value, list)
    assert len(value) == 9
