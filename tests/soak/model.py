"""What must be there: each memory as its file was when the daemon said that it was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from madeleine.errors import FileUnreadable
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory
from madeleine.vault.markdown import read_memory
from madeleine.vault.vault import is_in_trash

UNSEEN = Fingerprint(0, 0)
Link = tuple[str, str, float]  # target, edge, weight


class Wrong(Exception):
    """Something is not as it was promised."""


@dataclass(frozen=True)
class Says:
    """What a memory says, but for the times, which the daemon chooses."""

    content: str
    title: str | None = None
    type: str = "fact"
    tier: str = "working"
    space: str | None = None
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    ends: bool = False
    superseded_by: str | None = None
    links: frozenset[Link] = frozenset()

    @classmethod
    def of(cls, memory: Memory) -> Says:
        return cls(
            content=memory.content,
            title=memory.title,
            type=memory.type.value,
            tier=memory.tier.value,
            space=memory.space,
            tags=memory.tags,
            confidence=memory.confidence,
            ends=memory.valid_until is not None,
            superseded_by=memory.superseded_by,
            links=frozenset((c.target, c.edge.value, c.weight) for c in memory.connections),
        )


@dataclass(frozen=True)
class Kept:
    """One file as it is."""

    id: str
    path: str
    data: bytes

    @property
    def live(self) -> bool:
        return not is_in_trash(self.path)

    @property
    def memory(self) -> Memory:
        return read_memory(self.path, self.data, UNSEEN).memory

    @property
    def says(self) -> Says:
        return Says.of(self.memory)


@dataclass(frozen=True)
class After:
    """How an operation leaves one memory. `data`: exactly these bytes. `suggested`: it may
    have more connections than named here, which its meaning suggested."""

    live: bool
    says: Says | None = None
    data: bytes | None = None
    suggested: bool = False

    def problem(self, found: Kept | None) -> str | None:
        """Say how a file differs from this, if it does."""
        if found is None:
            return "is not there"
        if found.live is not self.live:
            return f"is at {found.path}"
        if self.data is not None and found.data != self.data:
            return f"has other bytes: {found.data!r}, not {self.data!r}"
        if self.says is not None:
            return self._wording(found.says)
        return None

    def _wording(self, found: Says) -> str | None:
        wanted = self.says
        assert wanted is not None
        if self.suggested:
            more = found.links - wanted.links
            if all(edge == "related_to" for _, edge, _ in more):
                wanted = replace(wanted, links=wanted.links | more)
        return None if found == wanted else f"says {found}, not {wanted}"


@dataclass
class Pending:
    """An operation that was sent: what it touches, and how it must leave that.

    `new` are drafts whose ids the daemon chooses, each whole or absent by itself.
    """

    verb: str
    before: dict[str, Kept] = field(default_factory=dict)
    after: dict[str, After] = field(default_factory=dict)
    new: tuple[After, ...] = ()


@dataclass(frozen=True)
class Vaulted:
    """Every file of a vault, read at once."""

    files: Mapping[str, Kept]
    by_content: Mapping[str, str]

    @classmethod
    def read(cls, vault: Path) -> Vaulted:
        """Read everything; a file that does not parse, a second file of one memory and a file
        left unfinished are wrong."""
        files: dict[str, Kept] = {}
        for path in _paths(vault):
            name = path.relative_to(vault).as_posix()
            kept = _parsed(name, path.read_bytes())
            if other := files.get(kept.id):
                raise Wrong(f"{kept.id} stands in two files: {other.path} and {name}")
            files[kept.id] = kept
        return cls(files, {each.memory.content: each.id for each in files.values()})


def _paths(vault: Path) -> Iterable[Path]:
    for path in sorted(vault.rglob("*")):
        if path.name.startswith("."):
            raise Wrong(f"left over: {path}")
        if path.is_file():
            yield path


def _parsed(name: str, data: bytes) -> Kept:
    try:
        memory = read_memory(name, data, UNSEEN).memory
    except FileUnreadable as error:
        raise Wrong(f"does not parse: {error.message}") from error
    return Kept(memory.id, name, data)
