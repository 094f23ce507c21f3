"""Whether an agent that judges has something to do: a look that costs little."""

from __future__ import annotations

from madeleine.sleep.agent_answers import AgentJudge
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.maintenance import PAIR_QUERIES
from madeleine.sleep.values import JobContext, RunReport
from madeleine.write.stores import Stores


def has_agent_work(stores: Stores, config: SleepConfig) -> bool:
    """Whether some memory changed that no agent has looked at yet. There may turn out to be
    nothing to ask about it; then the next batch says so, and it counts as looked at."""
    now, judge = stores.clock.now(), AgentJudge()
    for job, look in PAIR_QUERIES.items():
        chosen = look(JobContext(stores, config, judge, RunReport(job, "", now), now)).chosen
        if stores.search.unseen(job, judge.name, chosen, now, 1):
            return True
    return False
