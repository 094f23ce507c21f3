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
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.log import is_delivered, listed_ids
from madeleine.whisper.values import REPLACED
from madeleine.write.stores import Stores

LoggedPrompt = Mapping[str, object]
"""What is known of a prompt, as the log keeps it."""
CONSIDERED = ("candidates", "refused", "passed_over")
"""Where the log keeps rows about memories that were found for a prompt."""
BEFORE_SEARCHING = frozenset({"prompt", "intent", "conversation", "topic"})


class WhisperFate(enum.StrEnum):
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
class MissedWhisper:
    """Why a memory was not whispered, in a sentence, and at which stage; none, if it was."""

    fate: WhisperFate
    text: str
    stage: str | None
    absent: AbsenceExplanation | None = None
    """Of what was looked for once more: why it is not found, in the parts of the sentence."""
    silence: Mapping[str, object] | None = None
    """If nothing was looked for: why, as the log keeps it, for a door to put into words."""


def iterate_rows(body: LoggedPrompt) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the rows about memories, each with the name of the list it stands in."""
    for name in CONSIDERED:
        listed = body.get(name)
        for row in listed if isinstance(listed, list) else ():
            if isinstance(row, Mapping):
                yield name, row


def find_row(body: LoggedPrompt, memory_id: str) -> tuple[str, Mapping[str, object]] | None:
    return next((each for each in iterate_rows(body) if each[1].get("memory") == memory_id), None)


def fate_of(body: LoggedPrompt, memory_id: str) -> WhisperFate:
    """Return what became of a memory."""
    if memory_id in listed_ids(body, "restated"):
        return WhisperFate.RESTATED
    if memory_id in listed_ids(body, "injected"):
        if is_delivered(body):
            return WhisperFate.WHISPERED
        return WhisperFate.LATE if body.get("late") else WhisperFate.UNDELIVERED
    found = find_row(body, memory_id)
    if found is None:
        return WhisperFate.UNSEEN
    listed, row = found
    if listed == "refused":
        return WhisperFate.WEAK
    if row.get("held") == "session":
        return WhisperFate.TOLD_BEFORE
    if listed == "passed_over":
        return WhisperFate.NO_ROOM
    if body.get("held_out"):
        return WhisperFate.HELD_OUT
    return WhisperFate.TOLD_BEFORE if body.get("stage") == "session" else WhisperFate.NO_ROOM


def explain_missed(
    stores: Stores, config: WhisperConfig, entry: WhisperEntry, memory: Memory
) -> MissedWhisper:
    """Say why a memory was not whispered for a logged prompt."""
    fate = fate_of(entry.body, memory.id)
    if fate is not WhisperFate.UNSEEN:
        return MissedWhisper(
            fate,
            _render_considered(entry, config, memory.id, fate),
            _holding_stage(entry, memory, fate),
        )
    stage = str(entry.body.get("stage"))
    if stage in BEFORE_SEARCHING:
        parts = entry.body.get("silence_parts")
        if isinstance(parts, Mapping):
            return MissedWhisper(fate, "Nothing was looked for.", stage, silence=parts)
        said = entry.body.get("silence")  # the sentence that an earlier release kept
        return MissedWhisper(fate, f"Nothing was looked for: {said}.", stage)
    out = _render_left_out(entry, memory)
    return (
        MissedWhisper(fate, out, "search") if out else _search_again(stores, config, entry, memory)
    )


def _holding_stage(entry: WhisperEntry, memory: Memory, fate: WhisperFate) -> str | None:
    found = find_row(entry.body, memory.id)
    held = str(found[1].get("held") or "") if found else ""
    return None if fate is WhisperFate.WHISPERED else held or str(entry.body.get("stage"))


def _render_considered(
    entry: WhisperEntry, config: WhisperConfig, memory_id: str, fate: WhisperFate
) -> str:
    restated = entry.body.get("restated")
    better = restated.get(memory_id, "") if isinstance(restated, Mapping) else ""
    found = find_row(entry.body, memory_id)
    if found is not None and found[1].get("held") == REPLACED:
        return "A newer one, which may have replaced it, was told in its place."
    return {
        WhisperFate.WHISPERED: "It was whispered.",
        WhisperFate.LATE: "It was found, but the answer came after the deadline and nobody "
        "read it.",
        WhisperFate.UNDELIVERED: "It was found, but nobody confirmed that it was read: it may be "
        "told again.",
        WhisperFate.HELD_OUT: "It would have been whispered; this one was kept back to measure "
        "whether whispers help.",
        WhisperFate.RESTATED: f"`{str(better)[:SHORT_ID_LENGTH]}`, which was whispered, "
        "says the same.",
        WhisperFate.NO_ROOM: "It was good enough, but others are better and there was no more "
        "room.",
        WhisperFate.TOLD_BEFORE: "It was whispered before in this conversation.",
        WhisperFate.WEAK: _render_too_weak(entry, config, memory_id),
    }[fate]


def _render_too_weak(entry: WhisperEntry, config: WhisperConfig, memory_id: str) -> str:
    found = find_row(entry.body, memory_id)
    row = found[1] if found else {}
    worth = row.get("worth", row.get("score"))  # earlier releases kept it as the score
    shown = f"{worth:.2f}" if isinstance(worth, float | int) else "?"
    if row.get("held") == "search":
        return "It is about you, and the prompt did not ask for it."
    if row.get("held") == "overlap":
        return "It shares no word with the prompt, and others do."
    if row.get("held") == "floor":
        return f"Its worth of {shown} is below the floor of {config.min_relevance_score:.2f}."
    return f"Its worth of {shown} is below the gate of {config.injection_gate:.2f}."


def _render_left_out(entry: WhisperEntry, memory: Memory) -> str | None:
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


def _search_again(
    stores: Stores, config: WhisperConfig, entry: WhisperEntry, memory: Memory
) -> MissedWhisper:
    """Look for the memory once more, among what may be whispered."""
    query = RecallQuery(
        text=str(entry.body.get("prompt", "")),
        limit=max(2 * config.max_nodes, 12),
        filter=Filter(spaces=_logged_spaces(entry)),
        space=entry.space,
        why_not=memory.id,
        all=True,
    )
    found = recall(stores, query, touch=False)
    text = f"It was not found. Looked for now, {found.why_not or ''}."
    return MissedWhisper(WhisperFate.UNSEEN, text, "search", found.absent)


def _logged_spaces(entry: WhisperEntry) -> tuple[str | None, ...]:
    among = entry.body.get("among")
    return tuple(among) if isinstance(among, list) else ()
