"""The operations about the jobs: run them, look at them, decide what they propose."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from madeleine.api import sleep_answers as answers
from madeleine.model.codec import Json
from madeleine.model.proposal import ProposalStatus
from madeleine.model.reading import Reader
from madeleine.model.words import Edge
from madeleine.sleep.reports import report_to_json
from madeleine.sleep.sleeper import Asked
from madeleine.write.proposals import show_proposal

if TYPE_CHECKING:
    from madeleine.api.operations import Call
    from madeleine.bootstrap import House

INSIGHTS = 50
INSIGHTS_AT_MOST = 1_000
EVERYTHING = "run-all"  # in the place of a job's name, where all of them are meant


def tasks(house: House, call: Call) -> Json:
    return answers.tasks(job_states(house), house.settings.sleep.enabled)


def job_states(house: House) -> list[answers.JobState]:
    """Return how each job stands, in the documented order."""
    sleeper = house.sleeper
    running, waiting, last = sleeper.running(), sleeper.waiting(), sleeper.last_runs()
    paused, every = sleeper.paused(), house.intervals.every
    return [
        answers.JobState(
            job,
            every.get(job, timedelta(0)),
            job in paused,
            job in waiting,
            running if running is not None and running.job == job else None,
            last.get(job),
            None if job in paused else sleeper.next_run(job),
        )
        for job in sleeper.order
    ]


def standing(house: House) -> Json:
    """Return what status says: how each job's last run went, and what waits for a person."""
    pending = house.stores.index.proposals(ProposalStatus.PENDING)
    return {
        "enabled": house.settings.sleep.enabled,
        "judge": house.settings.judge.kind,
        "proposals": len(pending),
        "jobs": [answers.job_in_status(each) for each in job_states(house)],
    }


def run_all(house: House, call: Call) -> Json:
    dry_run, wait = _options(call)
    return _run(house, house.sleeper.ask((), dry_run), wait)


def run_task(house: House, call: Call) -> Json:
    dry_run, wait = _options(call)
    return _run(house, house.sleeper.ask([call.named], dry_run), wait)


def _options(call: Call) -> tuple[bool, bool]:
    body, query = Reader(call.body), Reader(call.query)
    dry_run, wait = body.flag("dry_run"), query.flag("wait")
    body.done()
    query.done()
    return dry_run, wait


def _run(house: House, asked: Asked, wait: bool) -> Json:
    """Answer at once, unless who asks wants to wait or nobody else would do the work."""
    if wait or not house.sleeper.attended:
        house.sleeper.wait(asked)
    return answers.asked(asked, [report_to_json(each) for each in list(asked.reports)])


def stop_task(house: House, call: Call) -> Json:
    job = call.named
    return answers.stopped(job, house.sleeper.stop(None if job == EVERYTHING else job))


def pause_task(house: House, call: Call) -> Json:
    return answers.paused(call.named, True, house.sleeper.pause(call.named))


def resume_task(house: House, call: Call) -> Json:
    return answers.paused(call.named, False, house.sleeper.resume(call.named))


def proposal(house: House, call: Call) -> Json:
    return answers.proposal(show_proposal(house.stores, call.named))


# -- the agent as judge ----------------------------------------------------------------------


def maintenance(house: House, call: Call) -> Json:
    """Give an agent questions. That there are none is noted, so that nobody is asked in vain."""
    batch = house.shift.take()
    if batch["status"] == "idle":
        house.note_maintenance()
    return {"text": answers.batch_text(batch), **batch}


def hand_in_verdicts(house: House, call: Call) -> Json:
    """Take an agent's answers; without any it is given questions, as by a GET."""
    reader = Reader(call.body)
    job_id, results = reader.text("job_id"), reader.raw("results")
    reader.done()
    if job_id is None and results is None:
        return maintenance(house, call)
    with house.sleeper.in_turn():
        done = house.shift.hand_in(job_id, results)
    house.note_maintenance()
    return answers.handed_in(done)


def insights(house: House, call: Call) -> Json:
    reader = Reader(call.query)
    limit = reader.whole("limit", INSIGHTS, 1, INSIGHTS_AT_MOST)
    reader.done()
    index = house.stores.index
    rows = index.newest_edges([Edge.EVOLVED_FROM, Edge.CONTRADICTS], limit)
    ends = index.memories({end for row in rows for end in (row.source, row.connection.target)})
    both = [row for row in rows if row.source in ends and row.connection.target in ends]
    return answers.insights(both, ends)
