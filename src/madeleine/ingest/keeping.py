"""Writing what was found: once, within the gate, and never what is known.

What is found has a key made of where it was found, and the memory's id follows from the key. So
the same thing found again is known again, whatever became of the memory since: what somebody
forgot or revised stays so. Words that are known from elsewhere are not kept twice either, and of
what a model put into words also what merely restates a memory is not.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from madeleine.errors import Conflict, Excluded, Rejected
from madeleine.ingest.context import IngestContext
from madeleine.ingest.gate import AdmissionGate
from madeleine.language.off_record import strip_private
from madeleine.language.restatements import have_same_numbers
from madeleine.language.secrets import redact_secrets
from madeleine.language.substance import find_particulars
from madeleine.language.text_keys import same_text_key
from madeleine.language.text_merging import denies_alike
from madeleine.model.codec import Json
from madeleine.model.draft import Draft, read_draft
from madeleine.model.extraction import Extraction, ExtractionSource
from madeleine.model.query import Filter
from madeleine.model.words import MemoryType, Tier
from madeleine.write.agent_writes import find_excluded, is_agent, waits_for_approval
from madeleine.write.approval import remember_as
from madeleine.write.embedding import embed_memory, neighbour_vector
from madeleine.write.purge import was_purged
from madeleine.write.remember import build_memory
from madeleine.write.stores import Stores

NEAR_AT_MOST = 5  # nearest memories that are looked at for a restatement


@dataclass(frozen=True, slots=True)
class IngestFinding:
    """One thing that is to be kept."""

    content: str
    key: str
    source: str
    type: MemoryType = MemoryType.FACT
    tier: Tier = Tier.WORKING
    title: str | None = None
    space: str | None = None
    about_self: bool = False
    confidence: float = 1.0
    tags: tuple[str, ...] = ()
    created: str | None = None
    origin: Mapping[str, object] | None = None
    replaces: tuple[str, ...] = ()
    """The ids of memories that it takes the place of."""
    put_anew: bool = False
    """Whether a model put it into words: then it may restate what is known in other ones."""

    @property
    def id(self) -> str:
        """The same thing always becomes the same memory, so that its story can be looked up."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"madeleine:{self.key}"))

    def to_json(self) -> Json:
        """As a dry run tells of it."""
        return {
            "title": self.title,
            "content": self.content,
            "type": self.type.value,
            "tier": self.tier.value,
            "space": self.space,
            "tags": list(self.tags),
            "about_self": self.about_self,
            "confidence": self.confidence,
        }


@dataclass(slots=True)
class Keeper:
    """Keeps what one run finds, and counts what came of it."""

    intake: IngestContext
    gate: AdmissionGate
    dry_run: bool = False
    kept: list[str] = field(default_factory=list)
    found: list[IngestFinding] = field(default_factory=list)
    known: int = 0
    refused: int = 0
    redacted: int = 0
    excluded: int = 0
    """What the settings keep out."""
    why_excluded: str = ""
    """Which setting did so, the last time."""
    by: str | None = None
    """Who takes it in; else whoever each thing comes from."""
    begin: Callable[[], None] = lambda: None
    """Called before the first thing is written."""
    recount: bool = False
    """Whether what was kept before was never counted, since that run was killed."""

    def keep(self, found: IngestFinding) -> str | None:
        """Write it, unless it was kept before or is known already; return the memory's id.

        Raises `IngestLimitReached`, or what the disk says: then nothing was written, and who asks
        must come again with it.
        """
        plain = self._remove_secrets(found)
        if self._is_excluded(plain):
            return None
        if self._is_known(plain):
            self.known += 1
            self.gate.added += self.recount and self._is_there(plain.id)
            return None
        self.gate.check(low=plain.tier is Tier.ARCHIVAL)
        return self._write_finding(plain)

    def extract(self, told: Sequence[ExtractionSource]) -> Extraction | None:
        """Return what the language model finds; nothing where there is none, where it has used
        up what it may today, or where it gave no usable answer."""
        extractor, most = self.intake.extractor, self.intake.config.tokens_per_day
        if extractor is None or (most and self.gate.today.tokens + extractor.tokens >= most):
            return None
        return extractor.extract(told)

    def is_capped(self) -> bool:
        """Whether the day's cap has no room for the language model that is to look."""
        spending = self.intake.stores.minds.spending
        return (
            self.intake.extractor is not None
            and spending is not None
            and bool(spending.find_refusal())
        )

    def _remove_secrets(self, found: IngestFinding) -> IngestFinding:
        """Whatever found it: no secret is written, and nothing private."""
        content = redact_secrets(strip_private(found.content))
        title = redact_secrets(strip_private(found.title or ""))
        self.redacted += content.secrets
        return _replace_texts(found, content.text, title.text or None)

    def exclude(self, why: Excluded) -> None:
        """Count something that the settings keep out."""
        self.excluded, self.why_excluded = self.excluded + 1, why.message

    def _is_excluded(self, found: IngestFinding) -> bool:
        if not is_agent(self._author(found)):
            return False
        texts = (found.title or "", found.content)
        why = find_excluded(self.intake.stores.config.exclude, space=found.space, texts=texts)
        if why is not None:
            self.exclude(why)
        return why is not None

    def waits(self, source: str) -> bool:
        """Whether what comes from there waits for a person's yes."""
        return waits_for_approval(self.intake.stores.config, self.by or source)

    def _author(self, found: IngestFinding) -> str:
        return self.by or found.source

    def _write_finding(self, found: IngestFinding) -> str | None:
        try:
            draft = self._build_draft(found)
            if not self.dry_run:
                if not self.kept:
                    self.begin()
                done = remember_as(self.intake.stores, draft, self._author(found))
                self.kept.append(done.memory.id)
        except (Rejected, Conflict):
            self.refused += 1  # it can never be written; waiting would keep out the rest
            return None
        self.found.append(found)
        self.gate.added += 1
        return found.id

    def _is_known(self, found: IngestFinding) -> bool:
        return (
            was_kept(self.intake.stores, found.id)
            or any(each.id == found.id for each in self.found)
            or _has_same_words(self.intake.stores, found)
            or (found.put_anew and self._is_restatement(found))
        )

    def _is_there(self, memory_id: str) -> bool:
        """Whether this very thing was kept, also by a run that was killed before it said so."""
        stores = self.intake.stores
        return was_kept(stores, memory_id) or stores.search.get(memory_id) is not None

    def _is_restatement(self, found: IngestFinding) -> bool:
        """Whether a memory is there that says it in other words, and nothing in it is new."""
        stores = self.intake.stores
        traces, _ = embed_memory(stores, build_memory(stores, self._build_draft(found)))
        vector = neighbour_vector(traces)
        if vector is None:
            return False
        chosen = Filter(spaces=tuple(dict.fromkeys((found.space, None))))
        least = self.intake.config.duplicate_similarity
        now = stores.clock.now()
        near = stores.search.search_vector(vector, chosen, now, NEAR_AT_MOST, least)
        ids = [each.id for each in near if each.id not in found.replaces]
        memories = stores.search.memories(ids).values()
        return any(says_nothing_new(found.content, each.content) for each in memories)

    def _build_draft(self, found: IngestFinding) -> Draft:
        limits = self.intake.stores.config.limits
        values = {
            "content": found.content,
            "type": found.type.value,
            "tier": found.tier.value,
            "title": found.title and found.title[: limits.title_chars],
            "space": found.space,
            "about_self": found.about_self,
            "tags": list(found.tags),
            "confidence": found.confidence,
            "source": found.source,
            "created": found.created,
            "origin": found.origin,
            "idempotency_key": found.key,
            "id": found.id,
            "replaces": list(found.replaces),
        }
        return read_draft(values, limits)


def _replace_texts(found: IngestFinding, content: str, title: str | None) -> IngestFinding:
    same = content == found.content and title == found.title
    return found if same else replace(found, content=content, title=title)


def was_kept(stores: Stores, memory_id: str) -> bool:
    """Whether this very thing was: what was revised, forgotten or purged since stays so."""
    return bool(stores.log.history(memory_id, 1)) or was_purged(stores, memory_id)


def says_nothing_new(text: str, known: str) -> bool:
    """Whether a text says nothing that a near one does not: no other name or number, and it
    denies just what that one denies."""
    return (
        find_particulars(text) <= find_particulars(known)
        and denies_alike(text, [known])
        and have_same_numbers(text, known)
    )


def _has_same_words(stores: Stores, found: IngestFinding) -> bool:
    """Whether these words are known, from whichever place."""
    key, now = same_text_key(found.content), stores.clock.now()
    spaces = dict.fromkeys((found.space, None))
    return any(stores.search.same_text(space, key, now, 1) for space in spaces)


def finding_key(kind: str, *parts: str) -> str:
    """Return the key of something by where it was found."""
    told = "\n".join(parts).encode("utf-8")
    return f"{kind}:{hashlib.sha256(told).hexdigest()[:32]}"
