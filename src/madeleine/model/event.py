"""Journal events: what happened to memories, as values.

An event is identified by `id` wherever it is read from, so that two devices' journals can be
read in any order, and twice, without counting anything twice. `body` is plain JSON whose
shape depends on `kind`; docs/file-format.md lists the shapes.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


class EventKind(enum.StrEnum):
    """What an event says."""

    USED = "used"
    """A memory helped: recalled, opened, seen in a reply, or whispered. body: memory, how,
    session?, n?"""
    ADOPTED = "adopted"
    """Counters found in a foreign file's front matter. body: memory and the counters."""
    SCORED = "scored"
    """A job's new scores. body: scores {importance or relevance: {memory: number}}, and from a
    run also change, run, was."""
    FEEDBACK = "feedback"
    """A memory was useful or not. body: memory, signal, source, whisper?, prompt?"""
    REVIEWED = "reviewed"
    """A memory was offered for review and answered. body: memory, answer."""
    CHANGED = "changed"
    """Files are about to change. body: change, verb, by, run?, reason?, edits, details."""
    SETTLED = "settled"
    """What became of a change. body: change, outcome (done, dropped)."""
    REMEMBERED = "remembered"
    """A new file was written. body: memory, by, change."""
    PROPOSED = "proposed"
    """A proposal was made. body: the proposal."""
    DECIDED = "decided"
    """A proposal was decided. body: proposal, status, by."""
    JUDGED = "judged"
    """A job looked at memories, or a costly judge answered about a pair. body: judge, job, and
    seen {memory: hash}, or pair, digests, verdict."""
    RUN = "run"
    """A job ran. body: run, job, report."""
    STATE = "state"
    """A small value that must outlive the index. body: key, value. The newest wins."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the journal."""

    id: str
    at: datetime
    kind: EventKind
    device: str = ""
    body: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JournalCursor:
    """How far a journal file has been read. `check` is a hash of the bytes just before
    `offset`, which tells a file that only grew from one that was replaced."""

    offset: int
    check: str
