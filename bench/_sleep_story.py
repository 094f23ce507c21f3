"""The story of one store of Everyday over many nights: what it had, what it did, what was right.

The notes of a store come in day by day, in their order, and every night all jobs run, by a clock
that is made up; everything else is real. Nobody answers what is asked. What a night replaced,
merged or asked about is held against what the set says of the notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from _everyday_asking import same_as
from _everyday_night import is_same_or_later
from _everyday_set import EverydayMemory, EverydayStore, read_stores
from _everyday_systems import draft_of
from _measure import progress
from _recall_homes import Homes
from _recall_metrics import mean
from _recall_report import Figure, share
from _recall_sets import memory_id

from madeleine.api.call import OperationCall
from madeleine.api.contract.responses import LogEntry
from madeleine.api.operations import perform_operation
from madeleine.bootstrap import HomeContext, open_home
from madeleine.model.proposal import ProposalStatus
from madeleine.sleep.sleeper import ORDER

PART = "story"
FIRST_DAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
TELLING = 0.75  # share of the days on which something new is told; then the store is only used
ASKED = 2  # questions a day
JUDGED = ("retired", "merged", "asked")
"""What is done with two notes, of which the set knows if it is right."""
TOLD = (*JUDGED, "archived", "moved", "consolidated")
ENTRIES = 500  # of one night that are read


@dataclass(slots=True)
class StoryClock:
    """A clock that somebody else moves; no two looks give the same time."""

    at: datetime

    def now(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at


@dataclass(slots=True)
class StoreLife:
    """A store while its days go by."""

    store: EverydayStore
    context: HomeContext
    clock: StoryClock
    deeds: Counter[str] = field(default_factory=Counter)
    right: dict[str, list[bool]] = field(default_factory=dict)
    last_night: str | None = None

    @property
    def names(self) -> Mapping[str, EverydayMemory]:
        """The notes by the ids that they have in the home."""
        return {
            memory_id("everyday", self.store.name, each.id): each for each in self.store.memories
        }


def story(homes: Homes, name: str, nights: int) -> list[Figure]:
    """Let a store live through so many nights, tell what happens, and return what it came to."""
    stores = {each.name: each for each in read_stores("train")}
    if name and name not in stores:
        raise SystemExit(f"no store {name!r}; there are {', '.join(stores)}")
    store = stores[name or next(iter(stores))]
    life = _begin(homes, store)
    try:
        for day in range(nights):
            _live_one_day(life, day, nights)
        return list(_sum_up(life, nights))
    finally:
        life.context.close()


def _begin(homes: Homes, store: EverydayStore) -> StoreLife:
    home = homes.folder / f"story-{store.name}"
    home.mkdir(exist_ok=True)
    homes.share_embeddings(home)
    context, clock = open_home(home), StoryClock(FIRST_DAY)
    context.stores = replace(context.stores, clock=clock)
    context.__post_init__()  # what was made with the stores of before
    return StoreLife(store, context, clock)


def _live_one_day(life: StoreLife, day: int, nights: int) -> None:
    life.clock.at = FIRST_DAY + timedelta(days=day)
    notes = sorted(life.store.memories, key=lambda each: each.created)
    per_day = len(notes) / max(1.0, TELLING * nights)
    new = notes[int(day * per_day) : int((day + 1) * per_day)]
    for each in new:
        body = {**draft_of(each, life.store.name), "created": None}
        perform_operation(life.context, "remember", OperationCall(body=_without_nothing(body)))
    for number in range(ASKED):
        asked = life.store.questions[(ASKED * day + number) % len(life.store.questions)]
        body = {"query": asked.text, "session_id": f"{day}"}
        perform_operation(life.context, "recall", OperationCall(body=body))
    life.clock.at = FIRST_DAY + timedelta(days=day, hours=18)
    _run_night(life)
    for line in _tell_night(life):
        progress(f"day {day + 1:2}: {line}")


def _without_nothing(body: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in body.items() if value not in (None, [], "")}


def _run_night(life: StoreLife) -> None:
    asked = life.context.sleeper.ask(ORDER)
    life.context.sleeper.wait(asked)
    for report in asked.reports:
        if report.error:
            raise SystemExit(f"{report.job} failed: {report.error}")


def _tell_night(life: StoreLife) -> Iterator[str]:
    """Note what the night did, and give it in sentences, each with whether it was right."""
    call = OperationCall(query={"last_night": "true", "limit": str(ENTRIES)})
    page = perform_operation(life.context, "log", call)
    if page.night is None or page.night.id == life.last_night:
        return
    life.last_night = page.night.id
    for each in page.entries:
        kind = str(each.what_parts["kind"])
        life.deeds[kind] += 1
        flag = _is_right(life, each) if kind in JUDGED else None
        if flag is not None:
            life.right.setdefault(kind, []).append(flag)
        if kind in TOLD:
            verdict = {None: "", True: " (right)", False: " (WRONG)"}[flag]
            yield f"{each.by} {each.what}{verdict}"


def _is_right(life: StoreLife, entry: LogEntry) -> bool | None:
    """Whether the set says that the two notes are one, or that one replaced the other; nothing if
    it knows nothing of them."""
    parts: Mapping[str, Any] = entry.what_parts
    named = [parts.get(name) for name in ("successor", "kept", "removed")]
    ids = [*entry.memories, *(each["id"] for each in named if isinstance(each, Mapping))]
    notes = [life.names[each].id for each in dict.fromkeys(ids) if each in life.names]
    if len(notes) < 2:
        return None
    return is_same_or_later(life.store, same_as(life.store), notes[0], notes[1])


def _sum_up(life: StoreLife, nights: int) -> Iterator[Figure]:
    stores, names = life.context.stores, life.names
    left = stores.search.memories(names)
    replaced = [key for key, each in names.items() if each.replaced_by is not None]
    restated = [key for key, each in names.items() if each.same_as is not None]
    still = [key for key in replaced if key in left and left[key].superseded_by is None]
    note = f"{life.store.name}, {nights} nights"
    every = len(names)
    yield Figure(PART, "memories told", every, every, unit="memories", note=note)
    yield Figure(PART, "of them outdated", len(replaced), every, unit="memories")
    yield Figure(PART, "outdated ones not retired", len(still), len(replaced), unit="memories")
    yield Figure(PART, "restatements told", len(restated), every, unit="memories")
    yield Figure(PART, "merged into another", every - len(left), len(restated), unit="memories")
    for kind in JUDGED:
        yield share(PART, f"{kind}: right", mean(map(float, life.right.get(kind, ()))))
    asked = Counter(each.status for each in stores.log.proposals())
    for status in ProposalStatus:
        what, total = f"questions {status.value} at the end", asked.total()
        yield Figure(PART, what, asked[status], total, unit="questions")
    deeds = ", ".join(f"{kind} {count}" for kind, count in life.deeds.most_common())
    yield Figure(PART, "deeds in all", life.deeds.total(), nights, unit="deeds", note=deeds)
