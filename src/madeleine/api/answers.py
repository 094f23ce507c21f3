"""What verbs return, as JSON: one document for HTTP, `--json` and the Python face.

Agents read `text` (and `node_id`); programs read the fields beside it. Every value here is
plain JSON, so that an answer is the same whether it crossed a socket or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from madeleine.api import texts
from madeleine.api.wire import error_to_json
from madeleine.errors import MadeleineError
from madeleine.index.graph import EdgeRow
from madeleine.index.log import Unreadable, WhisperEntry
from madeleine.index.search import Counts
from madeleine.model.codec import Json, connection_to_json, memory_to_json
from madeleine.model.event import Event
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal
from madeleine.model.stored import Stored
from madeleine.model.times import format_time
from madeleine.recall.recall import Found, Recalled
from madeleine.rules.associations import edge_name
from madeleine.vault.journal import Compacted
from madeleine.whisper.habits import WhisperHabits
from madeleine.whisper.report import HoldOut
from madeleine.whisper.values import Whispered
from madeleine.write.change_file import Changed
from madeleine.write.forget import Forgotten
from madeleine.write.merge import Merged
from madeleine.write.proposals import Decided
from madeleine.write.purge import Purged
from madeleine.write.reconcile import Reconciled
from madeleine.write.remember import Remembered
from madeleine.write.show import Shown
from madeleine.write.undo import Undone

# -- writing -------------------------------------------------------------------------------


def remembered(done: Remembered) -> Json:
    memory = done.memory
    said = "Already known" if done.existing else "Remembered"
    text = f"{said} as {memory.short_id}: {texts.flat(memory.headline)}"
    if done.linked:
        text += f"\nLinked to {', '.join(texts.short(each.target) for each in done.linked)}"
    notes = [] if done.existing else list(done.notes)
    return {
        "text": texts.with_notes(text, notes),
        "node_id": memory.id,
        "memory": memory_to_json(memory),
        "linked": [connection_to_json(each) for each in done.linked],
        "existing": done.existing,
        "change": done.change,
        "notes": list(done.notes),
    }


def remembered_many(outcomes: Sequence[Remembered | MadeleineError]) -> Json:
    results = [_outcome(each) for each in outcomes]
    refused = sum("error" in each for each in results)
    known = sum(each.get("existing") is True for each in results)
    text = f"{texts.count(len(results) - refused - known, 'memory')} written"
    if known:
        text += f", {known:,} known before"
    if refused:
        text += f", {refused:,} refused"
    return {"text": text, "results": results}


def _outcome(outcome: Remembered | MadeleineError) -> Json:
    if isinstance(outcome, MadeleineError):
        return {"error": error_to_json(outcome)}
    return {"node_id": outcome.memory.id, "existing": outcome.existing}


def changed(done: Changed, said: str) -> Json:
    """Return what a verb did; `said` is its past tense."""
    memory = done.memory
    what = said if done.change else "Unchanged"
    return {
        "text": texts.with_notes(f"{what}: {texts.line(memory)}", done.notes),
        "node_id": memory.id,
        "memory": memory_to_json(memory),
        "change": done.change,
        "notes": list(done.notes),
    }


def forgotten(done: Forgotten) -> Json:
    memory = done.memory
    return {
        "text": f"Forgotten: {texts.line(memory)}\nrestore {memory.short_id} brings it back",
        "node_id": memory.id,
        "memory": memory_to_json(memory),
        "change": done.change,
        "trash_path": done.trash_path,
    }


def merged(done: Merged) -> Json:
    text = (
        f"Merged {texts.short(done.removed)} into {texts.line(done.memory)}\n"
        f"undo {texts.short(done.change)} takes it back"
    )
    return {
        "text": texts.with_notes(text, done.notes),
        "node_id": done.memory.id,
        "memory": memory_to_json(done.memory),
        "removed": done.removed,
        "change": done.change,
        "neighbours": done.neighbours,
        "notes": list(done.notes),
    }


def undone(done: Undone) -> Json:
    changes = ", ".join(texts.short(each) for each in done.changes)
    return {
        "text": f"Took back {changes} ({texts.count(len(done.memories), 'memory')})",
        "change": done.change,
        "undone": list(done.changes),
        "memories": list(done.memories),
    }


# -- reading -------------------------------------------------------------------------------


def recalled(found: Recalled, explain: bool) -> Json:
    return {
        "text": texts.recalled(found, explain),
        "results": [_hit(each) for each in found.hits],
        "silence": found.silence,
        "notes": list(found.notes),
        "why_not": found.why_not,
    }


def _hit(found: Found) -> Json:
    answer: Json = {
        "memory": memory_to_json(found.memory),
        "score": found.score,
        "reasons": list(found.reasons),
        "match": {name: round(value, 4) for name, value in found.match.items()},
        "passage": None if found.passage is None else asdict(found.passage),
    }
    if found.explained is not None:
        answer["explained"] = asdict(found.explained)
    return answer


def whispered(said: Whispered, explain: bool) -> Json:
    answer: Json = {
        "text": said.text,
        "whisper_id": said.whisper_id,
        "injected": [
            {
                "node_id": each.memory.id,
                "score": each.score,
                "full": each.full,
                "explorer": each.explorer,
                "memory": memory_to_json(each.memory),
            }
            for each in said.injected
        ],
        "silence": said.silence,
        "stage": said.stage,
        "took_ms": said.took_ms,
    }
    if explain:
        answer["explained"] = dict(said.explained)
    return answer


def noted(memory_id: str, signal: int) -> Json:
    short, word = texts.short(memory_id), "useful" if signal > 0 else "not useful"
    text = f"Noted: {short} was {word}" if signal else f"Taken back: what was said about {short}"
    return {"text": text, "node_id": memory_id}


def whisper_why(entry: WhisperEntry | None, habits: WhisperHabits) -> Json:
    if entry is None:
        return {"text": "Nothing has been whispered or held back yet.", "whisper": None}
    known: Json = {
        "id": entry.id,
        "at": format_time(entry.at),
        "session": entry.session,
        "space": entry.space,
        **entry.body,
    }
    return {"text": texts.whisper_why(known, habits), "whisper": known}


def whisper_report(found: HoldOut, habits: WhisperHabits) -> Json:
    difference, margin = found.difference
    return {
        "text": texts.whisper_report(found, habits),
        "days": found.days,
        "enough": found.enough,
        "told": asdict(found.told),
        "held_out": asdict(found.held_out),
        "late": found.late,
        "undelivered": found.undelivered,
        "difference": round(difference, 4) if found.enough else None,
        "margin": round(margin, 4) if found.enough else None,
    }


def shown(seen: Shown, ends: Mapping[str, Memory]) -> Json:
    """Return a memory whole; `ends` are the memories at the other ends of its connections."""
    memory = seen.stored.memory
    links = [_link(row, memory.id, ends) for row in seen.edges]
    return {
        "text": texts.shown(memory, links),
        "node_id": memory.id,
        "memory": memory_to_json(memory),
        "path": seen.stored.path,
        "connections": links,
        "neighbours": [memory_to_json(each) for each in seen.neighbours],
    }


def _link(row: EdgeRow, memory_id: str, ends: Mapping[str, Memory]) -> Json:
    outward = row.source == memory_id
    other = ends.get(row.connection.target if outward else row.source)
    unset = dict.fromkeys(("reason", "by", "at", "kind", "confidence"))
    return {
        "source": row.source,
        **unset,
        **connection_to_json(row.connection),
        "says": edge_name(row.connection),
        "direction": "out" if outward else "in",
        "resolved": row.resolved,
        "implied": row.implied,
        "title": other.headline if other else None,
    }


def listed(memories: Sequence[Memory], total: int) -> Json:
    return {
        "text": texts.listed(memories, total),
        "memories": [memory_to_json(each) for each in memories],
        "total": total,
    }


def trashed(found: Sequence[Stored]) -> Json:
    memories = [each.memory for each in found]
    return {
        "text": texts.listed(memories, len(memories)),
        "memories": [{"memory": memory_to_json(each.memory), "path": each.path} for each in found],
    }


def history(memory_id: str, events: Sequence[Event], outcomes: Mapping[str, str | None]) -> Json:
    return {"node_id": memory_id, **happenings(events, outcomes)}


def happenings(events: Sequence[Event], outcomes: Mapping[str, str | None]) -> Json:
    """Return events, newest first; `outcomes` say what became of the changes among them."""
    lines = [texts.happened(each, outcomes.get(change_of(each) or "")) for each in events]
    return {
        "text": "\n".join([texts.count(len(events), "event"), *(f"  {each}" for each in lines)]),
        "events": [_event(each, outcomes) for each in events],
    }


def change_of(event: Event) -> str | None:
    """Return the change that an event speaks of, if it speaks of one."""
    change = event.body.get("change")
    return change if isinstance(change, str) else None


def _event(event: Event, outcomes: Mapping[str, str | None]) -> Json:
    values: Json = {
        "id": event.id,
        "at": format_time(event.at),
        "kind": event.kind.value,
        "device": event.device,
        "body": dict(event.body),
    }
    change = change_of(event)
    return values if change is None else {**values, "outcome": outcomes.get(change)}


def merges(events: Sequence[Event], outcomes: Mapping[str, str | None]) -> Json:
    found = [_merge(each, outcomes) for each in events]
    lines = [
        f"  {each['id']}  {each['at']}  kept {texts.short(str(each['kept']))},"
        f" removed {texts.short(str(each['removed']))}, {each['outcome']}"
        for each in found
    ]
    return {"text": "\n".join([texts.count(len(found), "merge"), *lines]), "merges": found}


def _merge(event: Event, outcomes: Mapping[str, str | None]) -> Json:
    details = event.body.get("details")
    pair: Mapping[str, object] = details if isinstance(details, Mapping) else {}
    change = change_of(event) or ""
    return {
        "id": change,
        "at": format_time(event.at),
        "kept": pair.get("kept"),
        "removed": pair.get("removed"),
        "by": event.body.get("by"),
        "reason": event.body.get("reason"),
        "outcome": outcomes.get(change),
    }


# -- proposals -----------------------------------------------------------------------------


def proposals(found: Sequence[Proposal]) -> Json:
    lines = [f"  {texts.proposal(each)}" for each in found]
    return {
        "text": "\n".join([texts.count(len(found), "proposal"), *lines]),
        "proposals": [proposal_to_json(each) for each in found],
    }


def decided(done: Decided) -> Json:
    return {
        "text": texts.proposal(done.proposal),
        "proposal": proposal_to_json(done.proposal),
        "change": done.change,
    }


def proposal_to_json(proposal: Proposal) -> Json:
    resolved = proposal.resolved
    return {
        "id": proposal.id,
        "type": proposal.type.value,
        "status": proposal.status.value,
        "source_nodes": list(proposal.source_nodes),
        "proposed_action": proposal.proposed_action,
        "reason": proposal.reason,
        "created": format_time(proposal.created),
        "resolved": format_time(resolved) if resolved else None,
        "action": dict(proposal.action),
    }


# -- the house -----------------------------------------------------------------------------


def reconciled(report: Reconciled) -> Json:
    text = (
        f"{texts.count(report.files, 'file')}: {report.written:,} written, "
        f"{report.dropped:,} dropped, {report.unchanged:,} unchanged, "
        f"{len(report.unreadable):,} unreadable"
    )
    lines = [text, *(f"  {each}" for each in report.unreadable)]
    return {
        "text": texts.with_notes("\n".join(lines), report.notes),
        "files": report.files,
        "written": report.written,
        "dropped": report.dropped,
        "unchanged": report.unchanged,
        "unreadable": list(report.unreadable),
        "notes": list(report.notes),
    }


def rebuilt(report: Reconciled, seconds: float) -> Json:
    answer = reconciled(report)
    text = f"Rebuilt in {seconds:.1f} s. {answer['text']}"
    return {**answer, "text": text, "seconds": round(seconds, 3)}


def purged(done: Purged) -> Json:
    """The receipt: what was removed where, and what names it still."""
    gone, journal = done.memories, done.journal
    return {
        "text": (
            f"Purged {texts.count(len(gone), 'memory')} for good: "
            f"{texts.count(done.files, 'file')}, "
            f"{texts.count(journal.dropped + journal.cut, 'line')} of the journal, "
            f"{done.traces} embeddings; the index is made anew.{_still_saying(done)}"
        ),
        "memories": [{"id": each.id, "title": each.headline} for each in gone],
        "removed": {
            "files": done.files,
            "journal_lines": journal.dropped,
            "journal_lines_cut": journal.cut,
            "embeddings": done.traces,
        },
        "left": {
            "connections": done.pointing,
            "journal_lines": journal.left,
            "memories": [{"id": each.id, "title": each.headline} for each in done.made_from],
            "merged_into": [{"id": each.id, "title": each.headline} for each in done.merged_into],
        },
    }


def _still_saying(done: Purged) -> str:
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


def compacted(report: Compacted) -> Json:
    return {
        "text": (
            f"{texts.count(len(report.files), 'file')} written anew, "
            f"{texts.count(len(report.dropped), 'line')} dropped, "
            f"{report.bytes_saved:,} bytes saved"
        ),
        "files": list(report.files),
        "busy": list(report.busy),
        "dropped": len(report.dropped),
        "damaged": report.damaged,
        "bytes_saved": report.bytes_saved,
    }


def counts_to_json(counts: Counts) -> Json:
    return {
        "memories": counts.memories,
        "edges": counts.edges,
        "events": counts.events,
        "unembedded": counts.unembedded,
        "unreadable": counts.unreadable,
        "by_type": dict(counts.by_type),
        "by_tier": dict(counts.by_tier),
        "by_space": dict(counts.by_space),
    }


def unreadable_to_json(found: Unreadable) -> Json:
    return {"path": found.path, "line": found.line, "problem": found.problem}
