"""Undo: take back one recorded change, a whole run of a job, a whole night, or what was decided
about several proposals at once.

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
from madeleine.model.proposal import ProposalStatus
from madeleine.rules.scored_events import Scores, read_scores
from madeleine.vault.journal import RecordedChange, RecordedEdit
from madeleine.vault.vault import is_in_trash
from madeleine.write.commit import commit
from madeleine.write.concerned_memories import CONCERNS_KEY, read_concerned
from madeleine.write.questions import MAX_DECISIONS_READ, decision_event, refusal_events
from madeleine.write.record import file_sha256, new_event, record_events
from madeleine.write.stores import Stores
from madeleine.write.transitions import parse_memory_or_none

ENDED_OUTCOMES = ("undone", "dropped", "lost")
MAX_RUNS_READ = 4_096  # newest runs in the journal among which those of a night are looked for
MIN_PREFIX_CHARS = 6  # characters of a night's id that may stand for the whole


@dataclass(frozen=True, slots=True)
class UndoResult:
    """Which changes were taken back, and the change that did it."""

    changes: tuple[str, ...]
    memories: tuple[str, ...]
    change: str


def undo(stores: Stores, wanted: str, by: str = "unknown") -> UndoResult:
    """Take back a change, or every change of a run or a night, newest first, all or none."""
    try:
        events = _find_events(stores, wanted)
    except NoSuchChange:
        rejected = _find_rejections(stores, wanted)
        if not rejected:
            raise
        return _reopen_rejected(stores, rejected, by)
    open_events = [
        each for each in events if stores.log.outcome(_change_id(each)) not in ENDED_OUTCOMES
    ]
    if not open_events:
        outcome = str(stores.log.outcome(_change_id(events[0])))
        raise AlreadyUndone(outcome) if outcome == "undone" else AlreadyDone("this", outcome)
    plan, scores = _UndoPlan(stores), Scores()
    for each in open_events:
        if each.kind is EventKind.SCORED:
            _add_scores(scores, _scores_before(stores, each))
        else:
            plan.take_back(_find_recorded(stores, each))
    if not plan.edits() and not scores:
        raise _nothing_left_error(open_events)
    ids = tuple(dict.fromkeys(_change_id(each) for each in open_events))
    details: dict[str, object] = {
        "undoes": list(ids),
        "outcomes": _collect_outcomes(stores, open_events),
        CONCERNS_KEY: sorted(
            {memory for each in open_events for memory in _concerned_memories(each)}
        ),
    }
    change = Change(stores.new_id(), "undo", plan.edits(), by, details=details)
    said_no = refusal_events(
        stores, [deed for each in open_events for deed in _read_deeds(each)], by
    )
    commit(stores, change, [*_score_events(stores, change, scores), *said_no])
    return UndoResult(ids, tuple(plan.memories), change.id)


def _nothing_left_error(events: Iterable[Event]) -> Conflict:
    if any(each.kind is EventKind.SCORED for each in events):
        return ScoredSince()
    return AlreadyUndone("taken back")


def _find_events(stores: Stores, wanted: str) -> list[Event]:
    """Return the events of the one change, the one run, or the one night that was meant."""
    events = stores.log.changes(wanted)
    if not events:
        return _find_night_events(stores, wanted)
    exact = [each for each in events if wanted in (_change_id(each), each.body.get("run"))]
    several = {_matched_id(each, wanted) for each in events}
    if not exact and len(several) > 1:
        raise AmbiguousChange(wanted, sorted(several))
    return exact or events


def _find_night_events(stores: Stores, wanted: str) -> list[Event]:
    """Return the events of all runs of the one night whose id begins so, newest first."""
    runs: dict[str, list[str]] = {}
    for each in stores.log.recent_events([EventKind.RUN.value], MAX_RUNS_READ):
        report = each.body.get("report")
        night = str(report.get("request") or "") if isinstance(report, Mapping) else ""
        if len(wanted) >= MIN_PREFIX_CHARS and night.startswith(wanted):
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


def _find_rejections(stores: Stores, wanted: str) -> list[Event]:
    """Return the rejections that were made at once, by how their common id begins."""
    newest = stores.log.recent_events([EventKind.DECIDED.value], MAX_DECISIONS_READ)
    last = {str(each.body.get("proposal")): each for each in reversed(newest)}
    found = [
        each
        for each in newest
        if len(wanted) >= MIN_PREFIX_CHARS and str(each.body.get("run") or "").startswith(wanted)
        if each.body.get("status") == ProposalStatus.REJECTED.value
    ]
    runs = {str(each.body["run"]) for each in found}
    if len(runs) > 1:
        raise AmbiguousChange(wanted, sorted(runs))
    in_force = [each for each in found if last[str(each.body.get("proposal"))] is each]
    if found and not in_force:
        raise AlreadyUndone("taken back")
    return in_force


def _reopen_rejected(stores: Stores, rejected: Iterable[Event], by: str) -> UndoResult:
    """Let the questions wait again; no file is touched."""
    known = {each.id: each for each in stores.log.proposals()}
    again = [known[str(each.body["proposal"])] for each in rejected]
    run = next(str(each.body["run"]) for each in rejected)
    events = [
        decision_event(stores, each, ProposalStatus.PENDING, by, None, run=run) for each in again
    ]
    record_events(stores, events, durable=True)
    memories = dict.fromkeys(node for each in again for node in each.source_nodes)
    return UndoResult((run,), tuple(memories), run)


def _matched_id(each: Event, wanted: str) -> str:
    """Return the id that begins so: the run's, or the change's own."""
    run = str(each.body.get("run") or "")
    return run if run.startswith(wanted) else _change_id(each)


def _change_id(each: Event) -> str:
    return str(each.body["change"])


def _read_deeds(each: Event) -> list[dict[str, object]]:
    """Return what a job did in a change: who takes it back does not want it again."""
    details = each.body.get("details")
    found = details.get("deeds") if isinstance(details, dict) else None
    return [deed for deed in found if isinstance(deed, dict)] if isinstance(found, list) else []


def _concerned_memories(each: Event) -> set[str]:
    """Return all memories that a change touched or concerned: so does taking it back."""
    details, edits = each.body.get("details"), each.body.get("edits")
    listed = edits if isinstance(edits, list) else []
    written = {str(edit.get("memory")) for edit in listed if isinstance(edit, Mapping)}
    return written | (read_concerned(details) if isinstance(details, Mapping) else set())


def _collect_outcomes(
    stores: Stores, events: Iterable[Event], outcome: str = "undone"
) -> dict[str, str]:
    """Return what becomes of these changes, and of those that they took back themselves: an
    undone undo leaves what it undid in force again, and so on."""
    found: dict[str, str] = {}
    for each in events:
        found[_change_id(each)] = outcome
        details = each.body.get("details")
        undone = details.get("undoes") if isinstance(details, dict) else None
        for change_id in undone or ():
            earlier = stores.log.changes(str(change_id))
            found |= _collect_outcomes(stores, earlier, "done" if outcome == "undone" else "undone")
    return found


def _scores_before(stores: Stores, each: Event) -> Scores:
    """Return the scores as they were before a run, of those that nobody changed since. What had
    none before gets none again."""
    whole = stores.journal.find_scores(_change_id(each), each.device, each.at)
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


def _add_scores(scores: Scores, more: Scores) -> None:
    for name, values in more.items():
        if values:
            scores.setdefault(name, {}).update(values)


def _score_events(stores: Stores, change: Change, scores: Scores) -> list[Event]:
    """Return the event that brings scores back, and says how they were till then."""
    if not scores:
        return []
    body = {"change": change.id, "scores": scores, "was": _scores_now(stores, scores)}
    return [new_event(stores, EventKind.SCORED, body)]


def _find_recorded(stores: Stores, each: Event) -> RecordedChange:
    if each.kind is EventKind.REMEMBERED:
        return _recorded_remember(stores, each)
    found = stores.journal.find_change(_change_id(each), each.device, each.at)
    if found is None:
        raise NoSuchChange(_change_id(each))
    return found


def _recorded_remember(stores: Stores, each: Event) -> RecordedChange:
    """A new memory had no file before; taking it back means the trash, never deletion."""
    memory_id = str(each.body["memory"])
    stored = stores.search.get(memory_id)
    path = stored.path if stored else str(each.body["path"])
    current = file_sha256(stores.vault.bytes_or_none(path))
    edit = RecordedEdit(memory_id, None, None, path, current)
    return RecordedChange(_change_id(each), "remember", (edit,), str(each.body.get("by", "")))


class _UndoPlan:
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
        if file_sha256(left) != edit.after_sha256:
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
        memory = stored.memory if stored else parse_memory_or_none(edit.before)
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
