"""The consolidation engine through HTTP, in the documented shapes."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.server.running import Daemon, eventually, running

TASKS = ["decay", "creative", "cluster", "forget"]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")


def history(daemon: Daemon) -> list[dict[str, Any]]:
    found = daemon.ok("GET", "/consolidate/status")["history"]
    return [dict(each) for each in found]


def test_without_a_task_all_four_run_in_their_order(home: Path) -> None:
    with running(home) as daemon:
        daemon.remember("The consolidation test likes tea")

        answer = daemon.ok("POST", "/consolidate", {})

        done = answer["consolidation"]
        assert answer["status"] == "success"
        assert list(done["steps"]) == TASKS
        assert (done["mode"], done["dry_run"], done["success"]) == ("full", False, True)
        assert TIME.match(done["started_at"])
        assert TIME.match(done["completed_at"])
        assert done["started_at"] <= done["completed_at"]


def test_one_task_runs_alone_and_tells_what_it_did(home: Path) -> None:
    with running(home) as daemon:
        daemon.remember("The consolidation test likes tea")

        done = daemon.ok("POST", "/consolidate", {"task": "decay"})["consolidation"]

        assert list(done["steps"]) == ["decay"]
        assert done["mode"] == "decay"
        assert done["steps"]["decay"]["processed"] >= 1
        assert set(done["steps"]["decay"]["distribution"]) == {"high", "medium", "low", "archive"}


def test_the_name_mode_means_the_same_as_task(daemon: Daemon) -> None:
    assert list(
        daemon.ok("POST", "/consolidate", {"mode": "forget"})["consolidation"]["steps"]
    ) == ["forget"]
    full = daemon.ok("POST", "/consolidate", {"mode": "full", "dry_run": True})["consolidation"]
    assert list(full["steps"]) == TASKS


def test_the_status_tells_when_each_task_ran_and_what_it_did(home: Path) -> None:
    with running(home) as daemon:
        before = daemon.ok("GET", "/consolidate/status")
        assert [before[f"last_{task}"] for task in TASKS] == [None] * 4
        assert before["history"] == []
        daemon.remember("The consolidation test likes tea")
        daemon.ok("POST", "/consolidate", {"task": "decay"})

        after = daemon.ok("GET", "/consolidate/status")

        assert TIME.match(after["last_decay"])
        assert after["last_creative"] is None
        (entry,) = after["history"]
        assert entry["task"] == "decay"
        assert entry["ran_at"] == after["last_decay"]
        assert entry["memories_processed"] >= 1
        assert 0 <= entry["duration_seconds"] < 60
        assert entry["success"] is True


def test_the_status_says_when_each_task_runs_next(home: Path) -> None:
    with running(home) as daemon:
        daemon.ok("POST", "/consolidate", {"task": "decay"})

        status = daemon.ok("GET", "/consolidate/status")

        assert status["next_runs"]["decay"] in ("In 24 hour(s)", "In 1 day(s)")
        assert status["next_runs"]["forget"] == "Disabled"
        assert status["next_run_at"]["forget"] is None
        assert status["tick_seconds"] == 60


@pytest.mark.soak
def test_the_history_keeps_as_many_runs_as_is_set_and_survives_a_restart(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONSOLIDATION_HISTORY_LIMIT", "3")
    with running(home) as daemon:
        for task in ("decay", "forget", "decay", "creative"):
            daemon.ok("POST", "/consolidate", {"task": task})
        before = history(daemon)
    with running(home) as again:
        status = again.ok("GET", "/consolidate/status")

    assert [each["task"] for each in before] == ["creative", "decay", "forget"]
    assert status["history"] == before
    assert status["last_decay"] == before[1]["ran_at"]


def test_a_dry_run_leaves_no_trace_in_the_history(daemon: Daemon) -> None:
    before = history(daemon)

    daemon.ok("POST", "/consolidate", {"dry_run": True})

    assert history(daemon) == before


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"task": "dream"}, "dream"),
        ({"mode": "identity"}, "identity"),
        ({"task": "decay", "mode": "forget"}, "mode"),
        ({"task": 7}, "task"),
        ({"task": "full"}, "full"),
        ({"dry_run": "false"}, "dry_run"),
        ({"dry_run": 1}, "dry_run"),
        ({"tasks": "decay"}, "tasks"),
    ],
)
def test_an_unknown_word_in_a_request_is_rejected(
    daemon: Daemon, body: dict[str, object], said: str
) -> None:
    before = history(daemon)

    refused = daemon.ask("POST", "/consolidate", body)

    assert refused.status == 422
    assert said in refused.error["message"]
    assert refused.error["hint"]
    assert history(daemon) == before


@pytest.mark.parametrize("path", ["/consolidate", "/consolidate/status"])
def test_maintenance_needs_its_own_right(
    home: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("MADELEINE_SERVER_ADMIN_TOKEN", "for-the-keeper")
    method = "GET" if path.endswith("status") else "POST"
    with running(home) as daemon:
        for token in (None, daemon.token, "wrong"):
            refused = daemon.ask(method, path, token=token)
            assert refused.status == 401
            assert "admin_token" in refused.error["hint"]
        assert daemon.ask(method, path, token="for-the-keeper").status == 200
        shown = {"X-Admin-Token": "for-the-keeper"}
        assert daemon.ask(method, path, token=None, headers=shown).status == 200
        assert daemon.ask("GET", "/admin/status", token="for-the-keeper").status == 200
        assert daemon.ask("GET", "/admin/status").status == 200


@pytest.mark.few(2)
@pytest.mark.parametrize("verb", ["run", "stop", "pause", "resume"])
def test_a_task_is_steered_by_who_has_the_admin_token_only(
    home: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("MADELEINE_SERVER_ADMIN_TOKEN", "for-the-keeper")
    with running(home) as daemon:
        path = f"/admin/tasks/forget/{verb}"
        assert daemon.ask("POST", path).status == 401
        assert daemon.ask("POST", path, token="for-the-keeper").status == 200
        assert daemon.ask("GET", "/admin/tasks").status == 200


def test_without_an_admin_token_the_usual_one_will_do(daemon: Daemon) -> None:
    assert daemon.ask("GET", "/consolidate/status").status == 200
    assert daemon.ask("GET", "/consolidate/status", token=None).status == 401


def test_a_request_that_does_not_wait_is_answered_at_once(home: Path) -> None:
    with running(home) as daemon:
        answer = daemon.ok("POST", "/consolidate", {"task": "decay"}, wait="false")

        assert answer["status"] in ("started", "success")
        eventually(lambda: history(daemon))


@pytest.mark.soak
def test_a_paused_task_is_left_out_of_the_whole_but_runs_by_name(home: Path) -> None:
    with running(home) as daemon:
        daemon.ok("POST", "/admin/tasks/creative/pause")

        done = daemon.ok("POST", "/consolidate", {})["consolidation"]

        assert list(done["steps"]) == ["decay", "cluster", "forget"]
        assert done["paused"] == ["creative"]
        status = daemon.ok("GET", "/consolidate/status")
        assert status["next_runs"]["creative"] == "Disabled"
        assert status["paused"] == ["creative"]
        alone = daemon.ok("POST", "/consolidate", {"task": "creative"})["consolidation"]
        assert list(alone["steps"]) == ["creative"]


def test_a_task_that_failed_says_so_in_the_status(home: Path) -> None:
    with running(home) as daemon:
        daemon.remember("The consolidation test likes tea")
        with closing(sqlite3.connect(home / "index.db")) as index:
            index.execute("ALTER TABLE usage RENAME TO lost")
            answer = daemon.ok("POST", "/consolidate", {"task": "forget"})
            index.execute("ALTER TABLE lost RENAME TO usage")

        assert (answer["status"], answer["consolidation"]["success"]) == ("error", False)
        status = daemon.ok("GET", "/consolidate/status")
        assert "usage" in status["failing"]["forget"]
        assert status["history"][0]["success"] is False
        jobs = daemon.ok("GET", "/admin/status")["sleep"]["jobs"]
        assert [each["id"] for each in jobs if each["failures"]] == ["forget"]


def test_a_request_that_was_called_off_is_no_success(home: Path) -> None:
    with running(home) as daemon:
        daemon.ok("POST", "/admin/tasks/decay/pause")
        for task in ("creative", "cluster", "forget"):
            daemon.ok("POST", f"/admin/tasks/{task}/pause")

        done = daemon.ok("POST", "/consolidate", {})

        assert done["consolidation"]["steps"] == {}
        assert done["consolidation"]["paused"] == TASKS


def test_the_log_has_the_documented_lines(home: Path) -> None:
    with running(home) as daemon:
        daemon.remember("The consolidation test likes tea")
        daemon.ok("POST", "/consolidate", {})

    lines = (home / "logs" / "daemon.log").read_text(encoding="utf-8")
    for said in (
        r"\[consolidation\] Starting decay task \(\d+ memories\)",
        r"\[consolidation\] Decay complete: \d+ processed, \d+\.\ds elapsed",
        r"\[consolidation\] Creative task: discovered \d+ new associations",
        r"\[consolidation\] Cluster task: created \d+ MetaMemory nodes from \d+ clusters",
        r"\[consolidation\] Forget task: archived \d+, deleted \d+ memories",
    ):
        assert re.search(said, lines), said


def test_the_daemon_runs_due_tasks_by_itself(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSOLIDATION_TICK_SECONDS", "0.1")
    monkeypatch.setenv("MADELEINE_SLEEP_FIRST_SECONDS", "0")
    with running(home) as daemon:
        eventually(lambda: {each["task"] for each in history(daemon)} >= set(TASKS[:3]))

        assert daemon.ok("GET", "/consolidate/status")["last_forget"] is None
        assert sorted(each["task"] for each in history(daemon)) == ["cluster", "creative", "decay"]


def test_a_status_changes_nothing(home: Path) -> None:
    with running(home) as daemon:
        daemon.ok("POST", "/consolidate", {"task": "decay"})
        journal = sorted((home / "journal").iterdir())
        before = [each.read_bytes() for each in journal]

        for _ in range(3):
            daemon.ok("GET", "/consolidate/status")

        assert [each.read_bytes() for each in journal] == before
