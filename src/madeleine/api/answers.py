"""What verbs return, as answers: one shape for HTTP, `--json` and the Python face.

Agents read `text` (and `node_id`); programs read the fields beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from madeleine.api import texts
from madeleine.api.contract.responses import (
    ChangedMemory,
    CompactReport,
    DecidedProposal,
    EventPage,
    ForgottenMemory,
    HitPassage,
    HoldOutSide,
    JournalChange,
    JournalEvent,
    MemoryCounts,
    MemoryHistory,
    MemoryLink,
    MemoryPage,
    MergedMemory,
    MergePage,
    NamedMemory,
    NotedFeedback,
    ProposalPage,
    PurgedTraces,
    PurgeReceipt,
    RebuildReport,
    RecallAnswer,
    RecallHit,
    ReconcileReport,
    RecordedMerge,
    RememberedMany,
    RememberedMemory,
    ScoreParts,
    ShownMemory,
    TracesLeft,
    TrashedMemory,
    TrashPage,
    UndoneChanges,
    UnreadableFile,
    WhisperAnswer,
    WhisperedMemory,
    WhisperReason,
    WhisperReport,
    WriteOutcome,
)
from madeleine.api.wording import fields_of_cause, fields_of_causes, word, word_all, word_log
from madeleine.errors import MadeleineError
from madeleine.index.graph import EdgeRow
from madeleine.index.log import ParseProblem, WhisperEntry
from madeleine.index.search import IndexCounts
from madeleine.model.cause import Cause
from madeleine.model.codec import Json, algorithm_of
from madeleine.model.event import Event
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal
from madeleine.model.stored import StoredMemory
from madeleine.model.times import format_time
from madeleine.recall.explaining import ScoreExplanation
from madeleine.recall.recall import RecallMatch, RecallResult
from madeleine.rules.associations import edge_name
from madeleine.vault.journal import CompactionReport
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.report import HoldOutReport
from madeleine.whisper.values import WhisperResult
from madeleine.write.change_file import ChangeResult
from madeleine.write.forget import ForgetResult
from madeleine.write.merge import MergeResult
from madeleine.write.proposals import ProposalDecision
from madeleine.write.purge import PurgeResult
from madeleine.write.reconcile import ReconcileResult
from madeleine.write.remember import RememberResult
from madeleine.write.show import MemoryView
from madeleine.write.undo import UndoResult

# -- writing -------------------------------------------------------------------------------


def remembered(done: RememberResult) -> RememberedMemory:
    memory = done.memory
    said = "Already known" if done.existing else "Remembered"
    text = f"{said} as {memory.short_id}: {texts.flat(memory.headline)}"
    if done.linked:
        text += f"\nLinked to {', '.join(texts.short(each.target) for each in done.linked)}"
    notes = () if done.existing else done.notes
    return RememberedMemory(
        text=texts.with_notes(text, word_all(notes)),
        node_id=memory.id,
        memory=memory,
        linked=tuple(done.linked),
        existing=done.existing,
        change=done.change,
        **fields_of_causes("notes", done.notes),
    )


def remembered_many(outcomes: Sequence[RememberResult | MadeleineError]) -> RememberedMany:
    results = [_outcome(each) for each in outcomes]
    refused = sum(each.error is not None for each in results)
    known = sum(each.existing is True for each in results)
    text = f"{texts.count(len(results) - refused - known, 'memory')} written"
    if known:
        text += f", {known:,} known before"
    if refused:
        text += f", {refused:,} refused"
    return RememberedMany(text=text, results=tuple(results))


def _outcome(outcome: RememberResult | MadeleineError) -> WriteOutcome:
    if isinstance(outcome, MadeleineError):
        return WriteOutcome(error=outcome)
    return WriteOutcome(node_id=outcome.memory.id, existing=outcome.existing)


def changed(done: ChangeResult, said: str) -> ChangedMemory:
    """Return what a verb did; `said` is its past tense."""
    memory = done.memory
    what = said if done.change else "Unchanged"
    return ChangedMemory(
        text=texts.with_notes(f"{what}: {texts.line(memory)}", word_all(done.notes)),
        node_id=memory.id,
        memory=memory,
        change=done.change,
        **fields_of_causes("notes", done.notes),
    )


def forgotten(done: ForgetResult) -> ForgottenMemory:
    memory = done.memory
    return ForgottenMemory(
        text=f"Forgotten: {texts.line(memory)}\nrestore {memory.short_id} brings it back",
        node_id=memory.id,
        memory=memory,
        change=done.change,
        trash_path=done.trash_path,
    )


def merged(done: MergeResult) -> MergedMemory:
    text = (
        f"Merged {texts.short(done.removed)} into {texts.line(done.memory)}\n"
        f"undo {texts.short(done.change)} takes it back"
    )
    return MergedMemory(
        text=texts.with_notes(text, word_all(done.notes)),
        node_id=done.memory.id,
        memory=done.memory,
        removed=done.removed,
        change=done.change,
        neighbours=done.neighbours,
        **fields_of_causes("notes", done.notes),
    )


def undone(done: UndoResult) -> UndoneChanges:
    changes = ", ".join(texts.short(each) for each in done.changes)
    return UndoneChanges(
        text=f"Took back {changes} ({texts.count(len(done.memories), 'memory')})",
        change=done.change,
        undone=tuple(done.changes),
        memories=tuple(done.memories),
    )


# -- reading -------------------------------------------------------------------------------


def recalled(found: RecallResult, explain: bool) -> RecallAnswer:
    return RecallAnswer(
        text=texts.recalled(found, explain),
        results=tuple(_hit(each) for each in found.hits),
        **fields_of_cause("silence", found.silence),
        **fields_of_causes("notes", found.notes),
        why_not=found.why_not,
    )


def _hit(found: RecallMatch) -> RecallHit:
    passage, explained = found.passage, found.explained
    return RecallHit(
        memory=found.memory,
        score=found.score,
        **fields_of_causes("reasons", found.reasons),
        match={name: round(value, 4) for name, value in found.match.items()},
        passage=None if passage is None else HitPassage(**asdict(passage)),
        explained=None if explained is None else _score_parts(explained),
    )


def _score_parts(explained: ScoreExplanation) -> ScoreParts:
    lifts = {word(Cause(kind)): lift for kind, lift in explained.lifts.items()}
    return ScoreParts(**{**asdict(explained), "lifts": lifts})


def whispered(said: WhisperResult, explain: bool) -> WhisperAnswer:
    return WhisperAnswer(
        text=said.text,
        whisper_id=said.whisper_id,
        injected=tuple(
            WhisperedMemory(
                node_id=each.memory.id,
                score=each.score,
                full=each.full,
                explorer=each.explorer,
                memory=each.memory,
            )
            for each in said.injected
        ),
        **fields_of_cause("silence", said.silence),
        stage=said.stage,
        took_ms=said.took_ms,
        explained=word_log(said.explained) if explain else {},
    )


def noted(memory_id: str, signal: int) -> NotedFeedback:
    short, word = texts.short(memory_id), "useful" if signal > 0 else "not useful"
    text = f"Noted: {short} was {word}" if signal else f"Taken back: what was said about {short}"
    return NotedFeedback(text=text, node_id=memory_id)


def whisper_why(entry: WhisperEntry | None, config: WhisperConfig) -> WhisperReason:
    if entry is None:
        return WhisperReason(text="Nothing has been whispered or held back yet.", whisper=None)
    known: Json = {
        "id": entry.id,
        "at": format_time(entry.at),
        "session": entry.session,
        "space": entry.space,
        **word_log(entry.body),
    }
    return WhisperReason(text=texts.whisper_why(known, config), whisper=known)


def whisper_report(found: HoldOutReport, config: WhisperConfig) -> WhisperReport:
    difference, margin = found.difference
    return WhisperReport(
        text=texts.whisper_report(found, config),
        days=found.days,
        enough=found.enough,
        told=HoldOutSide(**asdict(found.told)),
        held_out=HoldOutSide(**asdict(found.held_out)),
        late=found.late,
        undelivered=found.undelivered,
        difference=round(difference, 4) if found.enough else None,
        margin=round(margin, 4) if found.enough else None,
    )


def shown(seen: MemoryView, ends: Mapping[str, Memory], notes: Iterable[Cause]) -> ShownMemory:
    """Return a memory whole; `ends` are the memories at the other ends of its connections."""
    memory = seen.stored.memory
    links = tuple(_link(row, memory.id, ends) for row in seen.edges)
    return ShownMemory(
        text=texts.shown(memory, links),
        node_id=memory.id,
        memory=memory,
        path=seen.stored.path,
        connections=links,
        neighbours=tuple(seen.neighbours),
        **fields_of_causes("notes", notes),
    )


def _link(row: EdgeRow, memory_id: str, ends: Mapping[str, Memory]) -> MemoryLink:
    link, outward = row.connection, row.source == memory_id
    other = ends.get(link.target if outward else row.source)
    algorithm = algorithm_of(link)
    return MemoryLink(
        source=row.source,
        target=link.target,
        edge=link.edge,
        weight=link.weight,
        reason=link.reason,
        by=link.by,
        at=link.at,
        kind=link.kind,
        confidence=link.confidence,
        discovered_at=link.at if algorithm else None,
        algorithm=algorithm,
        says=edge_name(link),
        direction="out" if outward else "in",
        resolved=row.resolved,
        implied=row.implied,
        title=other.headline if other else None,
    )


def listed(memories: Sequence[Memory], total: int) -> MemoryPage:
    return MemoryPage(
        text=texts.listed(memories, total),
        memories=tuple(memories),
        total=total,
    )


def trashed(found: Sequence[StoredMemory]) -> TrashPage:
    memories = [each.memory for each in found]
    return TrashPage(
        text=texts.listed(memories, len(memories)),
        memories=tuple(TrashedMemory(memory=each.memory, path=each.path) for each in found),
    )


def history(
    memory_id: str, events: Sequence[Event], outcomes: Mapping[str, str | None]
) -> MemoryHistory:
    found = happenings(events, outcomes)
    return MemoryHistory(node_id=memory_id, text=found.text, events=found.events)


def happenings(events: Sequence[Event], outcomes: Mapping[str, str | None]) -> EventPage:
    """Return events, newest first; `outcomes` say what became of the changes among them."""
    lines = [texts.happened(each, outcomes.get(change_of(each) or "")) for each in events]
    return EventPage(
        text="\n".join([texts.count(len(events), "event"), *(f"  {each}" for each in lines)]),
        events=tuple(_event(each, outcomes) for each in events),
    )


def change_of(event: Event) -> str | None:
    """Return the change that an event speaks of, if it speaks of one."""
    change = event.body.get("change")
    return change if isinstance(change, str) else None


def _event(event: Event, outcomes: Mapping[str, str | None]) -> JournalEvent:
    given: Any = {
        "id": event.id,
        "at": event.at,
        "kind": event.kind,
        "device": event.device,
        "body": dict(event.body),
    }
    change = change_of(event)
    if change is None:
        return JournalEvent(**given)
    return JournalChange(**given, outcome=outcomes.get(change))


def merges(events: Sequence[Event], outcomes: Mapping[str, str | None]) -> MergePage:
    found = [_merge(each, outcomes) for each in events]
    lines = [
        f"  {each.id}  {each.at}  kept {texts.short(str(each.kept))},"
        f" removed {texts.short(str(each.removed))}, {each.outcome}"
        for each in found
    ]
    return MergePage(
        text="\n".join([texts.count(len(found), "merge"), *lines]), merges=tuple(found)
    )


def _merge(event: Event, outcomes: Mapping[str, str | None]) -> RecordedMerge:
    details = event.body.get("details")
    pair: Mapping[str, object] = details if isinstance(details, Mapping) else {}
    change = change_of(event) or ""
    return RecordedMerge(
        id=change,
        at=format_time(event.at),
        kept=_text(pair.get("kept")),
        removed=_text(pair.get("removed")),
        by=_text(event.body.get("by")),
        reason=_text(event.body.get("reason")),
        outcome=outcomes.get(change),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


# -- proposals -----------------------------------------------------------------------------


def proposals(found: Sequence[Proposal]) -> ProposalPage:
    lines = [f"  {texts.proposal(each)}" for each in found]
    return ProposalPage(
        text="\n".join([texts.count(len(found), "proposal"), *lines]),
        proposals=tuple(found),
    )


def decided(done: ProposalDecision) -> DecidedProposal:
    return DecidedProposal(
        text=texts.proposal(done.proposal),
        proposal=done.proposal,
        change=done.change,
    )


# -- the home ------------------------------------------------------------------------------


def reconciled(report: ReconcileResult) -> ReconcileReport:
    text = (
        f"{texts.count(report.files, 'file')}: {report.written:,} written, "
        f"{report.dropped:,} dropped, {report.unchanged:,} unchanged, "
        f"{len(report.unreadable):,} unreadable"
    )
    lines = [text, *(f"  {each}" for each in report.unreadable)]
    return ReconcileReport(
        text=texts.with_notes("\n".join(lines), word_all(report.notes)),
        files=report.files,
        written=report.written,
        dropped=report.dropped,
        unchanged=report.unchanged,
        unreadable=tuple(report.unreadable),
        **fields_of_causes("notes", report.notes),
    )


def rebuilt(report: ReconcileResult, seconds: float) -> RebuildReport:
    done = reconciled(report)
    return RebuildReport(
        text=f"Rebuilt in {seconds:.1f} s. {done.text}",
        files=done.files,
        written=done.written,
        dropped=done.dropped,
        unchanged=done.unchanged,
        unreadable=done.unreadable,
        notes=done.notes,
        notes_parts=done.notes_parts,
        seconds=round(seconds, 3),
    )


def purged(done: PurgeResult) -> PurgeReceipt:
    """The receipt: what was removed where, and what names it still."""
    gone, journal = done.memories, done.journal
    return PurgeReceipt(
        text=(
            f"Purged {texts.count(len(gone), 'memory')} for good: "
            f"{texts.count(done.files, 'file')}, "
            f"{texts.count(journal.dropped + journal.cut, 'line')} of the journal, "
            f"{done.traces} embeddings; the index is made anew.{_still_saying(done)}"
        ),
        memories=_named(gone),
        removed=PurgedTraces(
            files=done.files,
            journal_lines=journal.dropped,
            journal_lines_cut=journal.cut,
            embeddings=done.traces,
        ),
        left=TracesLeft(
            connections=done.pointing,
            journal_lines=journal.left,
            memories=_named(done.made_from),
            merged_into=_named(done.merged_into),
        ),
    )


def _named(memories: Iterable[Memory]) -> list[NamedMemory]:
    return [NamedMemory(id=each.id, title=each.headline) for each in memories]


def _still_saying(done: PurgeResult) -> str:
    """Return who may still say what is gone, and what to do about it."""
    lines = (("Made from it", done.made_from), ("It was merged into", done.merged_into))
    told = [
        f"{what}: {', '.join(f'`{each.short_id}`' for each in named)}"
        for what, named in lines
        if named
    ]
    if not told:
        return ""
    return f" {'. '.join(told)}. These may still say it: forget and purge them too."


def compacted(report: CompactionReport) -> CompactReport:
    return CompactReport(
        text=(
            f"{texts.count(len(report.files), 'file')} written anew, "
            f"{texts.count(len(report.dropped), 'line')} dropped, "
            f"{report.bytes_saved:,} bytes saved"
        ),
        files=list(report.files),
        busy=list(report.busy),
        dropped=len(report.dropped),
        damaged=report.damaged,
        bytes_saved=report.bytes_saved,
    )


def counts_of(counts: IndexCounts) -> MemoryCounts:
    return MemoryCounts(
        memories=counts.memories,
        edges=counts.edges,
        events=counts.events,
        unembedded=counts.unembedded,
        unreadable=counts.unreadable,
        by_type=dict(counts.by_type),
        by_tier=dict(counts.by_tier),
        by_space=dict(counts.by_space),
    )


def unreadable_file(found: ParseProblem) -> UnreadableFile:
    return UnreadableFile(path=found.path, line=found.line, problem=found.problem)
