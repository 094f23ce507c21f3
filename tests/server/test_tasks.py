"""The jobs through HTTP: look at them, run them, stop, pause and resume them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.server.running import Daemon, eventually, running

CYCLE = [
    "importance_scorer",
    "index_updater",
    "duplicate_merger",
    "conflict_detector",
    "auto_linker",
    "auto_cluster",
    "consolidator",
    "decay_manager",
]


def task(daemon: Daemon, job: str) -> dict[str, Any]:
    tasks = daemon.ok("GET", "/admin/tasks")["tasks"]
    return next(each for each in tasks if each["id"] == job)


# -- looking -------------------------------------------------------------------------------


def test_every_job_is_listed_with_its_documented_interval_in_the_order_of_the_cycle(
    daemon: Daemon,
) -> None:
    tasks = daemon.ok("GET", "/admin/tasks")["tasks"]

    assert [each["id"] for each in tasks] == CYCLE
    assert {each["id"]: each["interval_minutes"] for each in tasks} == {
        "importance_scorer": 120,
        "index_updater": 1,
        "duplicate_merger": 1440,
        "conflict_detector": 1440,
        "auto_linker": 1440,
        "auto_cluster": 60,
        "consolidator": 1440,
        "decay_manager": 1440,
    }


def test_the_daemon_plans_the_jobs_once_it_is_up(home: Path) -> None:
    with running(home) as daemon:
        eventually(lambda: task(daemon, "decay_manager")["next_run"])

        assert task(daemon, "decay_manager")["last_run"] is None  # not right after the start


def test_without_a_timetable_no_job_is_planned(home: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MADELEINE_SLEEP_ENABLED", "false")
    monkeypatch.setenv("CONSOLIDATION_ENABLED", "false")
    with running(home) as daemon:
        answer = daemon.ok("GET", "/admin/tasks")

        assert answer["enabled"] is False
        assert daemon.ok("POST", "/admin/tasks/decay_manager/run", {}, wait="true")["reports"]
        assert task(daemon, "decay_manager")["next_run"] is None
        names = {each["name"] for each in daemon.ok("GET", "/admin/status")["daemon"]["loops"]}
        assert "timetable" not in names


@pytest.mark.soak
@pytest.mark.parametrize(("jobs", "tasks"), [("false", "true"), ("true", "false")])
def test_the_night_and_consolidation_are_turned_off_each_by_its_own_setting(
    home: Path, monkeypatch: Any, jobs: str, tasks: str
) -> None:
    monkeypatch.setenv("MADELEINE_SLEEP_ENABLED", jobs)
    monkeypatch.setenv("CONSOLIDATION_ENABLED", tasks)
    monkeypatch.setenv("MADELEINE_SLEEP_FIRST_SECONDS", "0")
    with running(home) as daemon:
        mine = "decay_manager" if jobs == "true" else "decay"
        eventually(lambda: has_run(daemon, mine), seconds=15)

        assert has_run(daemon, "decay_manager") == (jobs == "true")
        assert has_run(daemon, "decay") == (tasks == "true")
        standing = daemon.ok("GET", "/consolidate/status")
        assert standing["enabled"] is (tasks == "true")
        assert (standing["next_runs"]["decay"] != "Disabled") is (tasks == "true")


def has_run(daemon: Daemon, name: str) -> bool:
    if name == "decay":
        return daemon.ok("GET", "/consolidate/status")["last_decay"] is not None
    return task(daemon, name)["last_run"] is not None


def test_jobs_that_are_due_run_by_themselves(home: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MADELEINE_SLEEP_FIRST_SECONDS", "0")
    with running(home) as daemon:
        eventually(lambda: task(daemon, "decay_manager")["last_run"], seconds=15)

        tasks = daemon.ok("GET", "/admin/tasks")["tasks"]

    assert all(each["last_run"] for each in tasks)


# -- running -------------------------------------------------------------------------------


def test_run_all_runs_the_jobs_in_the_documented_order(daemon: Daemon) -> None:
    answer = daemon.ok("POST", "/admin/tasks/run-all", {}, wait="true")

    assert answer["status"] == "finished"
    assert [each["job"] for each in answer["reports"]] == CYCLE
    assert not any(each["error"] for each in answer["reports"])


def test_a_run_answers_at_once_and_its_report_comes_later(daemon: Daemon) -> None:
    answer = daemon.ok("POST", "/admin/tasks/auto_cluster/run")

    assert answer["status"] in ("started", "finished")
    assert answer["jobs"] == ["auto_cluster"]
    eventually(lambda: task(daemon, "auto_cluster")["last_run"])


@pytest.mark.parametrize("verb", ["run", "pause", "resume", "stop"])
def test_an_unknown_job_is_refused_with_those_there_are(daemon: Daemon, verb: str) -> None:
    answer = daemon.ask("POST", f"/admin/tasks/dreaming/{verb}", {})

    assert answer.status == 404
    assert answer.error["code"] == "missing"
    assert all(job in answer.error["hint"] for job in CYCLE)


@pytest.mark.parametrize("body", [{"dryrun": True}, {"dry_run": "false"}])
def test_a_run_refuses_what_it_does_not_understand(daemon: Daemon, body: object) -> None:
    assert daemon.ask("POST", "/admin/tasks/run-all", body).status == 422


def test_a_dry_run_changes_no_byte(home: Path) -> None:
    with running(home) as daemon:
        for number in range(3):
            daemon.remember(f"The heating in room {number} is serviced in May.")
        before = {path: path.read_bytes() for path in sorted(daemon.vault.rglob("*.md"))}
        events = daemon.ok("GET", "/admin/status")["counts"]["events"]

        answer = daemon.ok("POST", "/admin/tasks/run-all", {"dry_run": True}, wait="true")

        assert all(each["dry_run"] for each in answer["reports"])
        assert before == {path: path.read_bytes() for path in sorted(daemon.vault.rglob("*.md"))}
        assert daemon.ok("GET", "/admin/status")["counts"]["events"] == events
        assert task(daemon, "auto_linker")["last_run"] is None


# -- pausing -------------------------------------------------------------------------------


def test_a_paused_job_is_still_paused_after_a_kill(home: Path) -> None:
    with running(home) as daemon:
        assert daemon.ok("POST", "/admin/tasks/consolidator/pause")["paused"]
        daemon.kill()
    with running(home) as daemon:
        assert task(daemon, "consolidator")["paused"]
        ran = daemon.ok("POST", "/admin/tasks/run-all", {}, wait="true")["jobs"]
        assert ran == [each for each in CYCLE if each != "consolidator"]

        assert not daemon.ok("POST", "/admin/tasks/consolidator/resume")["paused"]
        assert not task(daemon, "consolidator")["paused"]


@pytest.mark.soak
def test_the_last_report_is_still_there_after_a_restart(home: Path) -> None:
    with running(home) as daemon:
        (report,) = daemon.ok("POST", "/admin/tasks/decay_manager/run", {}, wait="true")["reports"]
        daemon.end()
    with running(home) as daemon:
        last = task(daemon, "decay_manager")["last_run"]

    assert last["run"] == report["run"]


# -- a judge that takes its time -----------------------------------------------------------


@contextmanager
def slow_model(release: threading.Event) -> Iterator[str]:
    """A language model's server that does not answer before it is let to."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            release.wait(20)
            data = json.dumps({"choices": [{"message": {"content": "{}"}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            """Nobody wants to read it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        release.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.fixture
def thinking(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    """A daemon with alike memories whose judge does not answer."""
    with slow_model(threading.Event()) as url:
        monkeypatch.setenv("MADELEINE_JUDGE_KIND", "llm")
        monkeypatch.setenv("MADELEINE_JUDGE_URL", url)
        monkeypatch.setenv("MADELEINE_JUDGE_MODEL", "slow")
        with running(home) as daemon:
            for place in ("Lisbon", "Oslo", "Dublin"):
                daemon.remember(f"The office of the Atlas project is in {place}.")
            yield daemon


def test_a_long_run_answers_at_once_and_can_be_stopped(thinking: Daemon) -> None:
    began = time.monotonic()
    assert thinking.ok("POST", "/admin/tasks/run-all")["status"] == "started"
    assert time.monotonic() - began < 1
    eventually(lambda: task(thinking, "duplicate_merger")["running"])

    assert thinking.ok("POST", "/admin/tasks/run-all/stop")["stopped"]
    assert thinking.remember("Somebody writes while the judge thinks.")


@pytest.mark.few(1)
def test_the_daemon_ends_soon_even_while_a_judge_thinks(thinking: Daemon) -> None:
    thinking.ok("POST", "/admin/tasks/run-all")
    eventually(lambda: task(thinking, "duplicate_merger")["running"])
    began = time.monotonic()

    thinking.door.call("stop")
    eventually(lambda: not _held(thinking), seconds=4)

    assert time.monotonic() - began < 4


def _held(daemon: Daemon) -> bool:
    """Whether the home is still taken."""
    return (daemon.home / "run" / "socket").exists()


# -- what the jobs found -------------------------------------------------------------------


def test_insights_show_what_replaced_what_and_what_contradicts_what(daemon: Daemon) -> None:
    old = daemon.remember("Insight: the harbour office uses SQLite", type="decision")
    new = daemon.remember("Insight: the harbour office moved to Postgres", type="decision")
    one = daemon.remember("Insight: meetings are best in the morning", type="preference")
    other = daemon.remember("Insight: no meeting before noon, ever", type="preference")
    for source, target, edge in ((new, old, "evolved_from"), (one, other, "contradicts")):
        ends = {"source_id": source, "target_id": target, "edge": edge, "reason": "told so"}
        daemon.ok("POST", "/agent/connect", ends)

    answer = daemon.ok("GET", "/agent/insights")

    (evolution,) = answer["evolutions"]
    assert (evolution["from"]["id"], evolution["to"]["id"]) == (old, new)
    assert evolution["from"]["created"]
    assert evolution["reason"] == "told so"
    (tension,) = answer["tensions"]
    assert {tension["one"]["id"], tension["other"]["id"]} == {one, other}
    assert "replaced" in answer["text"]


def test_insights_are_the_newest_first_and_at_most_as_many_as_asked_for(home: Path) -> None:
    with running(home) as daemon:
        ids = [daemon.remember(f"Statement {number} about the roof") for number in range(4)]
        for older, newer in pairwise(ids):
            ends = {"source_id": newer, "target_id": older, "edge": "evolved_from"}
            daemon.ok("POST", "/agent/connect", ends)

        found = daemon.ok("GET", "/agent/insights", limit=2)["evolutions"]

    assert [each["to"]["id"] for each in found] == [ids[3], ids[2]]


def test_an_agent_takes_questions_and_hands_in_nothing_that_was_not_asked(home: Path) -> None:
    with running(home) as daemon:
        for place in ("Lisbon", "Oslo"):
            daemon.remember(f"The office of the Atlas project is in {place}.")
        batch = daemon.ok("GET", "/agent/maintenance")
        assert batch["status"] == "ready"
        assert daemon.ok("GET", "/agent/maintenance")["status"] == "busy"

        results = {"verdicts": [{"pair": "p99", "relation": "duplicate", "sure": 1.0}]}
        bad = {"job_id": batch["job_id"], "results": results}
        assert daemon.ask("POST", "/agent/maintenance", bad).status == 422
        good = {"job_id": batch["job_id"], "results": {"verdicts": []}}
        assert daemon.ok("POST", "/agent/maintenance", good)["status"] == "done"
        assert daemon.ask("POST", "/agent/maintenance", good).status == 409
        unknown = {"job_id": "nobody", "results": {"verdicts": []}}
        assert daemon.ask("POST", "/agent/maintenance", unknown).status == 404
