"""Runs the jobs of one open home: one at a time, whoever asks for them.

People ask for runs (`ask`), the timetable says that a job is due (`due`). Both are worked off
one after the other, by the daemon's own thread or, without a daemon, by whoever asks. So no two
jobs ever write at the same time, and those that are due together run in the documented order.

Where several servers share a memory, a run also holds a lease, so that the same is true of all of
them together; who asks for a run waits until another server's is over.

What must outlive a restart stands in the journal: each run's report, and which jobs are paused.
A paused job does not run by itself, nor with the whole cycle; asked for by name it runs.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from madeleine.errors import LeaseLost, NoSuchJob, UnderWay
from madeleine.model.event import Event, EventKind
from madeleine.model.task_run import TASK_NAMES
from madeleine.model.times import format_time, parse_time
from madeleine.sleep.interrupted import note_cut_off
from madeleine.sleep.reports import report_to_json
from madeleine.sleep.values import QUIET, RunReport, StopKind, report_refusal
from madeleine.write.event_bus import BusEvent
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores

ORDER = (
    "importance_scorer",
    "index_updater",
    "duplicate_merger",
    "conflict_detector",
    "auto_linker",
    "auto_cluster",
    "consolidator",
    "decay_manager",
)
"""The documented order of the sleep cycle; `cycle.JOBS` makes the jobs."""
TASKS = TASK_NAMES
"""The tasks of the consolidation engine, in the order in which they run together. They are no
part of the sleep cycle and have a timetable of their own; all else is as with the jobs."""
BY_DAY = ("update_spotter",)
"""What runs between the nights and is no part of the cycle; in all else these are jobs like
others."""
PAUSED = "sleep.paused"  # the name under which the journal keeps which jobs are paused
RUNS_READ = 4_096  # newest runs in the journal among which each job's last is looked for
TOLD = (
    "run",
    "dry_run",
    "applied",
    "proposed",
    "skipped",
    "seconds",
    "stopped",
    "stopped_parts",
    "error",
    "error_kind",
)
SWITCH_SECONDS = 0.0005  # how long a job keeps others from running at a stretch
NIGHT_GAP = timedelta(minutes=10)  # after a due run in which the next one is of the same night
LOOK_SECONDS = 0.1  # between two looks whether the daemon ends
UNFINISHED = (StopKind.ASKED_TO_STOP, StopKind.PAIRS_WAIT)
LEASE = "sleep"  # what servers take turns in

Progress = Callable[[int, int], None]
StopCheck = Callable[[], bool]


class RunJob(Protocol):
    """Runs one job now, and leaves its report in the journal. It never raises for what went
    wrong in the job: the report says so."""

    def __call__(self, running: JobRun, stop: StopCheck, progress: Progress) -> RunReport: ...


@dataclass(frozen=True, slots=True)
class LastRun:
    """How a job's last run ended."""

    at: datetime
    report: Mapping[str, object]
    failures: int = 0
    """How many runs in a row have failed by now."""

    @property
    def unfinished(self) -> bool:
        """Whether it ended before it was through: somebody stopped it, or its time was over."""
        parts = self.report.get("stopped_parts")
        return isinstance(parts, Mapping) and parts.get("kind") in UNFINISHED


@dataclass(frozen=True, slots=True)
class JobRun:
    """The run that is under way, and how far it is."""

    job: str
    began: datetime
    dry_run: bool
    done: int = 0
    total: int = 0
    due: bool = False
    """Whether nobody asked for it: its time has come."""
    at_once: bool = False
    """Whether who asked for it does not want memories to get time before they fade."""
    request: str | None = None
    """The id of the night: of all jobs that run for one request, or that are due together."""


@dataclass(slots=True)
class JobRequest:
    """Jobs that somebody asked for, in order, and the reports of those that ran."""

    id: str
    jobs: tuple[str, ...]
    dry_run: bool = False
    at_once: bool = False
    reports: list[RunReport] = field(default_factory=list)
    begun: bool = False
    called_off: bool = False
    failed: bool = False
    """Whether a bug of ours kept it from going on; the log says which."""
    over: threading.Event = field(default_factory=threading.Event)


@dataclass(slots=True)
class _DueNight:
    """What is due together, or shortly after another, and when the last of it ran."""

    id: str
    last: datetime


class Sleeper:
    """The jobs of one home. Any thread may ask."""

    def __init__(
        self,
        stores: Stores,
        order: Sequence[str],
        run: RunJob,
        tasks: Sequence[str] = (),
        by_day: Sequence[str] = (),
    ) -> None:
        self.order = tuple(order)
        self.tasks = tuple(tasks)
        self.by_day = tuple(by_day)
        self.attended = False
        """Whether a thread works off what is asked for; else whoever asks does."""
        self.planned: Callable[[str], None] = lambda job: None
        """Told when a job's next run has to be planned anew: it ran, or was resumed."""
        self.at_rest: list[Callable[[], None]] = []
        """Called when no run is left for now: what only runs need may be let go of."""
        self.next_run: Callable[[str], datetime | None] = lambda job: None
        self._stores = stores
        self._run = run
        self._turn = threading.Lock()
        self._changed = threading.Condition()
        self._asked: deque[JobRequest] = deque()
        self._due: set[str] = set()
        self._running: JobRun | None = None
        self._stop_running = False
        self._night: _DueNight | None = None
        self._ending: StopCheck = lambda: False
        self._last: dict[str, LastRun] | None = None

    # -- asking ----------------------------------------------------------------------------

    def ask(
        self, jobs: Iterable[str] | None = None, dry_run: bool = False, at_once: bool = False
    ) -> JobRequest:
        """Ask for a run of these jobs; without any, of the whole cycle but what is paused. It
        keeps the waits of the timetable about memories, unless it is to work `at_once`.

        Who asks for what already waits to be run gets the same run.
        """
        if jobs is None:
            jobs = [each for each in self.order if each not in self.paused()]
        wanted = tuple(jobs)
        for job in wanted:
            self.check(job)
        with self._changed:
            for waiting in self._asked:
                asks_for = (waiting.jobs, waiting.dry_run, waiting.at_once)
                if asks_for == (wanted, dry_run, at_once) and not waiting.begun:
                    return waiting
            asked = JobRequest(self._stores.new_id(), wanted, dry_run, at_once)
            self._asked.append(asked)
            self._changed.notify_all()
        return asked

    def wait(self, asked: JobRequest) -> None:
        """Wait until it is over or the daemon ends; without a daemon, do the work here."""
        if not self.attended:
            self.work_off()
        while not asked.over.wait(LOOK_SECONDS) and not self._ending():
            continue

    def due(self, job: str) -> None:
        """Note that a job's time has come; it runs after what people asked for."""
        with self._changed:
            self._due.add(job)
            self._changed.notify_all()

    def stop(self, job: str | None = None) -> bool:
        """Call off what is asked for or under way: one job, or everything; whether there was
        any. What a run has done by then stays done."""
        if job is not None:
            self.check(job)
        with self._changed:
            wanted = [each for each in self._asked if job in (None, *each.jobs)]
            for each in wanted:
                each.called_off = True
            running = self._running is not None and job in (None, self._running.job)
            self._stop_running = self._stop_running or running
        return running or bool(wanted) or self._stop_elsewhere(job)

    def _stop_elsewhere(self, job: str | None) -> bool:
        """Have a run stopped that another server does; that one hears of it in a while."""
        doing = self._stores.leases.doing(LEASE)
        running = None if doing is None else _read_running(doing)
        if doing is None or running is None or job not in (None, running.job):
            return False
        return self._stores.leases.stop(LEASE, doing)

    def check(self, job: str) -> None:
        if job not in self.every_job:
            raise NoSuchJob(job, self.every_job)

    @property
    def every_job(self) -> tuple[str, ...]:
        """All jobs and tasks; what is due at the same time runs in this order."""
        return self.order + self.tasks + self.by_day

    # -- pausing ---------------------------------------------------------------------------

    def pause(self, job: str) -> bool:
        """Let a job no longer run by itself; False if it was paused already."""
        self.check(job)
        return self._set_paused(job, True)

    def resume(self, job: str) -> bool:
        """Let a job run by itself again; False if it was not paused."""
        self.check(job)
        changed = self._set_paused(job, False)
        self.planned(job)
        return changed

    def paused(self) -> frozenset[str]:
        """Return the jobs that do not run by themselves."""
        value = self._stores.log.state(PAUSED)
        return frozenset(value if isinstance(value, list) else ())

    def _set_paused(self, job: str, paused: bool) -> bool:
        with self._stores.writing:
            before = self.paused()
            after = before | {job} if paused else before - {job}
            if after == before:
                return False
            body = {"key": PAUSED, "value": sorted(after)}
            record_events(
                self._stores, [new_event(self._stores, EventKind.STATE, body)], durable=True
            )
        return True

    # -- working ---------------------------------------------------------------------------

    def attend(self, ending: StopCheck) -> None:
        """Work off what is asked for and what is due, until `ending` says so."""
        self._ending = ending
        if not self._stores.leases.shared:
            note_cut_off(self._stores)
        self.attended = True
        while not ending():
            self.work_off()
            with self._changed:
                if not self._asked and not self._due and not ending():
                    self._changed.wait()

    def wake(self) -> None:
        """Have `attend` look whether it is to end."""
        with self._changed:
            self._changed.notify_all()

    def work_off(self) -> None:
        """Run everything that waits. One thread at a time; the others wait for it."""
        with self._turn:
            worked = False
            try:
                while not self._ending() and self._work_off_next():
                    worked = True
            finally:
                if worked:
                    self._rest()

    def _rest(self) -> None:
        for let_go in self.at_rest:
            let_go()

    def _work_off_next(self) -> bool:
        """Run what waits longest, people's wishes first; return whether anything did."""
        asked = self._next_asked()
        if asked is not None:
            self._carry_out(asked)
        elif (job := self._next_due()) is not None:
            self._run_alone(self._begin_due(job), lambda: False)
        else:
            return False
        return True

    def run_due(self, job: str, still_due: StopCheck) -> bool:
        """Run a job whose time has come, if it still is so once it is our turn; `UnderWay` if
        another server has it. Returns whether it ran."""
        running = self._begin_due(job)
        with self._turn, self._hold_lease(_write_running(running)) as over:
            if not still_due():
                return False
            self._run_once(running, over)
            self._rest()
            return True

    def _begin_due(self, job: str) -> JobRun:
        """Return a run of a job whose time has come. It belongs to the night of the one before it,
        if that was a moment ago; a job that comes all day makes and prolongs none."""
        now = self._stores.clock.now()
        if job in QUIET:
            return self._begin(job, due=True, request=self._stores.new_id())
        with self._changed:
            if self._night is None or now - self._night.last > NIGHT_GAP:
                self._night = _DueNight(self._stores.new_id(), now)
            self._night.last = now
            night = self._night.id
        return self._begin(job, due=True, request=night)

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Let no job run meanwhile: who does a job's work by other means takes a turn too."""
        with self._turn, self._wait_for_lease("", lambda: False):
            yield

    @contextmanager
    def _hold_lease(self, doing: str) -> Iterator[StopCheck]:
        """Keep the jobs of other servers from running on this memory. Whoever has the lease knows
        that a run which was begun and not ended was cut off."""
        with self._stores.leases.held(LEASE, doing) as over:
            if self._stores.leases.shared:
                note_cut_off(self._stores)
            yield over

    def _begin(
        self,
        job: str,
        request: str,
        dry_run: bool = False,
        due: bool = False,
        at_once: bool = False,
    ) -> JobRun:
        """Return a run that begins now."""
        now = self._stores.clock.now()
        return JobRun(job, now, dry_run, due=due, at_once=at_once, request=request)

    @contextmanager
    def _wait_for_lease(self, doing: str, called_off: StopCheck) -> Iterator[StopCheck]:
        """Take the lease as soon as no other server has it."""
        with ExitStack() as stack:
            over: StopCheck | None = None
            while over is None:
                try:
                    over = stack.enter_context(self._hold_lease(doing))
                except UnderWay:
                    if called_off() or self._ending():
                        raise
                    with self._changed:
                        self._changed.wait(LOOK_SECONDS)
            yield over

    def _next_asked(self) -> JobRequest | None:
        with self._changed:
            if not self._asked:
                return None
            self._asked[0].begun = True
            return self._asked[0]

    def _next_due(self) -> str | None:
        """Take the first due job in the documented order."""
        paused = self.paused()
        with self._changed:
            self._due -= paused
            job = next((each for each in self.every_job if each in self._due), None)
            self._due.discard(job or "")
            return job

    def _carry_out(self, asked: JobRequest) -> None:
        asked.failed = True
        try:
            for job in asked.jobs:
                if asked.called_off or self._ending():
                    break
                running = self._begin(job, asked.id, asked.dry_run, at_once=asked.at_once)
                asked.reports.append(self._run_alone(running, lambda: asked.called_off))
            asked.failed = False
        finally:
            with self._changed:
                self._asked.remove(asked)
            asked.over.set()

    def _run_alone(self, running: JobRun, called_off: StopCheck) -> RunReport:
        """Run one job, once no other server's is under way. A run that another server took over
        is told of by nobody but that one."""
        try:
            with self._wait_for_lease(_write_running(running), called_off) as over:
                return self._run_once(running, lambda: called_off() or over())
        except (UnderWay, LeaseLost) as error:
            now = self._stores.clock.now()
            return report_refusal(running.job, now, running.dry_run, error)

    def _run_once(self, running: JobRun, called_off: StopCheck) -> RunReport:
        """Run one job. Having been asked for, it is no longer due."""
        job, dry_run = running.job, running.dry_run
        self.last_runs()  # how it went before, read before this run is in the journal too
        with self._changed:
            self._stop_running = False
            running = replace(running, began=self._stores.clock.now())
            self._running = running
            if not dry_run:
                self._due.discard(job)
        self._tell("job_started", {"job": job, "dry_run": dry_run})
        try:
            with short_switch_interval():
                report = self._run(
                    running, lambda: self._is_to_stop(called_off), self._note_progress
                )
            if not dry_run:
                self._note(report)
            self._tell("job_finished", {"job": job, **_run_outcome(report)})
        finally:
            with self._changed:
                self._running = None
                if self._night is not None and running.request == self._night.id:
                    self._night.last = self._stores.clock.now()
        return report

    def _tell(self, name: str, body: Mapping[str, object]) -> None:
        self._stores.event_bus.publish([BusEvent(name, self._stores.clock.now(), body)])

    def _is_to_stop(self, called_off: StopCheck) -> bool:
        """A job looks whether it is to stop between two portions of its work: here it lets
        those go first who are waited for."""
        self._stores.priority_gate.give_way()
        return self._stop_running or called_off() or self._ending()

    def _note_progress(self, done: int, total: int) -> None:
        with self._changed:
            if self._running is not None:
                self._running = replace(self._running, done=done, total=total)

    # -- looking ---------------------------------------------------------------------------

    def running(self) -> JobRun | None:
        """Return the run that is under way, on whichever server."""
        with self._changed:
            here = self._running
        if here is not None or not self._stores.leases.shared:
            return here
        doing = self._stores.leases.doing(LEASE)
        return None if doing is None else _read_running(doing)

    def waiting(self) -> set[str]:
        """Return the jobs that wait for their turn."""
        with self._changed:
            asked = {job for each in self._asked if not each.begun for job in each.jobs}
            return asked | self._due

    def last_runs(self) -> Mapping[str, LastRun]:
        """Return how each job's last run ended, by the job; a dry run is none."""
        with self._changed:
            known = self._last
        if known is not None and not self._stores.leases.shared:
            return dict(known)
        recent = self._stores.log.recent_events
        kinds = (each for each in (self.order, self.tasks, self.by_day) if each)
        found = last_runs(
            event for jobs in kinds for event in recent([EventKind.RUN.value], RUNS_READ, jobs)
        )
        with self._changed:
            self._last = _merge_last_runs(self._last or {}, found)
            return dict(self._last)

    def _note(self, report: RunReport) -> None:
        """Remember how a run ended; the journal has it already."""
        before = self.last_runs().get(report.job)
        failures = (before.failures if before else 0) + 1 if report.error else 0
        last = LastRun(report.began, report_to_json(report), failures)
        with self._changed:
            self._last = {**(self._last or {}), report.job: last}
        self.planned(report.job)


@contextmanager
def short_switch_interval() -> Iterator[None]:
    """Let other threads of this process in more often than usual.

    A job is much Python without a pause. Whoever comes back from the disk or from a model
    meanwhile waits until the interpreter switches, which it does every 5 ms; a remember comes
    back a dozen times.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _write_running(running: JobRun) -> str:
    told = {"job": running.job, "began": format_time(running.began)}
    return json.dumps({**told, "dry_run": running.dry_run, "due": running.due})


def _read_running(text: str) -> JobRun | None:
    """Return the run that another server tells of; nothing if it is no run of a job."""
    if not text:
        return None
    told = json.loads(text)
    began = parse_time("began", told["began"])
    return JobRun(str(told["job"]), began, bool(told["dry_run"]), due=bool(told["due"]))


def _run_outcome(report: RunReport) -> dict[str, object]:
    """Return how a run went, without the patches: they quote memories."""
    values = report_to_json(report)
    return {name: values[name] for name in TOLD}


def last_runs(events: Iterable[Event]) -> dict[str, LastRun]:
    """Return each job's last run among these `run` events, newest first."""
    found: dict[str, LastRun] = {}
    over: set[str] = set()
    for each in events:
        job, report = str(each.body.get("job")), each.body.get("report")
        kept: Mapping[str, object] = report if isinstance(report, Mapping) else {}
        told = {"job": job, "run": each.body.get("run"), **kept}
        failed = bool(told.get("error"))
        if job not in found:
            found[job] = LastRun(_began_at(each, kept), told, int(failed))
        elif failed and job not in over:
            found[job] = replace(found[job], failures=found[job].failures + 1)
        if not failed:
            over.add(job)
    return found


def _merge_last_runs(
    known: Mapping[str, LastRun], found: Mapping[str, LastRun]
) -> dict[str, LastRun]:
    """Return the later of two runs of each job. Not every run is in the journal."""
    both = {**known, **found}
    return {
        job: max((each[job] for each in (found, known) if job in each), key=lambda last: last.at)
        for job in both
    }


def _began_at(each: Event, report: Mapping[str, object]) -> datetime:
    """Return when a run began, as its report says; else when it was written down."""
    began = report.get("began")
    return parse_time("began", began) if isinstance(began, str) else each.at
