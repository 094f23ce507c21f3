"""What verbs return, as answers: one shape for HTTP, `--json` and the Python face.

Agents read `text` (and `node_id`); programs read the fields beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, cast

from madeleine.api import answer_texts
from madeleine.api.contract.memories import BriefPart
from madeleine.api.contract.responses import (
    Arrow,
    BriefAnswer,
    BriefItem,
    ChangedMemory,
    CompactReport,
    ConnectedMemories,
    DecidedProposal,
    DecidedProposals,
    DeedAnswer,
    EventPage,
    ForgottenMemory,
    HitPassage,
    HitTurn,
    HitVersion,
    HoldOutSide,
    JournalChange,
    JournalEvent,
    LogEntry,
    LogNight,
    LogPage,
    LookAlike,
    MemoryCounts,
    MemoryHistory,
    MemoryLink,
    MemoryPage,
    MergedMemory,
    MergePage,
    NamedMemory,
    NotedFeedback,
    ProposalGroup,
    ProposalPage,
    PurgedTraces,
    PurgeReceipt,
    RebuildReport,
    RecallAnswer,
    RecallHit,
    ReconcileReport,
    RecordedMerge,
    RefusedDecision,
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
    WhisperWeekShape,
    WriteOutcome,
)
from madeleine.api.wording import (
    add_log_sentences,
    cause_to_fields,
    causes_to_fields,
    render_cause,
    render_causes,
)
from madeleine.errors import MadeleineError
from madeleine.index.graph import EdgeRow
from madeleine.index.log import ParseProblem, WhisperEntry
from madeleine.index.search import IndexCounts
from madeleine.language.deeds import Deed
from madeleine.language.triggers import memory_triggers
from madeleine.model.cause import Cause
from madeleine.model.codec import Json, algorithm_of
from madeleine.model.event import Event
from madeleine.model.levels import sureness_level
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalType
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.times import format_time
from madeleine.recall.explaining import ScoreExplanation
from madeleine.recall.recall import RecallMatch, RecallResult
from madeleine.recall.successors import RelatedVersion
from madeleine.rules.associations import edge_name
from madeleine.rules.deed_gate import DEED_GATE
from madeleine.vault.journal import CompactionReport
from madeleine.whisper.brief import SessionBrief
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.deed import DeedRequest, DeedWord, WeighedMemory, find_fitting_triggers
from madeleine.whisper.log import WhisperMoment
from madeleine.whisper.report import HoldOutReport, WhisperWeek
from madeleine.whisper.values import WhisperResult
from madeleine.whisper.whisper import LOGGED_CANDIDATES
from madeleine.write.activity import Activity, NightRuns
from madeleine.write.change_file import ChangeResult
from madeleine.write.forget import ForgetResult
from madeleine.write.merge import MergeResult
from madeleine.write.proposals import DecidedAtOnce, ProposalDecision
from madeleine.write.purge import PurgeResult
from madeleine.write.reconcile import ReconcileResult
from madeleine.write.remember import RememberResult
from madeleine.write.show import MemoryView
from madeleine.write.undo import UndoResult

# -- writing -------------------------------------------------------------------------------


def build_remembered_memory(done: RememberResult) -> RememberedMemory:
    memory = done.memory
    text = (
        f"{_name_outcome(done)} as {memory.short_id}: {answer_texts.flatten_text(memory.headline)}"
    )
    if done.linked:
        text += (
            f"\nLinked to {', '.join(answer_texts.shorten_id(each.target) for each in done.linked)}"
        )
    text += answer_texts.render_similar(done.similar, memory.short_id)
    told = done.proposal is not None or not done.existing or done.change is not None
    notes = done.notes if told else ()
    return RememberedMemory(
        text=answer_texts.append_notes(text, render_causes(notes)),
        node_id=memory.id,
        memory=memory,
        linked=tuple(done.linked),
        existing=done.existing,
        change=done.change,
        **causes_to_fields("notes", done.notes),
        proposal=done.proposal,
        similar=tuple(
            LookAlike(
                id=each.memory.id,
                title=each.memory.title,
                text=answer_texts.cut_similar(each.memory),
                score=round(each.score, 3),
            )
            for each in done.similar
        ),
    )


def _name_outcome(done: RememberResult) -> str:
    if done.proposal is not None:
        return "Waits already" if done.existing else "Waits for the user's yes"
    return "Already known" if done.existing else "Remembered"


def build_remembered_many(outcomes: Sequence[RememberResult | MadeleineError]) -> RememberedMany:
    results = [_build_write_outcome(each) for each in outcomes]
    refused = sum(each.error is not None for each in results)
    known = sum(each.existing is True for each in results)
    waiting = sum(each.proposal is not None and not each.existing for each in results)
    new = len(results) - refused - known - waiting
    text = f"{answer_texts.render_count(new, 'memory')} written"
    if waiting:
        text += f", {waiting:,} waiting for the user's yes"
    if known:
        text += f", {known:,} known before"
    if refused:
        text += f", {refused:,} refused"
    return RememberedMany(text=text, results=tuple(results))


def _build_write_outcome(outcome: RememberResult | MadeleineError) -> WriteOutcome:
    if isinstance(outcome, MadeleineError):
        return WriteOutcome(error=outcome)
    return WriteOutcome(
        node_id=outcome.memory.id, existing=outcome.existing, proposal=outcome.proposal
    )


def build_changed_memory(done: ChangeResult, said: str) -> ChangedMemory:
    """Return what a verb did; `said` is its past tense."""
    memory = done.memory
    what = said if done.change else "Unchanged"
    return ChangedMemory(
        text=answer_texts.append_notes(
            f"{what}: {answer_texts.render_memory_line(memory)}", render_causes(done.notes)
        ),
        node_id=memory.id,
        memory=memory,
        change=done.change,
        **causes_to_fields("notes", done.notes),
    )


def build_forgotten_memory(done: ForgetResult) -> ForgottenMemory:
    memory = done.memory
    line = answer_texts.render_memory_line(memory)
    return ForgottenMemory(
        text=f"Forgotten: {line}\nrestore {memory.short_id} brings it back",
        node_id=memory.id,
        memory=memory,
        change=done.change,
        trash_path=done.trash_path,
    )


def build_merged_memory(done: MergeResult) -> MergedMemory:
    text = (
        f"Merged {answer_texts.shorten_id(done.removed)} into "
        f"{answer_texts.render_memory_line(done.memory)}\n"
        f"undo {answer_texts.shorten_id(done.change)} takes it back"
    )
    return MergedMemory(
        text=answer_texts.append_notes(text, render_causes(done.notes)),
        node_id=done.memory.id,
        memory=done.memory,
        removed=done.removed,
        change=done.change,
        neighbours=done.neighbours,
        **causes_to_fields("notes", done.notes),
    )


def build_undone_changes(done: UndoResult) -> UndoneChanges:
    changes = ", ".join(answer_texts.shorten_id(each) for each in done.changes)
    counts = [answer_texts.render_count(len(done.memories), "memory")]
    if done.questions:
        counts.append(answer_texts.render_count(len(done.questions), "question"))
    return UndoneChanges(
        text=f"Took back {changes or 'what was asked'} ({', '.join(counts)})",
        change=done.change,
        undone=tuple(done.changes),
        memories=tuple(done.memories),
        questions=tuple(done.questions),
    )


# -- reading -------------------------------------------------------------------------------


def build_recall_answer(found: RecallResult, explain: bool) -> RecallAnswer:
    return RecallAnswer(
        text=answer_texts.render_recall(found, explain),
        results=tuple(_build_hit(each) for each in found.hits),
        **cause_to_fields("silence", found.silence),
        **causes_to_fields("notes", found.notes),
        why_not=found.why_not,
        folded=found.folded,
        floor=found.floor,
        more=found.folded,
    )


def _build_hit(found: RecallMatch) -> RecallHit:
    passage, explained = found.passage, found.explained
    return RecallHit(
        memory=found.memory,
        score=found.score,
        **causes_to_fields("reasons", found.reasons),
        match={name: round(value, 4) for name, value in found.match.items()},
        passage=None if passage is None else HitPassage(**asdict(passage)),
        around=tuple(HitTurn(**asdict(each)) for each in found.around),
        explained=None if explained is None else _build_score_parts(explained),
        sure=cast("Literal['sure', 'likely', 'maybe']", sureness_level(found.score)),
        replaced_by=None if found.replaced_by is None else _build_version(found.replaced_by),
        replaces=tuple(_build_version(each) for each in found.replaces),
        group=found.group,
    )


def _build_version(version: RelatedVersion) -> HitVersion:
    return HitVersion(
        id=version.memory.id,
        title=version.memory.headline,
        known=version.is_known,
        proposal=version.proposal,
    )


def _build_score_parts(explained: ScoreExplanation) -> ScoreParts:
    lifts = {render_cause(Cause(kind)): lift for kind, lift in explained.lifts.items()}
    return ScoreParts(
        head=explained.head,
        features=explained.features,
        weights=explained.weights,
        evidence=explained.evidence,
        chance=explained.chance,
        lifts=lifts,
        boosts=explained.boosts,
        cross_encoder=explained.cross_encoder,
        inherited=explained.inherited,
    )


def build_whisper_answer(said: WhisperResult, explain: bool) -> WhisperAnswer:
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
        **cause_to_fields("silence", said.silence),
        stage=said.stage,
        took_ms=said.took_ms,
        without_model=said.without_model,
        explained=add_log_sentences(said.explained) if explain else {},
    )


def build_brief_answer(made: SessionBrief) -> BriefAnswer:
    lines = [(each.section.value, line) for each in made.sections for line in each.lines]
    return BriefAnswer(
        text=made.text,
        brief_id=made.brief_id,
        items=tuple(
            BriefItem(
                node_id=line.memory.id,
                section=cast("BriefPart", section),
                memory=line.memory,
            )
            for section, line in lines
            if line.memory is not None
        ),
        night=next((line.night for _, line in lines if line.night), None),
        **cause_to_fields("silence", made.silence),
        took_ms=made.took_ms,
    )


def build_deed_answer(word: DeedWord) -> DeedAnswer:
    return DeedAnswer(
        text=word.text,
        whisper_id=word.whisper_id,
        injected=tuple(
            WhisperedMemory(
                node_id=each.memory.id,
                score=each.score,
                full=True,
                explorer=False,
                memory=each.memory,
            )
            for each in word.told
        ),
        asks=word.asks,
        **cause_to_fields("silence", word.silence),
        took_ms=word.took_ms,
    )


def build_action_answer(word: DeedWord, request: DeedRequest, explain: bool) -> WhisperAnswer:
    """Return a word before a deed as a whisper, whose shape it has."""
    deed = build_deed_answer(word)
    rows = [_build_deed_row(request.deed, each) for each in word.weighed[:LOGGED_CANDIDATES]]
    explained = {
        "candidates": [each for each in rows if "held" not in each],
        "refused": [each for each in rows if "held" in each],
    }
    return WhisperAnswer(
        text=deed.text,
        whisper_id="" if request.dry_run else deed.whisper_id,
        injected=deed.injected,
        silence=deed.silence,
        silence_parts=deed.silence_parts,
        stage=WhisperMoment.DEED.value,
        took_ms=deed.took_ms,
        explained=explained if explain else {},
    )


def _build_deed_row(deed: Deed, each: WeighedMemory) -> dict[str, object]:
    """Return what a memory was worth before a deed; its reasons are the triggers that fit."""
    held = {} if each.worth >= DEED_GATE else {"held": "gate"}
    return {
        "memory": each.memory.id,
        "title": each.memory.headline,
        "score": round(each.score, 4),
        "worth": round(each.worth, 4),
        "reasons": [str(trigger) for trigger in find_fitting_triggers(deed, each.memory)],
        **held,
    }


def build_noted_feedback(memory_id: str, signal: int) -> NotedFeedback:
    short, word = answer_texts.shorten_id(memory_id), "useful" if signal > 0 else "not useful"
    text = f"Noted: {short} was {word}" if signal else f"Taken back: what was said about {short}"
    return NotedFeedback(text=text, node_id=memory_id)


def build_whisper_reason(entry: WhisperEntry | None, config: WhisperConfig) -> WhisperReason:
    if entry is None:
        return WhisperReason(text="Nothing has been whispered or held back yet.", whisper=None)
    known: Json = {
        "id": entry.id,
        "at": format_time(entry.at),
        "session": entry.session,
        "space": entry.space,
        **add_log_sentences(entry.body),
    }
    return WhisperReason(text=answer_texts.render_whisper_reason(known, config), whisper=known)


def build_whisper_report(
    found: HoldOutReport, weeks: Sequence[WhisperWeek], config: WhisperConfig
) -> WhisperReport:
    difference, margin = found.difference
    return WhisperReport(
        text=answer_texts.render_whisper_report(found, weeks, config),
        days=found.days,
        enough=found.enough,
        told=HoldOutSide(**asdict(found.told)),
        held_out=HoldOutSide(**asdict(found.held_out)),
        late=found.late,
        undelivered=found.undelivered,
        difference=round(difference, 4) if found.enough else None,
        margin=round(margin, 4) if found.enough else None,
        weeks=tuple(
            WhisperWeekShape(
                **{**asdict(each), "begins": each.begins.isoformat()} | _build_sides(each)
            )
            for each in weeks
        ),
    )


def _build_sides(week: WhisperWeek) -> dict[str, HoldOutSide]:
    told, held_out = HoldOutSide(**asdict(week.told)), HoldOutSide(**asdict(week.held_out))
    return {"told": told, "held_out": held_out}


def build_shown_memory(
    seen: MemoryView, ends: Mapping[str, Memory], notes: Iterable[Cause], activity: str | None
) -> ShownMemory:
    """Return a memory whole; `ends` are the memories at the other ends of its connections, and
    `activity` is what it is about if it says how things are to be done."""
    memory = seen.stored.memory
    links = tuple(_build_link(row, memory.id, ends) for row in seen.edges)
    return ShownMemory(
        text=answer_texts.render_memory(memory, links),
        node_id=memory.id,
        memory=memory,
        path=seen.stored.path,
        connections=links,
        neighbours=tuple(seen.neighbours),
        triggers=tuple(map(str, memory_triggers(memory))),
        standing=activity is not None,
        activity=activity,
        **causes_to_fields("notes", notes),
    )


def _build_link(row: EdgeRow, memory_id: str, ends: Mapping[str, Memory]) -> MemoryLink:
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


def build_arrow(row: EdgeRow) -> Arrow:
    drawn = row.connection
    return Arrow(
        source=row.source,
        target=drawn.target,
        edge=drawn.edge,
        weight=drawn.weight,
        reason=drawn.reason,
        kind=drawn.kind,
        by=drawn.by,
        at=None if drawn.at is None else format_time(drawn.at),
        confidence=drawn.confidence,
    )


def build_connected_memories(
    memories: Sequence[Memory], arrows: Sequence[Arrow]
) -> ConnectedMemories:
    return ConnectedMemories(
        text=answer_texts.render_listing(memories, len(memories)),
        memories=tuple(memories),
        arrows=tuple(arrows),
    )


def build_memory_page(memories: Sequence[Memory], total: int) -> MemoryPage:
    return MemoryPage(
        text=answer_texts.render_listing(memories, total),
        memories=tuple(memories),
        total=total,
    )


def build_trash_page(found: Sequence[StoredMemory]) -> TrashPage:
    memories = [each.memory for each in found]
    return TrashPage(
        text=answer_texts.render_listing(memories, len(memories)),
        memories=tuple(TrashedMemory(memory=each.memory, path=each.path) for each in found),
    )


def build_memory_history(
    memory_id: str, events: Sequence[Event], outcomes: Mapping[str, str | None]
) -> MemoryHistory:
    found = build_event_page(events, outcomes)
    return MemoryHistory(node_id=memory_id, text=found.text, events=found.events)


def build_event_page(events: Sequence[Event], outcomes: Mapping[str, str | None]) -> EventPage:
    """Return events, newest first; `outcomes` say what became of the changes among them."""
    lines = [
        answer_texts.render_event(each, outcomes.get(event_change_id(each) or ""))
        for each in events
    ]
    return EventPage(
        text="\n".join(
            [answer_texts.render_count(len(events), "event"), *(f"  {each}" for each in lines)]
        ),
        events=tuple(_build_event(each, outcomes) for each in events),
    )


def build_log_page(entries: Sequence[Activity], night: NightRuns | None) -> LogPage:
    """Return what happened, a sentence each."""
    told = tuple(_build_log_entry(each) for each in entries)
    head = answer_texts.render_count(len(told), "entry")
    if night is not None:
        head += f" of the night of {format_time(night.at)} (all of it: undo {night.id})"
    return LogPage(
        text="\n".join([head, *map(answer_texts.render_log_entry, told)]),
        entries=told,
        night=None if night is None else LogNight(id=night.id, at=format_time(night.at)),
    )


def _build_log_entry(each: Activity) -> LogEntry:
    return LogEntry(
        at=format_time(each.at),
        **cause_to_fields("what", each.what),
        by=each.by,
        author=each.author.value,
        memories=each.memories,
        change=each.change,
        undo=each.undo,
        outcome=each.outcome,
    )


def event_change_id(event: Event) -> str | None:
    """Return the change that an event speaks of, if it speaks of one."""
    change = event.body.get("change")
    return change if isinstance(change, str) else None


def _build_event(event: Event, outcomes: Mapping[str, str | None]) -> JournalEvent:
    given: Any = {
        "id": event.id,
        "at": event.at,
        "kind": event.kind,
        "device": event.device,
        "body": dict(event.body),
    }
    change = event_change_id(event)
    if change is None:
        return JournalEvent(**given)
    return JournalChange(**given, outcome=outcomes.get(change))


def build_merge_page(events: Sequence[Event], outcomes: Mapping[str, str | None]) -> MergePage:
    found = [_build_merge(each, outcomes) for each in events]
    lines = [
        f"  {each.id}  {each.at}  kept {answer_texts.shorten_id(str(each.kept))},"
        f" removed {answer_texts.shorten_id(str(each.removed))}, {each.outcome}"
        for each in found
    ]
    return MergePage(
        text="\n".join([answer_texts.render_count(len(found), "merge"), *lines]),
        merges=tuple(found),
    )


def _build_merge(event: Event, outcomes: Mapping[str, str | None]) -> RecordedMerge:
    details = event.body.get("details")
    pair: Mapping[str, object] = details if isinstance(details, Mapping) else {}
    change = event_change_id(event) or ""
    return RecordedMerge(
        id=change,
        at=format_time(event.at),
        kept=_text_or_none(pair.get("kept")),
        removed=_text_or_none(pair.get("removed")),
        by=_text_or_none(event.body.get("by")),
        reason=_text_or_none(event.body.get("reason")),
        outcome=outcomes.get(change),
    )


def _text_or_none(value: object) -> str | None:
    return None if value is None else str(value)


# -- proposals -----------------------------------------------------------------------------


def build_proposal_page(found: Sequence[Proposal]) -> ProposalPage:
    groups = group_proposals(found)
    known = {each.id: each for each in found}
    lines = [
        f"  {answer_texts.render_proposal(known[each])}" for group in groups for each in group.ids
    ]
    return ProposalPage(
        text="\n".join([answer_texts.render_count(len(found), "proposal"), *lines]),
        proposals=tuple(found),
        groups=groups,
    )


def group_proposals(found: Sequence[Proposal]) -> tuple[ProposalGroup, ...]:
    """Return proposals by kind, the kind with the most first."""
    ids: dict[ProposalType, list[str]] = {}
    for each in found:
        ids.setdefault(each.type, []).append(each.id)
    ordered = sorted(ids.items(), key=lambda item: (-len(item[1]), item[0].value))
    return tuple(ProposalGroup(kind=kind, count=len(own), ids=tuple(own)) for kind, own in ordered)


def build_decided_proposals(done: DecidedAtOnce) -> DecidedProposals:
    lines = [f"  {answer_texts.render_proposal(each.proposal)}" for each in done.decided]
    lines += [
        f"  left {answer_texts.shorten_id(each.id)}: {answer_texts.flatten_text(error.message)}"
        for each, error in done.refused
    ]
    return DecidedProposals(
        text="\n".join([answer_texts.render_count(len(done.decided), "decision"), *lines]),
        decided=tuple(each.proposal for each in done.decided),
        refused=tuple(
            RefusedDecision(id=each.id, error=error.message, code=error.code, kind=error.kind)
            for each, error in done.refused
        ),
        undo=done.run if done.decided else None,
    )


def build_decided_proposal(done: ProposalDecision) -> DecidedProposal:
    return DecidedProposal(
        text=answer_texts.render_proposal(done.proposal),
        proposal=done.proposal,
        change=done.change,
    )


# -- the home ------------------------------------------------------------------------------


def build_reconcile_report(report: ReconcileResult) -> ReconcileReport:
    text = (
        f"{answer_texts.render_count(report.files, 'file')}: {report.written:,} written, "
        f"{report.dropped:,} dropped, {report.unchanged:,} unchanged, "
        f"{len(report.unreadable):,} unreadable"
    )
    lines = [text, *(f"  {each}" for each in report.unreadable)]
    return ReconcileReport(
        text=answer_texts.append_notes("\n".join(lines), render_causes(report.notes)),
        files=report.files,
        written=report.written,
        dropped=report.dropped,
        unchanged=report.unchanged,
        unreadable=tuple(report.unreadable),
        **causes_to_fields("notes", report.notes),
    )


def build_rebuild_report(report: ReconcileResult, seconds: float) -> RebuildReport:
    done = build_reconcile_report(report)
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


def build_purge_receipt(done: PurgeResult) -> PurgeReceipt:
    """The receipt: what was removed where, and what names it still."""
    gone, journal = done.memories, done.journal
    return PurgeReceipt(
        text=(
            f"Purged {answer_texts.render_count(len(gone), 'memory')} for good: "
            f"{answer_texts.render_count(done.files, 'file')}, "
            f"{answer_texts.render_count(journal.dropped + journal.cut, 'line')} of the journal, "
            f"{done.traces} embeddings; the index is made anew.{_render_remaining_traces(done)}"
        ),
        memories=_build_named_memories(gone),
        removed=PurgedTraces(
            files=done.files,
            journal_lines=journal.dropped,
            journal_lines_cut=journal.cut,
            embeddings=done.traces,
        ),
        left=TracesLeft(
            connections=done.pointing,
            journal_lines=journal.left,
            memories=_build_named_memories(done.made_from),
            merged_into=_build_named_memories(done.merged_into),
        ),
    )


def _build_named_memories(memories: Iterable[Memory]) -> list[NamedMemory]:
    return [NamedMemory(id=each.id, title=each.headline) for each in memories]


def _render_remaining_traces(done: PurgeResult) -> str:
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


def build_compact_report(report: CompactionReport) -> CompactReport:
    return CompactReport(
        text=(
            f"{answer_texts.render_count(len(report.files), 'file')} written anew, "
            f"{answer_texts.render_count(len(report.dropped), 'line')} dropped, "
            f"{report.bytes_saved:,} bytes saved"
        ),
        files=list(report.files),
        busy=list(report.busy),
        dropped=len(report.dropped),
        damaged=report.damaged,
        bytes_saved=report.bytes_saved,
    )


def build_memory_counts(counts: IndexCounts) -> MemoryCounts:
    return MemoryCounts(
        memories=counts.memories,
        edges=counts.edges,
        events=counts.events,
        exchanges=counts.exchanges,
        unembedded=counts.unembedded,
        unreadable=counts.unreadable,
        by_type=dict(counts.by_type),
        by_tier=dict(counts.by_tier),
        by_space=dict(counts.by_space),
    )


def build_unreadable_file(found: ParseProblem) -> UnreadableFile:
    return UnreadableFile(path=found.path, line=found.line, problem=found.problem)
