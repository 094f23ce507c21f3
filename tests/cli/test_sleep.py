"""`madeleine sleep`, `proposals` and what `status` says about the jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from madeleine.bootstrap import open_home
from madeleine.model.proposal import ProposalType
from madeleine.write.proposals import propose
from tests.cli.running import Cli
from tests.server.running import running

LONG_AGO = ("--created", "2019-01-01T00:00:00Z")


@pytest.fixture(params=["alone", "daemon"])
def either(request: pytest.FixtureRequest, cli: Cli) -> Iterator[Cli]:
    """The command with a daemon and without one: it says the same."""
    with running(cli.home) if request.param == "daemon" else nullcontext():
        yield cli


def contents(cli: Cli) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in cli.files}


def test_a_run_says_what_it_did_and_how_to_take_it_back(either: Cli) -> None:
    memory = either.remember("The old boiler was made by Hansen", *LONG_AGO)
    either.ok("sleep", "importance_scorer")
    before = contents(either)

    ran = either("sleep", "decay_manager", "--now")

    assert ran.code == 0, ran.err
    assert ran.out.startswith("decay_manager: 1 change")
    assert f"move `{memory[:8]}`" in ran.out
    assert either.ok("show", memory)["memory"]["tier"] == "archival"
    undo = re.search(r"madeleine undo (\w+)", ran.out)
    assert undo is not None
    assert either("undo", undo[1]).code == 0
    assert contents(either) == before


def test_a_night_ends_with_its_id_also_when_one_job_alone_changed_something(either: Cli) -> None:
    either.remember("The old boiler was made by Hansen", *LONG_AGO)
    either.ok("sleep", "importance_scorer")
    before = contents(either)

    lines = either("sleep", "--now").out.splitlines()

    assert [line.split(":")[0] for line in lines if line.startswith("  undo")] == [
        "  undo decay_manager",
        "  undo all of it",
    ]
    night = lines[-1].removeprefix("  undo all of it: madeleine undo ")
    assert contents(either) != before
    last = either.ok("sleep", "status")["tasks"][0]["last_run"]
    assert last["request"].startswith(night)
    assert either("undo", night).code == 0
    assert contents(either) == before


def test_history_says_in_words_what_sleep_will_not_do_again(either: Cli) -> None:
    memory = either.remember("The old boiler was made by Hansen", *LONG_AGO)
    either.ok("sleep", "importance_scorer")
    either.ok("undo", either.ok("sleep", "decay_manager", "--now")["reports"][0]["run"])

    first, *lines = either("history", memory).out.splitlines()

    assert first.startswith(f"{len(lines)} events of ")
    (no,) = [line for line in lines if "will not be done again by sleep" in line]
    assert f"move `{memory[:8]}` (The old boiler was made by Hansen) to archival" in no
    assert not [line for line in lines if "proposed" in line or "decided" in line]


def test_history_says_in_words_that_a_restored_memory_is_kept(either: Cli) -> None:
    memory = either.remember("The old boiler was made by Hansen")
    either.ok("forget", memory)
    either.ok("restore", memory)

    lines = either("history", memory).out.splitlines()

    assert [line for line in lines if "will not be done again by sleep" in line]
    assert not [line for line in lines if "proposed" in line or "decided" in line]


def test_the_run_of_one_job_ends_with_its_own_id_alone(either: Cli) -> None:
    either.remember("The old boiler was made by Hansen", *LONG_AGO)
    either.ok("sleep", "importance_scorer")

    lines = either("sleep", "decay_manager", "--now").out.splitlines()

    assert [line.split(":")[0] for line in lines if "undo" in line] == ["  undo decay_manager"]


def test_a_dry_run_shows_the_difference_and_changes_no_byte(either: Cli) -> None:
    either.remember("The old boiler was made by Hansen", *LONG_AGO)
    either.ok("sleep", "importance_scorer")
    before = contents(either)

    ran = either("sleep", "--dry-run", "--now")

    assert "decay_manager: would make 1 change" in ran.out
    assert "| +tier: archival" in ran.out
    assert "undo" not in ran.out
    assert contents(either) == before
    assert re.search(r"decay_manager +has not run yet", either("sleep", "status").out)


def test_the_whole_cycle_reports_on_each_job(either: Cli) -> None:
    answer = either.ok("sleep")

    assert answer["status"] == "finished"
    assert len(answer["reports"]) == 8
    assert [line.split()[0] for line in either("sleep", "status").out.splitlines()] == [
        each["job"] for each in answer["reports"]
    ]


def test_a_paused_job_stays_paused_and_is_left_out(either: Cli) -> None:
    assert either("sleep", "pause", "consolidator").out == "consolidator is paused\n"

    assert "consolidator" not in [each["job"] for each in either.ok("sleep")["reports"]]
    assert "paused" in either("sleep", "status").out
    assert either("sleep", "resume", "consolidator").out == "consolidator runs by itself\n"
    assert "consolidator" in either.ok("sleep")["jobs"]


def test_nothing_to_stop_is_said(either: Cli) -> None:
    assert either("sleep", "stop").out == "nothing is under way\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("sleep", "dreaming"), 3, "no job `dreaming`"),
        (("sleep", "pause"), 2, "no job is named"),
        (("sleep", "pause", "dreaming"), 3, "no job `dreaming`"),
        (("sleep", "auto_linker", "consolidator"), 2, "one job at a time"),
        (("sleep", "status", "--dry-run"), 2, "--dry-run does not go with `status`"),
        (("proposals", "show"), 2, "no proposal is named"),
        (("proposals", "show", "ffffffff"), 3, "no proposal `ffffffff`"),
        (("proposals", "agree", "ffffffff"), 2, "unknown decision 'agree'"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    cli: Cli, words: tuple[str, ...], code: int, said: str
) -> None:
    ran = cli(*words)

    assert ran.code == code
    assert said in ran.err


# -- proposals -----------------------------------------------------------------------------


def proposed_merge(cli: Cli) -> tuple[str, str, str]:
    """Propose a merge of two memories; return the proposal, the keeper and the other."""
    keep, drop = cli.remember("The ferry leaves at nine"), cli.remember("Ferry departs at 9:00")
    context = open_home(Path(cli.home))
    action = {"verb": "merge", "keep": keep, "drop": drop, "content": "The ferry leaves at 9:00"}
    made = propose(
        context.stores, ProposalType.MERGE, (keep, drop), "merge two", action, "the same"
    )
    context.close()
    return made.id, keep, drop


def test_a_proposal_shows_exactly_what_would_change(cli: Cli) -> None:
    proposal, keep, drop = proposed_merge(cli)
    before = contents(cli)

    shown = cli("proposals", "show", proposal[:8]).out

    assert "-The ferry leaves at nine" in shown
    assert "+The ferry leaves at 9:00" in shown
    assert f"madeleine proposals approve {proposal[:8]}" in shown
    assert contents(cli) == before

    assert cli("proposals", "approve", proposal).code == 0
    assert cli.ok("show", keep)["memory"]["content"] == "The ferry leaves at 9:00"
    assert cli("show", drop).code == 3
    assert "it is approved" in cli("proposals", "show", proposal).out


def proposed_decays(cli: Cli, texts: tuple[str, ...]) -> list[str]:
    """Propose to archive memories; return the proposals."""
    memories = [cli.remember(text) for text in texts]
    context = open_home(Path(cli.home))
    made = [
        propose(
            context.stores,
            ProposalType.DECAY,
            (each,),
            "archive",
            {"verb": "tier", "memory": each, "tier": "archival"},
        ).id
        for each in memories
    ]
    context.close()
    return made


def test_many_proposals_are_decided_at_once(cli: Cli) -> None:
    merge, _, _ = proposed_merge(cli)
    texts = ("The boiler is old", "The pump is new", "The tank is full", "The tap drips")
    one, other, *rest = proposed_decays(cli, texts)

    rejected = cli("proposals", "reject", one[:8], other[:8])
    approved = cli("proposals", "approve", "--all", "--type", "decay")

    assert rejected.code == approved.code == 0
    assert rejected.out.startswith("rejected 2 proposals")
    assert approved.out.startswith("approved 2 proposals")
    assert all(each[:8] in approved.out for each in rest)
    assert [each["id"] for each in cli.ok("proposals")["proposals"]] == [merge]
    archived = {each["content"] for each in cli.ok("list", "--tier", "archival")["memories"]}
    assert archived == {"The tank is full", "The tap drips"}


def test_one_that_cannot_be_decided_keeps_none_of_the_others(cli: Cli) -> None:
    one, other = proposed_decays(cli, ("The boiler is old", "The pump is new"))

    ran = cli("proposals", "approve", "ffffffff", one, other)

    assert ran.code == 3
    assert "left ffffffff: no proposal" in ran.out
    assert ran.out.startswith("approved 2 proposals")


def test_status_says_how_many_proposals_wait_and_how_the_last_runs_went(cli: Cli) -> None:
    proposed_merge(cli)
    cli("sleep", "decay_manager")

    said = cli("status").out

    assert "1 proposal waiting: madeleine proposals" in said
    assert re.search(r"decay_manager +just now: nothing to do", said)


@pytest.mark.proves("I8")
def test_status_names_a_job_that_keeps_failing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that cannot be had fails every run; nobody has to read a log to see it."""
    monkeypatch.setenv("MADELEINE_JUDGE_KIND", "llm")  # and no model is named
    for place in ("Lisbon", "Oslo"):
        cli.remember(f"The office of the Atlas project is in {place}.")

    ran = cli("sleep", "conflict_detector")
    cli("sleep", "conflict_detector")
    said = cli("status").out

    assert ran.code == 5
    assert "conflict_detector: failed: setting `judge.model` is empty" in ran.out
    assert "the job conflict_detector failed 2 times in a row" in said
    assert "problems   1" in said
    assert cli("sleep", "importance_scorer").code == 0  # it asks no judge
