"""Whatever a settings file looks like, our entries come and go and nothing else changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from madeleine.agents import jsonc
from madeleine.agents.pieces import JsonHooksPiece, JsonServerPiece

WORDS = ["-c", "run", "/h/madeleine-hook.py", "/h", "inject", "claude"]
ENTRY = {"type": "command", "command": "/py", "args": WORDS, "timeout": 5}
HOOKS = JsonHooksPiece({"UserPromptSubmit": ENTRY, "Stop": ENTRY}, "/h")
SERVER = JsonServerPiece(
    "mcpServers", {"command": "/b/madeleine", "args": ["mcp", "--home", "/h"]}, "/h"
)
LINE_COMMENT, BLOCK_COMMENT = '// "a" }\n', "/* , ] */"

gaps = st.lists(
    st.sampled_from(["", " ", "\n", "\t", "\r\n", LINE_COMMENT, BLOCK_COMMENT]), max_size=3
).map("".join)
plain = st.sampled_from(["1", '"a//b"', "null", "true", "-2.5e3", '"\\"}"', '""'])


@st.composite
def listed(draw: st.DrawFn, opening: str, items: list[str]) -> str:
    """Draw an object or array around these items, with gaps, and perhaps a comma at its end."""
    spaced = [draw(gaps) + item + draw(gaps) for item in items]
    last = draw(st.sampled_from(["", ","])) if items else ""
    return opening + ",".join(spaced) + last + draw(gaps) + {"{": "}", "[": "]"}[opening]


@st.composite
def objects(draw: st.DrawFn, members: dict[str, st.SearchStrategy[str]]) -> str:
    """Draw an object with some of these members, in any order."""
    names = draw(st.lists(st.sampled_from(sorted(members)), unique=True))
    parts = [f'"{name}"{draw(gaps)}:{draw(gaps)}{draw(members[name])}' for name in names]
    return draw(listed("{", parts))


@st.composite
def groups(draw: st.DrawFn) -> str:
    """Draw somebody else's hooks of one event."""
    handler = '{"type": "command", "command": "theirs"}'
    inner = [draw(listed("[", [handler])) for _ in range(draw(st.integers(0, 2)))]
    return draw(listed("[", [draw(listed("{", [f'"hooks": {each}'])) for each in inner]))


files = objects(
    {
        "hooks": objects({"UserPromptSubmit": groups(), "Stop": groups(), "Other": groups()}),
        "mcpServers": objects({"other": plain, "more": plain}),
        "model": plain,
        "theme": objects({"dark": plain}),
    }
)


@given(before=gaps, file=files, after=gaps)
def test_entries_come_once_and_go_and_leave_everything_else(
    before: str, file: str, after: str
) -> None:
    text = before + file + after

    wired = SERVER.put(HOOKS.put(text))
    left = SERVER.drop(HOOKS.drop(wired, text), text)

    assert len([*HOOKS.look(wired), *SERVER.look(wired)]) == 3
    assert SERVER.put(HOOKS.put(wired)) == wired
    assert jsonc.read_json(left).value == jsonc.read_json(text).value
    for comment in (LINE_COMMENT, BLOCK_COMMENT):
        assert left.count(comment.strip()) == text.count(comment.strip())
