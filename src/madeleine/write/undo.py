"""Undo: take back one recorded change, a whole run of a job, a whole night, or what was decided
about several proposals at once. What a run or a night asked is withdrawn with it.

Files are put back byte for byte, and only when each still is as the change left it: what a
person wrote since is never overwritten. A score comes back unless the memory has a newer one.
Undo is itself a change, so it can be undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from madeleine.model.proposal import Proposal, ProposalStatus
from madeleine.model.scored_events import Scores, read_scores
from madeleine.vault.journal import RecordedChange, RecordedEdit
from madeleine.vault.vault import is_in_trash
from madeleine.write.commit import commit
from madeleine.write.concerned_memories import CONCERNS_KEY, read_concerned
from madeleine.write.questions import (
    MAX_DECISIONS_READ,
    REFUSE,
    TAKEN_BACK,
    TAKEN_BACK_REASON,
    decision_event,
    refusal_events,
)
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
    questions: tuple[str, ...] = ()
    """The proposals that were withdrawn, or wait again."""


@dataclass(frozen=True, slots=True)
class _UndoTarget:
    """What was meant: events, newest first, and the run or night that they are of, if it was not
    a single change."""

    events: list[Event]
    origin: str | None = None


def undo(stores: Stores, wanted: str, by: str = "unknown") -> UndoResult:
    """Take back a change, or every change of a run or a night, newest first, all or none. What a
    run or a night asked and nobody answered is withdrawn."""
    try:
        target = _find_target(stores, wanted)
    except NoSuchChange:
        decided = _find_decisions(stores, wanted)
        if not decided:
            raise
        return _reopen_questions(stores, decided, by)
    open_events = [
        each for each in target.events if stores.log.outcome(_change_id(each)) not in ENDED_OUTCOMES
    ]
    asked = _find_questions(stores, target.origin)
    if not open_events:
        return _withdraw_only(stores, target, asked, by, wanted)
    plan, scores = _UndoPlan(stores), Scores()
    for each in open_events:
        if each.kind is EventKind.SCORED:
            _add_scores(scores, _scores_before(stores, each))
        else:
            plan.take_back(_find_recorded(stores, each))
    again = [*_find_withdrawn(stores, open_events), *_find_refused(stores, open_events)]
    if not plan.edits() and not scores and not asked and not again:
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
    moved = [
        *_withdraw_events(stores, asked, by, change.id),
        *_reopen_events(stores, again, by, change.id),
    ]
    commit(stores, change, [*_score_events(stores, change, scores), *said_no, *moved])
    questions = tuple(each.id for each in (*asked, *again))
    return UndoResult(ids, tuple(plan.memories), change.id, questions)


# -- what a run asked ------------------------------------------------------------------------


def _find_questions(stores: Stores, origin: str | None) -> list[Proposal]:
    """Return what a run or a night asked and nobody answered."""
    if origin is None:
        return []
    pending = stores.log.proposals(ProposalStatus.PENDING)
    return [
        each
        for each in pending
        if origin in (dict(each.action).get("run"), dict(each.action).get("night"))
    ]


def _withdraw_only(
    stores: Stores, target: _UndoTarget, asked: Sequence[Proposal], by: str, wanted: str
) -> UndoResult:
    """Withdraw the questions of a run or night of which nothing else is left to take back."""
    if asked:
        run = stores.new_id()
        record_events(stores, _withdraw_events(stores, asked, by, run), durable=True)
        return UndoResult((), (), run, tuple(each.id for each in asked))
    if not target.events:
        origin = str(target.origin)
        runs = [str(each.body.get("run")) for each in _read_runs(stores)]
        raise NoSuchChange(wanted) if origin in runs else NothingChanged(origin)
    outcome = str(stores.log.outcome(_change_id(target.events[0])))
    raise AlreadyUndone(outcome) if outcome == "undone" else AlreadyDone("this", outcome)


def _withdraw_events(stores: Stores, asked: Iterable[Proposal], by: str, run: str) -> list[Event]:
    status, reason = ProposalStatus.EXPIRED, TAKEN_BACK_REASON
    return [
        decision_event(stores, each, status, by, None, reason, run, cause=TAKEN_BACK)
        for each in asked
    ]


def _find_withdrawn(stores: Stores, events: Iterable[Event]) -> list[Proposal]:
    """Return the questions that these changes withdrew: taken back, they let them wait again."""
    undoing = {_change_id(each) for each in events if each.body.get("verb") == "undo"}
    if not undoing:
        return []
    found = _last_decisions(stores).items()
    ids = {
        proposal
        for proposal, each in found
        if each.body.get("cause") == TAKEN_BACK and each.body.get("run") in undoing
    }
    return [each for each in stores.log.proposals(ProposalStatus.EXPIRED) if each.id in ids]


def _find_refused(stores: Stores, events: Iterable[Event]) -> list[Proposal]:
    """Return the questions whose no these changes carried out: they wait again."""
    refusing = {_change_id(each) for each in events if each.body.get("verb") == REFUSE}
    if not refusing:
        return []
    found = _last_decisions(stores).items()
    ids = {proposal for proposal, each in found if each.body.get("change") in refusing}
    return [each for each in stores.log.proposals(ProposalStatus.REJECTED) if each.id in ids]


def _reopen_events(stores: Stores, proposals: Iterable[Proposal], by: str, run: str) -> list[Event]:
    status = ProposalStatus.PENDING
    return [decision_event(stores, each, status, by, None, run=run) for each in proposals]


def _last_decisions(stores: Stores) -> dict[str, Event]:
    newest = stores.log.recent_events([EventKind.DECIDED.value], MAX_DECISIONS_READ)
    return {str(each.body.get("proposal")): each for each in reversed(newest)}


# -- what was meant --------------------------------------------------------------------------


def _nothing_left_error(events: Iterable[Event]) -> Conflict:
    if any(each.kind is EventKind.SCORED for each in events):
        return ScoredSince()
    return AlreadyUndone("taken back")


def _find_target(stores: Stores, wanted: str) -> _UndoTarget:
    """Return the one change, the one run, or the one night that was meant."""
    events = stores.log.changes(wanted)
    if not events:
        return _find_runs(stores, wanted)
    exact = [each for each in events if wanted in (_change_id(each), each.body.get("run"))]
    several = {_matched_id(each, wanted) for each in events}
    if not exact and len(several) > 1:
        raise AmbiguousChange(wanted, sorted(several))
    found = exact or events
    run = str(found[0].body.get("run") or "")
    return _UndoTarget(found, run if run.startswith(wanted) else None)


def _find_runs(stores: Stores, wanted: str) -> _UndoTarget:
    """Return the events of the one run, or of all runs of the one night, whose id begins so."""
    runs = _find_runs_by_origin(stores, wanted)
    if not runs:
        raise NoSuchChange(wanted)
    if len(runs) > 1:
        raise AmbiguousChange(wanted, sorted(runs))
    ((origin, newest_first),) = runs.items()
    return _UndoTarget([each for run in newest_first for each in stores.log.changes(run)], origin)


def _find_runs_by_origin(stores: Stores, wanted: str) -> dict[str, list[str]]:
    """Return the runs of each night whose id begins so, and each run whose own id does, newest
    first."""
    runs: dict[str, list[str]] = {}
    if len(wanted) < MIN_PREFIX_CHARS:
        return runs
    for each in _read_runs(stores):
        report, run = each.body.get("report"), str(each.body.get("run"))
        night = str(report.get("request") or "") if isinstance(report, Mapping) else ""
        for origin in (night, run):
            if origin.startswith(wanted):
                runs.setdefault(origin, []).append(run)
    return runs


def _read_runs(stores: Stores) -> list[Event]:
    return list(stores.log.recent_events([EventKind.RUN.value], MAX_RUNS_READ))


def find_undoable_ids(stores: Stores, wanted: str) -> set[str]:
    """Return the ids that begin so and that `undo` takes: of changes, of runs and nights, and of
    what was decided at once."""
    prefix = wanted.strip()
    changes = stores.log.changes(prefix)
    named = {str(each.body.get(key)) for each in changes for key in ("change", "run")}
    decided = {str(each.body.get("run")) for each in _find_decided(stores, prefix)}
    found = named | decided | set(_find_runs_by_origin(stores, prefix))
    return {each for each in found if each.startswith(prefix)}


def _find_decided(stores: Stores, wanted: str) -> list[Event]:
    """Return the decisions without a change that were made at once, by how their common id
    begins, newest first: what was rejected, and what an undo withdrew."""
    newest = stores.log.recent_events([EventKind.DECIDED.value], MAX_DECISIONS_READ)
    return [
        each
        for each in newest
        if len(wanted) >= MIN_PREFIX_CHARS and str(each.body.get("run") or "").startswith(wanted)
        if each.body.get("status") == ProposalStatus.REJECTED.value
        or each.body.get("cause") == TAKEN_BACK
    ]


def _find_decisions(stores: Stores, wanted: str) -> list[Event]:
    """Return those of one such id that still hold."""
    last, found = _last_decisions(stores), _find_decided(stores, wanted)
    runs = {str(each.body["run"]) for each in found}
    if len(runs) > 1:
        raise AmbiguousChange(wanted, sorted(runs))
    in_force = [each for each in found if last[str(each.body.get("proposal"))].id == each.id]
    if found and not in_force:
        raise AlreadyUndone("taken back")
    return in_force


def _reopen_questions(stores: Stores, decided: Iterable[Event], by: str) -> UndoResult:
    """Let the questions wait again; no file is touched."""
    known = {each.id: each for each in stores.log.proposals()}
    again = [known[str(each.body["proposal"])] for each in decided]
    run = next(str(each.body["run"]) for each in decided)
    record_events(stores, _reopen_events(stores, again, by, run), durable=True)
    memories = dict.fromkeys(node for each in again for node in each.source_nodes)
    return UndoResult((run,), tuple(memories), run, tuple(each.id for each in again))


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
        left = self._read_content(edit.path_after) if edit.path_after else None
        if file_sha256(left) != edit.after_sha256:
            raise self._edited_since_error(
                edit, edit.path_after or edit.path_before or edit.memory_id
            )
        target, data = edit.path_before, edit.before
        if target is None and left is not None and edit.path_after is not None:
            # what was written anew goes to the trash; what is there already goes for good
            here = not is_in_trash(edit.path_after)
            target = self._stores.vault.trash_path(edit.path_after) if here else None
            data = left
        if target is not None and target != edit.path_after and self._is_taken(target, edit):
            raise self._edited_since_error(edit, target)
        if edit.path_after is not None:
            self._set_content(edit.path_after, None, edit.memory_id)
        if target is not None:
            self._set_content(target, data, edit.memory_id)

    def _edited_since_error(self, edit: RecordedEdit, path: str) -> EditedSince:
        stored = self._stores.search.get(edit.memory_id)
        memory = stored.memory if stored else parse_memory_or_none(edit.before)
        gone = stored is None and self._read_content(path) is None
        return EditedSince(path, memory.headline if memory else None, gone=gone)

    def _is_taken(self, target: str, edit: RecordedEdit) -> bool:
        """Whether a file cannot come back: its name is taken, or its memory is there again."""
        if self._read_content(target) is not None:
            return True
        stored = self._stores.search.get(edit.memory_id)
        elsewhere = stored is not None and stored.path not in (edit.path_after, target)
        return elsewhere and not is_in_trash(target)

    def _read_content(self, path: str) -> bytes | None:
        if path not in self._now:
            self._before[path] = self._now[path] = self._stores.vault.bytes_or_none(path)
        return self._now[path]

    def _set_content(self, path: str, data: bytes | None, memory_id: str) -> None:
        self._read_content(path)
        self._now[path] = data
        self._owner[path] = memory_id
        self.memories[memory_id] = None

    def edits(self) -> tuple[FileEdit, ...]:
        """Return one edit per memory: where its file is, and where it will be."""
        found: dict[str, list[str]] = {}
        for path, memory_id in self._owner.items():
            if self._before[path] != self._now[path]:
                found.setdefault(memory_id, []).append(path)
        return tuple(self._build_edit(each, paths) for each, paths in found.items())

    def _build_edit(self, memory_id: str, paths: list[str]) -> FileEdit:
        old = next((path for path in paths if self._before[path] is not None), None)
        new = next((path for path in paths if self._now[path] is not None), None)
        return FileEdit(
            memory_id,
            old,
            self._before[old] if old else None,
            new,
            self._now[new] if new else None,
        )
