"""`madeleine skills`: what would be written is listed, and only --yes writes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from madeleine import Madeleine
from tests.cli.running import Cli
from tests.server.running import running


@pytest.fixture(params=["alone", "daemon"])
def worked(request: pytest.FixtureRequest, cli: Cli) -> Iterator[Cli]:
    """A home with a procedure that worked, with a daemon and without one."""
    one = cli.remember("Push the tag last.", "--type", "procedure", "--title", "Release")
    two = cli.remember("Stop it first.", "--type", "procedure", "--title", "Upgrade")
    cli.remember("Never tried.", "--type", "procedure", "--title", "Guess")
    with Madeleine(cli.home) as memory:
        for each in (one, one, two):
            memory.feedback(each, 1)
        assert [each.name for each in memory.skills(least=2)] == ["release"]
        assert [each.name for each in memory.skills(spaces=["elsewhere"])] == []
        assert memory.cost().month.requests == 0
    with running(cli.home) if request.param == "daemon" else nullcontext():
        yield cli


def test_skills_are_listed_reviewed_and_written_on_a_yes(worked: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "skills"

    assert worked("skills").out.splitlines()[:2] == [
        "2 procedures that worked",
        "  release   2 times of use, by cli",
    ]
    looked = worked("skills", "export", str(folder))
    assert "2 skills would be written" in looked.out
    assert "add --yes" in looked.out
    assert not folder.exists()
    assert "Push the tag last." in worked("skills", "show", "release").out

    wrote = worked.ok("skills", "export", str(folder), "--yes", "--only", "release")
    assert (wrote["written"], [each["state"] for each in wrote["skills"]]) == (1, ["new"])
    assert [path.parent.name for path in folder.glob("*/SKILL.md")] == ["release"]

    again = worked.ok("skills", "export", str(folder), "--yes")
    assert {each["name"]: each["state"] for each in again["skills"]} == {
        "release": "unchanged",
        "upgrade": "new",
    }
    assert worked("skills", "export", str(folder), "--yes").out.endswith(f"to {folder}\n")


def test_words_that_mean_nothing_are_refused(worked: Cli, tmp_path: Path) -> None:
    assert worked("skills", "export").code == 2
    assert worked("skills", "show", "nothing").code == 2
    assert worked("skills", "burn").code == 2
    inside = worked("skills", "export", str(worked.home / "vault" / "skills"), "--yes")
    assert (inside.code, "lies in the home itself" in inside.err) == (2, True)
