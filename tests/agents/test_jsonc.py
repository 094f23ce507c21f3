"""JSON changed as text: what is meant changes, every other byte stays."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.agents import jsonc

ENTRY = {"hooks": [{"type": "command", "command": "x", "args": ["é", 1]}]}

DOCUMENTS = [
    "{}",
    "{}\n",
    '{"a":1}',
    '{"a": 1}\n',
    '{\n  "a": 1\n}',
    '{\n\t"a": [1, 2,],\n}\n',
    '{\n    // first\n    "a": 1 // of all\n}\n',
    '{\n  "a": 1, /* why */\n  // an end\n}\n',
    '{\r\n  "hooks": {\r\n    "X": []\r\n  }\r\n}\r\n',
    '{\n  "hooks": {"X": [{"hooks":[{"type":"command"}]}], "Y": 1},\n  "z": {}\n}\n',
    '{\n  "hooks": {\n    "X": [\n      {"a": "} // no comment"} // a comment }\n    ]\n  }\n}\n',
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_what_was_added_and_taken_out_again_left_no_trace(text: str) -> None:
    added = jsonc.append_value(text, ["hooks", "X"], ENTRY)
    number = len(jsonc.read_json(added).at(["hooks", "X"]).items) - 1  # type: ignore[union-attr]
    taken = jsonc.drop_value(added, ["hooks", "X", number])
    for path in (["hooks", "X"], ["hooks"]):
        if jsonc.read_json(text).at(path) is None:
            taken = jsonc.drop_value(taken, path)

    assert jsonc.read_json(added).at(["hooks", "X", number]).value == ENTRY  # type: ignore[union-attr]
    assert taken == text


@pytest.mark.parametrize("text", DOCUMENTS)
def test_every_comment_and_line_end_is_still_there_after_adding(text: str) -> None:
    added = jsonc.put_value(text, ["new", "inner"], ENTRY)

    assert added.count("//") >= text.count("//")
    assert ("\r\n" in added) is ("\r\n" in text)
    assert "\n" not in added.replace("\r\n", "") or "\r\n" not in text


def test_an_empty_text_is_an_empty_object() -> None:
    assert jsonc.read_json(" \n// nothing yet\n").value == {}
    assert json.loads(jsonc.put_value("", ["a"], 1)) == {"a": 1}


def test_a_comment_that_would_swallow_the_next_entry_does_not() -> None:
    text = '{"a": 1, // one\n "ours": 2, "b": 3}'

    assert jsonc.read_json(jsonc.drop_value(text, ["ours"])).value == {"a": 1, "b": 3}


def test_of_two_members_of_one_name_the_last_is_changed() -> None:
    text = '{"a": {"b": 1}, "a": {"b": 2}}'

    assert jsonc.put_value(text, ["a", "b"], 3) == '{"a": {"b": 1}, "a": {"b": 3}}'


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, "a comma or } is missing"),
        ('{\n  "a": \n}', 3, "a value is missing"),
        ('{"a": "never\nends"}', 1, "a string does not end here"),
        ('{\n"a": [1, 2\n', 3, "the text ends too early: a comma or ] is missing"),
        ("{\n  a: 1}", 2, "a name in double quotes is missing"),
        ('{"a": 1} x', 1, "something stands after the end"),
        ('{"a": "\\x"}', 1, "a value is malformed"),
        ("[" * 100_000, 1, "it is nested too deeply"),
    ],
)
def test_a_text_that_is_no_json_is_refused_with_its_line(
    text: str, line: int, problem: str
) -> None:
    with pytest.raises(jsonc.InvalidJson) as refused:
        jsonc.read_json(text)

    assert (refused.value.line, refused.value.problem) == (line, problem)


@pytest.mark.parametrize("text", ["[]", '"text"', '{"hooks": []}', '{"hooks": {"X": {}}}'])
def test_another_shape_than_expected_is_refused(text: str) -> None:
    with pytest.raises(jsonc.InvalidJson, match="is not"):
        jsonc.append_value(text, ["hooks", "X"], ENTRY)


PLAIN = st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=5)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)
FILES = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)


@given(values=FILES, indent=st.sampled_from([None, 0, 1, 2, 4, "\t"]), crlf=st.booleans())
def test_any_file_takes_an_entry_and_gives_it_back(
    values: dict[str, Any], indent: int | str | None, crlf: bool
) -> None:
    text = json.dumps(values, indent=indent)
    text = text.replace("\n", "\r\n") if crlf else text

    added = jsonc.put_value(text, ["the server"], ENTRY)
    taken = jsonc.drop_value(added, ["the server"])

    assert jsonc.read_json(added).value == {**values, "the server": ENTRY}
    assert taken == text


@given(values=FILES)
def test_it_reads_json_as_python_does(values: dict[str, Any]) -> None:
    assert jsonc.read_json(json.dumps(values)).value == values


def test_a_large_file_is_changed_in_a_few_times_what_reading_it_takes() -> None:
    """Claude Code keeps megabytes of history in the file that has its servers."""
    history = [{"display": "x" * 50, "pasted": {}} for _ in range(40)]
    text = json.dumps({f"/p/{number}": {"history": history} for number in range(200)}, indent=2)

    reading = min(_timed(lambda: json.loads(text)) for _ in range(3))
    changing = min(_timed(lambda: _put_afresh(text)) for _ in range(3))

    assert changing < 60 * reading


def _put_afresh(text: str) -> None:
    jsonc.read_json.cache_clear()
    jsonc.put_value(text, ["servers", "ours"], ENTRY)


def _timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began
