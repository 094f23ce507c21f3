"""The night shift: every job, and the agent's part, behind one value.

Nobody needs the jobs before one runs, and they take a while to load. So each method imports what
it needs: a daemon that starts, or a command that only asks something, does not wait for what runs
at night.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from madeleine.errors import MadeleineError
from madeleine.minds.judges.absent import AbsentJudge
from madeleine.minds.port import Judge
from madeleine.sleep.habits import SleepHabits
from madeleine.sleep.sleeper import Progress, Running, Stopped
from madeleine.sleep.values import Report
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.sleep.maintenance import HandedIn

log = logging.getLogger("madeleine.consolidation")


class Shift:
    """What happens at night, on the stores of one home."""

    def __init__(
        self, stores: Stores, habits: SleepHabits, make_judge: Callable[[], Judge]
    ) -> None:
        self._stores = stores
        self._habits = habits
        self._make_judge = make_judge

    @cached_property
    def judge(self) -> Judge:
        """Who says what memories are to each other; made when first asked for."""
        try:
            return self._make_judge()
        except MadeleineError as error:
            return AbsentJudge(error)

    def run(self, running: Running, stop: Stopped, progress: Progress) -> Report:
        """Run a job that begins now."""
        from madeleine.sleep.cycle import JOBS, TASKS
        from madeleine.sleep.run import run_job
        from madeleine.sleep.telling import end_line, start_line

        job = running.job
        if job in TASKS:
            log.info("%s", start_line(job, self._stores.search.extent().memories))
        report = run_job(
            self._stores,
            self._habits,
            self.judge,
            {**JOBS, **TASKS}[job](),
            dry_run=running.dry_run,
            stop=stop,
            progress=progress,
            due=running.due,
            at_once=running.at_once,
            request=running.request,
        )
        if job in TASKS:
            log.info("%s", end_line(report))
        return report

    def take(self) -> dict[str, object]:
        """Return a batch of questions for an agent."""
        from madeleine.sleep.maintenance import take

        return take(self._stores, self._habits)

    def see_again(self, job_id: str) -> dict[str, object]:
        """Return a batch that an agent has, once more."""
        from madeleine.sleep.maintenance import see_again

        return see_again(self._stores, job_id)

    def hand_in(self, job_id: str | None, results: object) -> HandedIn:
        """Carry out what an agent answered."""
        from madeleine.sleep.maintenance import hand_in

        return hand_in(self._stores, self._habits, job_id, results)

    def work_waits(self) -> bool:
        """Whether there is something to ask an agent."""
        from madeleine.sleep.agent_work import work_waits

        return work_waits(self._stores, self._habits)
