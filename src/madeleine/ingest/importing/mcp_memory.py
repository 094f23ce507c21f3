"""The MCP reference memory server's `memory.jsonl`: a graph of entities and relations.

    {"type":"entity","name":"Ana","entityType":"person","observations":["Lives in Dublin"]}
    {"type":"relation","from":"Ana","to":"Atlas","relationType":"works on"}

One entity is one memory that lists its observations; one relation is one connection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from madeleine.ingest.importing.json_files import read_lines
from madeleine.ingest.importing.sources import SourceFile, find_one_file, source_on_disk
from madeleine.ingest.importing.values import (
    DanglingLinks,
    ImportItem,
    ImportProblem,
    ImportTotal,
    Json,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
    stable_id,
)
from madeleine.ingest.importing.words import build_connection, map_type
from madeleine.model.times import format_time

FORM = "mcp-memory"
NAMES = ("memory.jsonl", "memory.json")


@dataclass(slots=True)
class _Entity:
    line: int
    kind: str
    observations: list[str]
    relations: dict[tuple[str, str], None] = field(default_factory=dict)


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every entity with its relations. They may come in any order, so all are read first."""
    file = find_one_file(path, NAMES[0], *NAMES)
    graph = _EntityGraph(source_on_disk(file, file.name), str(file.resolve()))
    yield from graph.read()
    yield ImportTotal(len(graph.entities))
    yield from graph.items()


class _EntityGraph:
    """What the file says."""

    def __init__(self, source: SourceFile, where: str) -> None:
        self._source = source
        self._where = where
        self.entities: dict[str, _Entity] = {}
        self._relations: list[tuple[int, str, str, str]] = []
        self._loose = DanglingLinks()

    def read(self) -> Iterator[ImportProblem]:
        with self._source.opened() as stream:
            for number, said in read_lines(stream):
                problem = self._take(number, said)
                if problem:
                    yield ImportProblem(self._name_place(number), problem)
        if not self.entities and not self._relations:
            raise NotThatFormat(self._source.name, "holds no entities", "is it a memory.jsonl?")

    def _name_place(self, number: int) -> str:
        return f"{self._source.name}:{number}"

    def _take(self, number: int, said: object) -> str:
        """Take one line in; return what is wrong with it."""
        if isinstance(said, ValueError):
            return f"not JSON: {said}"
        if not isinstance(said, Mapping):
            return "not a JSON object"
        if said.get("type") == "entity":
            return self._take_entity(number, said)
        if said.get("type") == "relation":
            return self._take_relation(number, said)
        return f"neither an entity nor a relation: {said.get('type')!r}"

    def _take_entity(self, number: int, said: Mapping[str, object]) -> str:
        name, observed = said.get("name"), said.get("observations")
        if not isinstance(name, str) or not name.strip() or not isinstance(observed, list):
            return "an entity needs a name and a list of observations"
        known = self.entities.get(name)
        texts = [each for each in observed if isinstance(each, str) and each.strip()]
        if known is None:
            self.entities[name] = _Entity(number, str(said.get("entityType") or ""), texts)
        else:
            known.observations += [each for each in texts if each not in known.observations]
        return ""

    def _take_relation(self, number: int, said: Mapping[str, object]) -> str:
        ends = said.get("from"), said.get("to")
        if not all(isinstance(each, str) and each for each in ends):
            return "a relation needs `from` and `to`"
        self._relations.append((number, str(ends[0]), str(ends[1]), str(said.get("relationType"))))
        return ""

    def items(self) -> Iterator[ReaderOutput]:
        for number, start, end, word in self._relations:
            if start in self.entities and end in self.entities:
                self.entities[start].relations[end, word] = None
            else:
                self._loose.add(self._name_place(number), f"{start} {word} {end}")
        for name, entity in self.entities.items():
            yield ImportItem(self._draft_values(name, entity), self._name_place(entity.line))
        yield from self._loose.told()

    def _draft_values(self, name: str, entity: _Entity) -> Json:
        links = [
            build_connection(self._entity_id(end), word)
            for end, word in entity.relations
            if end != name
        ]
        head = f"{name} ({entity.kind})" if entity.kind else name
        return drop_empty(
            id=self._entity_id(name),
            content="\n".join([head, *(f"- {each}" for each in entity.observations)]),
            title=" ".join(name.split()),
            type=map_type(entity.kind),
            tags=[entity.kind] if entity.kind else [],
            created=format_time(self._source.modified),
            source=f"import:{FORM}",
            origin={"uri": f"{FORM}:{' '.join(name.split())}"},
            connections=links,
        )

    def _entity_id(self, name: str) -> str:
        """Return an entity's id: two files may each have a `User` of their own."""
        return stable_id(FORM, self._where, name)
