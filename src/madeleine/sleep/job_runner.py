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
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.sleeper import JobRun, Progress, StopCheck
from madeleine.sleep.values import RunReport
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.sleep.maintenance import HandInResult

log = logging.getLogger("madeleine.consolidation")


class JobRunner:
    """What happens at night, on the stores of one home."""

    def __init__(
        self, stores: Stores, config: SleepConfig, make_judge: Callable[[], Judge]
    ) -> None:
        self._stores = stores
        self._config = config
        self._make_judge = make_judge

    @cached_property
    def judge(self) -> Judge:
        """Who says what memories are to each other; made when first asked for."""
        try:
            return self._make_judge()
        except MadeleineError as error:
            return AbsentJudge(error)

    def run(self, running: JobRun, stop: StopCheck, progress: Progress) -> RunReport:
        """Run a job that begins now."""
        from madeleine.sleep.cycle import BY_DAY, JOBS, TASKS
        from madeleine.sleep.log_lines import end_line, start_line
        from madeleine.sleep.run import run_job

        job = running.job
        if job in TASKS:
            log.info("%s", start_line(job, self._stores.search.extent().memories))
        report = run_job(
            self._stores,
            self._config,
            self.judge,
            {**JOBS, **TASKS, **BY_DAY}[job](),
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

    def rest(self) -> None:
        """Let go of the network that reads pairs: jobs that follow each other load it once."""
        if self._stores.minds.relations is not None:
            self._stores.minds.relations.release()

    def take(self) -> dict[str, object]:
        """Return a batch of questions for an agent."""
        from madeleine.sleep.maintenance import take_batch

        return take_batch(self._stores, self._config)

    def describe(self) -> dict[str, object]:
        """Return whether an agent has a batch now."""
        from madeleine.sleep.maintenance import describe_reservation

        return describe_reservation(self._stores, self._config)

    def see_again(self, job_id: str) -> dict[str, object]:
        """Return a batch that an agent has, once more."""
        from madeleine.sleep.maintenance import see_again

        return see_again(self._stores, job_id)

    def hand_in(self, job_id: str | None, results: object) -> HandInResult:
        """Carry out what an agent answered."""
        from madeleine.sleep.maintenance import hand_in

        return hand_in(self._stores, self._config, job_id, results)

    def work_waits(self) -> bool:
        """Whether there is something to ask an agent."""
        from madeleine.sleep.agent_work import has_agent_work

        return has_agent_work(self._stores, self._config)
