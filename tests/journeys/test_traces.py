"""Nothing happens without a trace: every change stands in the history of every memory that it
touched, and a whole night is taken back by one id."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from madeleine import Madeleine
from madeleine.errors import Conflict, Missing
from madeleine.model.memory import Connection
from madeleine.model.proposal import ProposalType
from madeleine.model.words import Edge
from madeleine.write.actions import link_action
from madeleine.write.proposals import propose
from madeleine.write.transitions import read_transition
from tests.cli.running import Cli
from tests.server.running import running

END_SECONDS = 5.0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    return tmp_path / "home"


@pytest.fixture
def cli(home: Path) -> Cli:
    return Cli(home)


def changes(cli: Cli, memory: str) -> list[str]:
    """Return the changes in a memory's history, newest first."""
    told = [
        each["body"] for each in cli.ok("history", memory)["events"] if each["kind"] != "decided"
    ]
    return [str(each["change"]) for each in told if each.get("change")]


def living(home: Path) -> dict[str, bytes]:
    vault = home / "vault"
    return {each.name: each.read_bytes() for each in vault.glob("*.md")}


# -- history -------------------------------------------------------------------------------


def test_a_merge_that_changes_no_word_stands_in_the_history_of_both(cli: Cli) -> None:
    one, other = cli.remember("The ferry leaves at nine"), cli.remember("It leaves at 9")

    done = cli.ok("merge", one, other)

    assert changes(cli, one)[0] == done["change"]
    assert changes(cli, other)[0] == done["change"]
    undone = cli.ok("undo", done["change"])
    assert changes(cli, one)[0] == changes(cli, other)[0] == undone["change"]


@pytest.mark.parametrize("verb", ["link", "unlink", "retire", "merge", "proposal"])
def test_what_a_change_touches_has_it_in_its_history(cli: Cli, verb: str) -> None:
    one, other = cli.remember("Jobs run on Celery"), cli.remember("Jobs run on Arq now")
    before = len(changes(cli, other))
    match verb:
        case "link":
            done = cli.ok("link", one, other, "--edge", "supports")
        case "unlink":
            cli.ok("link", one, other, "--edge", "supports")
            done = cli.ok("unlink", one, other)
        case "retire":
            done = cli.ok("retire", one, "--superseded-by", other)
        case "merge":
            done = cli.ok("merge", other, one)
        case _:
            done = _approved_link(cli, one, other)

    assert done["change"] in changes(cli, one)
    assert changes(cli, other)[0] == done["change"]
    assert len(changes(cli, other)) > before
    undone = cli.ok("undo", done["change"])["change"]
    assert changes(cli, other)[0] == changes(cli, one)[0] == undone


def _approved_link(cli: Cli, one: str, other: str) -> Any:
    with Madeleine.open(cli.home, in_process=True) as m:
        stores = m._door.context.stores  # type: ignore[union-attr]  # to ask what a job would
        m_link = link_action(one, [Connection(other, Edge.SUPPORTS)])
        propose(stores, ProposalType.LINK, (one, other), "connect them", m_link)
    (asked,) = cli.ok("proposals")["proposals"]
    return cli.ok("proposals", "approve", asked["id"])


def test_a_trace_outlives_the_index(cli: Cli) -> None:
    one, other = cli.remember("The ferry leaves at nine"), cli.remember("It leaves at 9")
    done = cli.ok("merge", one, other)

    cli.ok("rebuild")

    assert changes(cli, one)[0] == done["change"]


def test_a_change_that_left_a_file_alone_shows_no_difference_there(cli: Cli) -> None:
    one, other = cli.remember("The ferry leaves at nine"), cli.remember("It leaves at 9")
    done = cli.ok("link", one, other, "--edge", "supports")
    cli.ok("revise", other, "--title", "Departure")

    with Madeleine.open(cli.home, in_process=True) as m:
        seen = read_transition(m._door.context.stores, other, done["change"])  # type: ignore[union-attr]

    assert seen.before == seen.after
    assert seen.before is not None
    assert seen.before.title is None


# -- a night -------------------------------------------------------------------------------


def lived_in(m: Madeleine) -> None:
    """Remember what every job has something to do with."""
    for number in range(30):
        m.remember(f"Matter number {number} about {'abcdefgh'[number % 8] * 5}", type="decision")
    m.remember("The ferry to Bergen leaves at nine from pier four", space="sea")
    m.remember("the ferry to Bergen leaves at nine from pier four.", space="sea")
    m.remember("The boiler was made by Hansen", created="2019-01-01T00:00:00Z")
    m.remember("The cellar has two rooms", created="2019-01-01T00:00:00Z")


def test_one_id_takes_a_whole_night_back_byte_for_byte(home: Path, cli: Cli) -> None:
    with Madeleine.open(home, in_process=True) as m:
        lived_in(m)
    before = living(home)
    night = cli.ok("sleep", "--now")
    assert sum(bool(each["applied"]) for each in night["reports"]) >= 2
    assert living(home) != before

    cli.ok("undo", night["request"])

    assert living(home) == before
    again = cli("undo", night["request"][:8])
    assert again.code == Conflict.exit_code
    assert "already undone" in again.err


def test_python_takes_a_night_back_and_says_when_there_is_nothing(home: Path) -> None:
    with Madeleine.open(home, in_process=True) as m:
        lived_in(m)
        before = living(home)
        night = m.sleep(now=True)
        assert living(home) != before

        m.undo(night.request)

        assert living(home) == before
        with pytest.raises(Missing, match="no change, run or night"):
            m.undo("ffffffff")


def test_a_night_that_changed_nothing_says_so(cli: Cli) -> None:
    cli.remember("One thing only")
    cli.ok("sleep", "decay_manager")
    night = cli.ok("sleep", "decay_manager")

    ran = cli("undo", night["request"])

    assert ran.code == Conflict.exit_code
    assert "changed nothing" in ran.err


def test_nothing_of_a_night_is_undone_when_a_file_was_edited_since(home: Path, cli: Cli) -> None:
    with Madeleine.open(home, in_process=True) as m:
        lived_in(m)
    night = cli.ok("sleep", "--now")
    boiler = next((home / "vault").glob("*boiler*.md"))
    boiler.write_text(boiler.read_text(encoding="utf-8") + "\nBy hand.\n", encoding="utf-8")
    before = living(home)

    ran = cli("undo", night["request"])

    assert ran.code == Conflict.exit_code
    assert "boiler" in ran.err
    assert living(home) == before


def test_the_daemon_takes_a_night_back(home: Path) -> None:
    with running(home) as daemon:
        for number in range(12):
            daemon.remember(f"Matter {number} of {'abcd'[number % 4] * 5}", type="decision")
        daemon.remember("The boiler was made by Hansen", created="2019-01-01T00:00:00Z")
        before = living(home)
        night = daemon.ok("POST", "/admin/tasks/run-all", {"now": True}, wait="true")
        assert living(home) != before

        daemon.ok("POST", f"/agent/undo/{night['request']}")

        assert living(home) == before
        tasks = daemon.ok("GET", "/admin/tasks")["tasks"]
        assert {each["last_run"]["request"] for each in tasks} >= {night["request"]}


# -- the end -------------------------------------------------------------------------------


@pytest.mark.parametrize("busy", [False, True])
def test_a_daemon_without_a_home_ends_within_five_seconds(home: Path, busy: bool) -> None:
    with running(home) as daemon:
        for number in range(20):
            daemon.remember(f"Matter number {number}")
        if busy:
            daemon.ok("POST", "/admin/tasks/run-all", {})
        shutil.rmtree(home, ignore_errors=True)
        began = time.monotonic()

        daemon.launched.process.send_signal(signal.SIGTERM)

        try:
            daemon.launched.process.wait(2 * END_SECONDS)
        except subprocess.TimeoutExpired:
            pytest.fail("it did not end")
        assert time.monotonic() - began < END_SECONDS
