"""What happened: changes, questions and their answers, read back from the journal's events.

Each is a kind with its parts, who did it, and what `undo` takes to take it back. Uses, scores and
what came to nothing are not told. What one import brought is told as one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from madeleine.errors import FileUnreadable, NoFile
from madeleine.model.cause import ActivityKind, Cause
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.vault.vault import is_in_trash
from madeleine.write.import_memories import IMPORT_VERB
from madeleine.write.questions import CORE_CAP, DISPLACED, REFUSE, displaced_ids
from madeleine.write.stores import Stores
from madeleine.write.undo import ENDED_OUTCOMES, MAX_RUNS_READ

MAX_NAMED = 3  # memories that an entry names; `count` says how many there are
WINDOW_EVENTS = 200  # read at first; each further look reads four times as many
TOLD_KINDS = (EventKind.REMEMBERED, EventKind.CHANGED, EventKind.PROPOSED, EventKind.DECIDED)
IMPORT_AUTHORS = ("import", "ingest", "file:")  # how names begin of what brings memories in
SLEEP_AUTHORS = frozenset({CORE_CAP, "sleep", "upgrade"})
OWN_DOORS = frozenset({"cli", "python", "page", "self"})
PERSON_PREFIX = "person:"

_KIND_BY_VERB: Mapping[str, ActivityKind] = {
    "remember": ActivityKind.REMEMBERED,
    "revise": ActivityKind.REVISED,
    "retire": ActivityKind.RETIRED,
    "forget": ActivityKind.FORGOTTEN,
    "restore": ActivityKind.RESTORED,
    "link": ActivityKind.LINKED,
    "unlink": ActivityKind.UNLINKED,
    "merge": ActivityKind.MERGED,
    "put_away": ActivityKind.ARCHIVED,
    REFUSE: ActivityKind.FORGOTTEN,
    "demote": ActivityKind.DEMOTED,
    "synthesise": ActivityKind.CONSOLIDATED,
    "summarise": ActivityKind.SUMMARISED,
    IMPORT_VERB: ActivityKind.IMPORTED,
    "undo": ActivityKind.UNDONE,
}
_KIND_BY_STATUS = {
    ProposalStatus.APPROVED: ActivityKind.APPROVED,
    ProposalStatus.REJECTED: ActivityKind.REJECTED,
    ProposalStatus.EXPIRED: ActivityKind.WITHDRAWN,
}


class ActivityAuthor(StrEnum):
    """Who did something, as people tell them apart."""

    SLEEP = "sleep"
    """The jobs that tend the memory by themselves."""
    AGENT = "agent"
    """A coding agent, or another program."""
    ME = "me"
    """A person: by the command line, the page or a program of their own."""
    IMPORT = "import"
    """What was brought in from other programs, files and conversations."""


@dataclass(frozen=True, slots=True)
class ActivityQuery:
    """What is asked for; nothing of it says everything."""

    limit: int
    since: datetime | None = None
    until: datetime | None = None
    author: ActivityAuthor | None = None
    kinds: tuple[ActivityKind, ...] | None = None
    spaces: tuple[str | None, ...] | None = None
    """Only what happened to a memory of one of these; None among them is the global one."""
    night: NightRuns | None = None


@dataclass(frozen=True, slots=True)
class NightRuns:
    """The runs of one night, and when the first of them began."""

    id: str
    at: datetime
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Activity:
    """One thing that happened."""

    at: datetime
    what: Cause
    by: str
    author: ActivityAuthor
    memories: tuple[str, ...]
    change: str | None = None
    undo: str | None = None
    """What `undo` takes to take it back; nothing if there is nothing left to take back."""
    outcome: str | None = None


def find_last_night(stores: Stores, among: int = MAX_RUNS_READ) -> NightRuns | None:
    """Return the newest night in which a file was changed or a question asked, of those that the
    newest runs belong to. Scores, and looking for files that changed, go on all day and make no
    night."""
    nights: dict[str, list[Event]] = {}
    for each in stores.log.recent_events([EventKind.RUN.value], among):
        night = _read_report(each).get("request")
        if isinstance(night, str):
            nights.setdefault(night, []).append(each)
    for night, runs in nights.items():
        if any(_did_something(stores, each) for each in runs):
            return NightRuns(night, runs[-1].at, tuple(str(each.body.get("run")) for each in runs))
    return None


def _did_something(stores: Stores, run: Event) -> bool:
    report = _read_report(run)
    if report.get("proposed"):
        return True
    made = stores.log.changes(str(run.body.get("run"))) if report.get("applied") else []
    return any(each.kind is EventKind.CHANGED for each in made)


def _read_report(event: Event) -> Mapping[str, object]:
    report = event.body.get("report")
    return report if isinstance(report, Mapping) else {}


def read_activity(stores: Stores, query: ActivityQuery) -> list[Activity]:
    """Return what happened, newest first, at most as much as is asked for."""
    reading, looked = _ActivityReading(stores, query), WINDOW_EVENTS
    seen = 0
    while True:
        events = stores.log.recent_events([each.value for each in TOLD_KINDS], looked)
        reading.take(events[seen:])
        over = len(events) < looked or (query.since and events[-1].at < query.since)
        if over or len(reading.found) >= query.limit:
            return reading.found[: query.limit]
        seen, looked = len(events), looked * 4


@dataclass(slots=True)
class _ActivityReading:
    """Events on their way to what is told of them, newest first."""

    stores: Stores
    query: ActivityQuery
    found: list[Activity] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)
    """Changes and runs that are told already."""
    _proposals: dict[str, Proposal] | None = None
    _displaced: set[str] | None = None

    def take(self, events: Sequence[Event]) -> None:
        wanted = [each for each in events if self._is_within(each)]
        names = _MemoryNames(self.stores, wanted)
        for event in wanted:
            if len(self.found) >= self.query.limit:
                return
            made = self._build_entry(event, names)
            if made is not None and self._is_wanted(made, names):
                self.found.append(made)

    def _is_within(self, event: Event) -> bool:
        query = self.query
        return (query.since is None or event.at >= query.since) and (
            query.until is None or event.at < query.until
        )

    def _is_wanted(self, made: Activity, names: _MemoryNames) -> bool:
        query = self.query
        if query.author not in (None, made.author):
            return False
        if query.kinds is not None and made.what.kind not in query.kinds:
            return False
        return query.spaces is None or any(
            names.is_in_space(each, query.spaces) for each in made.memories
        )

    def _build_entry(self, event: Event, names: _MemoryNames) -> Activity | None:
        if event.kind is EventKind.PROPOSED:
            return self._build_question(event, names)
        if event.kind is EventKind.DECIDED:
            return self._build_decision(event, names)
        return self._build_change(event, names)

    # -- questions -------------------------------------------------------------------------

    def _build_question(self, event: Event, names: _MemoryNames) -> Activity | None:
        action = event.body.get("action")
        if not isinstance(action, Mapping) or "verb" not in action:
            return None  # it stands in the journal only for the no that follows it
        if not self._is_of_night(action.get("run")):
            return None
        proposal = str(event.body.get("proposal"))
        if self._made_room(proposal):
            return None  # nobody saw it: a better question of the same night took its place
        parts = {"question": event.body.get("wording"), "proposal": proposal}
        by = str(action.get("by") or "sleep")
        ids = _read_texts(event.body.get("nodes"))
        what = names.cause(ActivityKind.ASKED, ids, parts, event.body.get("reason"))
        asked = self._find_proposal(proposal)
        outcome = None if asked is None else asked.status.value
        return Activity(event.at, what, by, ActivityAuthor.SLEEP, ids, outcome=outcome)

    def _made_room(self, proposal_id: str) -> bool:
        if self._displaced is None:
            self._displaced = displaced_ids(self.stores)
        return proposal_id in self._displaced

    def _find_proposal(self, proposal_id: str) -> Proposal | None:
        if self._proposals is None:
            self._proposals = {each.id: each for each in self.stores.log.proposals()}
        return self._proposals.get(proposal_id)

    def _build_decision(self, event: Event, names: _MemoryNames) -> Activity | None:
        if self.query.night is not None:
            return None
        proposal = self._find_proposal(str(event.body.get("proposal")))
        kind = _KIND_BY_STATUS.get(ProposalStatus(str(event.body.get("status"))))
        if proposal is None or kind is None or "verb" not in dict(proposal.action):
            return None
        if event.body.get("cause") == DISPLACED:
            return None
        change, by = event.body.get("change"), str(event.body.get("by"))
        parts = {"question": proposal.proposed_action, "proposal": proposal.id}
        what = names.cause(kind, proposal.source_nodes, parts, event.body.get("reason"))
        made = Activity(event.at, what, by, read_author(by), proposal.source_nodes)
        if not isinstance(change, str):
            return made
        self._told.add(change)
        return self._add_undo(made, change, change)

    # -- changes ---------------------------------------------------------------------------

    def _build_change(self, event: Event, names: _MemoryNames) -> Activity | None:
        change, run = str(event.body["change"]), event.body.get("run")
        by = str(event.body.get("by"))
        author = read_author(by, has_run=run is not None)
        if not self._is_of_night(run) or change in self._told:
            return None
        if author is ActivityAuthor.IMPORT and isinstance(run, str):
            return self._build_import(event, run, names)
        ids = tuple(_edited_memories(event))
        what = _build_cause(event, ids, names)
        return self._add_undo(Activity(event.at, what, by, author, ids), change, change)

    def _build_import(self, event: Event, run: str, names: _MemoryNames) -> Activity | None:
        """Return what an import brought, once."""
        if run in self._told:
            return None
        self._told.add(run)
        made, held = self.stores.log.in_force([run]).get(run, (1, 1))
        ids, by = tuple(_edited_memories(event)), str(event.body.get("by"))
        what = names.cause(ActivityKind.IMPORTED, ids, {"count": made}, None)
        undo, outcome = (run, "done") if held else (None, "undone")
        author = ActivityAuthor.IMPORT
        return Activity(event.at, what, by, author, ids, undo=undo, outcome=outcome)

    def _add_undo(self, made: Activity, change: str, undo: str) -> Activity | None:
        """Return an entry with what became of its change; nothing if that came to nothing."""
        outcome = self.stores.log.outcome(change)
        if outcome in ("dropped", "lost"):
            return None
        left = None if outcome in ENDED_OUTCOMES else undo
        return Activity(
            made.at, made.what, made.by, made.author, made.memories, change, left, outcome
        )

    def _is_of_night(self, run: object) -> bool:
        return self.query.night is None or run in self.query.night.runs


def read_author(by: str, has_run: bool = False) -> ActivityAuthor:
    """Return who that is. Only jobs and imports work in runs."""
    if by.startswith(IMPORT_AUTHORS):
        return ActivityAuthor.IMPORT
    if by in OWN_DOORS or by.startswith(PERSON_PREFIX):
        return ActivityAuthor.ME
    if has_run or by in SLEEP_AUTHORS:
        return ActivityAuthor.SLEEP
    return ActivityAuthor.AGENT


def _build_cause(event: Event, ids: Sequence[str], names: _MemoryNames) -> Cause:
    """Return what a change did, as a kind and parts."""
    body, details = event.body, event.body.get("details")
    told: Mapping[str, object] = details if isinstance(details, Mapping) else {}
    verb = "remember" if event.kind is EventKind.REMEMBERED else str(body.get("verb"))
    kind = _KIND_BY_VERB.get(verb, ActivityKind.CHANGED)
    parts: dict[str, object] = {}
    match kind:
        case ActivityKind.REMEMBERED if len(ids) > 1:
            parts, ids = {"replaced": [names.named(each) for each in ids[1:]]}, ids[:1]
        case ActivityKind.REVISED:
            kind, parts = _find_move(told, ids, names)
        case ActivityKind.RETIRED:
            successor = names.successor(ids)
            ids = [each for each in ids if each != successor]
            parts = {"successor": None if successor is None else names.named(successor)}
        case ActivityKind.MERGED:
            parts = {key: names.named(str(told.get(key))) for key in ("kept", "removed")}
        case ActivityKind.CONSOLIDATED:
            parts, ids = {"members": len(ids) - 1}, ids[:1]
        case ActivityKind.UNDONE:
            parts = {"changes": len(_read_texts(told.get("undoes")))}
        case ActivityKind.CHANGED:
            parts = {"verb": verb}
        case _:
            pass
    return names.cause(kind, ids, parts, body.get("reason"))


def _find_move(
    details: Mapping[str, object], ids: Sequence[str], names: _MemoryNames
) -> tuple[ActivityKind, dict[str, object]]:
    """Return what a job revised: it moves memories to the archive or to a space, and nothing
    else of theirs."""
    deeds = details.get("deeds")
    listed = deeds if isinstance(deeds, list) else []
    types = {each.get("type") for each in listed if isinstance(each, Mapping)}
    if types == {ProposalType.DECAY.value}:
        return ActivityKind.ARCHIVED, {}
    if types == {ProposalType.SPACE.value}:
        return ActivityKind.MOVED, {"space": names.space(ids[0]) if ids else None}
    return ActivityKind.REVISED, {}


def _edited_memories(event: Event) -> list[str]:
    """Return the memories whose files a change wrote, in their order."""
    if event.kind is EventKind.REMEMBERED:
        return [str(event.body["memory"])]
    return list(dict.fromkeys(str(each["memory"]) for each in _read_edits(event)))


def _read_edits(event: Event) -> Iterator[Mapping[str, object]]:
    edits = event.body.get("edits")
    for each in edits if isinstance(edits, list) else []:
        if isinstance(each, Mapping) and "memory" in each:
            yield each


def _read_texts(values: object) -> tuple[str, ...]:
    listed: Iterable[object] = values if isinstance(values, list | tuple) else ()
    return tuple(str(each) for each in listed)


class _MemoryNames:
    """What memories are called, those in the trash included."""

    def __init__(self, stores: Stores, events: Sequence[Event]) -> None:
        self._stores = stores
        self._paths: dict[str, str] = {}
        ids: set[str] = set()
        for event in events:
            ids.update(_read_texts(event.body.get("nodes")))
            ids.update(str(each["memory"]) for each in _read_edits(event))
            if event.kind is EventKind.REMEMBERED:
                ids.add(str(event.body["memory"]))
            for each in _read_edits(event):
                path = str(each.get("path_after") or "")
                if is_in_trash(path):
                    self._paths.setdefault(str(each["memory"]), path)
        self._known: dict[str, Memory | None] = dict(stores.search.memories(ids))

    def get(self, memory_id: str) -> Memory | None:
        if memory_id not in self._known:
            found = self._stores.search.memories([memory_id]).get(memory_id)
            self._known[memory_id] = found or self._read_trashed(memory_id)
        return self._known[memory_id]

    def _read_trashed(self, memory_id: str) -> Memory | None:
        path = self._paths.get(memory_id)
        try:
            return None if path is None else self._stores.vault.read(path).memory
        except (FileUnreadable, NoFile):
            return None  # restored under another name, purged, or edited into nonsense

    def named(self, memory_id: str) -> dict[str, str | None]:
        memory = self.get(memory_id)
        return {"id": memory_id, "title": None if memory is None else memory.headline}

    def space(self, memory_id: str) -> str | None:
        memory = self.get(memory_id)
        return None if memory is None else memory.space

    def is_in_space(self, memory_id: str, spaces: Collection[str | None]) -> bool:
        memory = self.get(memory_id)
        return memory is not None and memory.space in spaces

    def successor(self, ids: Sequence[str]) -> str | None:
        """Return the memory that took the place of one of these."""
        known = (self.get(each) for each in ids)
        return next((each.superseded_by for each in known if each and each.superseded_by), None)

    def cause(
        self,
        kind: ActivityKind,
        ids: Sequence[str],
        parts: Mapping[str, object],
        reason: object,
    ) -> Cause:
        said: dict[str, object] = {
            "memories": [self.named(each) for each in ids[:MAX_NAMED]],
            "count": len(ids),
            **parts,
        }
        return Cause(kind, {**said, "reason": reason} if reason else said)
