"""A memory: what its file says, joined with how it has been used.

The file's part and the journal's part are kept apart on purpose. `Usage` never stands in a
file, so that reading a memory never rewrites it (I3); the properties below join the two for
whoever wants the whole data model on one object.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass, field
from datetime import datetime

from madeleine.errors import InvalidValue, quote
from madeleine.model.metadata import Metadata
from madeleine.model.words import EXCHANGE_TAG, Edge, MemoryKind, MemoryType, Tier

SHORT_ID_LENGTH = 8  # the first group of a UUID: enough to tell apart what one person keeps
DEFAULT_STABILITY_DAYS = 1.0
DEFAULT_IMPORTANCE = 0.5  # what a memory is worth before anything is known about its use
TITLE_PREVIEW_CHARS = 72  # a title made from the text still fits a terminal line
# A line that only says how others look: a rule, the frame of a table, the fence of a code block.
_ONLY_MARKS = re.compile(r"(?:[`~=_|:+*#>\s-]+|(?:`{3,}|~{3,})\s*[\w.+#-]+)\Z")


@dataclass(frozen=True, slots=True)
class Connection:
    """A typed, weighted arrow that stands in the file of the memory it starts from."""

    target: str
    edge: Edge = Edge.RELATED_TO
    weight: float = 0.5
    reason: str | None = None
    by: str | None = None
    at: datetime | None = None
    kind: str | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a memory came from: conversation or file, position in it, speaker, link back."""

    session: str | None = None
    turn: int | None = None
    speaker: str | None = None
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What a memory states, in three parts: of some subject an attribute has a value. Subject
    and attribute are its address; a newer value at one address replaces an older one."""

    subject: str
    attribute: str
    value: str


@dataclass(frozen=True, slots=True)
class Usage:
    """How a memory has been used, folded from the journal."""

    access_count: int = 0
    last_accessed: datetime | None = None
    last_review: datetime | None = None
    stability: float = DEFAULT_STABILITY_DAYS
    importance: float = DEFAULT_IMPORTANCE
    relevance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFields:
    """What a draft and a memory both say. `model/fields.py` has a row for each."""

    type: MemoryType = MemoryType.FACT
    tier: Tier = Tier.WORKING
    space: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    source: str = "agent:unknown"
    confidence: float = 1.0
    valid_until: datetime | None = None
    origin: Origin | None = None
    claim: Claim | None = None
    triggers: tuple[str, ...] | None = None
    """Before which deeds it is told; nothing: those that its text is about."""
    kind: MemoryKind | None = None
    """Whether it says how things are to be done; nothing: that is read from its text."""
    metadata: Metadata | None = None
    """What other programs keep beside it; nothing is decided by it."""
    idempotency_key: str | None = None
    connections: tuple[Connection, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory(SharedFields):
    """One thing worth knowing; it exists exactly when its file exists (I1)."""

    id: str
    content: str
    created: datetime
    updated: datetime
    superseded_by: str | None = field(default=None, kw_only=True)
    usage: Usage = field(default_factory=Usage, kw_only=True)

    @property
    def short_id(self) -> str:
        return self.id[:SHORT_ID_LENGTH]

    @property
    def headline(self) -> str:
        """The title, or the beginning of the text where there is none."""
        return self.title or first_words(self.content)

    @property
    def is_exchange(self) -> bool:
        """Whether it is what was said in a session, kept word for word and apart."""
        return self.tier is Tier.ARCHIVAL and EXCHANGE_TAG in self.tags

    @property
    def access_count(self) -> int:
        return self.usage.access_count

    @property
    def last_accessed(self) -> datetime:
        return self.usage.last_accessed or self.created

    @property
    def last_review(self) -> datetime | None:
        return self.usage.last_review

    @property
    def stability(self) -> float:
        return self.usage.stability

    @property
    def importance(self) -> float:
        return self.usage.importance

    @property
    def relevance(self) -> float | None:
        return self.usage.relevance


def first_words(content: str) -> str:
    """Return the first line that says something, cut at a word to fit one line."""
    for line in content.splitlines():
        words = line.strip().lstrip("#>*- ").strip()
        if words and not _ONLY_MARKS.match(words):
            return _cut_to_line(words)
    return _cut_to_line(" ".join(content.split()))


def _cut_to_line(words: str) -> str:
    if len(words) <= TITLE_PREVIEW_CHARS:
        return words
    cut = words[: TITLE_PREVIEW_CHARS - 1]
    return cut[: cut.rfind(" ")].rstrip(" ,;:") + "…" if " " in cut else cut + "…"


def parse_id(field_name: str, value: object) -> str:
    """Return `value` as a canonical lower-case UUID."""
    try:
        return str(uuid.UUID(str(value)))
    except ValueError as error:
        raise InvalidValue(
            field_name,
            f"is {quote(value)}, not a UUID",
            hint="leave it out, or give all 36 characters",
        ) from error
