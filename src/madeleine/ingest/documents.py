"""A file of notes: each of its sections a memory, which changes when the section does.

The journal keeps, for each file, a hash of every section and the memories that came of it. So a
file that is taken in again is compared section by section:

- A section that says the same is left alone, whatever became of its memories meanwhile.
- What a changed section says now revises what it said before. A section under another heading, or
  moved elsewhere, is known again by its words.
- Files with the same words share a memory. It is not changed for one of them: that one then has
  its own.
- What the file no longer says is retired: kept, dated, and out of the way. Where the file says it
  once more, it holds again.
- What somebody forgot stays forgotten.

With a language model, what it finds in a changed section takes the place of the section itself;
where it gives no usable answer the section is kept word for word. Nothing is written beside the
file. Stopping halfway is safe: what was done is known again, the rest is done by the next run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from io import BytesIO
from typing import NamedTuple
from urllib.parse import quote

from madeleine.errors import NoSuchMemory, Rejected, UnderWay
from madeleine.ingest.config import IngestConfig
from madeleine.ingest.context import NOTE_PREFIX, IngestContext
from madeleine.ingest.gate import AdmissionGate, read_daily_usage
from madeleine.ingest.importing.notes import SIMPLER, MarkdownNote, read_note
from madeleine.ingest.importing.sources import SourceFile
from madeleine.ingest.importing.values import NotThatFormat
from madeleine.ingest.keeping import IngestFinding, Keeper, finding_key
from madeleine.ingest.report import IngestOutcome, record_ingest
from madeleine.ingest.shared_statements import (
    build_stated_events,
    file_exists,
    origin_file,
    stating_files,
)
from madeleine.language.secrets import redact_secrets
from madeleine.language.sections import TextSection, split_sections
from madeleine.language.stems import telling_stems
from madeleine.language.text_keys import same_text_key
from madeleine.model.event import Event, EventKind
from madeleine.model.extraction import ExtractionSource, MemoryCandidate
from madeleine.model.memory import Memory, Origin, first_words
from madeleine.model.revision import Revision
from madeleine.vault.read_marks import FileEndedProcess
from madeleine.write.embedding import split_by_size
from madeleine.write.record import new_event, record_events
from madeleine.write.revise import retire, revise

BY = "ingest"
TAG, EXTRACTED_TAG = "from-file", "extracted"
TITLE_CHARS = 120
TAGS_AT_MOST = 20
CONFIDENCE = 0.9  # of what a model put into words
BATCH_SECTIONS, BATCH_CHARS = 20, 20_000
SIMILAR_FROM = 0.5  # share of their words from which one text is another version of the other
SAME_TEXT, SAME_PLACE = 3.0, 2.0
DIGEST_CHARS = 16
GONE = ""  # in the place of a hash: the file no longer has this section
GONE_AT_MOST = 50  # such sections that are kept in mind
ROW = 3  # a section's name, its hash, its memories
ANY_NUMBER = 10**9


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A file that is taken in. Without a `uri` it is a text from nowhere, and revises nothing;
    it may have no name either."""

    name: str
    text: str
    modified: datetime
    uri: str | None = None
    space: str | None = None
    tags: tuple[str, ...] = ()
    by: str | None = None
    """Who hands it in, where that is not whoever wrote it."""


class _KeptSection(NamedTuple):
    """What the journal says of a section: its hash, and the memories that came of it."""

    digest: str
    ids: tuple[str, ...]


class _OldMemory(NamedTuple):
    """A memory that came of a section before; none if it is gone."""

    section: str
    id: str
    memory: Memory | None


class _NewFinding(NamedTuple):
    """What a section says now."""

    section: str
    found: IngestFinding


@dataclass(slots=True)
class _DocumentState:
    """What the journal says of a file."""

    digest: str = ""
    kept: dict[str, _KeptSection] = field(default_factory=dict)

    def count(self) -> int:
        return sum(len(each.ids) for each in self.kept.values() if each.digest != GONE)


def ingest_document(
    intake: IngestContext, written: SourceDocument, dry_run: bool = False
) -> IngestOutcome:
    """Make the memories of a file say what the file says; return what was done, or would be."""
    with intake.alone_with(_state_key(intake, written.uri or written.text)) as alone:
        if not alone:
            raise UnderWay(f"taking in {written.name or 'a text'}")
        with _mark_reading(intake, written):
            work = _DocumentUpdate(intake, written, dry_run)
        if not work.changed():
            return IngestOutcome(known=work.known.count())
        work.carry_out()
        state = None if dry_run or written.uri is None else work.state_event()
        record_ingest(
            intake, work.done, f"file {written.name}" if written.name else "a text", state=state
        )
    return work.done


@contextmanager
def _mark_reading(intake: IngestContext, written: SourceDocument) -> Iterator[None]:
    """Have it noted that a file is being read; refuse one that ended the process before."""
    if intake.marks is None or written.uri is None:
        yield
        return
    data = written.text.encode("utf-8", "replace")
    name, look = f"{NOTE_PREFIX}{written.uri}", _digest(written.text)
    try:
        with intake.marks.reading(name, look, data):
            yield
    except FileEndedProcess as error:
        raise NotThatFormat(written.name or written.uri, error.message, SIMPLER) from error


def retire_deleted_document(intake: IngestContext, uri: str) -> list[str]:
    """Retire what came of a file that is deleted, where the settings want that; return their
    ids. What moved to another file meanwhile stays. The rest is kept in mind: a file that comes
    back is what it was."""
    known = _read_state(intake, uri)
    if intake.config.deleted_files != "retire" or not known.kept:
        return []
    ids = [each for kept in known.kept.values() for each in kept.ids]
    memories = [
        each
        for each in intake.stores.search.memories(ids).values()
        if uri in stating_files(intake.stores, each)
        and not _find_other_files(intake, each, uri, away=True)
    ]
    retired = [each.id for each in memories if _retire_memory(intake, each)]
    away = _build_gone_event(intake, uri, known, {each.id for each in memories})
    record_events(intake.stores, [away], durable=False)
    return retired


def _build_gone_event(
    intake: IngestContext, uri: str, known: _DocumentState, ids: Collection[str]
) -> Event:
    """Return the note that no section of a file is there, and which of these came of which."""
    own = {name: [one for one in each.ids if one in ids] for name, each in known.kept.items()}
    rows = [[name, GONE, came] for name, came in own.items() if came]
    value = {"digest": "", "sections": rows}
    return new_event(
        intake.stores, EventKind.STATE, {"key": _state_key(intake, uri), "value": value}
    )


class _DocumentUpdate:
    """One file, compared with what was kept of it."""

    def __init__(self, intake: IngestContext, written: SourceDocument, dry_run: bool) -> None:
        plain = redact_secrets(written.text)
        self.intake, self.written, self.dry_run = intake, written, dry_run
        self.done = IngestOutcome(dry_run, redacted=plain.secrets)
        self.note = _parse_note(written, plain.text)
        self.sections = split_sections(self.note.body)
        self.digest = _digest(plain.text)
        self.known = _read_state(intake, written.uri) if written.uri else _DocumentState()
        self.keeper = Keeper(
            intake,
            AdmissionGate(_unbounded_config(intake), read_daily_usage(intake.stores)),
            dry_run,
            by=written.by,
        )
        self._kept: dict[str, _KeptSection] = {}

    def changed(self) -> bool:
        same = self.known.digest == self.digest
        return not same or any(self._was_changed_by_other_file(each) for each in self.sections)

    def carry_out(self) -> None:
        """Compare, then write: what is revised first, so that its words are known."""
        most = self.intake.config.memories_per_file
        self.done.held_back = max(0, len(self.sections) - most)
        fresh = [each for each in self.sections[:most] if not self._is_known(each)]
        news = [*self._find_new(fresh)]
        self._apply(self._find_old(fresh), news)
        for section in fresh:
            self._kept.setdefault(section.name, _KeptSection(_digest(section.text), ()))
        self._remember_gone()
        self.keeper.redacted = self.done.redacted
        self.done.tally(self.keeper)

    def _remember_gone(self) -> None:
        """Keep in mind which sections are gone: a file that is being written may be seen half,
        and what then comes back is what it was."""
        left = [name for name, each in self.known.kept.items() if each.ids]
        for name in [each for each in left if each not in self._kept][:GONE_AT_MOST]:
            self._kept[name] = _KeptSection(GONE, self.known.kept[name].ids)

    def state_event(self) -> Event:
        """Return the note of what came of which section."""
        rows = [[name, each.digest, list(each.ids)] for name, each in self._kept.items()]
        value = {"digest": "" if self.done.held_back else self.digest, "sections": rows}
        key = _state_key(self.intake, self.written.uri or "")
        return new_event(self.intake.stores, EventKind.STATE, {"key": key, "value": value})

    def _is_known(self, section: TextSection) -> bool:
        known = self.known.kept.get(section.name)
        if (
            known is None
            or known.digest != _digest(section.text)
            or self._was_changed_by_other_file(section)
        ):
            return False
        self._kept[section.name] = known
        self.done.known += len(known.ids)
        return True

    def _was_changed_by_other_file(self, section: TextSection) -> bool:
        """Whether a memory that this file shared was made to say what another file says now."""
        ids = self.known.kept.get(section.name, _KeptSection(GONE, ())).ids
        words = same_text_key(section.text)
        return any(
            _was_taken_over(self.intake, each, self.written.uri or "")
            for each in self.intake.stores.search.memories(ids).values()
            if EXTRACTED_TAG not in each.tags and same_text_key(each.content) != words
        )

    def _find_old(self, fresh: Sequence[TextSection]) -> list[_OldMemory]:
        """Return what came of sections that changed or are gone, and of nothing else: what
        another section or another file still says is left to it."""
        names = [name for name in self.known.kept if name not in self._kept]
        pairs = [(name, each) for name in names for each in self.known.kept[name].ids]
        still = {each for kept in self._kept.values() for each in kept.ids}
        found = self.intake.stores.search.memories(each for _, each in pairs)
        olds = [
            _OldMemory(name, each, found.get(each)) for name, each in pairs if each not in still
        ]
        olds = [
            each
            for each in olds
            if each.memory is None or not self._leave_to_other_file(each.memory)
        ]
        return [each for each in olds if each.memory or _was_forgotten(self.intake, each.id)]

    def _leave_to_other_file(self, memory: Memory) -> str:
        """Return the place in another file that states a memory too, and leave it to that."""
        uri = self.written.uri or ""
        other = next(iter(_find_other_files(self.intake, memory, uri)), "")
        if other and origin_file(memory) == uri:
            self._change(memory, {"origin": Origin(uri=other)})
        return other

    # -- what it says now ------------------------------------------------------------------

    def _find_new(self, fresh: Sequence[TextSection]) -> Iterator[_NewFinding]:
        for batch in split_by_size(fresh, lambda each: len(each.text), BATCH_SECTIONS, BATCH_CHARS):
            given = self.keeper.extract([ExtractionSource("file", each.text) for each in batch])
            plain = range(len(batch)) if given is None else sorted(given.unproven)
            for number in plain:
                yield _NewFinding(batch[number].name, self._word_for_word(batch[number]))
            for each in given.found if given else ():
                section = batch[each.number]
                yield _NewFinding(section.name, self._build_extracted(section, each))

    def _word_for_word(self, section: TextSection) -> IngestFinding:
        title = self._build_title(section)
        return self._build_finding(section, section.text, title, same_text_key(section.text))

    def _build_extracted(self, section: TextSection, candidate: MemoryCandidate) -> IngestFinding:
        told = f"{candidate.quote}\n{same_text_key(candidate.content)}"
        found = self._build_finding(section, candidate.content, candidate.title, told)
        return replace(
            found,
            type=candidate.type,
            confidence=min(candidate.confidence, CONFIDENCE),
            tags=(*found.tags, EXTRACTED_TAG, *candidate.tags),
            put_anew=True,
        )

    def _build_finding(
        self, section: TextSection, content: str, title: str, told: str
    ) -> IngestFinding:
        uri = self.written.uri
        place = f"{uri}#{quote(section.name)}" if uri and section.name else uri
        return IngestFinding(
            content=content,
            key=finding_key("document", uri or self.digest, section.name, told),
            source=f"file:{self.written.name}"[:200] if self.written.name else "text",
            title=title or None,
            space=self.written.space,
            tags=(TAG, *self.written.tags, *self.note.tags()[:TAGS_AT_MOST]),
            created=self.note.created(),
            origin={"uri": place and place[:2_000]},
        )

    def _build_title(self, section: TextSection) -> str:
        """Return the file's own title, or its name if it begins without a heading, and the
        headings, each once; of a text that has none of these, how it begins."""
        stem = self.note.stem if self.written.name and not self.sections[0].headings else ""
        own = self.note.text("title") or stem
        names = dict.fromkeys(each for each in (own, *section.headings) if each)
        if not names:
            return first_words(section.text)
        part = f" ({section.part})" if section.part > 1 else ""
        return f"{' › '.join(names)[: TITLE_CHARS - len(part)]}{part}"

    # -- making the memories say it --------------------------------------------------------

    def _apply(self, olds: Sequence[_OldMemory], news: Sequence[_NewFinding]) -> None:
        pairs = _match_old_to_new(olds, news)
        met = {old.id for old, _ in pairs}
        for old, new in pairs:
            self._revise(old, new.found)
            self._add_memory_of(new, old.id)
        for old in olds:
            if old.id not in met and old.memory is not None:
                self._retire_memory_of(old.memory)
        told = {id(new) for _, new in pairs}
        for new in news:
            if id(new) not in told:
                self._keep(new)

    def _add_memory_of(self, new: _NewFinding, memory_id: str | None) -> None:
        text = next(each.text for each in self.sections if each.name == new.section)
        before = self._kept.get(new.section, _KeptSection(_digest(text), ()))
        ids = (*before.ids, *([memory_id] if memory_id else []))
        self._kept[new.section] = before._replace(ids=ids)

    def _keep(self, new: _NewFinding) -> None:
        """Keep something new; what was retired and is said once more holds again."""
        there = self.intake.stores.search.get(new.found.id)
        if there is not None and there.memory.valid_until is not None:
            self._change(there.memory, {"valid_until": None})
            self._add_memory_of(new, new.found.id)
            return
        self._add_memory_of(new, self.keeper.keep(new.found) or self._find_known(new.found))

    def _find_known(self, found: IngestFinding) -> str | None:
        """Return the memory that has these words already, so that it follows this file too; where
        no other file states it any more, this one only. A memory that came of no file is left
        alone."""
        stores, uri = self.intake.stores, self.written.uri
        key, now = same_text_key(found.content), stores.clock.now()
        for each in stores.search.memories(stores.search.same_text(found.space, key, now)).values():
            if TAG in each.tags and uri:
                self._share_origin(each, found, uri)
                return each.id
        return found.id if stores.search.get(found.id) is not None else None

    def _share_origin(self, memory: Memory, found: IngestFinding, uri: str) -> None:
        stores = self.intake.stores
        marks = [] if self.dry_run else build_stated_events(stores, memory, uri)
        if marks:
            record_events(stores, marks, durable=False)
        if origin_file(memory) != uri and not _find_other_files(self.intake, memory, uri):
            self._change(memory, {"origin": _build_origin(found)})

    def _revise(self, old: _OldMemory, found: IngestFinding) -> None:
        """Make a memory say what its section says now; one that was forgotten stays so."""
        if old.memory is None:
            return
        values = {"content": found.content, "title": found.title, "origin": _build_origin(found)}
        if old.memory.valid_until is not None:
            values["valid_until"] = None
        same = all(getattr(old.memory, name) == value for name, value in values.items())
        if not same:
            self._change(old.memory, values)

    def _change(self, memory: Memory, values: Mapping[str, object]) -> None:
        if not self.dry_run:
            try:
                revise(self.intake.stores, memory.id, Revision(dict(values)), by=BY)
            except (NoSuchMemory, Rejected):
                self.done.refused += 1  # gone meanwhile, or it can never say that
                return
        self.done.revised.append(memory.id)

    def _retire_memory_of(self, memory: Memory) -> None:
        if memory.valid_until is None and (self.dry_run or _retire_memory(self.intake, memory)):
            self.done.retired.append(memory.id)


def _retire_memory(intake: IngestContext, memory: Memory) -> bool:
    """Retire a memory, unless it is gone or over already."""
    if memory.valid_until is not None:
        return False
    try:
        retire(intake.stores, memory.id, "its file no longer says so", by=BY)
    except (NoSuchMemory, Rejected):
        return False
    return True


# -- what belongs together -----------------------------------------------------------------


def _match_old_to_new(
    olds: Sequence[_OldMemory], news: Sequence[_NewFinding]
) -> list[tuple[_OldMemory, _NewFinding]]:
    """Pair what was said with what is said now: the surest pairs first, each once."""
    was, now = (
        [_words_of_old(each) for each in olds],
        [_compared_words(each.found.content) for each in news],
    )
    likenesses = [
        (_similarity(was[at], now[to], _is_same_place(olds[at], news[to], olds, news)), at, to)
        for at in range(len(olds))
        for to in range(len(news))
    ]
    pairs: dict[int, int] = {}
    for score, at, to in sorted(likenesses, key=lambda each: (-each[0], each[1:])):
        if score >= SIMILAR_FROM and at not in pairs and to not in pairs.values():
            pairs[at] = to
    return [(olds[at], news[to]) for at, to in pairs.items()]


class _ComparedWords(NamedTuple):
    key: str
    stems: frozenset[str]


def _compared_words(text: str) -> _ComparedWords:
    return _ComparedWords(same_text_key(text), frozenset(telling_stems(text)))


def _words_of_old(old: _OldMemory) -> _ComparedWords | None:
    return None if old.memory is None else _compared_words(old.memory.content)


def _is_same_place(
    old: _OldMemory, new: _NewFinding, olds: Sequence[_OldMemory], news: Sequence[_NewFinding]
) -> bool:
    """Whether one was all that came of a section, and the other is all that comes of it now."""
    name = new.section
    return (
        old.section == name
        and sum(each.section == name for each in olds) == 1
        and sum(each.section == name for each in news) == 1
    )


def _similarity(was: _ComparedWords | None, now: _ComparedWords, same_place: bool) -> float:
    """Return how surely one is what became of the other."""
    if was is not None and was.key == now.key:
        return SAME_TEXT
    if same_place or was is None:
        return SAME_PLACE if same_place else 0.0
    return len(was.stems & now.stems) / (len(was.stems | now.stems) or 1)


def _was_forgotten(intake: IngestContext, memory_id: str) -> bool:
    """Whether somebody forgot a memory that is gone. One that went into another is no such."""
    told = intake.stores.log.history(memory_id, 1)
    return bool(told) and told[0].body.get("verb") == "forget"


def _find_other_files(
    intake: IngestContext, memory: Memory, uri: str, away: bool = False
) -> list[str]:
    """Return where other files say what a memory says, each with its section; `away` also those
    that are not there, and of which nobody said that they are deleted."""
    places = []
    for other in stating_files(intake.stores, memory):
        kept = (
            _read_state(intake, other).kept if other != uri and (away or file_exists(other)) else {}
        )
        names = [name for name, each in kept.items() if memory.id in each.ids and each.digest]
        places += [f"{other}#{quote(name)}" if name else other for name in names[:1]]
    return places


def _was_taken_over(intake: IngestContext, memory: Memory, uri: str) -> bool:
    """Whether a memory says what it says because of another file, and not by somebody's hand."""
    told = intake.stores.log.history(memory.id, 1)
    return origin_file(memory) != uri and bool(told) and told[0].body.get("by") == BY


def _build_origin(found: IngestFinding) -> Origin:
    uri = (found.origin or {}).get("uri")
    return Origin(uri=str(uri) if uri else None)


# -- what the journal keeps of a file --------------------------------------------------------


def _state_key(intake: IngestContext, uri: str) -> str:
    told = hashlib.sha256(uri.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return f"document:{intake.stores.journal.device}:{told}"


def _read_state(intake: IngestContext, uri: str) -> _DocumentState:
    """Return what was kept of a file; rows that make no sense are passed over."""
    value = intake.stores.log.state(_state_key(intake, uri))
    if not isinstance(value, Mapping):
        return _DocumentState()
    rows = value.get("sections")
    kept = {}
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, list) and len(row) == ROW and isinstance(row[2], list):
            kept[str(row[0])] = _KeptSection(str(row[1]), tuple(map(str, row[2])))
    return _DocumentState(str(value.get("digest") or ""), kept)


def _parse_note(written: SourceDocument, text: str) -> MarkdownNote:
    data = text.encode("utf-8", "replace")
    return read_note(SourceFile(written.name, written.modified, len(data), lambda: BytesIO(data)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:DIGEST_CHARS]


def _unbounded_config(intake: IngestContext) -> IngestConfig:
    """A file that somebody chose is bounded by itself, not by what sessions may add."""
    return replace(intake.config, memories_per_session=ANY_NUMBER, memories_per_day=ANY_NUMBER)
