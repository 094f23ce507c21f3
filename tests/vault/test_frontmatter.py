"""A file as parts."""

from __future__ import annotations

import time

from madeleine.vault.front_matter import parse_document


def keys(text: str) -> list[str | None]:
    return [block.key for block in parse_document(text.encode()).blocks]


def test_a_block_holds_the_lines_that_belong_to_its_key() -> None:
    document = parse_document(
        b'---\n# top\nid: x\ntags:\n- a\n\n# inside\n- b\n\n# below\n"q k": [\n  1,\n]\n---\nbody'
    )

    assert [(block.key, block.text) for block in document.blocks] == [
        (None, "# top\n"),
        ("id", "id: x\n"),
        ("tags", "tags:\n- a\n\n# inside\n- b\n"),
        (None, "\n# below\n"),
        ("q k", '"q k": [\n  1,\n]\n'),
    ]
    assert document.body == "body"
    assert (document.line_of(4), document.body_line) == (11, 15)


def test_front_matter_needs_both_of_its_lines() -> None:
    assert keys("---\na: 1\n---") == ["a"]
    assert keys("---\na: 1\n--- \t\r\n") == ["a"]
    assert keys("---\na: 1\n----\n") == []
    assert keys("---\na: 1\n") == []
    assert keys("\n---\na: 1\n---\n") == []
    assert keys("a\n---\nb: 1\n---\n") == []
    assert keys("") == []


def test_the_closing_line_is_the_first_one() -> None:
    document = parse_document(b"---\na: 1\n---\nb: 2\n---\n")

    assert (len(document.blocks), document.body) == (1, "b: 2\n---\n")


def test_a_file_of_ten_thousand_odd_lines_is_cut_quickly() -> None:
    """Blank lines and remarks must not make the cutting slow down with their number."""
    odd = "a: 1\n" + "\n# x\n" * 50_000 + "junk\n" * 10_000

    assert len(keys(f"---\n{odd}---\n")) == 10_002


def test_a_line_of_many_spaces_is_read_in_time_that_grows_with_it() -> None:
    began = time.perf_counter()

    parse_document(b"---\nx" + b" " * 200_000 + b"\n---\nbody\n")

    assert time.perf_counter() - began < 10
