"""Whether an agent that judges has something to do: a look that costs little."""

from __future__ import annotations

from madeleine.sleep.habits import SleepHabits
from madeleine.sleep.handed import AgentJudge
from madeleine.sleep.maintenance import LOOKS
from madeleine.sleep.values import Night, Report
from madeleine.write.stores import Stores


def work_waits(stores: Stores, habits: SleepHabits) -> bool:
    """Whether some memory changed that no agent has looked at yet. There may turn out to be
    nothing to ask about it; then the next batch says so, and it counts as looked at."""
    now, judge = stores.clock.now(), AgentJudge()
    for job, look in LOOKS.items():
        chosen = look(Night(stores, habits, judge, Report(job, "", now), now)).chosen
        if stores.search.unseen(job, judge.name, chosen, now, 1):
            return True
    return False
