"""A config.toml that a command changes stays the file that a person wrote."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.agents.toml_text import InvalidToml, read_toml
from madeleine.errors import BadSetting
from madeleine.model.config_text import change_settings, is_set, parse_table

FILE = Path("config.toml")
WRITTEN = """# settings of this machine
store = "postgresql://host/db"   # short for [store] url

  [server]   # the daemon
# nobody else may use this one
port = 8788  # chosen by Ana
  host = '127.0.0.1'

names = \"\"\"
one, # no comment
two = 2
[not.a.section]
\"\"\"

[[ "strange" ]]
x = [ 1, # one
  2, { y = "]" } ]

# about whispers
[ "whisper" ]
max_nodes = 3
"""


def changed(text: str, name: str, value: object) -> str:
    return change_settings(text, FILE, {name: value})


def test_only_the_value_of_what_is_set_is_exchanged() -> None:
    for name, value, before, after in [
        ("server.port", 1, "port = 8788  # chosen", "port = 1  # chosen"),
        ("server.host", "::1", "host = '127.0.0.1'", 'host = "::1"'),
        ("whisper.max_nodes", 5, "max_nodes = 3", "max_nodes = 5"),
        ("store.url", "x", 'store = "postgresql://host/db"  ', 'store = "x"  '),
    ]:
        assert changed(WRITTEN, name, value) == WRITTEN.replace(before, after)


def test_a_text_of_several_lines_is_exchanged_whole() -> None:
    text = changed(WRITTEN, "server.names", "here")

    assert 'names = "here"\n\n[[ "strange" ]]' in text
    assert "no comment" not in text


def test_what_was_not_set_comes_behind_the_last_of_its_section() -> None:
    text = changed(WRITTEN, "whisper.holdout", 0.1)
    assert text == WRITTEN + "holdout = 0.1\n"

    text = changed("[server]\nport = 1\n\n# about the store\n[store]\n", "server.host", "h")
    assert text == '[server]\nport = 1\nhost = "h"\n\n# about the store\n[store]\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[server]\nport = 1\n"),
        ("# mine", "# mine\n\n[server]\nport = 1\n"),
        ("[vault]\npoll = true\n\n\n", "[vault]\npoll = true\n\n[server]\nport = 1\n"),
        ("[vault]\r\npoll = true\r\n", "[vault]\r\npoll = true\r\n\r\n[server]\r\nport = 1\r\n"),
        ("[server]\n", "[server]\nport = 1\n"),
        ("[server]", "[server]\nport = 1\n"),
        ("[server] # d", "[server] # d\nport = 1\n"),
        ("server.host = 'h'\n", "server.host = 'h'\nserver.port = 1\n"),
        ('"server" . host = 1', '"server" . host = 1\nserver.port = 1\n'),
        ("server = {}", "server = { port = 1 }"),
        ("server = { host = 'h' } # x\n", 'server = { host = "h", port = 1 } # x\n'),
        ("[server]\n'port'=0#x\n", "[server]\n'port'=1#x\n"),
        ("[server]\n\tport\t=\t+0\t# x\n", "[server]\n\tport\t=\t1\t# x\n"),
        ("server.port = 0\n[vault]\n", "server.port = 1\n[vault]\n"),
    ],
)
def test_however_a_file_is_written_a_setting_can_be_set(before: str, after: str) -> None:
    assert changed(before, "server.port", 1) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[server]\nport = 1\n", ""),
        ("[vault]\npoll = true\n\n[server]\nport = 1\n", "[vault]\npoll = true\n"),
        ("[server]\nport = 1\n\n[vault]\npoll = true\n", "[vault]\npoll = true\n"),
        ("[server]\nport = 1\nhost = 'h'\n", "[server]\nhost = 'h'\n"),
        ("[server]\n# kept\nport = 1\n", "[server]\n# kept\n"),
        ("# kept\n[server]\nport = 1\n", "# kept\n[server]\n"),
        ("[server]\nport = 1 # goes\n# kept\n", "[server]\n# kept\n"),
        ("server.port = 1\nserver.host = 'h'", "server.host = 'h'"),
        ("server = { port = 1, host = 'h' }", 'server = { host = "h" }'),
        ("[server]\nhost = 'h'\n", "[server]\nhost = 'h'\n"),
        ("", ""),
    ],
)
def test_a_setting_that_is_taken_out_leaves_all_else(before: str, after: str) -> None:
    assert changed(before, "server.port", None) == after


def test_setting_and_taking_out_again_gives_the_same_text() -> None:
    for name in ("server.trust_loopback", "whisper.holdout", "vault.poll"):
        assert changed(changed(WRITTEN, name, True), name, None) == WRITTEN


def test_a_short_name_makes_room_for_its_section() -> None:
    text = changed('store = "x"\n\n[server]\nport = 1\n', "store.truth", "database")

    assert tomllib.loads(text) == {
        "store": {"url": "x", "truth": "database"},
        "server": {"port": 1},
    }


@pytest.mark.parametrize("name", ["store.url", "store.graph", "store.vectors"])
def test_a_setting_under_its_short_name_is_changed_there(name: str) -> None:
    short = {"store.url": "store"}.get(name, name.partition(".")[2])
    text = f'{short} = "x" # here\n'

    assert is_set(tomllib.loads(text), name)
    assert changed(text, name, "y") == f'{short} = "y" # here\n'
    assert changed(text, name, None) == ""


def test_what_is_set_twice_is_taken_out_twice() -> None:
    assert changed('graph = "x"\n[store]\ngraph = "y"\ntenant = "t"\n', "store.graph", None) == (
        '[store]\ntenant = "t"\n'
    )


def test_a_short_name_stays_when_another_setting_of_its_section_is_taken_out() -> None:
    assert changed('store = "x"\n', "store.truth", None) == 'store = "x"\n'


@pytest.mark.parametrize("given", ["5", "[1]", "true"])
def test_a_store_that_is_neither_a_line_nor_a_table_is_refused(given: str) -> None:
    with pytest.raises(BadSetting, match="`store` is not a table"):
        changed(f"store = {given}\n", "store.url", "x")


def test_a_text_that_is_no_toml_is_refused_with_the_place() -> None:
    with pytest.raises(BadSetting, match=r"config\.toml` does not parse: .*line 2"):
        changed("[server]\nport =\n", "server.port", 1)


def test_a_section_that_cannot_be_changed_is_refused_and_not_guessed() -> None:
    with pytest.raises(BadSetting, match="`server` is not a table"):
        changed("[[server]]\nport = 1\n[[server]]\nport = 2\n", "server.port", 3)


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.one_of(st.booleans(), st.integers(-(10**12), 10**12), st.floats(allow_nan=False), WORDS)
SECTIONS = st.sampled_from(["server", "vault", "whisper"])
NAMES = st.sampled_from(["port", "host", "max nodes", "ü", "x.y"])


def as_written(value: Any, way: int) -> str:
    """Return a value as one of several hands would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    if way == 1 and all(each.isprintable() and each != "'" for each in value):
        return f"'{value}'"
    escaped = "".join(
        each if each.isalnum() or each in " #[]{}=.'" else f"\\U{ord(each):08x}" for each in value
    )
    return f'"""{escaped}"""' if way == 2 else f'"{escaped}"'


@st.composite
def files(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.sampled_from(["# [x] = '", "", "  \t"]), max_size=2))
    for section in draw(st.lists(SECTIONS, unique=True)):
        lines.append(f"[{section}] {draw(st.sampled_from(['', '# why']))}")
        for name in draw(st.lists(NAMES, unique=True)):
            value = as_written(draw(VALUES), draw(st.integers(0, 2)))
            lines.append(f'{draw(st.sampled_from(["", "  "]))}"{name}" = {value} # "{{[')
            lines += draw(st.lists(st.sampled_from(["# port = 1", "", "  "]), max_size=2))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(lines) + draw(st.sampled_from(["", end]))


@given(files(), SECTIONS, st.sampled_from(["port", "host"]), st.one_of(st.none(), VALUES))
def test_a_change_changes_one_value_and_no_comment(
    text: str, section: str, name: str, value: object
) -> None:
    after = changed(text, f"{section}.{name}", value)

    wanted = tomllib.loads(text)
    wanted.setdefault(section, {})[name] = value
    if value is None:
        del wanted[section][name]
    assert {key: each for key, each in tomllib.loads(after).items() if each} == {
        key: each for key, each in wanted.items() if each
    }
    assert after.count("# port = 1") == text.count("# port = 1")
    assert after.count("# [x] = '") == text.count("# [x] = '")


@pytest.mark.parametrize("number", ["9" * 5_000, "-" + "1" * 40_000, "[1, " + "7" * 4_301 + "]"])
def test_a_number_without_end_is_refused_like_any_text_that_is_no_toml(number: str) -> None:
    text = f"[server]\nport = {number}\n"

    with pytest.raises(BadSetting, match="a number has too many digits"):
        parse_table(text, Path("config.toml"))
    with pytest.raises(InvalidToml):
        read_toml(text)
