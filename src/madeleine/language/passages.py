"""How a memory is cut into what a model reads in one go.

A model reads about 250 tokens and ignores the rest, so a long memory is read in pieces. What
was said in a conversation is read with its speaker and its date, because questions name them
and the words alone often do not; a note is read with its title, its claim and its tags.

The same memory always gives the same passages: kept traces are found again by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from madeleine.language.late_pattern import compile_late
from madeleine.model.embedding import Passage
from madeleine.model.memory import Memory
from madeleine.model.times import as_utc
from madeleine.model.words import ABOUT_SELF

PASSAGE_CHARS = 900  # about 200 tokens of prose, which leaves room for title, speaker and date
MOST_PASSAGES = 64  # what follows is found by its words; reading it would take seconds
TITLE_CHARS = 200  # of a title, and of a speaker's name: what is said counts for more
SPEAKER_ROLES = frozenset(
    {"user", "assistant", "human", "ai", "agent", "system", "tool", "me", "you"}
)
"""What stands for a speaker in transcripts without being anybody's name."""

# Of other scripts a tokenizer made for Latin ones takes nearly every character by itself,
# where it takes four of a Latin word at a time.
LAST_LATIN = "\u024f"
FOREIGN_WEIGHT = 4

# Not strftime, which asks where the machine stands: the same memory has one text everywhere.
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

# Where a thought ends, best first: a paragraph, a line, a sentence, a word.
_BREAKS = tuple(compile_late(each) for each in (r"\n\s*\n", r"\n", r"[.!?]\s+|[。！？]\s*", r"\s"))


def split_passages(memory: Memory) -> list[Passage]:
    """Return the pieces of a memory in order, at least one. They cover the content without
    gaps or overlaps, as far as they go."""
    before, unspoken = _render_prefix(memory)
    return [
        Passage(before + memory.content[start:end], start, end, unspoken)
        for start, end in _split_pieces(memory.content)
    ]


def find_speaker(memory: Memory) -> str | None:
    """Return who said it, if that is somebody's name."""
    speaker = _to_one_line(memory.origin.speaker if memory.origin else None)
    return speaker if speaker and speaker.lower() not in SPEAKER_ROLES else None


def context_words(memory: Memory) -> str:
    """Return who said it, when, and what it claims, as words to be found by; empty for a plain
    note."""
    before, unspoken = _render_prefix(memory)
    date = before[:unspoken].strip("[] ")
    return " ".join(part for part in (find_speaker(memory), date, claim_words(memory)) if part)


def _render_prefix(memory: Memory) -> tuple[str, int]:
    """Return what is read before each piece, and how much of it is the date."""
    in_session = memory.origin is not None and memory.origin.session is not None
    date = _render_date(memory.created) if in_session else ""
    speaker, title = find_speaker(memory), _to_one_line(memory.title)
    said_by = f"{speaker}: " if speaker else ""
    headed = f"{title}. " if title and not memory.content.startswith(title) else ""
    claimed = f"{words}. " if (words := claim_words(memory)) else ""
    return date + said_by + headed + claimed + _render_tags(memory), len(date)


def claim_words(memory: Memory) -> str:
    """Return the claim as words: a question asks for the attribute, and a text that says `it is
    Cork now` need not name it."""
    claim = memory.claim
    if claim is None:
        return ""
    return " ".join(map(_to_one_line, (claim.subject, claim.attribute, claim.value)))


def _render_tags(memory: Memory) -> str:
    """Return the tags as words: who gives one means to find the memory by it."""
    tags = ", ".join(each for each in memory.tags if each != ABOUT_SELF)
    return f"({_to_one_line(tags)}) " if tags else ""


def _render_date(moment: datetime) -> str:
    day = as_utc(moment)  # as the file says it
    return f"[{day.day} {MONTHS[day.month - 1]} {day.year}] "


def _to_one_line(text: str | None) -> str:
    """Return the beginning of a text on one line; a file written by hand may say anything."""
    return " ".join((text or "").split())[:TITLE_CHARS]


def _split_pieces(content: str) -> Iterator[tuple[int, int]]:
    """Yield where each piece begins and ends, cut where a thought ends if it can be."""
    if len(content) <= PASSAGE_CHARS and content.isascii():  # most of them
        yield 0, len(content)
        return
    start = 0
    for _ in range(MOST_PASSAGES):
        end = _find_piece_end(content, start)
        yield start, end
        start = end
        if start >= len(content):
            return


def _find_piece_end(content: str, start: int) -> int:
    """Return where the piece that begins at `start` ends: at the last of the best breaks in
    its second half, or else wherever it is full."""
    full = _find_full_end(content, start)
    if full >= len(content):
        return len(content)
    for kind in _BREAKS:
        found = [each.end() for each in kind.finditer(content, (start + full) // 2, full)]
        if found:
            return found[-1]
    return full


def _find_full_end(content: str, start: int) -> int:
    """Return how far a model reads from `start`."""
    ahead = content[start : start + PASSAGE_CHARS]
    if ahead.isascii():
        return start + PASSAGE_CHARS
    room = PASSAGE_CHARS
    for place, character in enumerate(ahead):
        room -= 1 if character <= LAST_LATIN else FOREIGN_WEIGHT
        if room < 0:
            return start + place
    return start + PASSAGE_CHARS
