"""A judge that answers from a script, and nights with it: the one thing that may be scripted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from madeleine.minds.port import Judge
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair, Relation, Synthesis, Verdict
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.run import run_job
from madeleine.sleep.values import Job, RunReport
from madeleine.write.stores import Stores

Answer = Callable[[MemoryPair], Verdict | None]
NONE = Verdict(Relation.NONE, 1.0, "nothing")


def says(relation: Relation, sure: float = 0.99, **more: object) -> Verdict:
    return replace(Verdict(relation, sure, "so it is written"), **more)  # type: ignore[arg-type]


def always(verdict: Verdict | None) -> Answer:
    return lambda pair: verdict


def between(one: str, other: str, verdict: Verdict | None) -> Answer:
    """Answer about the pair of which one text holds `one` and the other `other`."""

    def answer(pair: MemoryPair) -> Verdict | None:
        texts = (pair.older.content, pair.newer.content)
        if any(one in a and other in b for a, b in (texts, texts[::-1])):
            return verdict
        return NONE

    return answer


@dataclass
class ScriptedJudge:
    """Answers each pair by the script, and remembers what it was asked."""

    answer: Answer = field(default_factory=lambda: always(NONE))
    cheap: bool = True
    text: Callable[[Sequence[Memory]], Synthesis | None] = lambda members: None
    name: str = "scripted"
    asked: list[tuple[str, str]] = field(default_factory=list)

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        self.asked += [(pair.older.content, pair.newer.content) for pair in pairs]
        return [self.answer(pair) for pair in pairs]

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        return self.text(members)

    def problems(self) -> dict[str, int]:
        return {}


def context(
    stores: Stores,
    job: Job,
    judge: Judge,
    *,
    dry_run: bool = False,
    stop: Callable[[], bool] = lambda: False,
    **config: object,
) -> RunReport:
    """Run a job once; a job that failed is no night."""
    chosen = replace(SleepConfig(), **config)  # type: ignore[arg-type]  # tests name real fields
    report = run_job(stores, chosen, judge, job, dry_run=dry_run, stop=stop)
    assert report.error is None, report.error
    return report
