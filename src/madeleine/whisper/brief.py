"""The brief: what a session is told when it starts, before anybody has typed anything.

Who the person is, how things are to be done in this project and everywhere, what was decided and
what for, what was worked on in the last session, and what the night changed. A sub-agent is told
how things are done and what fits its task. After a host has shortened what its agent has before it,
the agent is also told again what was whispered in the session.

Nothing is scanned: every list that a brief is chosen from is a short one that the index keeps in
order. What a brief told counts as told for the whole session, once it was delivered (I13).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from madeleine.index.log import WhisperEntry
from madeleine.language.self_statements import rank_primary, read_self_statement
from madeleine.language.standing import STANDING_KEYS, standing_chance
from madeleine.language.upcoming import is_upcoming
from madeleine.model.cause import ActivityKind, Cause, WhisperSilence
from madeleine.model.memory import Memory
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.spaces import related_spaces
from madeleine.model.times import format_time
from madeleine.model.words import ABOUT_SELF, EXCHANGE_TAG, SELF_SOURCE, MemoryType, Tier
from madeleine.recall.recall import RecallMatch, recall
from madeleine.recall.successors import find_possible_successors
from madeleine.rules.brief_order import brief_worth
from madeleine.whisper.brief_text import BriefLine, BriefSection, SectionLines, render_brief
from madeleine.whisper.config import BriefConfig, WhisperConfig
from madeleine.whisper.log import (
    DeliveryState,
    WhisperMoment,
    entry_ids,
    is_about_start,
    is_delivered,
    log_entry,
    whisper_notice,
)
from madeleine.whisper.pausing import is_paused, read_pauses
from madeleine.whisper.rendering import count_tokens
from madeleine.whisper.stages import SharedStores
from madeleine.whisper.whisper import (
    RECEIPT_SECONDS,
    Whisperer,
    limit_models,
    time_for_models,
)
from madeleine.write.activity import ActivityQuery, NightRuns, find_last_night, read_activity
from madeleine.write.stores import Stores

READ_OF_EACH = 25  # newest memories of a type and space that are weighed
READ_ABOUT_SELF = 25
SURELY_STANDING = 0.6  # a chance; nobody asked, so it is more than for a list
PREFERENCE_MORE = 0.5  # what a preference has beside the chance that it says how things are done
READ_STANDING = 80  # newest notes of a space that may say how things are to be done
READ_RECENT = 40  # newest memories of a space, among which those of the last session are
TOLD_ENTRIES = 60  # whispers of a session that are told again after its host shortened it
TASK_HITS = 4
TASK_CHARS = 2_000
NIGHT_RUNS = 200
NIGHT_AGE = timedelta(hours=24)
NIGHT_CHANGES = 50
OFFERED = (Tier.CORE, Tier.WORKING)


class SessionStart(StrEnum):
    """Why a session starts; hosts say it."""

    STARTUP = "startup"
    RESUME = "resume"
    """It goes on with what its agent had before it."""
    CLEAR = "clear"
    COMPACT = "compact"
    """What its agent had before it was shortened."""
    SUBAGENT = "subagent"


@dataclass(frozen=True, slots=True)
class BriefRequest:
    """Who starts, and where."""

    space: str | None = None
    cwd: str | None = None
    session_id: str | None = None
    start: SessionStart = SessionStart.STARTUP
    task: str | None = None
    """What a sub-agent is to do."""
    due: float | None = None
    awaits_receipt: bool = False
    """Whether the door says later if it was delivered. Else it is only shown, and counts as told
    to nobody."""


@dataclass(frozen=True, slots=True)
class SessionBrief:
    """What a session is told, or why it is told nothing."""

    text: str
    brief_id: str
    sections: tuple[SectionLines, ...] = ()
    silence: Cause | None = None
    took_ms: float = 0.0

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories in it, each once."""
        found = (line.memory for each in self.sections for line in each.lines)
        return tuple(dict.fromkeys(each.id for each in found if each is not None))


def build_brief(
    stores: Stores,
    config: WhisperConfig,
    brief_config: BriefConfig,
    whisperer: Whisperer,
    request: BriefRequest,
    others: tuple[SharedStores, ...] = (),
) -> SessionBrief:
    """Return what a session is told when it starts. `others` are the shared spaces."""
    begun = time.perf_counter()
    now, session = stores.clock.now(), request.session_id
    if is_paused(read_pauses(stores, session)):
        return SessionBrief("", stores.new_id(), silence=Cause(WhisperSilence.PAUSED))
    if session and request.start in (SessionStart.CLEAR, SessionStart.COMPACT):
        whisperer.sessions.shortened(session)
        whisperer.deeds.forget(session)
    model_time = time_for_models(whisperer, request.due)
    among = tuple((space, limit_models(other, model_time)) for space, other in others)
    reading = _BriefReading(limit_models(stores, model_time), request, now, among)
    if request.start is SessionStart.RESUME and request.awaits_receipt:
        whisperer.sessions.keep_told(session, reading.told_in_session())
    reading.skip(whisperer.sessions.recent(session, now, config.session_gap_minutes).told)
    # A task is looked up with a model, and nothing slow may be waited for inside a steady index.
    with nullcontext() if request.task else stores.index.steady():
        wanted = reading.choose_sections() if brief_config.token_budget else []
    text, sections = render_brief(wanted, brief_config.token_budget)
    made = SessionBrief(text, stores.new_id(), sections, None if text else reading.silence)
    made = replace(made, took_ms=round((time.perf_counter() - begun) * 1000, 1))
    if request.awaits_receipt and text:
        _note_sent(stores, config, whisperer, request, made, now)
    return made


def _note_sent(
    stores: Stores,
    config: WhisperConfig,
    whisperer: Whisperer,
    request: BriefRequest,
    made: SessionBrief,
    now: datetime,
) -> None:
    """Count a brief as on its way: told for the whole session, unless nobody gets it."""
    whisperer.sessions.keep_told(request.session_id, made.ids)
    left = 0.0 if request.due is None else max(request.due - time.monotonic(), 0.0)
    body = {
        "moment": WhisperMoment.START.value,
        "start": request.start.value,
        "stage": WhisperMoment.START.value,
        "prompt": f"[{request.start.value}]",
        "injected": list(made.ids),
        "took_ms": made.took_ms,
        "tokens": count_tokens(made.text),
        "text": made.text,
        "delivery": DeliveryState.AWAITED.value,
        "awaited_until": format_time(now + timedelta(seconds=left + RECEIPT_SECONDS)),
    }
    entry = WhisperEntry(made.brief_id, now, request.session_id, request.space, body)
    keep_after = now - timedelta(days=config.log_days)

    def write() -> None:
        log_entry(stores, entry, keep_after)
        if not made.ids:
            stores.event_bus.publish([whisper_notice(entry, None)])

    stores.executor.submit(write)


@dataclass(slots=True)
class _BriefReading:
    """What is chosen for one brief; no memory is chosen twice."""

    stores: Stores
    request: BriefRequest
    now: datetime
    others: tuple[SharedStores, ...] = ()
    silence: Cause = field(
        default_factory=lambda: Cause(WhisperSilence.NOTHING_FOUND, {"because": None})
    )
    _chosen: set[str] = field(default_factory=set)
    _pools: dict[tuple[MemoryType, str | None], list[Memory]] = field(default_factory=dict)

    def skip(self, told: Iterable[str]) -> None:
        """Leave out what the session was told already."""
        self._chosen |= set(told)
        if self.request.start is SessionStart.RESUME:
            self._chosen |= set(self.told_in_session())
        if self._chosen:
            self.silence = Cause(WhisperSilence.TOLD_BEFORE)

    def told_in_session(self) -> list[str]:
        """Return what the log says that was told in this session, the last first."""
        told = (each for entry in self._session_log() for each in entry_ids(entry, "injected"))
        return list(dict.fromkeys(told))

    def choose_sections(self) -> list[SectionLines]:
        """Return everything that is worth telling, section by section, best first."""
        start = self.request.start
        inside, compacted = start is SessionStart.SUBAGENT, start is SessionStart.COMPACT
        found = [
            SectionLines(BriefSection.PERSON, [] if inside else self._choose_person()),
            SectionLines(BriefSection.TASK, self._choose_for_task() if inside else []),
            SectionLines(BriefSection.RULES, self._choose_rules()),
            SectionLines(BriefSection.TOLD, self._choose_told_again() if compacted else []),
            SectionLines(BriefSection.PROJECT, [] if inside else self._choose_for_project()),
        ]
        if start is SessionStart.STARTUP or start is SessionStart.CLEAR:
            found.append(self._choose_open())
            found.append(SectionLines(BriefSection.NIGHT, self._choose_of_the_night()))
        return [each for each in found if each.lines]

    # -- where it is looked ----------------------------------------------------------------

    @property
    def _spaces(self) -> tuple[str | None, ...]:
        """The project, if there is one, then what belongs to none."""
        return (*related_spaces(self.request.space), None)

    def _stores_of(self, space: str | None) -> list[Stores]:
        """Return where memories of a space are kept: at home, and where it is shared."""
        return [self.stores, *(other for name, other in self.others if name == space)]

    def _read_newest(self, kind: MemoryType, space: str | None) -> list[Memory]:
        """Return the newest memories of a type in a space, without what fades."""
        key = (kind, space)
        if key not in self._pools:
            wanted = Filter(types=(kind,), tiers=OFFERED, spaces=(space,))
            self._pools[key] = self._list(space, wanted, READ_OF_EACH)
        return self._pools[key]

    def _list(self, space: str | None, wanted: Filter, limit: int) -> list[Memory]:
        stores = self._stores_of(space)
        return [
            memory for each in stores for memory in each.search.listing(wanted, self.now, limit)
        ]

    def _take(self, memories: Iterable[Memory], most: int | None = None) -> list[BriefLine]:
        """Choose those that were not chosen before. What may have replaced one is told in its
        place, and names it."""
        new = [e for e in memories if e.id not in self._chosen and e.source != SELF_SOURCE]
        new = list({each.id: each for each in new}.values())[:most]
        at_hand = Filter(tiers=OFFERED, spaces=() if self.request.space is None else self._spaces)
        newer = find_possible_successors(self.stores, new, at_hand, self.now)
        told_for = {newer[each.id].id: each for each in reversed(new) if each.id in newer}
        lines: dict[str, BriefLine] = {}
        for each in new:
            told = newer.get(each.id, each)
            if told.id not in self._chosen:
                lines.setdefault(told.id, BriefLine(told, instead_of=told_for.get(told.id)))
        self._chosen |= lines.keys() | {each.id for each in new}
        return list(lines.values())

    def _rank(self, memories: Iterable[Memory]) -> list[Memory]:
        return sorted(memories, key=lambda each: (-self._measure_worth(each), each.id))

    def _measure_worth(self, memory: Memory) -> float:
        age = (self.now - memory.created) / timedelta(days=1)
        return brief_worth(memory.importance, memory.tier is Tier.CORE, age)

    # -- the sections ----------------------------------------------------------------------

    def _choose_person(self) -> list[BriefLine]:
        """Return what says best who the person is, a statement for each thing it tells."""
        wanted = Filter(tags=(ABOUT_SELF,), tiers=OFFERED)
        ranked: dict[int, Memory] = {}
        for each in self._rank(self.stores.search.listing(wanted, self.now, READ_ABOUT_SELF)):
            rank = rank_primary(read_self_statement(each.content))
            if rank and each.type is not MemoryType.PREFERENCE:
                ranked.setdefault(rank, each)
        return self._take([ranked[each] for each in sorted(ranked, reverse=True)])

    def _choose_rules(self) -> list[BriefLine]:
        """Return how things are to be done: first what holds here, and what is said as a rule."""
        rules = [
            (2 * (space is not None) + fits + self._measure_worth(each), each)
            for space in self._spaces
            for fits, each in self._read_standing(space)
        ]
        rules.sort(key=lambda row: (-row[0], row[1].id))
        return self._take(each for _, each in rules)

    def _read_standing(self, space: str | None) -> Iterator[tuple[float, Memory]]:
        """Give what says how things are to be done in a space, and the preferences, each with the
        chance that it does; a preference has a little more."""
        wanted = Filter(tiers=OFFERED, spaces=(space,))
        for stores in self._stores_of(space):
            search, embedder = stores.search, stores.minds.embedder
            ids = search.triggered_memories(STANDING_KEYS, wanted, self.now, READ_STANDING)
            vectors = search.vectors(ids)
            for each in search.memories(ids).values():
                model = "" if embedder is None else embedder.name
                chance = standing_chance(each, vectors.get(each.id), model)
                is_preference = each.type is MemoryType.PREFERENCE
                if chance >= SURELY_STANDING or is_preference:
                    yield chance + PREFERENCE_MORE * is_preference, each

    def _choose_told_again(self) -> list[BriefLine]:
        """Return what was whispered in this session, the last first; what a brief told is chosen
        anew where it belongs."""
        said = (each for each in self._session_log() if not is_about_start(each.body))
        ids = list(dict.fromkeys(told for each in said for told in entry_ids(each, "injected")))
        search = self.stores.search
        current = search.select_allowed(ids, Filter(), self.now)
        known = search.memories(each for each in ids if each in current)
        return self._take(known.values())

    def _choose_for_project(self) -> list[BriefLine]:
        """Return what was decided and what is to be reached, by importance and recency."""
        here = related_spaces(self.request.space) or (None,)
        found = [
            each
            for space in here
            for kind in (MemoryType.DECISION, MemoryType.GOAL)
            for each in self._read_newest(kind, space)
        ]
        return self._take(self._rank(found))

    def _choose_open(self) -> SectionLines:
        """Return what was worked on in the session before this one: what lies ahead first."""
        here = related_spaces(self.request.space) or (None,)
        recent = self._list(here[-1], Filter(spaces=here, exchanges=True), READ_RECENT)
        last = next((each for each in recent if self._is_of_another_session(each)), None)
        if last is None or last.origin is None:
            return SectionLines(BriefSection.OPEN, [])
        session = last.origin.session
        members = [each for each in recent if each.origin and each.origin.session == session]
        kept = [each for each in members if EXCHANGE_TAG not in each.tags]
        ahead = [each for each in kept if is_upcoming(each, self.now)]
        said = [each for each in members if EXCHANGE_TAG in each.tags][:1]
        lines = self._take([*ahead, *said, *kept], READ_OF_EACH)
        return SectionLines(BriefSection.OPEN, lines, last.created)

    def _is_of_another_session(self, memory: Memory) -> bool:
        origin = memory.origin
        return (
            origin is not None
            and origin.session is not None
            and origin.session != self.request.session_id
        )

    def _choose_for_task(self) -> list[BriefLine]:
        """Return what answers the task of a sub-agent; it has nothing of the session before it."""
        task = (self.request.task or "").strip()[:TASK_CHARS]
        if not task:
            return []
        spaces = self._spaces
        hits: list[RecallMatch] = []
        for space, stores in [(None, self.stores), *self.others]:
            among = spaces if stores is self.stores else (space,)
            if not set(among) & set(spaces):
                continue
            query = RecallQuery(task, TASK_HITS, Filter(tiers=OFFERED, spaces=among), space)
            hits += recall(stores, query, touch=False).hits
        hits.sort(key=lambda each: -each.score)
        return self._take([each.memory for each in hits], TASK_HITS)

    def _choose_of_the_night(self) -> list[BriefLine]:
        """Return a line on what the last night changed here, if it was not long ago."""
        night = find_last_night(self.stores, NIGHT_RUNS)
        if night is None or self.now - night.at > NIGHT_AGE:
            return []
        counts = self._count_changes(night)
        return [BriefLine(None, night=night.id, counts=counts)] if counts else []

    def _count_changes(self, night: NightRuns) -> dict[ActivityKind, int]:
        query = ActivityQuery(NIGHT_CHANGES, since=night.at, spaces=self._spaces, night=night)
        counts: dict[ActivityKind, int] = {}
        for each in read_activity(self.stores, query):
            kind = each.what.kind
            if isinstance(kind, ActivityKind):
                counts[kind] = counts.get(kind, 0) + 1
        return counts

    def _session_log(self) -> Iterator[WhisperEntry]:
        """Give what was delivered in this session since its host last shortened it; after it did
        so just now, since the time before."""
        session = self.request.session_id
        entries: Sequence[WhisperEntry] = (
            self.stores.log.whispers(TOLD_ENTRIES, session) if session else []
        )
        for each in entries:
            if is_delivered(each.body):
                yield each
            if each.body.get("start") == SessionStart.COMPACT:
                return
