"""What an agent was asked to judge, and how its answers are read.

Two shapes are understood: our own `verdicts` and `syntheses`, and Ormah's `edges`, `merges` and
`consolidations`. Each is read strictly: an id that was not asked about, or a word that is none
of the known ones, is an error that names it, before anything is changed.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from madeleine.errors import InvalidValue, MadeleineError
from madeleine.model.draft import read_one_line
from madeleine.model.memory import Memory
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time, parse_time
from madeleine.model.verdict import MemoryPair, Relation, Synthesis, Verdict
from madeleine.model.words import MemoryType, read_word

AGENT = "agent"
SURE = 0.9  # what an agent's word counts if it does not say how sure it is
UNSURE = 0.7  # where it contradicts the dates: for a person to decide

TITLE_CHARS = 300
REASON_CHARS = 1_000

PairIds = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairQuestion:
    """A question about two memories, the older first, and the jobs that wait for the answer."""

    label: str
    ids: PairIds
    digests: tuple[str, str]
    similarity: float
    jobs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClusterQuestion:
    """Memories for which one text is wanted, with what they said when it was asked for."""

    label: str
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reservation:
    """A batch that an agent has. `looked` are memories whose questions are all in it."""

    job_id: str
    expires: datetime
    pairs: tuple[PairQuestion, ...] = ()
    clusters: tuple[ClusterQuestion, ...] = ()
    looked: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    status: str = "taken"

    def digests(self) -> dict[str, str]:
        """Return what each memory in it said, as hashes."""
        found = {k: v for pair in self.pairs for k, v in zip(pair.ids, pair.digests, strict=True)}
        for each in self.clusters:
            found |= each.digests
        return found


def reservation_to_json(held: Reservation) -> dict[str, object]:
    """Return a reservation as plain values, for the journal."""
    return {
        "job_id": held.job_id,
        "expires": format_time(held.expires),
        "status": held.status,
        "pairs": [
            [each.label, *each.ids, *each.digests, each.similarity, list(each.jobs)]
            for each in held.pairs
        ],
        "clusters": [[each.label, dict(each.digests)] for each in held.clusters],
        "looked": {job: dict(found) for job, found in held.looked.items()},
    }


def read_reservation(value: object) -> Reservation | None:
    """Return the reservation that the journal tells of; nothing if it tells of none."""
    if not isinstance(value, Mapping):
        return None
    try:
        return Reservation(
            job_id=str(value["job_id"]),
            expires=parse_time("expires", value["expires"]),
            pairs=tuple(
                PairQuestion(a, (b, c), (d, e), float(f), tuple(g))
                for a, b, c, d, e, f, g in value["pairs"]
            ),
            clusters=tuple(ClusterQuestion(a, dict(b)) for a, b in value["clusters"]),
            looked={job: dict(found) for job, found in value["looked"].items()},
            status=str(value["status"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, MadeleineError):
        return None  # written by another release; its time will pass


@dataclass(frozen=True, slots=True)
class AgentJudge:
    """Answers with what was handed in, and with nothing where nothing was."""

    verdicts: Mapping[PairIds, Verdict] = field(default_factory=dict)
    syntheses: Mapping[frozenset[str], Synthesis] = field(default_factory=dict)
    name: str = AGENT
    cheap: bool = False

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        return [self.verdicts.get(pair.ids) for pair in pairs]

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        return self.syntheses.get(frozenset(each.id for each in members))

    def problems(self) -> dict[str, int]:
        return {}


# --- reading answers ------------------------------------------------------------------------


@dataclass(slots=True)
class AgentAnswers:
    """An agent's answers, read and checked."""

    verdicts: dict[PairIds, Verdict] = field(default_factory=dict)
    keepers: dict[PairIds, str] = field(default_factory=dict)
    """Which of two to keep, where the agent chose."""
    syntheses: dict[frozenset[str], Synthesis] = field(default_factory=dict)
    types: dict[frozenset[str], MemoryType] = field(default_factory=dict)

    def say(self, ids: PairIds, verdict: Verdict) -> None:
        """Take a verdict; of two about one pair the one that says more."""
        known = self.verdicts.get(ids)
        if known is None or _relation_rank(verdict) >= _relation_rank(known):
            self.verdicts[ids] = verdict


def _relation_rank(verdict: Verdict) -> int:
    return -list(Relation).index(verdict.relation)  # they stand in that order


def read_results(held: Reservation, results: object) -> AgentAnswers:
    """Return the answers of a hand-in; anything that was not asked for is an error."""
    reader, handed, asked = (
        RequestReader(results, "`results`"),
        AgentAnswers(),
        _AskedQuestions(held),
    )
    for read, name in (
        (_read_verdict, "verdicts"),
        (_read_edge, "edges"),
        (_read_merge, "merges"),
        (_read_synthesis, "syntheses"),
        (_read_consolidation, "consolidations"),
    ):
        for values in reader.items(name, lambda value: value) or ():
            read(RequestReader(values, f"an entry of `{name}`"), asked, handed)
    reader.done()
    return handed


class _AskedQuestions:
    """Finds what an answer speaks of among what was asked."""

    def __init__(self, held: Reservation) -> None:
        self._pairs = {each.label: each.ids for each in held.pairs}
        self._known = {frozenset(each.ids): each.ids for each in held.pairs}
        self._clusters = {each.label: frozenset(each.digests) for each in held.clusters}
        self._memories = sorted(held.digests())

    def memory(self, field_name: str, wanted: str) -> str:
        """Return the id that is meant: all of it, or a beginning that fits one memory."""
        prefix = wanted.strip().lower()
        found = [each for each in self._memories if prefix and each.startswith(prefix)]
        if len(found) != 1:
            raise InvalidValue(field_name, f"is {wanted!r}, which was not asked about", hint=_HINT)
        return found[0]

    def pair(self, field_name: str, value: object) -> PairIds:
        """Return the pair that a label or two ids name, the older first."""
        if isinstance(value, str) and value in self._pairs:
            return self._pairs[value]
        if isinstance(value, list | tuple) and len(value) == 2:
            return self.pair_of(field_name, *(self.memory(field_name, str(each)) for each in value))
        raise InvalidValue(field_name, f"is {value!r}, which was not asked about", hint=_HINT)

    def pair_of(self, field_name: str, one: str, other: str) -> PairIds:
        ids = self._known.get(frozenset((one, other)))
        if ids is None:
            problem = f"names `{one[:8]}` and `{other[:8]}`, a pair that was not asked about"
            raise InvalidValue(field_name, problem, hint=_HINT)
        return ids

    def cluster(self, field_name: str, value: object) -> frozenset[str]:
        if isinstance(value, str) and value in self._clusters:
            return self._clusters[value]
        if isinstance(value, list | tuple):
            ids = frozenset(self.memory(field_name, str(each)) for each in value)
            if ids in self._clusters.values():
                return ids
        raise InvalidValue(field_name, f"is {value!r}, which was not asked about", hint=_HINT)


_HINT = "answer only what came with this job; nothing was changed"


def _read_verdict(reader: RequestReader, asked: _AskedQuestions, handed: AgentAnswers) -> None:
    ids = asked.pair("pair", reader.raw("pair"))
    start = reader.text("from")
    from_older = start is not None and asked.memory("from", start) == ids[0]
    keep = reader.text("keep")
    verdict = Verdict(
        relation=read_word(Relation, "relation", reader.raw("relation")),
        sure=reader.unit("sure", SURE),
        reason=_read_reason(reader),
        from_older=from_older,
        title=reader.text("title"),
        content=reader.text("content"),
    )
    reader.done()
    if keep is not None:
        handed.keepers[ids] = _read_pair_member(asked, "keep", keep, ids)
    handed.say(ids, verdict)


def _read_edge(reader: RequestReader, asked: _AskedQuestions, handed: AgentAnswers) -> None:
    """Read one of Ormah's edges: an arrow from a to b."""
    start = asked.memory("node_a_id", reader.required_text("node_a_id"))
    end = asked.memory("node_b_id", reader.required_text("node_b_id"))
    ids = asked.pair_of("node_b_id", start, end)
    relation = read_word(_OrmahEdge, "edge_type", reader.raw("edge_type")).relation
    backwards = relation is Relation.EVOLUTION and start == ids[0]
    sure = UNSURE if backwards else SURE
    verdict = Verdict(relation, sure, _read_reason(reader), from_older=start == ids[0])
    reader.done()
    handed.say(ids, verdict)


class _OrmahEdge(enum.StrEnum):
    """The words that Ormah's clients use."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    EVOLVED_FROM = "evolved_from"
    PART_OF = "part_of"
    DEPENDS_ON = "depends_on"
    RELATED_TO = "related_to"
    NONE = "none"

    @property
    def relation(self) -> Relation:
        others = {"contradicts": Relation.TENSION, "evolved_from": Relation.EVOLUTION}
        return others.get(self.value) or Relation(self.value)


def _read_merge(reader: RequestReader, asked: _AskedQuestions, handed: AgentAnswers) -> None:
    keep = asked.memory("keep_id", reader.required_text("keep_id"))
    drop = asked.memory("discard_id", reader.required_text("discard_id"))
    ids = asked.pair_of("discard_id", keep, drop)
    title, content = reader.text("merged_title"), reader.text("merged_content")
    verdict = Verdict(
        Relation.DUPLICATE, SURE, _read_reason(reader), title=title or None, content=content or None
    )
    reader.done()
    handed.keepers[ids] = keep
    handed.say(ids, verdict)


def _read_synthesis(reader: RequestReader, asked: _AskedQuestions, handed: AgentAnswers) -> None:
    ids = asked.cluster("cluster", reader.raw("cluster"))
    handed.syntheses[ids] = _read_synthesis_text(reader)
    reader.done()


def _read_consolidation(
    reader: RequestReader, asked: _AskedQuestions, handed: AgentAnswers
) -> None:
    ids = asked.cluster("node_ids", reader.raw("node_ids"))
    handed.syntheses[ids] = _read_synthesis_text(reader)
    if reader.raw("type") is not None:
        handed.types[ids] = read_word(MemoryType, "type", reader.raw("type"))
    reader.done()


def _read_synthesis_text(reader: RequestReader) -> Synthesis:
    content = reader.required_text("content")
    if not content.strip():
        raise InvalidValue("content", "is empty", hint="leave the cluster out instead")
    title = read_one_line("title", reader.text("title"), TITLE_CHARS) or ""
    return Synthesis(title, content)


def _read_pair_member(asked: _AskedQuestions, field_name: str, wanted: str, ids: PairIds) -> str:
    found = asked.memory(field_name, wanted)
    if found not in ids:
        raise InvalidValue(field_name, f"is {wanted!r}, which is not of this pair", hint=_HINT)
    return found


def _read_reason(reader: RequestReader) -> str:
    return read_one_line("reason", reader.text("reason"), REASON_CHARS) or ""
