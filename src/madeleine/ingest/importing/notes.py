"""Markdown notes of other programs: properties, text, tags, links and relations.

The front matter is read key by key, so that one value which is no YAML costs only itself, and can
be told of. Links and tags inside of code are none.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from madeleine.errors import FileUnreadable
from madeleine.ingest.importing.sources import SourceFile, is_zip
from madeleine.ingest.importing.values import NotThatFormat, read_foreign_time
from madeleine.language.late_pattern import compile_late
from madeleine.language.text_keys import same_text_key
from madeleine.model.times import format_time
from madeleine.vault.front_matter import parse_document
from madeleine.vault.yaml_fallback import InvalidYaml, OversizedYaml, YamlTree, load_block

_CODE = compile_late(r"^(?P<fence>```|~~~).*?^(?P=fence)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = compile_late(r"(!?)\[\[([^\[\]|#^\n]+)(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_TAG = compile_late(r"(?<![\w/&#\]])#((?=[\w/-]*[^\W\d])[\w/-]+)")
_RELATION = compile_late(
    r"^[ \t]*[-*][ \t]+(?P<word>[^\s\[\]][^\[\]\n]{0,60}?)?[ \t]*"
    r"\[\[(?P<target>[^\[\]|#^\n]+)(?:[#^|][^\[\]\n]*)?\]\]"
    r"(?:[ \t]*\((?P<why>[^\n]*)\))?[ \t]*$",
    re.MULTILINE,
)
_CHECKBOX = compile_late(r"\[.\]")
_TIMES = ("created", "created_at", "date", "date created", "creation_date")
SIMPLER = "make the property simpler, or take it out"
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf", ".mp3", ".mp4", ".canvas")


class NoteLink(NamedTuple):
    """An arrow in a note's text; the word and the reason are empty for a plain one."""

    target: str
    word: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class MarkdownNote:
    """One note. `properties` are texts, lists and maps, as YAML has them."""

    name: str
    body: str
    modified: datetime
    properties: Mapping[str, YamlTree] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    """Properties whose value is no YAML: only its own program may understand them."""

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    def text(self, name: str) -> str:
        """Return a property that is one text; empty when it is none."""
        value = self.properties.get(name)
        return value.strip() if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        """Return a property that may be a list, a text with commas, or absent."""
        value = self.properties.get(name)
        if isinstance(value, list):
            return [each.strip() for each in value if isinstance(each, str) and each.strip()]
        return [each.strip() for each in str(value or "").split(",") if each.strip()]

    def created(self) -> str:
        """Return when the note was made, as far as it says so; else when it was last changed."""
        said = (self.time(name) for name in _TIMES)
        return next((each for each in said if each), format_time(self.modified))

    def updated(self) -> str:
        """Return when the note was last changed, as it says itself or as its file does."""
        said = (self.time(name) for name in ("updated", "modified"))
        return next((each for each in said if each), format_time(self.modified))

    def has_id(self) -> bool:
        """Whether it says which memory it is, by the id that we and Ormah give one."""
        try:
            return str(uuid.UUID(self.text("id"))) == self.text("id")
        except ValueError:
            return False

    def time(self, name: str) -> str | None:
        """Return a property that is an instant; nothing when it is none."""
        return read_foreign_time(self.text(name))

    def tags(self) -> list[str]:
        """Return the note's tags: of its properties, and those in its text."""
        said = [*self.texts("tags"), *self.texts("tag"), *_TAG.findall(self.spoken)]
        clean = (each.lstrip("#") for each in said)
        return list(dict.fromkeys(re.sub(r"^_(?=\d)", "", each) for each in clean if each))

    @property
    def spoken(self) -> str:
        """The text without code."""
        return _CODE.sub(" ", self.body)

    def links(self) -> Iterator[NoteLink]:
        """Give each link once: those in a line of its own with the word before it."""
        return links_in(self.body)


def links_in(text: str) -> Iterator[NoteLink]:
    """Give each link of a text once: those in a line of its own with the word before it."""
    seen: set[str] = set()
    spoken = _CODE.sub(" ", text)
    for found in _RELATION.finditer(spoken):
        word = found["word"] or ""
        if _CHECKBOX.match(word):
            continue
        seen.add(found["target"].strip().lower())
        yield NoteLink(found["target"].strip(), word.strip(), found["why"] or "")
    for embedded, target in _LINK.findall(spoken):
        key = target.strip().lower()
        if key not in seen and not (embedded and key.endswith(_PICTURES)):
            seen.add(key)
            yield NoteLink(target.strip())


def read_note(source: SourceFile) -> MarkdownNote:
    """Return the note in a file; `NotThatFormat` if it cannot be read. A property that is no YAML
    is left out; one that is nested too deeply or too large is nobody's property, so the whole
    file is refused."""
    try:
        document = parse_document(source.text().encode("utf-8"), source.name)
    except FileUnreadable as error:
        problem = f"line {error.line}: {error.problem}"
        raise NotThatFormat(source.name or "the text", problem, SIMPLER) from error
    properties: dict[str, YamlTree] = {}
    unread = []
    for index, block in enumerate(document.blocks):
        if block.key is None:
            continue
        key = block.key.strip("\"'")
        try:
            properties[key] = load_block(key, block.text)
        except OversizedYaml as error:
            line = document.line_of(index) + error.line
            problem = f"line {line}: `{key}` {error.problem}"
            raise NotThatFormat(source.name or "the text", problem, SIMPLER) from error
        except InvalidYaml:
            unread.append(key)
    return MarkdownNote(source.name, document.content, source.modified, properties, tuple(unread))


def root_of(path: Path) -> str:
    """Return where notes come from, which tells two folders of one name apart. A zip is as good as
    the folder beside it, and one note alone as good as the folder it is in."""
    place = path.resolve()
    if is_zip(place):
        return str(place.with_suffix(""))
    return str(place.parent if place.is_file() else place)


class UniqueTexts:
    """Which texts stand in one note only. Such a note is known again by its text when its folder
    was moved; of several with one text each is a memory of its own."""

    def __init__(self) -> None:
        self._seen: dict[str, bool] = {}

    def add(self, text: str) -> None:
        key = same_text_key(text)
        self._seen[key] = key not in self._seen

    def is_once(self, text: str) -> bool:
        return self._seen.get(same_text_key(text), False)


class LinkTargets:
    """Which note a link means: by its path, its name, its title or another name of it."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._others: dict[str, str] = {}

    def add(self, memory_id: str, *names: str) -> None:
        """Note the names of a note's file; of several with one name the first counts."""
        _add_names(self._files, memory_id, names)

    def add_others(self, memory_id: str, *names: str) -> None:
        """Note what else a note is called; the name of a file goes before."""
        _add_names(self._others, memory_id, names)

    def find(self, target: str) -> str | None:
        key = _normalize_name(target)
        last = key.rpartition("/")[2]
        found = (each.get(name) for each in (self._files, self._others) for name in (key, last))
        return next((each for each in found if each), None)


def _add_names(ids: dict[str, str], memory_id: str, names: Sequence[str]) -> None:
    for name in names:
        if name:
            ids.setdefault(_normalize_name(name), memory_id)


def _normalize_name(name: str) -> str:
    return name.strip().removesuffix(".md").removeprefix("memory://").strip("/").lower()
