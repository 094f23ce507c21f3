"""The Anthropic memory tool: each of its texts, word for word, and no way out of its folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine import Madeleine
from madeleine.api.memory_tool import MemoryTool, ToolError, ToolResult, for_anthropic


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Madeleine]:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with Madeleine.open(tmp_path / "home", in_process=True) as opened:
        yield opened


@pytest.fixture
def tool(memory: Madeleine) -> MemoryTool:
    return MemoryTool(memory)


def run(tool: MemoryTool, command: str, **given: object) -> ToolResult:
    return tool.run({"command": command, **given})


def say(tool: MemoryTool, command: str, **given: object) -> str:
    """Run a command that works."""
    result = run(tool, command, **given)
    assert not result.is_error, result.text
    return result.text


def refused(tool: MemoryTool, command: str, **given: object) -> str:
    """Run a command that does not."""
    result = run(tool, command, **given)
    assert result.is_error, result.text
    return result.text


def text_of(tool: MemoryTool, path: str) -> list[str]:
    return [line[7:] for line in say(tool, "view", path=path).split("\n")[1:]]


NOTES = "/memories/notes.txt"
HELLO = "Hello World\nThis is line two\nThe end\n"


# -- each command --------------------------------------------------------------------------


def test_the_tool_names_itself_as_the_api_wants(tool: MemoryTool) -> None:
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}


def test_an_empty_folder_is_no_error(tool: MemoryTool) -> None:
    assert say(tool, "view", path="/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories, "
        "excluding hidden items and node_modules:\n0B\t/memories"
    )


def test_create_says_where(tool: MemoryTool) -> None:
    answer = say(tool, "create", path=NOTES, file_text=HELLO)

    assert answer == "File created successfully at: /memories/notes.txt"


def test_view_numbers_the_lines(tool: MemoryTool) -> None:
    say(tool, "create", path=NOTES, file_text=HELLO)

    assert say(tool, "view", path=NOTES) == (
        "Here's the content of /memories/notes.txt with line numbers:\n"
        "     1\tHello World\n     2\tThis is line two\n     3\tThe end"
    )
    assert say(tool, "view", path=NOTES, view_range=[2, 3]).split("\n")[1:] == [
        "     2\tThis is line two",
        "     3\tThe end",
    ]
    assert say(tool, "view", path=NOTES, view_range=[3, -1]).endswith(":\n     3\tThe end")


def test_view_lists_two_levels_with_sizes(tool: MemoryTool) -> None:
    say(tool, "create", path=NOTES, file_text="x" * 5632)
    say(tool, "create", path="/memories/work/atlas.md", file_text="y" * 1024)
    say(tool, "create", path="/memories/work/deep/down.md", file_text="z" * 100)
    say(tool, "create", path="/memories/.hidden", file_text="secret")
    say(tool, "create", path="/memories/node_modules/x.js", file_text="code")

    lines = say(tool, "view", path="/memories").split("\n")

    assert lines[1].endswith("\t/memories")
    assert lines[2:] == [
        "5.5K\t/memories/notes.txt",
        "1.1K\t/memories/work",
        "1K\t/memories/work/atlas.md",
        "100B\t/memories/work/deep",
    ]
    assert say(tool, "view", path="/memories/work/").split("\n")[1:] == [
        "1.1K\t/memories/work",
        "1K\t/memories/work/atlas.md",
        "100B\t/memories/work/deep",
        "100B\t/memories/work/deep/down.md",
    ]


def test_str_replace_shows_what_changed(tool: MemoryTool) -> None:
    say(tool, "create", path=NOTES, file_text=HELLO)

    answer = say(tool, "str_replace", path=NOTES, old_str="line two", new_str="line 2\nand a half")

    assert answer == (
        "The memory file has been edited.\n     1\tHello World\n     2\tThis is line 2\n"
        "     3\tand a half\n     4\tThe end"
    )


def test_str_replace_without_a_new_text_deletes(tool: MemoryTool) -> None:
    say(tool, "create", path=NOTES, file_text=HELLO)

    say(tool, "str_replace", path=NOTES, old_str="This is line two\n")

    assert text_of(tool, NOTES) == ["Hello World", "The end"]


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        (0, ["new", "Hello World", "This is line two", "The end"]),
        (2, ["Hello World", "This is line two", "new", "The end"]),
        (3, ["Hello World", "This is line two", "The end", "new"]),
    ],
)
@pytest.mark.parametrize("ending", ["", "\n"])
def test_insert_puts_a_text_after_a_line(
    tool: MemoryTool, line: int, lines: list[str], ending: str
) -> None:
    say(tool, "create", path=NOTES, file_text=HELLO.removesuffix("\n") + ending)

    answer = say(tool, "insert", path=NOTES, insert_line=line, insert_text="new\n")

    assert answer == "The file /memories/notes.txt has been edited."
    assert text_of(tool, NOTES) == lines


def test_delete_takes_a_file_or_a_whole_folder(tool: MemoryTool) -> None:
    say(tool, "create", path=NOTES, file_text=HELLO)
    say(tool, "create", path="/memories/work/a.md", file_text="a")
    say(tool, "create", path="/memories/work/b/c.md", file_text="c")

    assert say(tool, "delete", path=NOTES) == "Successfully deleted /memories/notes.txt"
    assert say(tool, "delete", path="/memories/work") == "Successfully deleted /memories/work"
    assert say(tool, "view", path="/memories").endswith(":\n0B\t/memories")


def test_rename_moves_a_file_or_a_whole_folder(tool: MemoryTool) -> None:
    say(tool, "create", path=NOTES, file_text=HELLO)
    say(tool, "create", path="/memories/work/b/c.md", file_text="c")

    answer = say(tool, "rename", old_path=NOTES, new_path="/memories/old/notes.md")
    say(tool, "rename", old_path="/memories/work", new_path="/memories/play")

    assert answer == "Successfully renamed /memories/notes.txt to /memories/old/notes.md"
    assert text_of(tool, "/memories/old/notes.md") == HELLO.splitlines()
    assert text_of(tool, "/memories/play/b/c.md") == ["c"]
    assert run(tool, "view", path="/memories/work").is_error


# -- each error ----------------------------------------------------------------------------


def test_a_path_that_is_not_there(tool: MemoryTool) -> None:
    gone = "/memories/gone.txt"
    plain = "The path /memories/gone.txt does not exist"

    assert refused(tool, "view", path=gone) == f"{plain}. Please provide a valid path."
    assert refused(tool, "str_replace", path=gone, old_str="a", new_str="b") == (
        f"Error: {plain}. Please provide a valid path."
    )
    assert refused(tool, "insert", path=gone, insert_line=0, insert_text="x") == f"Error: {plain}"
    assert refused(tool, "delete", path=gone) == f"Error: {plain}"
    assert refused(tool, "rename", old_path=gone, new_path="/memories/x") == f"Error: {plain}"


def test_editing_a_folder_is_editing_what_is_not_there(tool: MemoryTool) -> None:
    say(tool, "create", path="/memories/work/a.md", file_text="a")

    assert refused(tool, "str_replace", path="/memories/work", old_str="a") == (
        "Error: The path /memories/work does not exist. Please provide a valid path."
    )
    assert refused(tool, "insert", path="/memories/work", insert_line=0, insert_text="x") == (
        "Error: The path /memories/work does not exist"
    )


def test_what_is_there_is_not_written_over(tool: MemoryTool) -> None:
    say(tool, "create", path=NOTES, file_text=HELLO)
    say(tool, "create", path="/memories/b.md", file_text="b")

    assert refused(tool, "create", path=NOTES, file_text="x") == (
        "Error: File /memories/notes.txt already exists"
    )
    assert refused(tool, "create", path=f"{NOTES}/below", file_text="x") == (
        "Error: File /memories/notes.txt already exists"
    )
    assert refused(tool, "rename", old_path="/memories/b.md", new_path=NOTES) == (
        "Error: The destination /memories/notes.txt already exists"
    )
    assert text_of(tool, NOTES) == HELLO.splitlines()


def test_a_text_that_is_not_there_or_there_twice_is_not_replaced(tool: MemoryTool) -> None:
    say(tool, "create", path=NOTES, file_text="tea\ncoffee\ntea and tea\n")

    assert refused(tool, "str_replace", path=NOTES, old_str="milk", new_str="x") == (
        "No replacement was performed, old_str `milk` did not appear verbatim in "
        "/memories/notes.txt."
    )
    assert refused(tool, "str_replace", path=NOTES, old_str="tea", new_str="x") == (
        "No replacement was performed. Multiple occurrences of old_str `tea` in lines: 1, 3. "
        "Please ensure it is unique"
    )


@pytest.mark.parametrize("line", [-1, 4, 99])
def test_a_line_out_of_range_is_refused(tool: MemoryTool, line: int) -> None:
    say(tool, "create", path=NOTES, file_text=HELLO)

    assert refused(tool, "insert", path=NOTES, insert_line=line, insert_text="x") == (
        f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines "
        "of the file: [0, 3]"
    )


def test_a_file_with_too_many_lines_is_not_shown(
    tool: MemoryTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("madeleine.api.memory_tool.MAX_LINES", 2)
    say(tool, "create", path=NOTES, file_text=HELLO)

    assert refused(tool, "view", path=NOTES) == (
        "File /memories/notes.txt exceeds maximum line limit of 999,999 lines."
    )


def test_the_root_stays(tool: MemoryTool) -> None:
    assert refused(tool, "delete", path="/memories") == (
        "Error: Cannot delete the /memories directory itself"
    )
    assert refused(tool, "rename", old_path="/memories/", new_path="/memories/x") == (
        "Error: Cannot rename the /memories directory itself"
    )


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../etc/passwd",
        "/memories/a/../../b",
        "/memories/%2e%2e%2fsecret",
        "/memories/%252e%252e/secret",
        "/memories/..%5csecret",
        "/memories/a\x00b",
        "/memories/./a",
    ],
)
@pytest.mark.parametrize("command", ["view", "create", "delete"])
def test_no_path_leads_out(tool: MemoryTool, command: str, path: str) -> None:
    answer = refused(tool, command, path=path, file_text="x")

    assert answer == f"Error: Path {path} would escape /memories directory"


@pytest.mark.parametrize("path", ["/etc/passwd", "memories/a", "/memoriesx/a", "", "../memories"])
def test_a_path_begins_at_the_root(tool: MemoryTool, path: str) -> None:
    assert refused(tool, "create", path=path, file_text="x") == (
        f"Error: Path must start with /memories, got: {path}"
    )


def test_a_command_that_is_none_is_an_error_and_not_a_crash(tool: MemoryTool) -> None:
    assert refused(tool, "format") == "Error: Unknown command: format"
    assert refused(tool, "view") == "Error: Missing required parameter: path"
    assert tool.run({}).is_error
    assert refused(tool, "create", path=NOTES, file_text=7).startswith("Error: ")
    say(tool, "create", path=NOTES, file_text=HELLO)
    assert refused(tool, "view", path=NOTES, view_range=[1]) == (
        "Error: Invalid `view_range` parameter: [1]"
    )


def test_the_answer_is_a_block_of_the_api(tool: MemoryTool) -> None:
    good = tool.tool_result("toolu_1", {"command": "view", "path": "/memories"})
    bad = tool.tool_result("toolu_2", {"command": "view", "path": "/memories/x"})

    assert (good["type"], good["tool_use_id"], "is_error" in good) == (
        "tool_result",
        "toolu_1",
        False,
    )
    assert bad["is_error"] is True
    with pytest.raises(ToolError, match="does not exist"):
        tool.call({"command": "view", "path": "/memories/x"})


# -- memories behind it --------------------------------------------------------------------


TEXTS = ["", "\n", "  \n\t\n", "no end", "two\n\n", "ünï\u2028côde\n", "---\n", "\ufeffx"]


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_comes_back_as_it_was(tool: MemoryTool, text: str) -> None:
    wanted = text.removesuffix("\n").split("\n") if text else []

    say(tool, "create", path=NOTES, file_text=text)
    created = text_of(tool, NOTES)
    say(tool, "insert", path=NOTES, insert_line=0, insert_text="first\n")
    say(tool, "str_replace", path=NOTES, old_str="first\n", new_str="")

    assert created == wanted
    assert text_of(tool, NOTES) == wanted


def test_a_file_is_a_memory_that_is_recalled_and_undone(
    tool: MemoryTool, memory: Madeleine
) -> None:
    say(tool, "create", path=NOTES, file_text="Atlas ships on Fridays\n")
    file = memory.list()[0]
    assert memory.recall("when does Atlas ship?")[0].memory.id == file.id
    assert (file.title, file.tags) == ("notes.txt", ("memory-file",))

    say(tool, "str_replace", path=NOTES, old_str="Fridays", new_str="Mondays")
    change = next(each for each in memory.history(file) if each.body.get("verb") == "revise")
    memory.undo(str(change.body["change"]))

    assert text_of(tool, NOTES) == ["Atlas ships on Fridays"]
    say(tool, "delete", path=NOTES)
    memory.restore(file.id)
    assert text_of(tool, NOTES) == ["Atlas ships on Fridays"]


def test_two_files_with_the_same_text_are_two(tool: MemoryTool) -> None:
    say(tool, "create", path="/memories/a", file_text="same")
    say(tool, "create", path="/memories/b", file_text="same")
    say(tool, "delete", path="/memories/a")

    assert text_of(tool, "/memories/b") == ["same"]


def test_each_space_has_files_of_its_own(memory: Madeleine) -> None:
    one, two = MemoryTool(memory, "atlas"), MemoryTool(memory, "harbor")
    say(one, "create", path=NOTES, file_text="atlas")
    say(two, "create", path=NOTES, file_text="harbor")

    assert text_of(one, NOTES) == ["atlas"]
    assert memory.list(spaces=["harbor"])[0].content == "harbor"


def test_a_text_over_the_bound_is_an_error_of_the_tool(tool: MemoryTool) -> None:
    assert refused(tool, "create", path=NOTES, file_text="x" * 2_000_000).startswith("Error: ")


def test_it_fits_the_official_sdk(tool: MemoryTool) -> None:
    """The adapter that docs/guides/moving.md shows, with the real base class."""
    sdk = pytest.importorskip("anthropic.lib.tools")
    adapted = for_anthropic(tool)

    assert isinstance(adapted, sdk.BetaAbstractMemoryTool)
    assert adapted.to_dict() == {"type": "memory_20250818", "name": "memory"}
    create = {"command": "create", "path": NOTES, "file_text": "hello"}
    assert adapted.call(create) == "File created successfully at: /memories/notes.txt"
    with pytest.raises(sdk.ToolError):
        adapted.call(create)
