"""Why a memory is an answer, in words and in numbers, and why another is not."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

from madeleine.language.passages import FOREIGN_WEIGHT, MOST_PASSAGES, PASSAGE_CHARS, split_passages
from madeleine.model.cause import Cause, NoteKind, ReasonKind
from madeleine.model.memory import SHORT_ID_LENGTH, Memory
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.times import format_time
from madeleine.recall.kin import QuestionKin
from madeleine.recall.ranking import RankedHit
from madeleine.recall.scoring import ScoredCandidates
from madeleine.recall.weights import HEADS
from madeleine.rules.fusion import RecallHead, display_score
from madeleine.write.stores import Stores

SOME = 0.005  # of what the question tells: less would be shown as nothing
KIN_SHOWN = 3
CLOSE = 0.25  # a cosine from which "close in meaning" is worth saying
SHORTEST_CUT = PASSAGE_CHARS // FOREIGN_WEIGHT  # a shorter text is one passage in any script


@dataclass(frozen=True, slots=True)
class PassagePosition:
    """The passage of a long memory that answers."""

    start: int
    end: int
    text: str


class Absence(enum.StrEnum):
    """Why a memory is not among the answers."""

    UNKNOWN = "unknown"
    """No memory has this id, or several begin like that."""
    THERE = "there"
    """It is among them, as number `rank`."""
    REFUSED = "refused"
    """The filter leaves it out, by `filters`; by none of them, if it is outdated."""
    OUTRANKED = "outranked"
    """It is an answer, as number `rank`; fewer were asked for."""
    FOLDED = "folded"
    """It is an answer, as number `rank`, below the floor."""
    OLDER = "older"
    """It is of the time asked for, and older than those that were asked for."""
    OUTDONE = "outdone"
    """It was compared, and `others` fit better."""
    FAR = "far"
    """It was compared, and nothing is near enough."""
    GLANCED = "glanced"
    """At a quick look others fit better."""
    UNSEEN = "unseen"
    """Neither its words nor its meaning are near."""


@dataclass(frozen=True, slots=True)
class AnswerRanks:
    """What was found, best first, what of it is above the floor, and what is shown."""

    found: Sequence[RankedHit]
    above: Sequence[RankedHit]
    shown: Sequence[RankedHit]


@dataclass(frozen=True, slots=True)
class AbsenceExplanation:
    """Why a memory that somebody expected is not among the answers: in a sentence, and in what
    the sentence is made of, for whoever says it in other words."""

    how: Absence
    text: str
    rank: int | None = None
    others: int | None = None
    chance: float | None = None
    filters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateComparison:
    """What a hit was compared by, and where it stands among the candidates."""

    scored: ScoredCandidates
    spot: int
    head: RecallHead


@dataclass(frozen=True, slots=True)
class ScoreExplanation:
    """Every number that a score is made of. Those of the comparison, some fifty, are looked up when
    somebody asks for them: a whisper needs one of them."""

    head: str | None
    chance: float | None
    lifts: Mapping[ReasonKind, float]
    factors: Mapping[str, float]
    """The boosts, as they were multiplied."""
    cross_encoder: float | None
    inherited: float | None
    comparison: CandidateComparison | None = None

    @property
    def boosts(self) -> dict[str, float]:
        return {name: self.boost(name) for name in self.factors}

    def boost(self, name: str) -> float:
        """Return one boost; 1 where the hit has none of this name."""
        return round(self.factors.get(name, 1.0), 4)

    @property
    def features(self) -> dict[str, float]:
        compared = self.comparison
        columns = {} if compared is None else compared.scored.columns
        return {name: self.feature(name) for name in columns}

    def feature(self, name: str) -> float:
        """Return one feature; 0 where the hit has none of this name."""
        compared = self.comparison
        if compared is None or name not in compared.scored.columns:
            return 0.0
        return round(float(compared.scored.columns[name][compared.spot]), 4)

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the features that are there."""
        compared = self.comparison
        if compared is None:
            return {}
        columns, weights = compared.scored.columns, compared.head.weights
        return {name: weight for name, weight in weights.items() if name in columns}

    @property
    def evidence(self) -> dict[str, float]:
        compared = self.comparison
        return {} if compared is None else compared.scored.evidence_at(compared.spot)


def find_reasons(
    hit: RankedHit, memory: Memory, scored: ScoredCandidates | None, chosen: Filter, now: datetime
) -> tuple[Cause, ...]:
    """Return why this memory is an answer, the strongest first."""
    found = [*map(Cause, hit.lifts), *_comparison_reasons(hit, scored), *hit.said]
    return (*(found or [Cause(ReasonKind.FAINTLY_CLOSE)]), *_standing_reasons(memory, chosen, now))


def _comparison_reasons(hit: RankedHit, scored: ScoredCandidates | None) -> Iterator[Cause]:
    if hit.spot is None or scored is None:
        return
    columns, place = scored.columns, int(scored.places[hit.spot])
    if (share := columns["coverage"][hit.spot]) > 0:
        if share >= SOME:
            yield Cause(ReasonKind.SHARES_WORDS, {"share": round(float(share), 4)})
        else:
            yield Cause(ReasonKind.SHARES_COMMON_WORD)
    yield from _kin_reasons(hit.spot, scored)
    if "near" in columns and (near := columns["near"][hit.spot]) >= CLOSE:
        yield Cause(ReasonKind.CLOSE_IN_MEANING, {"similarity": round(float(near), 4)})
    if columns["any_speaker"][hit.spot] > 0:
        yield Cause(ReasonKind.SAID_BY_NAMED)
    if columns["date"][hit.spot] > 0:
        yield Cause(ReasonKind.OF_NAMED_DATE)
    if scored.pool.talk[place] and columns["coverage_session"][hit.spot] > 0.5:
        yield Cause(ReasonKind.CONVERSATION_FITS)


def _kin_reasons(spot: int, scored: ScoredCandidates) -> Iterator[Cause]:
    """Yield for each word of the question that it has in another one, which that is."""
    if scored.kin_met is None:
        return
    said: dict[str, QuestionKin] = {}
    for number in scored.kin_met[spot].nonzero()[0].tolist():  # the surest come first
        said.setdefault(scored.kin[number].asked, scored.kin[number])
    for each in list(said.values())[:KIN_SHOWN]:
        parts = {"asked": each.asked, "said": each.kin.text, "link": each.kin.tie.link.value}
        yield Cause(ReasonKind.KIN, parts)


def _standing_reasons(memory: Memory, chosen: Filter, now: datetime) -> Iterator[Cause]:
    if memory.tier.value != "working":
        yield Cause(ReasonKind.TIER, {"tier": memory.tier.value})
    if is_outdated(memory, chosen, now) and memory.superseded_by:
        yield Cause(ReasonKind.SUPERSEDED, {"by": memory.superseded_by})
    elif is_outdated(memory, chosen, now) and memory.valid_until:
        since = format_time(memory.valid_until)[:10]
        yield Cause(ReasonKind.NO_LONGER_TRUE, {"since": since})


def is_outdated(memory: Memory, chosen: Filter, now: datetime) -> bool:
    """Whether a memory is no longer true at the moment asked about. Of one that is superseded
    without a date nobody knows when it was true."""
    until, as_of = memory.valid_until, chosen.as_of
    if memory.superseded_by and (as_of is None or until is None):
        return True
    return until is not None and until <= (as_of or now)


def match_scores(hit: RankedHit, scored: ScoredCandidates) -> dict[str, float]:
    """Return the few numbers that everybody gets to see."""
    if hit.spot is None:
        return {}
    named = (("text", "coverage"), ("meaning", "near"), ("tokens", "tokens_sure_piece"))
    found = {
        word: round(float(scored.columns[name][hit.spot]), 4)
        for word, name in named
        if name in scored.columns
    }
    return found | {"chance": round(float(scored.chances[hit.spot]), 4)}


def explain_score(
    hit: RankedHit, scored: ScoredCandidates, heads: Mapping[str, RecallHead]
) -> ScoreExplanation:
    """Return all the numbers."""
    passed = _round_score(hit.inherited)
    if hit.spot is None:
        return ScoreExplanation(None, None, hit.lifts, hit.factors, hit.reranked, passed)
    head = HEADS[scored.head[hit.spot]]
    return ScoreExplanation(
        head=head,
        chance=round(float(scored.chances[hit.spot]), 4),
        lifts=hit.lifts,
        factors=hit.factors,
        cross_encoder=hit.reranked,
        inherited=passed,
        comparison=CandidateComparison(scored, hit.spot, heads[head]),
    )


def _round_score(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def find_passage(
    hit: RankedHit, memory: Memory, scored: ScoredCandidates
) -> PassagePosition | None:
    """Return the passage that answers, if the memory has more than one."""
    passages = split_passages(memory) if len(memory.content) >= SHORTEST_CUT else []
    if hit.spot is None or len(passages) <= 1:
        return None
    place = scored.places[hit.spot]
    part = int(scored.pool.numbers[place] - scored.pool.nodes[place] * MOST_PASSAGES)
    passage = passages[min(part, len(passages) - 1)]
    return PassagePosition(passage.start, passage.end, memory.content[passage.start : passage.end])


def shortfall_parts(hit: RankedHit, least: float) -> dict[str, object]:
    """Return how far the best candidate is from being an answer."""
    lacks = "score" if hit.score < least else "words"
    return {"nearest": hit.id, "score": display_score(hit.score), "needed": least, "lacks": lacks}


def note_retired(
    stores: Stores, named: Sequence[str], chosen: Filter, now: datetime
) -> list[Cause]:
    """Note which of the memories that a question names would be shown if it asked for what is
    outdated, too."""
    if not named or chosen.outdated:
        return []
    there = stores.search.select_allowed(named, chosen, now)
    over = stores.search.select_allowed(named, replace(chosen, outdated=True), now) - there
    memories = stores.search.memories(each for each in named if each in over)
    return [
        Cause(NoteKind.RETIRED, {"memory": each.id, "superseded_by": each.superseded_by})
        for each in memories.values()
    ]


# --- why not --------------------------------------------------------------------------------


def explain_absence(
    stores: Stores,
    query: RecallQuery,
    chosen: Filter,
    scored: ScoredCandidates | None,
    ranks: AnswerRanks,
    now: datetime,
) -> AbsenceExplanation:
    """Say why a memory that somebody expected is not among the answers."""
    found = stores.search.ids_with_prefix(query.why_not or "", 2)
    if len(found) != 1:
        said = "there is no such memory" if not found else "several ids begin like that"
        return AbsenceExplanation(Absence.UNKNOWN, said)
    memory_id = found[0]
    for rank, hit in enumerate(ranks.shown, 1):
        if hit.id == memory_id:
            return _build_absence(Absence.THERE, memory_id, f"is there: number {rank}", rank=rank)
    if not stores.search.select_allowed([memory_id], chosen, now):
        return _build_refusal(memory_id, _find_refusing_filters(stores, memory_id, chosen, now))
    return _explain_outranked(stores, query, scored, ranks, memory_id)


def _build_absence(
    how: Absence,
    memory_id: str,
    words: str,
    *,
    rank: int | None = None,
    others: int | None = None,
    chance: float | None = None,
) -> AbsenceExplanation:
    return AbsenceExplanation(how, f"{memory_id[:SHORT_ID_LENGTH]} {words}", rank, others, chance)


def _build_refusal(memory_id: str, parts: Sequence[str]) -> AbsenceExplanation:
    named = [f"the filter `{name}`" for name in parts]
    said = ", ".join(named or ["being outdated: it is expired or superseded"])
    text = f"{memory_id[:SHORT_ID_LENGTH]} is left out by {said}"
    return AbsenceExplanation(Absence.REFUSED, text, filters=tuple(parts))


def _find_refusing_filters(
    stores: Stores, memory_id: str, chosen: Filter, now: datetime
) -> list[str]:
    """Return the parts of the filter that do not let the memory through."""
    plain = Filter()
    parts = [each.name for each in fields(Filter) if getattr(chosen, each.name)]
    alone = [replace(plain, outdated=True, **{name: getattr(chosen, name)}) for name in parts]
    return [
        name
        for name, part in zip(parts, alone, strict=True)
        if name != "outdated" and not stores.search.select_allowed([memory_id], part, now)
    ]


def _explain_outranked(
    stores: Stores,
    query: RecallQuery,
    scored: ScoredCandidates | None,
    ranks: AnswerRanks,
    memory_id: str,
) -> AbsenceExplanation:
    for rank, hit in enumerate(ranks.found, 1):
        if hit.id == memory_id:
            score = display_score(hit.score)
            if rank <= query.limit and hit not in ranks.above:
                said = f"came in as number {rank} with {score}, below the floor; `all` shows it"
                return _build_absence(Absence.FOLDED, memory_id, said, rank=rank, chance=hit.score)
            said = f"came in as number {rank} with {score}; asked for were {query.limit}"
            return _build_absence(Absence.OUTRANKED, memory_id, said, rank=rank, chance=hit.score)
    if scored is None:
        said = f"is from then too, but older than the {query.limit} that were asked for"
        return _build_absence(Absence.OLDER, memory_id, said)
    nodes = scored.pool.nodes[scored.places].tolist()
    ids = stores.search.ids(nodes)
    spots = [spot for spot, node in enumerate(nodes) if ids.get(node) == memory_id]
    if spots:
        best = max(float(scored.chances[spot]) for spot in spots)
        above = len({nodes[spot] for spot in (scored.chances > best).nonzero()[0].tolist()})
        return _explain_compared(memory_id, best, above if ranks.found else None)
    if memory_id in stores.search.ids(scored.pool.nodes.tolist()).values():
        said = "came near, but at a quick look others fit better"
        return _build_absence(Absence.GLANCED, memory_id, said)
    said = "shares no rare word with the question and is not among the nearest in meaning"
    return _build_absence(Absence.UNSEEN, memory_id, said)


def _explain_compared(memory_id: str, chance: float, others: int | None) -> AbsenceExplanation:
    """Say that so many others fit better, or that nothing fits at all."""
    how = Absence.FAR if others is None else Absence.OUTDONE
    why = "is not near enough" if others is None else f"{others} others fit better"
    said = f"was compared, but {why} (its chance is {chance:.4f})"
    return _build_absence(how, memory_id, said, others=others, chance=chance)
