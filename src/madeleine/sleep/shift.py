"""The night shift: every job, and the agent's part, behind one value.

Nobody needs it before a job runs, and all that stands behind it takes a while to load. So
bootstrap gets it by its name when it is needed first: a daemon that starts, or a command that
only asks something, does not wait for what runs at night.
"""

from __future__ import annotations

import logging

from madeleine.minds.port import Judge
from madeleine.sleep.agent_work import work_waits
from madeleine.sleep.cycle import JOBS, TASKS
from madeleine.sleep.habits import SleepHabits
from madeleine.sleep.handed import AgentJudge
from madeleine.sleep.maintenance import HandedIn, hand_in, see_again, take
from madeleine.sleep.run import Progress, Stop, run_job
from madeleine.sleep.telling import end_line, start_line
from madeleine.sleep.values import Report
from madeleine.write.stores import Stores

log = logging.getLogger("madeleine.consolidation")


class Shift:
    """What happens at night, on the stores of one home."""

    def __init__(self, stores: Stores, habits: SleepHabits) -> None:
        self._stores = stores
        self._habits = habits

    def run(
        self,
        job: str,
        judge: Judge,
        dry_run: bool,
        stop: Stop,
        progress: Progress,
        due: bool = False,
        at_once: bool = False,
        request: str | None = None,
    ) -> Report:
        """Run the job of that name, because somebody asked, who may want it done `at_once`, or
        because it is `due`; `request` is the id of the night that it belongs to."""
        if job in TASKS:
            log.info("%s", start_line(job, self._stores.index.extent().memories))
        options = (self._stores, self._habits, judge, {**JOBS, **TASKS}[job]())
        report = run_job(
            *options,
            dry_run=dry_run,
            stop=stop,
            progress=progress,
            due=due,
            at_once=at_once,
            request=request,
        )
        if job in TASKS:
            log.info("%s", end_line(report))
        return report

    def agent_judge(self) -> Judge:
        """Return the judge that answers nothing by itself: the answers are handed in."""
        return AgentJudge()

    def take(self) -> dict[str, object]:
        """Return a batch of questions for an agent."""
        return take(self._stores, self._habits)

    def see_again(self, job_id: str) -> dict[str, object]:
        """Return a batch that an agent has, once more."""
        return see_again(self._stores, job_id)

    def hand_in(self, job_id: str | None, results: object) -> HandedIn:
        """Carry out what an agent answered."""
        return hand_in(self._stores, self._habits, job_id, results)

    def work_waits(self) -> bool:
        """Whether there is something to ask an agent."""
        return work_waits(self._stores, self._habits)
