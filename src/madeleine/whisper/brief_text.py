"""The brief as an agent reads it: sections of single lines, each memory with its id, in a frame.

What memories say stands on one line each and can end no frame (I9). Of each section so much is
told as its share of the room lets in; what one section leaves over goes to those after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from madeleine.model.cause import ActivityKind
from madeleine.model.memory import SHORT_ID_LENGTH, Memory
from madeleine.whisper.rendering import (
    BRIEF_FRAME,
    BRIEF_HEADING,
    BYTES_A_TOKEN,
    HOST_BYTES,
    byte_size,
    flatten_text,
    format_day,
    render_older,
)

LINE_CHARS = 200  # of a memory; one that says more is told by its title and its beginning
PERSON_CHARS = 90  # of a statement about the person: all of them stand in one line
PERSON_MOST = 3


class BriefSection(StrEnum):
    """A part of a brief, in the order in which they are told."""

    PERSON = "person"
    """Who the person is, in one line."""
    TASK = "task"
    """What fits the task of a sub-agent."""
    RULES = "rules"
    """How things are to be done, here and everywhere."""
    TOLD = "told"
    """What was whispered in this session before it was shortened."""
    PROJECT = "project"
    """What was decided, and what is to be reached."""
    OPEN = "open"
    """What was worked on in the last session."""
    NIGHT = "night"
    """What the night changed."""


@dataclass(frozen=True, slots=True)
class BriefLine:
    """A memory in a brief, or what the night did: how often what."""

    memory: Memory | None
    night: str | None = None
    counts: Mapping[ActivityKind, int] = field(default_factory=dict)
    instead_of: Memory | None = None
    """The older memory in whose place it is told, because it may have replaced that."""


@dataclass(frozen=True, slots=True)
class SectionLines:
    """A section with its lines, best first. `since` is when the last session was."""

    section: BriefSection
    lines: Sequence[BriefLine]
    since: datetime | None = None


_SHARES: Mapping[BriefSection, float] = {
    BriefSection.PERSON: 0.2,
    BriefSection.TASK: 0.4,
    BriefSection.RULES: 0.4,
    BriefSection.TOLD: 0.5,
    BriefSection.PROJECT: 0.6,
    BriefSection.OPEN: 0.8,
    BriefSection.NIGHT: 1.0,
}
"""How much each may take of the room that is left when its turn comes, where others follow it."""

_TITLES: Mapping[BriefSection, str] = {
    BriefSection.TASK: "What may help with the task:",
    BriefSection.RULES: "How things are done:",
    BriefSection.TOLD: "Whispered before in this session:",
    BriefSection.PROJECT: "Decisions and goals:",
}

_NIGHT_WORDS: Mapping[ActivityKind, tuple[str, str]] = {
    ActivityKind.RETIRED: ("1 memory was replaced", "{} memories were replaced"),
    ActivityKind.MERGED: ("2 memories became one", "{} pairs became one"),
    ActivityKind.ARCHIVED: ("1 went to the archive", "{} went to the archive"),
    ActivityKind.DEMOTED: ("1 left core", "{} left core"),
    ActivityKind.FORGOTTEN: ("1 went to the trash", "{} went to the trash"),
    ActivityKind.MOVED: ("1 was moved to a project", "{} were moved to a project"),
    ActivityKind.CONSOLIDATED: ("1 summary was written", "{} summaries were written"),
    ActivityKind.ASKED: ("1 question waits", "{} questions wait"),
}
"""What of a night a person should know; links and scores are no news."""


def render_brief(
    wanted: Sequence[SectionLines], token_budget: int
) -> tuple[str, tuple[SectionLines, ...]]:
    """Return the text, and what it holds: as much as fits."""
    room = min(HOST_BYTES, token_budget * BYTES_A_TOKEN)
    room -= byte_size(BRIEF_HEADING) + byte_size(BRIEF_FRAME) + 3
    parts: list[str] = []
    told: list[SectionLines] = []
    for place, each in enumerate(wanted):
        share = 1.0 if place == len(wanted) - 1 else _SHARES[each.section]
        text, held = _render_section(each, int(room * share))
        if text:
            parts.append(text)
            told.append(held)
            room -= byte_size(text) + 1
    if not parts:
        return "", ()
    return "\n".join([BRIEF_HEADING, BRIEF_FRAME, *parts]) + "\n", tuple(told)


def _render_section(wanted: SectionLines, room: int) -> tuple[str, SectionLines]:
    """Return a section's text and the lines in it; nothing of one that has no room."""
    if wanted.section is BriefSection.PERSON:
        return _render_person(wanted, room)
    if wanted.section is BriefSection.NIGHT:
        line = _render_night(wanted.lines[0])
        return (line, wanted) if line and byte_size(line) <= room else ("", wanted)
    texts, held = [_render_title(wanted)], []
    room -= byte_size(texts[0])
    for each in wanted.lines:
        line = _render_memory(each)
        if byte_size(line) + 1 > room:
            continue
        texts.append(line)
        held.append(each)
        room -= byte_size(line) + 1
    if not held:
        return "", wanted
    return "\n".join(texts), SectionLines(wanted.section, held, wanted.since)


def _render_title(wanted: SectionLines) -> str:
    if wanted.section is not BriefSection.OPEN:
        return _TITLES[wanted.section]
    day = "" if wanted.since is None else f" ({format_day(wanted.since)})"
    return f"From the last session{day}:"


def _render_memory(line: BriefLine) -> str:
    memory = line.memory
    assert memory is not None
    about = f"id: {memory.short_id}, {format_day(memory.created)}"
    older = "" if line.instead_of is None else f" {render_older(line.instead_of)}"
    return f"- {render_statement(memory, LINE_CHARS)} ({about}){older}"


def render_statement(memory: Memory, most: int) -> str:
    """Return what a memory says on one line: its text, or its title if the text is too long."""
    text = flatten_text(memory.content, most)
    is_whole = len(memory.content) <= most
    return text if is_whole or not memory.title else flatten_text(memory.title, most)


def _render_person(wanted: SectionLines, room: int) -> tuple[str, SectionLines]:
    """Return one line of the statements that say best who the person is."""
    text, held = "", []
    for each in wanted.lines[:PERSON_MOST]:
        memory = each.memory
        assert memory is not None
        said = f"{flatten_text(memory.content, PERSON_CHARS)} (id: {memory.short_id})"
        said += "" if each.instead_of is None else f" {render_older(each.instead_of)}"
        longer = f"{text}; {said}" if text else f"About the user: {said}"
        if byte_size(longer) > room:
            continue
        text = longer
        held.append(each)
    return text, SectionLines(wanted.section, held)


def _render_night(line: BriefLine) -> str:
    said = []
    for kind, (one, many) in _NIGHT_WORDS.items():
        count = line.counts.get(kind, 0)
        if count:
            said.append(one if count == 1 else many.format(count))
    if not said or line.night is None:
        return ""
    undo = f"madeleine undo {line.night[:SHORT_ID_LENGTH]}"
    return f"Last night: {', '.join(said)}; `madeleine log --last-night`, `{undo}`."
