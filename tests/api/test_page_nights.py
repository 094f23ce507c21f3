"""What the page is told about runs, changes and proposals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from madeleine.api.local import open_local
from madeleine.errors import NoSuchChange, NoSuchJob, NoSuchWhisper, UnknownWord
from madeleine.index.log import WhisperEntry
from madeleine.model.event import EventKind
from madeleine.sleep.jobs.index_updater import IndexUpdater
from madeleine.write.record import new_event, record_events

Ask = Callable[..., Any]
LONG_AGO = "2024-01-01T00:00:00Z"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def ask(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with closing(open_local(home)) as door:
        yield door.call


def remember(ask: Ask, content: str, **draft: object) -> str:
    return str(ask("remember", body={"content": content, **draft})["node_id"])


def faded(ask: Ask, many: int = 3) -> str:
    """Let a night archive what nobody has used for long; return the run."""
    for number in range(8):  # enough beside them that the breaker stays quiet
        remember(ask, f"Fresh matter number {number} about {'abcdefgh'[number] * 5}")
    for number in range(many):
        remember(ask, f"An old matter, the {number}th of its kind", created=LONG_AGO)
    ask("run_task", id="importance_scorer")
    (report,) = ask("run_task", id="decay_manager", body={"now": True})["reports"]
    assert report["applied"] == many
    return str(report["run"])


def test_a_run_lists_its_changes_with_the_texts_before_and_after(ask: Ask) -> None:
    run = faded(ask)

    seen = ask("page_run", id=run)
    files = [
        file for change in seen["changes"] for file in ask("page_change", id=change["id"])["files"]
    ]

    assert (seen["job"], seen["in_force"]) == ("decay_manager", seen["total"])
    assert len(files) == 3
    for each in files:
        assert each["known"]
        assert "tier: working" in each["before"] or "tier:" not in each["before"]
        assert "tier: archival" in each["after"]
        assert each["before"] != each["after"]


def test_what_was_taken_back_is_told_so(ask: Ask) -> None:
    run = faded(ask)
    ask("undo", id=run)

    (listed,) = [each for each in ask("page_runs")["runs"] if each["run"] == run]
    changes = ask("page_run", id=run)["changes"]

    assert (listed["applied"], listed["in_force"]) == (3, 0)
    assert {each["outcome"] for each in changes} == {"undone"}
    after = ask("page_change", id=changes[0]["id"])["files"][0]["after"]
    assert "tier: archival" in after, "what it had made of the file is still known"


def test_a_file_that_was_edited_by_hand_since_is_not_guessed(ask: Ask, home: Path) -> None:
    run = faded(ask, many=1)
    (change,) = ask("page_run", id=run)["changes"]
    path = home / "vault" / ask("page_change", id=change["id"])["files"][0]["path_after"]
    path.write_text(path.read_text("utf-8") + "\nBy hand.\n", encoding="utf-8")
    ask("reconcile")

    (file,) = ask("page_change", id=change["id"])["files"]

    assert (file["known"], file["after"]) == (False, None)
    assert "An old matter" in file["before"]


def test_runs_that_found_nothing_are_told_only_when_asked_for(ask: Ask) -> None:
    remember(ask, "The kettle is red")
    ask("run_task", id="auto_linker")

    assert ask("page_runs")["runs"] == []
    (run,) = ask("page_runs", query={"all": "true"})["runs"]
    assert (run["job"], run["changes"]) == ("auto_linker", 0)
    assert ask("page_runs", query={"all": "true", "job": "decay"})["runs"] == []


def test_jobs_and_tasks_stand_side_by_side_without_their_patches(ask: Ask) -> None:
    faded(ask)

    seen = ask("page_sleep")

    assert len(seen["jobs"]) == 8
    assert [each["id"] for each in seen["tasks"]] == ["decay", "creative", "cluster", "forget"]
    last = next(each for each in seen["jobs"] if each["id"] == "decay_manager")["last_run"]
    assert last["applied"] == 3
    assert "patches" not in last


def test_home_is_small_and_names_what_is_wrong(ask: Ask, home: Path) -> None:
    remember(ask, "The kettle is red", created=LONG_AGO)
    (home / "vault" / "broken.md").write_text("---\nid: [\n---\n", encoding="utf-8")
    ask("reconcile")

    seen = ask("page_home")

    said = {each["text"]: each for each in seen["attention"]}
    (broken,) = [each for text, each in said.items() if "1 file" in text]
    assert broken["kind"] == "bad"
    assert broken["more"][0].startswith("broken.md:")
    assert said["There is no backup yet"]["act"] == "backup"
    assert seen["size"]["memories"] >= 1


def test_home_says_of_many_files_what_it_says_of_one(ask: Ask, home: Path) -> None:
    remember(ask, "The kettle is red")
    for name in ("one", "other"):
        (home / "vault" / f"{name}.md").write_text("---\nid: [\n---\n", encoding="utf-8")
    ask("reconcile")

    said = [each["text"] for each in ask("page_home")["attention"]]

    assert "2 files cannot be read; what was known of them stays" in said


def test_home_names_a_job_that_failed(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_job: IndexUpdater, _night: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(IndexUpdater, "plan", broken)
    told = []
    for _ in range(2):
        ask("run_task", id="index_updater")
        told += [each for each in ask("page_home")["attention"] if each["job"]]

    assert [each["job"] for each in told] == ["index_updater"] * 2
    assert [each["text"] for each in told] == ["has failed", "has failed 2 times in a row"]


def test_a_run_tells_how_it_went_as_the_list_does(ask: Ask) -> None:
    run = faded(ask)

    assert ask("page_run", id=run)["report"] == ask("page_runs")["runs"][0]


def test_what_nobody_knows_is_refused(ask: Ask) -> None:
    with pytest.raises(NoSuchJob):
        ask("page_runs", query={"job": "nap"})
    with pytest.raises(NoSuchChange):
        ask("page_change", id="00000000")
    with pytest.raises(UnknownWord):
        ask("page_proposals", query={"status": "open"})
    with pytest.raises(NoSuchWhisper):
        ask("page_whisper", id="nothing")
    with pytest.raises(UnknownWord):
        ask("page_whispers", query={"outcome": "loud"})


def test_what_an_entry_of_the_whisper_log_does_not_say_is_null(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with closing(open_local(home)) as door:
        memory = remember(door.call, "The kettle is red")
        body = {
            "prompt": "tea?",
            "injected": [memory],
            "candidates": [{"memory": memory, "score": 0.9}],
        }
        stores = door.context.stores
        entry = WhisperEntry("w1", stores.clock.now(), None, None, body)
        stores.log.log_whisper(entry, stores.clock.now() - timedelta(days=1))

        ask: Ask = door.call
        (line,) = ask("page_whispers")["whispers"]
        whole = ask("page_whisper", id="w1")

    assert (line["stage"], line["told"]) == (None, [{"id": memory, "title": None}])
    assert [each["title"] for each in whole["memories"]] == [None]


def test_what_a_line_of_the_journal_does_not_say_of_a_run_is_null(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with closing(open_local(home)) as door:
        memory = remember(door.call, "The kettle is red")
        stores = door.context.stores
        ran = {"run": "r1", "report": {"applied": 1}}
        changed = {"change": "c1", "run": "r1", "by": "somebody", "edits": [{"memory": memory}]}
        events = [
            new_event(stores, EventKind.RUN, ran),
            new_event(stores, EventKind.CHANGED, changed),
        ]
        record_events(stores, events, durable=True)

        ask: Ask = door.call
        (run,) = ask("page_runs")["runs"]
        (change,) = ask("page_run", id="r1")["changes"]

    assert (run["run"], run["job"]) == ("r1", None)
    assert (change["verb"], change["reason"]) == (None, None)
