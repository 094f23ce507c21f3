"""The documentation site: no link leads out of it, and the tutorial does what it says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from madeleine.cli.main import main
from tools.site_links import name_outer_links

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
TRIED = ("remember", "recall", "whisper", "sleep", "proposals")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("see [the list](../../bench/RESULTS.md#all)", "see the list (`bench/RESULTS.md`)"),
        ("see [SECURITY.md](../../SECURITY.md)", "see SECURITY.md"),
        ("see [Recall](recall.md)", "see [Recall](recall.md)"),
        ("see [ADR](../decisions/0001.md)", "see [ADR](../decisions/0001.md)"),
        ("see [it](https://example.org)", "see [it](https://example.org)"),
        ("![a picture](../pictures/page.png)", "![a picture](../pictures/page.png)"),
    ],
)
def test_a_link_out_of_the_documents_becomes_the_name_of_the_file(written: str, shown: str) -> None:
    assert name_outer_links(written, "guides") == shown


def tutorial_commands() -> list[list[str]]:
    text = TUTORIAL.read_text(encoding="utf-8")
    lines = re.findall(r"^\$ madeleine (.*)$", text, re.MULTILINE)
    commands = [shlex.split(line, comments=True) for line in lines]
    return [each for each in commands if each[0] in TRIED]


def test_the_commands_of_the_tutorial_do_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = {}
    for command in tutorial_commands():
        assert main([*command, "--json", "--home", str(tmp_path / "home")]) == 0, command
        told[" ".join(command)] = json.loads(capsys.readouterr().out)

    (found,) = [each for name, each in told.items() if name.startswith("recall")]
    assert found["results"][0]["memory"]["content"].startswith("Chose SQLite")
    said, silent = [each for name, each in told.items() if name.startswith("whisper")]
    assert "Chose SQLite" in said["text"]
    assert silent["text"] == ""
