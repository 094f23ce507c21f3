"""When the tasks of the consolidation engine run: due logic on a frozen clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.api.consolidation_answers import render_time_until
from madeleine.bootstrap import make_intervals
from madeleine.errors import BadSetting
from madeleine.model.event import EventKind
from madeleine.settings import Settings, read_settings
from madeleine.sleep.config import ConsolidationConfig
from madeleine.sleep.intervals import JobIntervals, due_tasks, task_run
from madeleine.sleep.log_lines import end_line, start_line
from madeleine.sleep.sleeper import ORDER, TASKS, JobRun, LastRun, Sleeper
from madeleine.sleep.timetable import Timetable
from madeleine.sleep.values import RunReport
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores
from tests.fakes import NOON, close, make_stores, reopened
from tests.sleep.test_timetable import Runner

DAY = timedelta(days=1)
INTERVALS = make_intervals(Settings().sleep, ConsolidationConfig())


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "home")
    yield opened
    close(opened)


def ran(**ago: timedelta) -> Mapping[str, LastRun]:
    return {task: LastRun(NOON - since, {}) for task, since in ago.items()}


def test_the_documented_intervals_are_the_defaults() -> None:
    assert INTERVALS.tasks == {
        "decay": DAY,
        "creative": 7 * DAY,
        "cluster": 30 * DAY,
        "forget": timedelta(0),
    }
    assert INTERVALS.tick == timedelta(seconds=60)


def test_what_never_ran_is_due_and_what_is_disabled_never_is() -> None:
    assert due_tasks({}, INTERVALS, NOON) == ["decay", "creative", "cluster"]
    assert task_run(None, "forget", INTERVALS, NOON) is None


def test_a_task_is_due_again_when_its_interval_is_over_and_not_before() -> None:
    last = ran(decay=DAY, creative=7 * DAY - timedelta(seconds=1), cluster=31 * DAY)

    assert due_tasks(last, INTERVALS, NOON) == ["decay", "cluster"]


def test_a_failed_run_is_tried_again() -> None:
    failed = {"decay": LastRun(NOON - timedelta(minutes=15), {"error": "down"}, 1)}
    just_now = {"decay": LastRun(NOON, {"error": "down"}, 1)}

    assert "decay" in due_tasks({**ran(creative=DAY, cluster=DAY), **failed}, INTERVALS, NOON)
    assert due_tasks({**ran(creative=DAY, cluster=DAY), **just_now}, INTERVALS, NOON) == []


def test_every_documented_variable_is_read_without_our_prefix() -> None:
    given = {
        "CONSOLIDATION_TICK_SECONDS": "5",
        "CONSOLIDATION_DECAY_INTERVAL_SECONDS": "1800",
        "CONSOLIDATION_CREATIVE_INTERVAL_SECONDS": "7200",
        "CONSOLIDATION_CLUSTER_INTERVAL_SECONDS": "43200",
        "CONSOLIDATION_FORGET_INTERVAL_SECONDS": "86400",
        "CONSOLIDATION_DECAY_IMPORTANCE_THRESHOLD": "0.2",
        "CONSOLIDATION_HISTORY_LIMIT": "7",
        "CONSOLIDATION_PROTECTED_TYPES": "Decision,Preference",
        "CONSOLIDATION_GRACE_PERIOD_DAYS": "30",
        "CONSOLIDATION_ARCHIVE_THRESHOLD": "0.2",
        "CONSOLIDATION_DELETE_THRESHOLD": "0.05",
    }

    found = read_settings({}, given).consolidation

    assert {
        name: str(getattr(found, name.removeprefix("CONSOLIDATION_").lower())) for name in given
    } == {
        **given,
        "CONSOLIDATION_TICK_SECONDS": "5.0",
        "CONSOLIDATION_DECAY_INTERVAL_SECONDS": "1800.0",
        "CONSOLIDATION_CREATIVE_INTERVAL_SECONDS": "7200.0",
        "CONSOLIDATION_CLUSTER_INTERVAL_SECONDS": "43200.0",
        "CONSOLIDATION_FORGET_INTERVAL_SECONDS": "86400.0",
        "CONSOLIDATION_GRACE_PERIOD_DAYS": "30.0",
    }


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CONSOLIDATION_DECAY_INTERVAL_SECONDS", "1e12"),
        ("CONSOLIDATION_FORGET_INTERVAL_SECONDS", "1e300"),
        ("CONSOLIDATION_FORMULA", "bogus"),
    ],
)
def test_a_value_that_cannot_work_is_refused_at_once(variable: str, value: str) -> None:
    with pytest.raises(BadSetting, match=variable.lower().removeprefix("consolidation_")):
        read_settings({}, {variable: value})


def test_our_own_name_for_a_variable_wins_over_the_documented_one() -> None:
    both = {"CONSOLIDATION_TICK_SECONDS": "5", "MADELEINE_CONSOLIDATION_TICK_SECONDS": "6"}

    assert read_settings({}, both).consolidation.tick_seconds == 6


def test_the_documented_defaults() -> None:
    found = ConsolidationConfig()

    assert (found.tick_seconds, found.history_limit) == (60, 20)
    assert (found.decay_interval_seconds, found.creative_interval_seconds) == (86_400, 604_800)
    assert (found.cluster_interval_seconds, found.forget_interval_seconds) == (2_592_000, 0)
    assert found.decay_importance_threshold == 0.3
    assert (found.protected_types, found.grace_period_days) == ("Decision,Insight", 90)
    assert (found.archive_threshold, found.delete_threshold) == (0, 0)
    assert (found.similarity_threshold, found.min_cluster_size) == (0.75, 5)


def test_a_tick_runs_what_is_due_once_and_leaves_the_rest(stores: Stores) -> None:
    runner = Runner(stores)
    sleeper = Sleeper(stores, ORDER, runner, TASKS)
    timetable = Timetable(sleeper, JobIntervals(tasks=INTERVALS.tasks), stores.clock)

    for _ in range(3):
        timetable.tick()
        sleeper.work_off()

    assert runner.ran == ["decay", "creative", "cluster"]


def test_a_job_never_runs_twice_at_once(stores: Stores) -> None:
    sleepers: list[Sleeper] = []
    ticked: list[str] = []

    def run(running: JobRun, stop: object, progress: object) -> RunReport:
        job = running.job
        Timetable(sleepers[0], JobIntervals(tasks={"decay": DAY}), stores.clock).tick()
        ticked.append(job)
        report = RunReport(job, stores.new_id(), stores.clock.now())
        body: dict[str, object] = {"run": report.run, "job": job, "report": {}}
        record_events(stores, [new_event(stores, EventKind.RUN, body)], durable=False)
        return report

    sleepers.append(Sleeper(stores, ORDER, run, TASKS))
    sleepers[0].ask(["decay"])
    sleepers[0].work_off()

    assert ticked == ["decay"]


def test_last_runs_are_known_after_a_restart_however_much_ran_since(
    stores: Stores, tmp_path: Path
) -> None:
    runner = Runner(stores)
    sleeper = Sleeper(stores, ORDER, runner, TASKS)
    sleeper.ask(["cluster"])
    sleeper.work_off()
    many = [
        new_event(stores, EventKind.RUN, {"run": f"r{n}", "job": "index_updater", "report": {}})
        for n in range(5_000)
    ]
    record_events(stores, many, durable=False)

    again = reopened(stores, tmp_path / "home")
    known = Sleeper(again, ORDER, runner, TASKS).last_runs()
    close(again)

    assert set(known) == {"cluster", "index_updater"}


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (None, "Disabled"),
        (timedelta(0), "Due now"),
        (-DAY, "Due now"),
        (timedelta(minutes=1), "In 1 hour(s)"),
        (timedelta(hours=5), "In 5 hour(s)"),
        (3 * DAY + timedelta(hours=2), "In 3 day(s)"),
    ],
)
def test_the_next_run_in_words(left: timedelta | None, said: str) -> None:
    assert render_time_until(None if left is None else NOON + left, NOON) == said


def test_the_documented_lines_of_the_log() -> None:
    decay = RunReport("decay", "r", NOON, seconds=0.84, looked=1542)
    creative = RunReport("creative", "r", NOON, counts={"created": 3})
    cluster = RunReport(
        "cluster", "r", NOON, counts={"meta_memories_created": 2, "clusters_found": 8}
    )
    forget = RunReport("forget", "r", NOON, counts={"archived_count": 120, "deleted_count": 30})

    assert start_line("decay", 1542) == "[consolidation] Starting decay task (1542 memories)"
    assert end_line(decay) == "[consolidation] Decay complete: 1542 processed, 0.8s elapsed"
    assert end_line(creative) == "[consolidation] Creative task: discovered 3 new associations"
    assert (
        end_line(cluster)
        == "[consolidation] Cluster task: created 2 MetaMemory nodes from 8 clusters"
    )
    assert end_line(forget) == "[consolidation] Forget task: archived 120, deleted 30 memories"
