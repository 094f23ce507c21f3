"""A query: what is asked of recall, and the filter that every source obeys (I11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from madeleine.errors import InvalidValue
from madeleine.model.draft import MemoryLimits, read_space, read_tags
from madeleine.model.request_reader import RequestReader
from madeleine.model.words import EXCHANGE_TAG, MemoryType, Tier

QUERY_CHARS = 20_000  # a longer text is not a question; what follows is not read
MAX_HITS = 100
DEFAULT_HITS = 10
OVERVIEW_HITS = 30  # of a question for an overview, unless it says how many


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories may be answered with. An empty tuple means any.

    A space of None inside `spaces` is the global one. `outdated` lets in what is retired,
    expired or superseded; `as_of` asks how things stood at that moment instead of now.
    `exchanges` lets in what was said in sessions, which is kept word for word and apart.
    """

    types: tuple[MemoryType, ...] = ()
    tiers: tuple[Tier, ...] = ()
    spaces: tuple[str | None, ...] = ()
    tags: tuple[str, ...] = ()
    created_after: datetime | None = None
    created_before: datetime | None = None
    as_of: datetime | None = None
    outdated: bool = False
    exchanges: bool = False

    @property
    def hides_exchanges(self) -> bool:
        """Whether exchanges have to be left out. They are archival, and whoever asks for their
        tag asks for them."""
        archived = not self.tiers or Tier.ARCHIVAL in self.tiers
        return archived and not self.exchanges and EXCHANGE_TAG not in self.tags


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question with its filter and how many answers are wanted."""

    text: str
    limit: int = DEFAULT_HITS
    filter: Filter = field(default_factory=Filter)
    space: str | None = None
    """The asker's own space: preferred, not required."""
    session_id: str | None = None
    explain: bool = False
    why_not: str | None = None
    """The id, or its beginning, of a memory whose absence is to be explained."""
    all: bool = False
    """Whether what is found below the floor is shown too."""
    overview_limit: int | None = None
    """How many answers a question for an overview has; None: as many as any other."""
    narrows_by_time: bool = True
    """Whether a time that is asked about leaves out what is from other times. To what is not asked
    of the memory, such as a prompt, a time is only a hint."""
    is_question: bool = False
    """Whether somebody asks the memory. A prompt, a task or a deed is looked up without being a
    question, and is not weighed as one."""
    at_hand_limit: int | None = None
    """How many core and working memories are enough, where `limit` leaves room for archived ones
    beside them; None: as many as are found."""


def read_query(values: Mapping[str, object], default_space: str | None = None) -> RecallQuery:
    """Return the query that a request (the documented SearchQuery) describes."""
    reader = RequestReader(values, "the query")
    text = reader.required_text("query")
    if not text.strip():
        raise InvalidValue("query", "is empty", hint="say what you are looking for")
    query = RecallQuery(
        text=text[:QUERY_CHARS],
        limit=reader.whole("limit", DEFAULT_HITS, 1, MAX_HITS),
        filter=read_filter(reader),
        space=default_space,
        session_id=reader.text("session_id"),
        explain=reader.flag("explain"),
        why_not=reader.text("why_not"),
        all=reader.flag("all"),
        overview_limit=None if values.get("limit") is not None else OVERVIEW_HITS,
        is_question=True,
    )
    reader.done()
    return query


def read_filter(reader: RequestReader) -> Filter:
    """Return the filter part of a request."""
    return Filter(
        types=reader.choices(MemoryType, "types") or (),
        tiers=reader.choices(Tier, "tiers") or (),
        spaces=tuple(read_space(space) for space in reader.texts("spaces") or ()),
        tags=read_tags(reader.texts("tags") or (), MemoryLimits()),
        created_after=reader.time("created_after"),
        created_before=reader.time("created_before"),
        as_of=reader.time("as_of"),
        outdated=reader.flag("outdated"),
        exchanges=reader.flag("exchanges"),
    )
