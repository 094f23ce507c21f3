"""Agent Skills: procedures that were used and worked, each as a folder with a SKILL.md.

    ---
    name: release-a-new-version
    description: "Release a new version. Use it for: tag, changelog."
    metadata:
      madeleine-memory: "97acbe8e-…"
      madeleine-digest: "5f0c…"
    ---

    # Release a new version

    Bump the version, tag it, and push the tag.

A skill is an instruction to an agent, while a memory is only data, so nothing is written that a
person has not seen. A procedure worked if more was said for it than against it: by feedback, or by
a reply that shows that it was used. The digest tells a file that somebody edited since, which is
left alone.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from madeleine.errors import StoreUnwritable
from madeleine.language.secrets import redact_secrets
from madeleine.model.event import Event
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.words import MemoryType
from madeleine.write.stores import Stores

SKILL_FILE = "SKILL.md"
MAX_SKILLS = 1_000
NAME_CHARS = 60  # the format takes 64, and two of one name need room for an id
DESCRIPTION_CHARS = 1_000  # the format takes 1,024
FIRST_SENTENCE_CHARS = 400
DIGEST_BYTES = 12
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_DIGEST_LINE = re.compile(r'^  madeleine-digest: "([0-9a-f]+)"$', re.MULTILINE)
_FRONT_MATTER_END = "\n---\n\n"


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """A procedure as a skill, and how often it was of use, or was not."""

    memory: Memory
    name: str
    description: str
    text: str
    worked: int
    failed: int


class SkillState(StrEnum):
    """What a folder has of a skill."""

    NEW = "new"
    CHANGED = "changed"
    """Written by an export before, and the memory says something else now."""
    UNCHANGED = "unchanged"
    EDITED = "edited"
    """Somebody edited it since it was exported: it is left alone."""
    FOREIGN = "foreign"
    """It does not come from an export: it is left alone."""


WRITTEN_STATES = (SkillState.NEW, SkillState.CHANGED)


# -- making them ---------------------------------------------------------------------------


def find_skills(
    stores: Stores, least: int = 1, spaces: Sequence[str | None] = ()
) -> list[AgentSkill]:
    """Return the procedures that are true and were of use at least so often, and more often than
    not; those that were so most often first."""
    chosen = Filter(types=(MemoryType.PROCEDURE,), spaces=tuple(spaces))
    procedures = stores.search.listing(chosen, stores.clock.now(), MAX_SKILLS)
    said = stores.log.feedback([each.id for each in procedures])
    counted = [(each, *_count_signals(said, each.id)) for each in procedures]
    wanted = [row for row in counted if row[1] >= max(least, 1) and row[1] > row[2]]
    wanted.sort(key=lambda row: (-row[1], row[2], row[0].created, row[0].id))
    names = _SkillNames()
    return [_build_skill(names, *row) for row in wanted]


def _count_signals(said: Iterable[Event], memory_id: str) -> tuple[int, int]:
    """Return how often a memory was of use, and how often it was not. Of what was said in one
    whisper, the last word counts."""
    last: dict[str, int] = {}
    for each in said:  # newest first
        if each.body.get("memory") == memory_id:
            signal = each.body.get("signal")
            last.setdefault(str(each.body.get("whisper") or each.id), int(str(signal or 0)))
    signals = list(last.values())
    return signals.count(1), signals.count(-1)


def _build_skill(names: _SkillNames, memory: Memory, worked: int, failed: int) -> AgentSkill:
    title = redact_secrets(memory.headline).text
    content = redact_secrets(memory.content).text.strip()
    name, description = names.name(memory, title), _describe(memory, title, content)
    body = f"# {title}\n\n{content}\n"
    front = [
        "---",
        f"name: {name}",
        f"description: {_quote(description)}",
        "metadata:",
        f"  madeleine-memory: {_quote(memory.id)}",
    ]
    digest = _digest("\n".join(front) + _FRONT_MATTER_END + body)
    text = "\n".join([*front, f"  madeleine-digest: {_quote(digest)}"]) + _FRONT_MATTER_END + body
    return AgentSkill(memory, name, description, text, worked, failed)


class _SkillNames:
    """Gives each skill a name of its own."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def name(self, memory: Memory, title: str) -> str:
        plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
        name = _NOT_IN_NAME.sub("-", plain).strip("-")[:NAME_CHARS].strip("-")
        if not name:
            name = f"procedure-{memory.short_id}"
        if name in self._taken:
            room = NAME_CHARS - len(memory.short_id)
            name = f"{name[:room].strip('-')}-{memory.short_id}"
        self._taken.add(name)
        return name


def _describe(memory: Memory, title: str, content: str) -> str:
    """Return what a skill does and when it is of use, on one line."""
    first = _SENTENCE_END.split(content, maxsplit=1)[0][:FIRST_SENTENCE_CHARS]
    parts = [title] if first.rstrip(".!?").startswith(title.rstrip(".!?…")) else [title, first]
    if parts == [title] and len(first) > len(title):
        parts = [first]
    told = " ".join(f"{each.rstrip('.')}." for each in parts if each)
    when = ", ".join(redact_secrets(each).text for each in memory.triggers or ())
    where = f" In the project {memory.space}." if memory.space else ""
    use = f" Use it for: {when}." if when else ""
    return " ".join(f"{told}{where}{use}".split())[:DESCRIPTION_CHARS]


def _quote(text: str) -> str:
    """Return a text as YAML and JSON both write it."""
    return json.dumps(text, ensure_ascii=False)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8"), digest_size=DIGEST_BYTES).hexdigest()


# -- in a folder ---------------------------------------------------------------------------


def compare_skill(folder: Path, skill: Mapping[str, object]) -> SkillState:
    """Return what a folder of skills has of one, given its `name` and `text`."""
    path = folder / str(skill["name"]) / SKILL_FILE
    try:
        known = path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        taken = path.parent.exists() or path.parent.is_symlink()
        return SkillState.FOREIGN if taken else SkillState.NEW
    except OSError as error:
        raise StoreUnwritable(path, error.strerror or str(error)) from error
    if known == skill["text"]:
        return SkillState.UNCHANGED
    digest = _DIGEST_LINE.search(known)
    if digest is None:
        return SkillState.FOREIGN
    plain = known.replace(f"{digest[0]}\n", "", 1)
    return SkillState.CHANGED if _digest(plain) == digest[1] else SkillState.EDITED


def write_skill(folder: Path, skill: Mapping[str, object]) -> Path:
    """Write a skill, whole or not at all, and return its file."""
    path = folder / str(skill["name"]) / SKILL_FILE
    beside = path.with_name(f".{SKILL_FILE}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(str(skill["text"]), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise StoreUnwritable(path, error.strerror or str(error)) from error
    return path
