"""Whole nights with the judge that is shipped, on stores that nobody thought of.

They come to rest: from then on a night changes nothing. Taken back, run by run and the newest
first, they leave every file as it was, byte for byte. And what somebody writes while a job
thinks is there afterwards.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from madeleine.minds.judges.local import LocalJudge
from madeleine.minds.judges.weights import shipped_weights
from madeleine.model.memory import Memory
from madeleine.model.revision import Revision
from madeleine.model.verdict import MemoryPair, Synthesis, Verdict
from madeleine.model.words import MemoryType
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.cycle import JOBS
from madeleine.sleep.run import run_all, run_job
from madeleine.sleep.values import RunReport
from madeleine.write.forget import forget
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.examples import some_of
from tests.fakes import NOON, close, keep, make_stores, reopened, vault_bytes
from tests.sleep.nights import importance, living

NIGHTS = 8  # more than a handful of memories needs to come to rest
PAIR_JOBS = ("duplicate_merger", "conflict_detector", "auto_linker", "consolidator")
SUBJECTS = ("Atlas", "the billing service")
SAYINGS = tuple(
    saying.format(subject)
    for subject in SUBJECTS
    for saying in (
        "We chose SQLite as the database of {}",
        "We chose SQLite as the database of {} after all",
        "We chose SQLite as the database of {} after all, in May",
        "We switched the database of {} from SQLite to Postgres",
        "The backup of {} runs at 02:00 every night",
        "The backup of {} runs at 04:30 every night",
        "Every night at 02:00 the backup of {} runs",
        "Never deploy {} on a Friday",
        "Always deploy {} on a Friday",
        "Lena maintains {}",
    )
)


@dataclass(frozen=True, slots=True)
class Told:
    """Something that was remembered."""

    content: str
    days: int
    type: MemoryType
    space: str | None
    source: str

    def keep(self, stores: Stores) -> Memory:
        created = NOON - timedelta(days=self.days)
        return keep(
            stores,
            self.content,
            created=created,
            type=self.type,
            space=self.space,
            source=self.source,
        )


def stories(least: int, most: int) -> st.SearchStrategy[list[Told]]:
    one = st.builds(
        Told,
        st.sampled_from(SAYINGS),
        st.integers(0, 40),
        st.sampled_from([MemoryType.FACT, MemoryType.FACT, MemoryType.DECISION]),
        st.sampled_from([None, None, "atlas"]),
        st.sampled_from(["agent:me", "import:notes"]),
    )
    return st.lists(one, min_size=least, max_size=most, unique_by=lambda each: each.content)


def a_night(stores: Stores) -> list[RunReport]:
    jobs = [make() for make in JOBS.values()]
    reports = run_all(stores, SleepConfig(), LocalJudge(shipped_weights()), jobs)
    assert [each.error for each in reports] == [None] * len(JOBS)
    return reports


@pytest.mark.timeout(180)
@settings(max_examples=some_of(12), deadline=None)
@given(stories(3, 9), st.booleans())
def test_nights_come_to_rest_and_are_taken_back_byte_for_byte(
    told: list[Told], rebuilt: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        stores = make_stores(home)
        memories = [each.keep(stores) for each in told]
        before = living(vault_bytes(stores))
        weights = [importance(stores, each) for each in memories]

        nights = [a_night(stores)]
        while any(each.applied or each.proposed for each in nights[-1]):
            assert len(nights) < NIGHTS, "the nights do not come to rest"
            nights.append(a_night(stores))
        at_rest, asked = vault_bytes(stores), stores.log.proposals()
        nights.append(a_night(stores))
        assert (vault_bytes(stores), stores.log.proposals()) == (at_rest, asked)

        stores = reopened(stores, home, without_index=rebuilt)
        for report in reversed([each for reports in nights for each in reports]):
            if stores.log.changes(report.run):
                undo(stores, report.run)
        assert living(vault_bytes(stores)) == before
        assert [importance(stores, each) for each in memories] == weights
        close(stores)


# -- writing while a job thinks ------------------------------------------------------------


@dataclass
class Interrupted:
    """The shipped judge; while it thinks for the first time, somebody does something else."""

    meanwhile: Callable[[], None]
    name: str = "interrupted"
    cheap: bool = True
    done: bool = False
    judge_of_words: LocalJudge = field(default_factory=lambda: LocalJudge(shipped_weights()))

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        found = self.judge_of_words.judge(pairs)
        self._interrupt()
        return found

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        found = self.judge_of_words.synthesise(members)
        self._interrupt()
        return found

    def problems(self) -> dict[str, int]:
        return {}

    def _interrupt(self) -> None:
        if not self.done:
            self.done = True
            self.meanwhile()


@pytest.mark.timeout(180)
@settings(max_examples=some_of(20), deadline=None)
@given(
    stories(3, 8),
    st.sampled_from(PAIR_JOBS),
    st.lists(st.tuples(st.sampled_from(["revise", "forget", "new"]), st.integers(0, 7))),
)
def test_what_is_written_while_a_job_thinks_is_there_afterwards(
    told: list[Told], job: str, writes: list[tuple[str, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stores = make_stores(Path(folder) / "home")
        alive = {each.id: each.content for each in (each.keep(stores) for each in told)}
        gone: set[str] = set()
        touched: set[str] = set()

        def meanwhile() -> None:
            for number, (what, place) in enumerate(writes):
                memory_id = list(alive)[place % len(alive)] if alive else ""
                if what == "new" or not alive:
                    memory_id = keep(stores, f"Remark {number} came in between").id
                    alive[memory_id] = f"Remark {number} came in between"
                elif what == "revise":
                    alive[memory_id] = f"{alive[memory_id]}, says {number}"
                    revise(stores, memory_id, Revision({"content": alive[memory_id]}))
                else:
                    forget(stores, memory_id)
                    gone.add(memory_id)
                    del alive[memory_id]
                touched.add(memory_id)

        judge = Interrupted(meanwhile)
        report = run_job(stores, SleepConfig(), judge, JOBS[job]())
        assert report.error is None

        now = stores.search.memories([*alive, *gone])
        for memory_id in touched & alive.keys() if judge.done else ():
            assert now[memory_id].content == alive[memory_id]
        assert not gone & now.keys()
        close(stores)
