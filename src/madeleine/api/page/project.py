"""A project: what was decided in it, its rules, people, procedures and goals, what happened, and
what was whispered there; also as one document.

Every list is one that the index keeps in order by space and type, so that no other project makes it
slower.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from madeleine.api.contract.page_responses import (
    ProjectDocument,
    ProjectSection,
    ProjectView,
    WhisperLine,
)
from madeleine.api.contract.requests import PageProjectQuery
from madeleine.api.operation import operation
from madeleine.api.page.brief import build_brief
from madeleine.api.page.whispers import build_line
from madeleine.language.word_hints import is_instruction
from madeleine.model.draft import read_space
from madeleine.model.memory import Memory
from madeleine.model.people import Role
from madeleine.model.query import Filter
from madeleine.model.request_reader import RequestReader
from madeleine.model.words import MemoryType
from madeleine.whisper.worth import select_told
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

SectionName = Literal["about", "goals", "rules", "decisions", "procedures", "people", "facts"]

MAX_OF_TYPE = 24  # newest memories of a type that the page shows
MAX_TIMELINE = 40
MAX_PROMPTS = 20
MAX_ENTRIES_READ = 500  # newest prompts, among which those of the project are
MAX_DOCUMENT_MEMORIES = 2_000
MAX_DOCUMENT_CHARS = 2_000_000
_HEADINGS: dict[SectionName, str] = {
    "about": "About",
    "goals": "Open goals",
    "rules": "Rules",
    "decisions": "Decisions",
    "procedures": "Procedures",
    "people": "People",
    "facts": "What is known",
}
_TYPES: dict[SectionName, tuple[MemoryType, ...]] = {
    "about": (MemoryType.PROJECT,),
    "goals": (MemoryType.GOAL,),
    "rules": (MemoryType.PREFERENCE,),
    "decisions": (MemoryType.DECISION,),
    "procedures": (MemoryType.PROCEDURE,),
    "people": (MemoryType.PERSON,),
    "facts": (
        *(MemoryType.FACT, MemoryType.CONCEPT),
        *(MemoryType.OBSERVATION, MemoryType.EVENT),
    ),
}
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_NO_NAME = re.compile(r"[^\w.-]+")
_HEADING = re.compile(r"^#{1,6}(?=\s)")


@dataclass(frozen=True, slots=True)
class ListedSection:
    """Memories under one heading, newest first, and how many there are in all."""

    name: SectionName
    memories: Sequence[Memory]
    total: int


# -- the page ------------------------------------------------------------------------------


@operation(
    "page_project",
    "GET",
    "/ui/data/project",
    "a project: decisions, rules, people, procedures, open goals, timeline, whispers",
    role=Role.READER,
    query=PageProjectQuery,
    answer=ProjectView,
)
def show_project(context: HomeContext, call: OperationCall) -> ProjectView:
    """Return what is known of a project."""
    space, stores = _read_project(call), context.stores
    now = stores.clock.now()
    newest = stores.search.listing(Filter(spaces=(space,), outdated=True), now, MAX_TIMELINE)
    return ProjectView(
        space=space,
        memories=stores.search.count(Filter(spaces=(space,)), now),
        sections=[
            ProjectSection(
                name=each.name,
                memories=[build_brief(memory, now) for memory in each.memories],
                total=each.total,
            )
            for each in list_sections(stores, space, now, MAX_OF_TYPE)
        ],
        timeline=[build_brief(each, now) for each in newest],
        prompts=_find_prompts(stores, space),
    )


def _read_project(call: OperationCall) -> str:
    reader = RequestReader(call.query)
    space = read_space(reader.required_text("space"))
    reader.done()
    return space or ""


def list_sections(stores: Stores, space: str, now: datetime, limit: int) -> list[ListedSection]:
    """Return the sections that are not empty. A fact that is put as a rule stands with the rules:
    that is where somebody looks for it."""
    found = {name: _list_types(stores, space, name, now, limit) for name in _TYPES}
    facts = found["facts"]
    said = [each for each in facts.memories if is_instruction(each.content)]
    rules = sorted(
        [*found["rules"].memories, *said], key=lambda each: (each.created, each.id), reverse=True
    )
    found["rules"] = ListedSection("rules", rules, found["rules"].total + len(said))
    rest = [each for each in facts.memories if each not in said]
    found["facts"] = ListedSection("facts", rest, facts.total - len(said))
    return [found[name] for name in _HEADINGS if found[name].memories]


def _list_types(
    stores: Stores, space: str, name: SectionName, now: datetime, limit: int
) -> ListedSection:
    """Return the newest memories of a section's types; each is read in its own order."""
    listed: list[Memory] = []
    total = 0
    for each in _TYPES[name]:
        wanted = Filter(types=(each,), spaces=(space,))
        listed += stores.search.listing(wanted, now, limit)
        total += stores.search.count(wanted, now)
    listed.sort(key=lambda each: (each.created, each.id), reverse=True)
    return ListedSection(name, listed[:limit], total)


def _find_prompts(stores: Stores, space: str) -> list[WhisperLine]:
    """Return the last prompts of a project for which something was whispered."""
    told = select_told(stores.log.whispers(MAX_ENTRIES_READ))
    here = [each for each in told if each.space == space][:MAX_PROMPTS]
    return [build_line(stores.search, each) for each in here]


# -- the document --------------------------------------------------------------------------


@operation(
    "page_project_document",
    "GET",
    "/ui/data/project/document",
    "a project as one markdown text",
    role=Role.READER,
    query=PageProjectQuery,
    answer=ProjectDocument,
)
def export_project(context: HomeContext, call: OperationCall) -> ProjectDocument:
    """Return all that holds in a project as one markdown text."""
    space, stores = _read_project(call), context.stores
    now = stores.clock.now()
    sections = list_sections(stores, space, now, MAX_DOCUMENT_MEMORIES)
    text, written = render_project(space, sections, now)
    total = sum(each.total for each in sections)
    return ProjectDocument(
        name=_name_file(space),
        text=text,
        memories=written,
        left_out=total - written,
    )


def _name_file(space: str) -> str:
    """Return a name that every file system takes."""
    return f"{_NO_NAME.sub('-', space).strip('-.') or 'project'}.md"


def render_project(space: str, sections: Sequence[ListedSection], now: datetime) -> tuple[str, int]:
    """Return the text, and how many memories stand in it."""
    parts = [f"# {_flatten(space)}\n\n{now.date().isoformat()}\n"]
    size = written = 0
    for section in sections:
        parts.append(f"## {_HEADINGS[section.name]}\n")
        for memory in section.memories:
            text = "\n".join(_render_memory(memory))
            size += len(text)
            if size > MAX_DOCUMENT_CHARS:
                return "\n".join(parts), written
            parts.append(text)
            written += 1
    return "\n".join(parts), written


def _render_memory(memory: Memory) -> Iterator[str]:
    """Yield the lines of a memory. Its own headings become smaller than the document's."""
    yield f"### {_flatten(memory.headline)}\n"
    fenced = False
    for line in memory.content.splitlines():
        fenced ^= bool(_FENCE.match(line))
        yield line if fenced else _HEADING.sub(_lower_heading, line)
    tags = "".join(f" #{each}" for each in memory.tags)
    yield f"\n*{memory.created.date().isoformat()} · {memory.short_id}{tags}*\n"


def _lower_heading(found: re.Match[str]) -> str:
    return "#" * min(len(found[0]) + 3, 6)


def _flatten(text: str) -> str:
    return " ".join(text.split())
