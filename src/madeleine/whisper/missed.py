"""Why a memory was not whispered: told from what the log kept of a prompt and, for what it did not
even consider, by looking for it once more."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from madeleine.index.log import WhisperEntry
from madeleine.model.memory import SHORT_ID_LENGTH, Memory
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.times import format_time
from madeleine.model.words import SELF_SOURCE
from madeleine.recall.explaining import AbsenceExplanation, is_outdated
from madeleine.recall.recall import recall
from madeleine.whisper.habits import WhisperHabits
from madeleine.whisper.log import ids_of, is_delivered
from madeleine.write.stores import Stores

Body = Mapping[str, object]
"""What is known of a prompt, as the log keeps it."""
CONSIDERED = ("candidates", "refused", "passed_over")
"""Where the log keeps rows about memories that were found for a prompt."""
BEFORE_SEARCHING = frozenset({"prompt", "intent", "conversation", "topic"})


class Fate(enum.StrEnum):
    """What became of a memory when a prompt was thought about."""

    WHISPERED = "whispered"
    LATE = "late"
    """Worded, but nobody waited for it any more."""
    UNDELIVERED = "undelivered"
    """Worded and sent, but nobody confirmed that it was printed."""
    HELD_OUT = "held_out"
    """Would have been whispered; kept back to measure whether whispers help."""
    RESTATED = "restated"
    """Another one that was whispered says the same."""
    NO_ROOM = "no_room"
    """Good enough, and the text was full."""
    TOLD_BEFORE = "told_before"
    WEAK = "weak"
    """Below the floor or the gate, without a word in common, or about you and not asked for."""
    UNSEEN = "unseen"
    """Not among what was found, or nothing was looked for."""


@dataclass(frozen=True, slots=True)
class Missed:
    """Why a memory was not whispered, in a sentence, and at which stage; none, if it was."""

    fate: Fate
    text: str
    stage: str | None
    absent: AbsenceExplanation | None = None
    """Of what was looked for once more: why it is not found, in the parts of the sentence."""
    silence: Mapping[str, object] | None = None
    """If nothing was looked for: why, as the log keeps it, for a door to put into words."""


def rows_of(body: Body) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the rows about memories, each with the name of the list it stands in."""
    for name in CONSIDERED:
        listed = body.get(name)
        for row in listed if isinstance(listed, list) else ():
            if isinstance(row, Mapping):
                yield name, row


def row_about(body: Body, memory_id: str) -> tuple[str, Mapping[str, object]] | None:
    return next((each for each in rows_of(body) if each[1].get("memory") == memory_id), None)


def fate_of(body: Body, memory_id: str) -> Fate:
    """Return what became of a memory."""
    if memory_id in ids_of(body, "restated"):
        return Fate.RESTATED
    if memory_id in ids_of(body, "injected"):
        if is_delivered(body):
            return Fate.WHISPERED
        return Fate.LATE if body.get("late") else Fate.UNDELIVERED
    found = row_about(body, memory_id)
    if found is None:
        return Fate.UNSEEN
    listed, row = found
    if listed == "refused":
        return Fate.WEAK
    if row.get("held") == "session":
        return Fate.TOLD_BEFORE
    if listed == "passed_over":
        return Fate.NO_ROOM
    if body.get("held_out"):
        return Fate.HELD_OUT
    return Fate.TOLD_BEFORE if body.get("stage") == "session" else Fate.NO_ROOM


def why_not(stores: Stores, habits: WhisperHabits, entry: WhisperEntry, memory: Memory) -> Missed:
    """Say why a memory was not whispered for a logged prompt."""
    fate = fate_of(entry.body, memory.id)
    if fate is not Fate.UNSEEN:
        return Missed(
            fate, _considered(entry, habits, memory.id, fate), _stage(entry, memory, fate)
        )
    stage = str(entry.body.get("stage"))
    if stage in BEFORE_SEARCHING:
        parts = entry.body.get("silence_parts")
        if isinstance(parts, Mapping):
            return Missed(fate, "Nothing was looked for.", stage, silence=parts)
        said = entry.body.get("silence")  # the sentence that an earlier release kept
        return Missed(fate, f"Nothing was looked for: {said}.", stage)
    out = _left_out(entry, memory)
    return Missed(fate, out, "search") if out else _looked_for(stores, habits, entry, memory)


def _stage(entry: WhisperEntry, memory: Memory, fate: Fate) -> str | None:
    found = row_about(entry.body, memory.id)
    held = str(found[1].get("held") or "") if found else ""
    return None if fate is Fate.WHISPERED else held or str(entry.body.get("stage"))


def _considered(entry: WhisperEntry, habits: WhisperHabits, memory_id: str, fate: Fate) -> str:
    restated = entry.body.get("restated")
    better = restated.get(memory_id, "") if isinstance(restated, Mapping) else ""
    return {
        Fate.WHISPERED: "It was whispered.",
        Fate.LATE: "It was found, but the answer came after the deadline and nobody read it.",
        Fate.UNDELIVERED: "It was found, but nobody confirmed that it was read: it may be told "
        "again.",
        Fate.HELD_OUT: "It would have been whispered; this one was kept back to measure whether "
        "whispers help.",
        Fate.RESTATED: f"`{str(better)[:SHORT_ID_LENGTH]}`, which was whispered, says the same.",
        Fate.NO_ROOM: "It was good enough, but others are better and there was no more room.",
        Fate.TOLD_BEFORE: "It was whispered before in this conversation.",
        Fate.WEAK: _too_weak(entry, habits, memory_id),
    }[fate]


def _too_weak(entry: WhisperEntry, habits: WhisperHabits, memory_id: str) -> str:
    found = row_about(entry.body, memory_id)
    row = found[1] if found else {}
    score = row.get("score")
    shown = f"{score:.2f}" if isinstance(score, float | int) else "?"
    if row.get("held") == "search":
        return "It is about you, and the prompt did not ask for it."
    if row.get("held") == "overlap":
        return "It shares no word with the prompt, and others do."
    if row.get("held") == "floor":
        return f"Its score of {shown} is below the floor of {habits.min_relevance_score:.2f}."
    return f"Its score of {shown} is below the gate of {habits.injection_gate:.2f}."


def _left_out(entry: WhisperEntry, memory: Memory) -> str | None:
    """Say why a memory is not looked at, whatever the prompt is about."""
    if memory.created > entry.at:
        return f"It was not known yet: it was remembered {format_time(memory.created)}."
    if memory.source == SELF_SOURCE:
        return "It stands for you yourself and is never whispered."
    if is_outdated(memory, Filter(), entry.at):
        return "It is no longer true, and what is outdated is not whispered."
    among = entry.body.get("among")
    if isinstance(among, list) and among and memory.space not in among:
        where = next((f"`{each}` and of no space" for each in among if each), "no space")
        return (
            f"It is of `{memory.space}`; the prompt was typed where only memories of {where} count."
        )
    return None


def _looked_for(
    stores: Stores, habits: WhisperHabits, entry: WhisperEntry, memory: Memory
) -> Missed:
    """Look for the memory once more, among what may be whispered."""
    query = RecallQuery(
        text=str(entry.body.get("prompt", "")),
        limit=max(2 * habits.max_nodes, 12),
        filter=Filter(spaces=_spaces(entry)),
        space=entry.space,
        why_not=memory.id,
    )
    found = recall(stores, query, touch=False)
    text = f"It was not found. Looked for now, {found.why_not or ''}."
    return Missed(Fate.UNSEEN, text, "search", found.absent)


def _spaces(entry: WhisperEntry) -> tuple[str | None, ...]:
    among = entry.body.get("among")
    return tuple(among) if isinstance(among, list) else ()
