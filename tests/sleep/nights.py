"""Jobs, judges and patches for tests of the night."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from madeleine.model.memory import Connection, Memory
from madeleine.model.verdict import MemoryPair, Synthesis, Verdict
from madeleine.model.words import Edge, Tier
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.run import run_job
from madeleine.sleep.values import (
    Action,
    AddConnections,
    Job,
    JobContext,
    Merge,
    MoveToTrash,
    Patch,
    RunReport,
    Score,
    SetSpace,
    SetTier,
    Supersede,
    Synthesise,
)
from madeleine.write.resolve import get_memory
from madeleine.write.stores import Stores
from tests.fakes import NOON, keep

CONFIG = SleepConfig(questions_most=1_000)  # what a night may ask has its own tests


@dataclass(slots=True)
class Told:
    """A judge that says what it was told to say, and counts how often it is asked."""

    say: Callable[[MemoryPair], Verdict | None] = lambda pair: None
    name: str = "told"
    cheap: bool = True
    asked: list[tuple[str, str]] = field(default_factory=list)

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        self.asked += [pair.ids for pair in pairs]
        return [self.say(pair) for pair in pairs]

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        return None

    def problems(self) -> dict[str, int]:
        return {}


@dataclass(slots=True)
class Planned:
    """A job whose patches somebody else thought of."""

    make: Callable[[JobContext], Sequence[Patch]]
    name: str = "planned"
    ends: Callable[[JobContext], None] = lambda context: None

    def plan(self, context: JobContext) -> Sequence[Patch]:
        return self.make(context)

    def done(self, context: JobContext) -> None:
        self.ends(context)


def job_of(*patches: Patch, name: str = "planned") -> Planned:
    return Planned(lambda context: patches, name)


def run(
    stores: Stores,
    job: Job,
    config: SleepConfig = CONFIG,
    dry_run: bool = False,
    due: bool = False,
    at_once: bool = False,
) -> RunReport:
    return run_job(stores, config, Told(), job, dry_run=dry_run, due=due, at_once=at_once)


def one_of_each(stores: Stores) -> dict[str, Action]:
    """Remember a few things, and return an action of each kind about them."""
    old = NOON - timedelta(days=30)
    sqlite = keep(stores, "Chose SQLite for Ormah", title="SQLite", created=old, tags=("db",))
    uses = keep(stores, "Ormah uses SQLite", created=old + timedelta(days=1))
    postgres = keep(stores, "We switched Ormah to Postgres", created=NOON)
    backup = keep(stores, "Backups run at night", connections=(Connection(uses.id, Edge.SUPPORTS),))
    lunch = keep(stores, "Lunch is at noon")
    dinner = keep(stores, "Dinner is at seven")
    supper = keep(stores, "Supper was late that day")
    now = stores.clock.now()
    return {
        "link": AddConnections(
            lunch, (Connection(dinner.id, Edge.RELATED_TO, 0.7, "meals", "planned"),)
        ),
        "merge": Merge(sqlite, uses, "SQLite for Ormah", "Chose SQLite: Ormah uses SQLite"),
        "supersede": Supersede(
            sqlite, postgres, Connection(sqlite.id, Edge.EVOLVED_FROM, 0.9, "newer", "planned")
        ),
        "tier": SetTier(backup, Tier.ARCHIVAL),
        "space": SetSpace(lunch, "kitchen"),
        "synthesise": Synthesise(
            Memory(
                stores.new_id(),
                "Lunch is at noon, dinner at seven",
                now,
                now,
                title="Meals",
                source="job:planned",
                connections=tuple(
                    Connection(each.id, Edge.DERIVED_FROM, 1.0, by="planned", at=now)
                    for each in (lunch, dinner)
                ),
            ),
            (lunch, dinner),
        ),
        "score": Score(
            "importance", {lunch.id: 0.9, dinner.id: 0.1}, {lunch.id: 0.5, dinner.id: 0.5}
        ),
        "forget": MoveToTrash(supper),
    }


KINDS = ("link", "merge", "supersede", "tier", "space", "synthesise", "forget", "score")
FILE_KINDS = KINDS[:-1]


def living(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a vault that are not in the trash."""
    return {path: data for path, data in files.items() if not path.startswith("trash/")}


def all_bytes(home: Path) -> dict[str, bytes]:
    """Every byte of a home that is said to be kept: vault, journal and index."""
    kept = [*(home / "vault").rglob("*"), *(home / "journal").rglob("*"), *home.glob("index.db*")]
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in kept
        if path.is_file() and not path.name.endswith("-shm")
    }


def importance(stores: Stores, memory: Memory) -> float:
    return get_memory(stores, memory.id).importance


def as_now(stores: Stores, memory: Memory) -> Memory:
    return get_memory(stores, memory.id)
