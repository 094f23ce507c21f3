"""Undo: take back one recorded change, a whole run of a job, or a whole night.

Files are put back byte for byte, and only when each still is as the change left it: what a
person wrote since is never overwritten. A score comes back unless the memory has a newer one.
Undo is itself a change, so it can be undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from madeleine.errors import (
    AlreadyDone,
    AlreadyUndone,
    AmbiguousChange,
    Conflict,
    EditedSince,
    NoSuchChange,
    NothingChanged,
    ScoredSince,
)
from madeleine.model.change import Change, FileEdit
from madeleine.model.event import Event, EventKind
from madeleine.rules.scoring import Scores, read_scores
from madeleine.vault.journal import RecordedChange, RecordedEdit
from madeleine.vault.vault import is_in_trash
from madeleine.write.commit import commit
from madeleine.write.concerned import CONCERNS, concerned_in
from madeleine.write.past import memory_in
from madeleine.write.questions import refusals
from madeleine.write.record import digest, event
from madeleine.write.stores import Stores

OVER = ("undone", "dropped", "lost")
RUNS_READ = 4_096  # newest runs in the journal among which those of a night are looked for
LEAST_PREFIX = 6  # characters of a night's id that may stand for the whole


@dataclass(frozen=True, slots=True)
class Undone:
    """Which changes were taken back, and the change that did it."""

    changes: tuple[str, ...]
    memories: tuple[str, ...]
    change: str


def undo(stores: Stores, wanted: str, by: str = "unknown") -> Undone:
    """Take back a change, or every change of a run or a night, newest first, all or none."""
    events = _named(stores, wanted)
    open_events = [each for each in events if stores.log.outcome(_id(each)) not in OVER]
    if not open_events:
        outcome = str(stores.log.outcome(_id(events[0])))
        raise AlreadyUndone(outcome) if outcome == "undone" else AlreadyDone("this", outcome)
    plan, scores = _Plan(stores), Scores()
    for each in open_events:
        if each.kind is EventKind.SCORED:
            _put(scores, _scores_before(stores, each))
        else:
            plan.take_back(_recorded(stores, each))
    if not plan.edits() and not scores:
        raise _nothing_left(open_events)
    ids = tuple(dict.fromkeys(_id(each) for each in open_events))
    details: dict[str, object] = {
        "undoes": list(ids),
        "outcomes": _outcomes(stores, open_events),
        CONCERNS: sorted({memory for each in open_events for memory in _concerned(each)}),
    }
    change = Change(stores.new_id(), "undo", plan.edits(), by, details=details)
    said_no = refusals(stores, [deed for each in open_events for deed in _deeds(each)], by)
    commit(stores, change, [*_scored(stores, change, scores), *said_no])
    return Undone(ids, tuple(plan.memories), change.id)


def _nothing_left(events: Iterable[Event]) -> Conflict:
    if any(each.kind is EventKind.SCORED for each in events):
        return ScoredSince()
    return AlreadyUndone("taken back")


def _named(stores: Stores, wanted: str) -> list[Event]:
    """Return the events of the one change, the one run, or the one night that was meant."""
    events = stores.log.changes(wanted)
    if not events:
        return _of_night(stores, wanted)
    exact = [each for each in events if wanted in (_id(each), each.body.get("run"))]
    several = {_meant(each, wanted) for each in events}
    if not exact and len(several) > 1:
        raise AmbiguousChange(wanted, sorted(several))
    return exact or events


def _of_night(stores: Stores, wanted: str) -> list[Event]:
    """Return the events of all runs of the one night whose id begins so, newest first."""
    runs: dict[str, list[str]] = {}
    for each in stores.log.recent_events([EventKind.RUN.value], RUNS_READ):
        report = each.body.get("report")
        night = str(report.get("request") or "") if isinstance(report, Mapping) else ""
        if len(wanted) >= LEAST_PREFIX and night.startswith(wanted):
            runs.setdefault(night, []).append(str(each.body.get("run")))
    if not runs:
        raise NoSuchChange(wanted)
    if len(runs) > 1:
        raise AmbiguousChange(wanted, sorted(runs))
    ((night, newest_first),) = runs.items()
    events = [each for run in newest_first for each in stores.log.changes(run)]
    if not events:
        raise NothingChanged(night)
    return events


def _meant(each: Event, wanted: str) -> str:
    """Return the id that begins so: the run's, or the change's own."""
    run = str(each.body.get("run") or "")
    return run if run.startswith(wanted) else _id(each)


def _id(each: Event) -> str:
    return str(each.body["change"])


def _deeds(each: Event) -> list[dict[str, object]]:
    """Return what a job did in a change: who takes it back does not want it again."""
    details = each.body.get("details")
    found = details.get("deeds") if isinstance(details, dict) else None
    return [deed for deed in found if isinstance(deed, dict)] if isinstance(found, list) else []


def _concerned(each: Event) -> set[str]:
    """Return all memories that a change touched or concerned: so does taking it back."""
    details, edits = each.body.get("details"), each.body.get("edits")
    listed = edits if isinstance(edits, list) else []
    written = {str(edit.get("memory")) for edit in listed if isinstance(edit, Mapping)}
    return written | (concerned_in(details) if isinstance(details, Mapping) else set())


def _outcomes(stores: Stores, events: Iterable[Event], outcome: str = "undone") -> dict[str, str]:
    """Return what becomes of these changes, and of those that they took back themselves: an
    undone undo leaves what it undid in force again, and so on."""
    found: dict[str, str] = {}
    for each in events:
        found[_id(each)] = outcome
        details = each.body.get("details")
        undone = details.get("undoes") if isinstance(details, dict) else None
        for change_id in undone or ():
            earlier = stores.log.changes(str(change_id))
            found |= _outcomes(stores, earlier, "done" if outcome == "undone" else "undone")
    return found


def _scores_before(stores: Stores, each: Event) -> Scores:
    """Return the scores as they were before a run, of those that nobody changed since. What had
    none before gets none again."""
    whole = stores.journal.find_scores(_id(each), each.device, each.at)
    if whole is None:
        return {}
    given, was = read_scores(whole.body.get("scores")), read_scores(whole.body.get("was"))
    now = _scores_now(stores, given)
    return {
        name: {
            memory: was.get(name, {}).get(memory)
            for memory, value in values.items()
            if memory in now[name] and now[name][memory] == value
        }
        for name, values in given.items()
    }


def _scores_now(stores: Stores, named: Scores) -> Scores:
    known = stores.search.scores({each for values in named.values() for each in values})
    return {
        name: {each: known[each][name] for each in values if each in known}
        for name, values in named.items()
    }


def _put(scores: Scores, more: Scores) -> None:
    for name, values in more.items():
        if values:
            scores.setdefault(name, {}).update(values)


def _scored(stores: Stores, change: Change, scores: Scores) -> list[Event]:
    """Return the event that brings scores back, and says how they were till then."""
    if not scores:
        return []
    body = {"change": change.id, "scores": scores, "was": _scores_now(stores, scores)}
    return [event(stores, EventKind.SCORED, body)]


def _recorded(stores: Stores, each: Event) -> RecordedChange:
    if each.kind is EventKind.REMEMBERED:
        return _remembered(stores, each)
    found = stores.journal.find_change(_id(each), each.device, each.at)
    if found is None:
        raise NoSuchChange(_id(each))
    return found


def _remembered(stores: Stores, each: Event) -> RecordedChange:
    """A new memory had no file before; taking it back means the trash, never deletion."""
    memory_id = str(each.body["memory"])
    stored = stores.search.get(memory_id)
    path = stored.path if stored else str(each.body["path"])
    current = digest(stores.vault.bytes_or_none(path))
    edit = RecordedEdit(memory_id, None, None, path, current)
    return RecordedChange(_id(each), "remember", (edit,), str(each.body.get("by", "")))


class _Plan:
    """The files as they will be, while changes are taken back one after the other."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._before: dict[str, bytes | None] = {}
        self._now: dict[str, bytes | None] = {}
        self._owner: dict[str, str] = {}
        self.memories: dict[str, None] = {}

    def take_back(self, recorded: RecordedChange) -> None:
        for edit in reversed(recorded.edits):
            self._take_back(edit)

    def _take_back(self, edit: RecordedEdit) -> None:
        left = self._content(edit.path_after) if edit.path_after else None
        if digest(left) != edit.after_sha256:
            raise self._edited(edit, edit.path_after or edit.path_before or edit.memory_id)
        target, data = edit.path_before, edit.before
        if target is None and left is not None and edit.path_after is not None:
            target, data = self._stores.vault.trash_path(edit.path_after), left
        if target is not None and target != edit.path_after and self._is_taken(target, edit):
            raise self._edited(edit, target)
        if edit.path_after is not None:
            self._set(edit.path_after, None, edit.memory_id)
        if target is not None:
            self._set(target, data, edit.memory_id)

    def _edited(self, edit: RecordedEdit, path: str) -> EditedSince:
        stored = self._stores.search.get(edit.memory_id)
        memory = stored.memory if stored else memory_in(edit.before)
        gone = stored is None and self._content(path) is None
        return EditedSince(path, memory.headline if memory else None, gone=gone)

    def _is_taken(self, target: str, edit: RecordedEdit) -> bool:
        """Whether a file cannot come back: its name is taken, or its memory is there again."""
        if self._content(target) is not None:
            return True
        stored = self._stores.search.get(edit.memory_id)
        elsewhere = stored is not None and stored.path not in (edit.path_after, target)
        return elsewhere and not is_in_trash(target)

    def _content(self, path: str) -> bytes | None:
        if path not in self._now:
            self._before[path] = self._now[path] = self._stores.vault.bytes_or_none(path)
        return self._now[path]

    def _set(self, path: str, data: bytes | None, memory_id: str) -> None:
        self._content(path)
        self._now[path] = data
        self._owner[path] = memory_id
        self.memories[memory_id] = None

    def edits(self) -> tuple[FileEdit, ...]:
        """Return one edit per memory: where its file is, and where it will be."""
        found: dict[str, list[str]] = {}
        for path, memory_id in self._owner.items():
            if self._before[path] != self._now[path]:
                found.setdefault(memory_id, []).append(path)
        return tuple(self._edit(each, paths) for each, paths in found.items())

    def _edit(self, memory_id: str, paths: list[str]) -> FileEdit:
        old = next((path for path in paths if self._before[path] is not None), None)
        new = next((path for path in paths if self._now[path] is not None), None)
        return FileEdit(
            memory_id,
            old,
            self._before[old] if old else None,
            new,
            self._now[new] if new else None,
        )
