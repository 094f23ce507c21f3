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
from madeleine.ingest.gate import Gate, today
from madeleine.ingest.habits import IngestHabits
from madeleine.ingest.importing.notes import SIMPLER, Note, read_note
from madeleine.ingest.importing.sources import Source
from madeleine.ingest.importing.values import NotThatFormat
from madeleine.ingest.intake import NOTE_PREFIX, Intake
from madeleine.ingest.keeping import Found, Keeper, key_of
from madeleine.ingest.report import Ingested, note
from madeleine.ingest.shared import also_stated, file_of, is_there, stated_by
from madeleine.language.secrets import redact_secrets
from madeleine.language.sections import TextSection, split_sections
from madeleine.language.stems import telling_stems
from madeleine.language.text import same_text_key
from madeleine.model.event import Event, EventKind
from madeleine.model.extracting import ExtractionSource, MemoryCandidate
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
ALIKE = 0.5  # share of their words from which one text is another version of the other
SAME_TEXT, SAME_PLACE = 3.0, 2.0
DIGEST_CHARS = 16
GONE = ""  # in the place of a hash: the file no longer has this section
GONE_AT_MOST = 50  # such sections that are kept in mind
ROW = 3  # a section's name, its hash, its memories
ANY_NUMBER = 10**9


@dataclass(frozen=True, slots=True)
class Written:
    """A file that is taken in. Without a `uri` it is a text from nowhere, and revises nothing;
    it may have no name either."""

    name: str
    text: str
    modified: datetime
    uri: str | None = None
    space: str | None = None
    tags: tuple[str, ...] = ()


class _Kept(NamedTuple):
    """What the journal says of a section: its hash, and the memories that came of it."""

    digest: str
    ids: tuple[str, ...]


class _Old(NamedTuple):
    """A memory that came of a section before; none if it is gone."""

    section: str
    id: str
    memory: Memory | None


class _New(NamedTuple):
    """What a section says now."""

    section: str
    found: Found


@dataclass(slots=True)
class _State:
    """What the journal says of a file."""

    digest: str = ""
    kept: dict[str, _Kept] = field(default_factory=dict)

    def count(self) -> int:
        return sum(len(each.ids) for each in self.kept.values() if each.digest != GONE)


def take_document(intake: Intake, written: Written, dry_run: bool = False) -> Ingested:
    """Make the memories of a file say what the file says; return what was done, or would be."""
    with intake.alone_with(_key(intake, written.uri or written.text)) as alone:
        if not alone:
            raise UnderWay(f"taking in {written.name or 'a text'}")
        with _noted(intake, written):
            work = _Work(intake, written, dry_run)
        if not work.changed():
            return Ingested(known=work.known.count())
        work.carry_out()
        state = None if dry_run or written.uri is None else work.state_event()
        note(intake, work.done, f"file {written.name}" if written.name else "a text", state=state)
    return work.done


@contextmanager
def _noted(intake: Intake, written: Written) -> Iterator[None]:
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


def gone(intake: Intake, uri: str) -> list[str]:
    """Retire what came of a file that is deleted, where the settings want that; return their
    ids. What moved to another file meanwhile stays. The rest is kept in mind: a file that comes
    back is what it was."""
    known = _state_of(intake, uri)
    if intake.habits.deleted_files != "retire" or not known.kept:
        return []
    ids = [each for kept in known.kept.values() for each in kept.ids]
    memories = [
        each
        for each in intake.stores.search.memories(ids).values()
        if uri in stated_by(intake.stores, each) and not _others(intake, each, uri, away=True)
    ]
    retired = [each.id for each in memories if _end(intake, each)]
    away = _away(intake, uri, known, {each.id for each in memories})
    record_events(intake.stores, [away], durable=False)
    return retired


def _away(intake: Intake, uri: str, known: _State, ids: Collection[str]) -> Event:
    """Return the note that no section of a file is there, and which of these came of which."""
    own = {name: [one for one in each.ids if one in ids] for name, each in known.kept.items()}
    rows = [[name, GONE, came] for name, came in own.items() if came]
    value = {"digest": "", "sections": rows}
    return new_event(intake.stores, EventKind.STATE, {"key": _key(intake, uri), "value": value})


class _Work:
    """One file, compared with what was kept of it."""

    def __init__(self, intake: Intake, written: Written, dry_run: bool) -> None:
        plain = redact_secrets(written.text)
        self.intake, self.written, self.dry_run = intake, written, dry_run
        self.done = Ingested(dry_run, redacted=plain.secrets)
        self.note = _read(written, plain.text)
        self.sections = split_sections(self.note.body)
        self.digest = _digest(plain.text)
        self.known = _state_of(intake, written.uri) if written.uri else _State()
        self.keeper = Keeper(intake, Gate(_bounds(intake), today(intake.stores)), dry_run)
        self._kept: dict[str, _Kept] = {}

    def changed(self) -> bool:
        same = self.known.digest == self.digest
        return not same or any(self._says_other(each) for each in self.sections)

    def carry_out(self) -> None:
        """Compare, then write: what is revised first, so that its words are known."""
        most = self.intake.habits.memories_per_file
        self.done.held_back = max(0, len(self.sections) - most)
        fresh = [each for each in self.sections[:most] if not self._is_known(each)]
        news = [*self._news(fresh)]
        self._apply(self._olds(fresh), news)
        for section in fresh:
            self._kept.setdefault(section.name, _Kept(_digest(section.text), ()))
        self._remember_gone()
        self.keeper.redacted = self.done.redacted
        self.done.tally(self.keeper)

    def _remember_gone(self) -> None:
        """Keep in mind which sections are gone: a file that is being written may be seen half,
        and what then comes back is what it was."""
        left = [name for name, each in self.known.kept.items() if each.ids]
        for name in [each for each in left if each not in self._kept][:GONE_AT_MOST]:
            self._kept[name] = _Kept(GONE, self.known.kept[name].ids)

    def state_event(self) -> Event:
        """Return the note of what came of which section."""
        rows = [[name, each.digest, list(each.ids)] for name, each in self._kept.items()]
        value = {"digest": "" if self.done.held_back else self.digest, "sections": rows}
        key = _key(self.intake, self.written.uri or "")
        return new_event(self.intake.stores, EventKind.STATE, {"key": key, "value": value})

    def _is_known(self, section: TextSection) -> bool:
        known = self.known.kept.get(section.name)
        if known is None or known.digest != _digest(section.text) or self._says_other(section):
            return False
        self._kept[section.name] = known
        self.done.known += len(known.ids)
        return True

    def _says_other(self, section: TextSection) -> bool:
        """Whether a memory that this file shared was made to say what another file says now."""
        ids = self.known.kept.get(section.name, _Kept(GONE, ())).ids
        words = same_text_key(section.text)
        return any(
            _was_taken_over(self.intake, each, self.written.uri or "")
            for each in self.intake.stores.search.memories(ids).values()
            if EXTRACTED_TAG not in each.tags and same_text_key(each.content) != words
        )

    def _olds(self, fresh: Sequence[TextSection]) -> list[_Old]:
        """Return what came of sections that changed or are gone, and of nothing else: what
        another section or another file still says is left to it."""
        names = [name for name in self.known.kept if name not in self._kept]
        pairs = [(name, each) for name in names for each in self.known.kept[name].ids]
        still = {each for kept in self._kept.values() for each in kept.ids}
        found = self.intake.stores.search.memories(each for _, each in pairs)
        olds = [_Old(name, each, found.get(each)) for name, each in pairs if each not in still]
        olds = [each for each in olds if each.memory is None or not self._left_to(each.memory)]
        return [each for each in olds if each.memory or _was_forgotten(self.intake, each.id)]

    def _left_to(self, memory: Memory) -> str:
        """Return the place in another file that states a memory too, and leave it to that."""
        uri = self.written.uri or ""
        other = next(iter(_others(self.intake, memory, uri)), "")
        if other and file_of(memory) == uri:
            self._change(memory, {"origin": Origin(uri=other)})
        return other

    # -- what it says now ------------------------------------------------------------------

    def _news(self, fresh: Sequence[TextSection]) -> Iterator[_New]:
        for batch in split_by_size(fresh, lambda each: len(each.text), BATCH_SECTIONS, BATCH_CHARS):
            given = self.keeper.extract([ExtractionSource("file", each.text) for each in batch])
            plain = range(len(batch)) if given is None else sorted(given.unproven)
            for number in plain:
                yield _New(batch[number].name, self._word_for_word(batch[number]))
            for each in given.found if given else ():
                section = batch[each.number]
                yield _New(section.name, self._extracted(section, each))

    def _word_for_word(self, section: TextSection) -> Found:
        title = self._title(section)
        return self._found(section, section.text, title, same_text_key(section.text))

    def _extracted(self, section: TextSection, candidate: MemoryCandidate) -> Found:
        told = f"{candidate.quote}\n{same_text_key(candidate.content)}"
        found = self._found(section, candidate.content, candidate.title, told)
        return replace(
            found,
            type=candidate.type,
            confidence=min(candidate.confidence, CONFIDENCE),
            tags=(*found.tags, EXTRACTED_TAG, *candidate.tags),
            put_anew=True,
        )

    def _found(self, section: TextSection, content: str, title: str, told: str) -> Found:
        uri = self.written.uri
        place = f"{uri}#{quote(section.name)}" if uri and section.name else uri
        return Found(
            content=content,
            key=key_of("document", uri or self.digest, section.name, told),
            source=f"file:{self.written.name}"[:200] if self.written.name else "text",
            title=title or None,
            space=self.written.space,
            tags=(TAG, *self.written.tags, *self.note.tags()[:TAGS_AT_MOST]),
            created=self.note.created(),
            origin={"uri": place and place[:2_000]},
        )

    def _title(self, section: TextSection) -> str:
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

    def _apply(self, olds: Sequence[_Old], news: Sequence[_New]) -> None:
        pairs = _matched(olds, news)
        met = {old.id for old, _ in pairs}
        for old, new in pairs:
            self._revise(old, new.found)
            self._came_of(new, old.id)
        for old in olds:
            if old.id not in met and old.memory is not None:
                self._retire(old.memory)
        told = {id(new) for _, new in pairs}
        for new in news:
            if id(new) not in told:
                self._keep(new)

    def _came_of(self, new: _New, memory_id: str | None) -> None:
        text = next(each.text for each in self.sections if each.name == new.section)
        before = self._kept.get(new.section, _Kept(_digest(text), ()))
        ids = (*before.ids, *([memory_id] if memory_id else []))
        self._kept[new.section] = before._replace(ids=ids)

    def _keep(self, new: _New) -> None:
        """Keep something new; what was retired and is said once more holds again."""
        there = self.intake.stores.search.get(new.found.id)
        if there is not None and there.memory.valid_until is not None:
            self._change(there.memory, {"valid_until": None})
            self._came_of(new, new.found.id)
            return
        self._came_of(new, self.keeper.keep(new.found) or self._known_as(new.found))

    def _known_as(self, found: Found) -> str | None:
        """Return the memory that has these words already, so that it follows this file too; where
        no other file states it any more, this one only. A memory that came of no file is left
        alone."""
        stores, uri = self.intake.stores, self.written.uri
        key, now = same_text_key(found.content), stores.clock.now()
        for each in stores.search.memories(stores.search.same_text(found.space, key, now)).values():
            if TAG in each.tags and uri:
                self._share(each, found, uri)
                return each.id
        return found.id if stores.search.get(found.id) is not None else None

    def _share(self, memory: Memory, found: Found, uri: str) -> None:
        stores = self.intake.stores
        marks = [] if self.dry_run else also_stated(stores, memory, uri)
        if marks:
            record_events(stores, marks, durable=False)
        if file_of(memory) != uri and not _others(self.intake, memory, uri):
            self._change(memory, {"origin": _origin(found)})

    def _revise(self, old: _Old, found: Found) -> None:
        """Make a memory say what its section says now; one that was forgotten stays so."""
        if old.memory is None:
            return
        values = {"content": found.content, "title": found.title, "origin": _origin(found)}
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

    def _retire(self, memory: Memory) -> None:
        if memory.valid_until is None and (self.dry_run or _end(self.intake, memory)):
            self.done.retired.append(memory.id)


def _end(intake: Intake, memory: Memory) -> bool:
    """Retire a memory, unless it is gone or over already."""
    if memory.valid_until is not None:
        return False
    try:
        retire(intake.stores, memory.id, "its file no longer says so", by=BY)
    except (NoSuchMemory, Rejected):
        return False
    return True


# -- what belongs together -----------------------------------------------------------------


def _matched(olds: Sequence[_Old], news: Sequence[_New]) -> list[tuple[_Old, _New]]:
    """Pair what was said with what is said now: the surest pairs first, each once."""
    was, now = [_text_of(each) for each in olds], [_words(each.found.content) for each in news]
    likenesses = [
        (_likeness(was[at], now[to], _same_place(olds[at], news[to], olds, news)), at, to)
        for at in range(len(olds))
        for to in range(len(news))
    ]
    pairs: dict[int, int] = {}
    for score, at, to in sorted(likenesses, key=lambda each: (-each[0], each[1:])):
        if score >= ALIKE and at not in pairs and to not in pairs.values():
            pairs[at] = to
    return [(olds[at], news[to]) for at, to in pairs.items()]


class _Words(NamedTuple):
    key: str
    stems: frozenset[str]


def _words(text: str) -> _Words:
    return _Words(same_text_key(text), frozenset(telling_stems(text)))


def _text_of(old: _Old) -> _Words | None:
    return None if old.memory is None else _words(old.memory.content)


def _same_place(old: _Old, new: _New, olds: Sequence[_Old], news: Sequence[_New]) -> bool:
    """Whether one was all that came of a section, and the other is all that comes of it now."""
    name = new.section
    return (
        old.section == name
        and sum(each.section == name for each in olds) == 1
        and sum(each.section == name for each in news) == 1
    )


def _likeness(was: _Words | None, now: _Words, same_place: bool) -> float:
    """Return how surely one is what became of the other."""
    if was is not None and was.key == now.key:
        return SAME_TEXT
    if same_place or was is None:
        return SAME_PLACE if same_place else 0.0
    return len(was.stems & now.stems) / (len(was.stems | now.stems) or 1)


def _was_forgotten(intake: Intake, memory_id: str) -> bool:
    """Whether somebody forgot a memory that is gone. One that went into another is no such."""
    told = intake.stores.log.history(memory_id, 1)
    return bool(told) and told[0].body.get("verb") == "forget"


def _others(intake: Intake, memory: Memory, uri: str, away: bool = False) -> list[str]:
    """Return where other files say what a memory says, each with its section; `away` also those
    that are not there, and of which nobody said that they are deleted."""
    places = []
    for other in stated_by(intake.stores, memory):
        kept = _state_of(intake, other).kept if other != uri and (away or is_there(other)) else {}
        names = [name for name, each in kept.items() if memory.id in each.ids and each.digest]
        places += [f"{other}#{quote(name)}" if name else other for name in names[:1]]
    return places


def _was_taken_over(intake: Intake, memory: Memory, uri: str) -> bool:
    """Whether a memory says what it says because of another file, and not by somebody's hand."""
    told = intake.stores.log.history(memory.id, 1)
    return file_of(memory) != uri and bool(told) and told[0].body.get("by") == BY


def _origin(found: Found) -> Origin:
    uri = (found.origin or {}).get("uri")
    return Origin(uri=str(uri) if uri else None)


# -- what the journal keeps of a file --------------------------------------------------------


def _key(intake: Intake, uri: str) -> str:
    told = hashlib.sha256(uri.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return f"document:{intake.stores.journal.device}:{told}"


def _state_of(intake: Intake, uri: str) -> _State:
    """Return what was kept of a file; rows that make no sense are passed over."""
    value = intake.stores.log.state(_key(intake, uri))
    if not isinstance(value, Mapping):
        return _State()
    rows = value.get("sections")
    kept = {}
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, list) and len(row) == ROW and isinstance(row[2], list):
            kept[str(row[0])] = _Kept(str(row[1]), tuple(map(str, row[2])))
    return _State(str(value.get("digest") or ""), kept)


def _read(written: Written, text: str) -> Note:
    data = text.encode("utf-8", "replace")
    return read_note(Source(written.name, written.modified, len(data), lambda: BytesIO(data)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:DIGEST_CHARS]


def _bounds(intake: Intake) -> IngestHabits:
    """A file that somebody chose is bounded by itself, not by what sessions may add."""
    return replace(intake.habits, memories_per_session=ANY_NUMBER, memories_per_day=ANY_NUMBER)
