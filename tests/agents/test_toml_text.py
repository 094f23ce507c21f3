"""TOML changed as text: one table comes and goes, everything else stays."""

from __future__ import annotations

import tomllib

import pytest

from madeleine.agents import toml_text
from madeleine.agents.toml_hooks import TomlHooksPiece

PATH = ("mcp_servers", "madeleine")
TABLE: toml_text.TomlValues = {"command": '/a b/mad"eleine', "args": ["mcp", "--home", "/h"]}

DOCUMENTS = [
    "",
    "# only a comment\n",
    'model = "x"',
    'model = "x"\r\n[tools]\r\nweb = true\r\n',
    '[mcp_servers.other]\ncommand = "o" # theirs\n\n[mcp_servers.other.env]\nA = "1"\n',
    'text = """\n[mcp_servers.madeleine]\ncommand = "not a table"\n"""\nlist = [\n  [1],\n]\n',
    '[mcp_servers]\n\n[[hooks.Stop]]\nmatcher = ""\n',
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_a_table_that_was_added_can_be_taken_out_without_a_trace(text: str) -> None:
    added = toml_text.add_table(text, PATH, TABLE)
    taken = toml_text.drop_table(added, PATH)

    assert tomllib.loads(added)["mcp_servers"]["madeleine"] == TABLE
    assert added.startswith(text)
    assert taken.rstrip() == text.rstrip()
    assert taken == text or not text.endswith("\n")


def test_what_others_write_after_our_table_stays_theirs() -> None:
    added = toml_text.add_table('model = "x"\n', PATH, TABLE)
    later = added + '\n# trust\n[hooks.state."a:b"]\ntrusted_hash = "1"\n'

    taken = toml_text.drop_table(later, PATH)

    assert taken == 'model = "x"\n\n# trust\n[hooks.state."a:b"]\ntrusted_hash = "1"\n'


def test_sub_tables_of_ours_go_with_it() -> None:
    text = toml_text.add_table("", PATH, TABLE) + "[mcp_servers.madeleine.env]\nA = '1'\n[b]\n"

    assert toml_text.drop_table(text, PATH) == "[b]\n"


def test_a_key_is_changed_where_it_stands_and_others_stay() -> None:
    text = (
        "[mcp_servers.madeleine]\n"
        'command = "/old" # was here\n'
        "startup_timeout_sec = 20\n"
        'args = [\n  "mcp",\n  "--home", "/h",\n]\n'
        "[b]\n"
    )

    changed = toml_text.set_keys(text, PATH, {"command": "/new", "args": ["mcp", "--home", "/h"]})

    assert changed == text.replace('"/old"', '"/new"')


@pytest.mark.parametrize(
    "text", ["mcp_servers = { other = { command = 'x' } }\n", "mcp_servers = 3\n"]
)
def test_a_table_that_is_written_inline_is_left_to_the_person(text: str) -> None:
    with pytest.raises(toml_text.InvalidToml, match="by hand"):
        toml_text.add_table(text, PATH, TABLE)


def test_a_text_that_is_no_toml_is_refused_with_its_line() -> None:
    with pytest.raises(toml_text.InvalidToml) as refused:
        toml_text.read_toml("a = 1\nb = \nc = 3\n")

    assert refused.value.line == 2


# -- hooks of Codex ------------------------------------------------------------------------

ENTRY = {
    "type": "command",
    "command": '"/py" "/h/madeleine-hook.py" "/h" inject codex',
    "timeout": 5,
}
HOOKS = TomlHooksPiece(
    {"UserPromptSubmit": ENTRY, "Stop": {**ENTRY, "command": "madeleine-hook.py b"}}, "/h"
)
THEIRS = """\
model = "x"

[[hooks.UserPromptSubmit]]
matcher = "" # all

[[hooks.UserPromptSubmit.hooks]]
type = "command"
command = "theirs"

[hooks.state."a:b"]
trusted_hash = "1"
"""


@pytest.mark.parametrize("text", [THEIRS, THEIRS.replace("\n", "\r\n"), ""])
def test_hooks_come_after_those_of_others_and_go_without_a_trace(text: str) -> None:
    added = HOOKS.put(text)

    events = tomllib.loads(added)["hooks"]
    assert events["UserPromptSubmit"][-1] == {"hooks": [ENTRY]}
    assert added.startswith(text)
    assert HOOKS.put(added) == added
    assert [seen.what for seen in HOOKS.look(added)] == ["hook on UserPromptSubmit", "hook on Stop"]
    assert HOOKS.drop(added, text) == text
    assert TomlHooksPiece({}, "/h").put(added) == text


def test_an_entry_of_ours_in_a_group_of_others_goes_alone() -> None:
    mixed = THEIRS.replace(
        "[hooks.state",
        "[[hooks.UserPromptSubmit.hooks]]\ncommand = 'madeleine-hook.py x'\n\n[hooks.state",
    )

    assert HOOKS.drop(mixed, None) == THEIRS


def test_an_older_entry_is_replaced_by_the_newer() -> None:
    older = HOOKS.put(THEIRS).replace("/py", "/gone")

    assert tomllib.loads(HOOKS.put(older)) == tomllib.loads(HOOKS.put(THEIRS))


def test_hooks_that_are_written_inline_are_left_to_the_person() -> None:
    text = "[hooks]\nStop = [{ hooks = [{ command = 'x' }] }]\n"

    with pytest.raises(toml_text.InvalidToml):
        HOOKS.put(text)


@pytest.mark.soak
def test_a_file_with_hundreds_of_tables_takes_no_time() -> None:
    """Codex notes every project that a person trusts in a table of its own."""
    text = "".join(
        f'[projects."/p/{number}"]\ntrust_level = "trusted"\n' for number in range(2_000)
    )

    assert toml_text.drop_table(toml_text.add_table(text, PATH, TABLE), PATH) == text
