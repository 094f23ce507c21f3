"""Recall: a question in, the memories that answer it out, each with its score and reasons.

Understand the question, draw candidates inside the filter, compare them closely, let boosts
and the graph speak, and say why. Nothing relevant is an answer too, with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from madeleine.language.memory_times import asks_for_decisions
from madeleine.language.self_questions import asks_about_person
from madeleine.language.standing_questions import asks_for_standing_notes
from madeleine.language.stems import telling_stems
from madeleine.language.times import TimeSpan
from madeleine.language.word_hints import (
    QUESTION_WORDS,
    SELF_WORDS,
    STOP_WORDS,
    asks_for_all,
    asks_for_overview,
)
from madeleine.model.cause import Cause, NoteKind, ReasonKind, SilenceKind
from madeleine.model.embedding import QueryEmbedding
from madeleine.model.memory import Memory
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, MemoryType, Tier
from madeleine.recall.activation import spread_activation, standing_of
from madeleine.recall.candidates import PreparedQuestion, draw_candidates, prepare_question
from madeleine.recall.dates import find_speaking_of
from madeleine.recall.explaining import (
    AbsenceExplanation,
    AnswerRanks,
    PassagePosition,
    ScoreExplanation,
    explain_absence,
    explain_score,
    find_passage,
    find_reasons,
    is_outdated,
    match_scores,
    note_retired,
    shortfall_parts,
)
from madeleine.recall.features import KIN_COLUMNS
from madeleine.recall.memory_reader import MemoryReader
from madeleine.recall.newer_first import LOOKED_AT, put_newer_first
from madeleine.recall.parsing import ParsedQuestion
from madeleine.recall.ranking import TIERS, RankedHit, rank_candidates, rank_key
from madeleine.recall.reranking import rerank
from madeleine.recall.scoring import MOVED, ScoredCandidates, heads_of, score_candidates
from madeleine.recall.standing_listing import LISTED_MOST, list_standing_notes
from madeleine.recall.successors import (
    RelatedVersion,
    WaitingReplacement,
    find_predecessors,
    find_successor,
    find_suspected_replacements,
    find_waiting_replacements,
)
from madeleine.recall.surroundings import SurroundingTurn, find_surroundings
from madeleine.recall.weights import CLOSE_HEADS, HEADS, SAID_HEADS
from madeleine.rules.answer_floor import AnswerFloor, FloorStanding, mark_above_floor
from madeleine.rules.fusion import OUTDATED_FACTOR, boost_chance, boost_factors, display_score
from madeleine.rules.overview import spread_over_groups
from madeleine.write.reconcile import unread_note
from madeleine.write.record_use import record_use
from madeleine.write.stores import Stores

FROM_THEN = 0.5  # the score of what is from the time asked for, when nothing else is asked
MUCH_KIN = 0.1  # of what the question tells, in other words: as good as a word in common
SPOKEN_OF = 0.25  # and of what only speaks of that time
SPREAD_AMONG = 2  # times as many hits as are wanted, to spread an overview over
UNNAMED_SELF = frozenset({"self"})  # the title of a self that nobody has given a name
_ASKED_FOR = frozenset({ReasonKind.NAMED_BY_ID, ReasonKind.HOLDS_QUOTE})
"""Reasons for which a hit is shown whatever its score is."""
BEHIND = 0.9  # of its score that is left to a hit before which what may have replaced it is put
_ARCHIVAL = TIERS.index(Tier.ARCHIVAL.value)


@dataclass(frozen=True, slots=True)
class RecallMatch:
    """A memory that answers, how well from 0 to 1, and why."""

    memory: Memory
    score: float
    reasons: tuple[Cause, ...]
    match: Mapping[str, float]
    passage: PassagePosition | None = None
    explained: ScoreExplanation | None = None
    mentioned: tuple[str, ...] = ()
    """Ids of the memories that the reasons name."""
    around: tuple[SurroundingTurn, ...] = ()
    """What was said before and after it in its conversation."""
    replaced_by: RelatedVersion | None = None
    """What took its place, or may have."""
    replaces: tuple[RelatedVersion, ...] = ()
    """Whose place it took, or may have."""
    group: str | None = None
    """Of what says how things are to be done the activity that it is about."""
    is_above_floor: bool = True
    """Whether it is shown without asking for all."""


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The answers, best first; none comes with a reason. `notes` say what is degraded."""

    hits: tuple[RecallMatch, ...]
    silence: Cause | None = None
    notes: tuple[Cause, ...] = ()
    why_not: str | None = None
    absent: AbsenceExplanation | None = None
    """What `explain_absence` says, in its parts."""
    folded: int = 0
    """How many more were found below the floor; `all` shows them."""
    floor: float | None = None
    """The score that a hit needed to be shown; None: nothing was cut off."""


@dataclass(slots=True)
class _Search:
    """A question on its way through the stages."""

    query: RecallQuery
    prepared: PreparedQuestion
    chosen: Filter
    now: datetime
    notes: tuple[Cause, ...]
    when: str = ""
    """The time that narrows the filter, in words."""
    nothing_from: str = ""
    """The time that nothing is from, in words."""
    scored: ScoredCandidates | None = None
    waiting: list[WaitingReplacement] = field(default_factory=list)
    """What may have replaced what among the first hits, as somebody is being asked, or a job
    suspects."""

    @property
    def understood(self) -> ParsedQuestion:
        return self.prepared.asked.understood


def recall(
    stores: Stores,
    query: RecallQuery,
    touch: bool = True,
    trace: QueryEmbedding | None = None,
    look_again: bool = True,
) -> RecallResult:
    """Return the memories that answer `query`; `touch` counts them as used. Whoever has had
    the question read hands in its `trace`; `look_again` lets a cross-encoder have its say."""
    query = widen_for_overview(query)
    answer = _list_standing_notes(stores, query) or _answer_by_search(
        stores, query, trace, look_again
    )
    if touch and answer.hits:
        shown_ids = [each.memory.id for each in answer.hits]
        late = record_use(stores, shown_ids, "recalled", query.session_id)
        answer = replace(answer, notes=answer.notes + late)
    return answer


def _list_standing_notes(stores: Stores, query: RecallQuery) -> RecallResult | None:
    """Return all that says how things are to be done, here and everywhere, if that is asked for and
    there is any."""
    if query.why_not or not asks_for_standing_notes(query.text):
        return None
    chosen = query.filter
    if query.space is not None and not chosen.spaces:
        chosen = replace(chosen, spaces=(query.space, None))
    with stores.index.steady():
        found = list_standing_notes(stores, chosen, stores.clock.now(), query.limit)
    if not found:
        return None
    reason = ReasonKind.STANDING
    return RecallResult(
        tuple(
            RecallMatch(
                each.memory,
                round(each.chance, 4),
                (Cause(reason, {"activity": each.activity}),),
                {},
                group=each.activity,
            )
            for each in found
        )
    )


def _answer_by_search(
    stores: Stores, query: RecallQuery, trace: QueryEmbedding | None, look_again: bool
) -> RecallResult:
    prepared = prepare_question(stores, query, trace)
    again = look_again and stores.minds.reranker is not None
    search, answer = _answer_question(stores, query, prepared, again)
    if not answer.hits and search.when and not _is_listing(search):
        _, answer = _answer_question(stores, query, prepared, again, search.when)
    return answer


def _answer_question(
    stores: Stores, query: RecallQuery, prepared: PreparedQuestion, again: bool, without: str = ""
) -> tuple[_Search, RecallResult]:
    """Return the answers, and how they were looked for. `without` is a time, in words, from which
    nothing answers: then all times are looked at. `again`, a cross-encoder has its say."""
    with stores.index.steady():
        search = _begin_search(stores, query, prepared, without)
        hits = (
            _list_from_time(stores, search)
            if _is_listing(search)
            else _compare_candidates(stores, search)
        )
        if not again:
            return search, _build_result(stores, search, hits)
    hits = _rerank_hits(stores, search, hits)  # no state is held meanwhile (I6)
    with stores.index.steady():
        return search, _build_result(stores, search, hits)


def widen_for_overview(query: RecallQuery) -> RecallQuery:
    """Return a question as it is answered: one for an overview has more answers than others, unless
    it says how many are wanted; one for all standing notes has all."""
    if query.overview_limit is not None and asks_for_standing_notes(query.text):
        return replace(query, limit=LISTED_MOST)
    if query.overview_limit is None or not (
        asks_for_overview(query.text) or asks_for_all(query.text)
    ):
        return query
    return replace(query, limit=query.overview_limit)


def _build_result(stores: Stores, search: _Search, hits: list[RankedHit]) -> RecallResult:
    """Let the graph speak, and say what is found or why nothing is."""
    query, reader = search.query, MemoryReader(stores.search)
    hits = _follow_connections(stores, reader, search, hits)
    near, silence = _select_near_enough(stores, search, hits)
    answering = _select_above_floor(stores, search, near)
    above = near if query.all else answering
    if near and not above:
        needed = _floor_of(stores, search).needed(near[0].score)
        silence = _none_near_enough(search, near, needed)
    shown = _select_wanted(search, above)
    ranks = AnswerRanks(near, above, shown)
    reason = _why_not(stores, search, ranks) if query.why_not else None
    silence = _note_retired(stores, search, silence)
    return RecallResult(
        hits=_mark_below_floor(
            _build_hits(stores, reader, search, _drop_surplus(search, shown)), answering
        ),
        silence=silence,
        notes=search.notes,
        why_not=reason.text if reason else None,
        absent=reason,
        folded=max(0, min(len(near), query.limit) - len(shown)),
        floor=_shown_floor(stores, search, near),
    )


def _mark_below_floor(
    found: tuple[RecallMatch, ...], answering: Sequence[RankedHit]
) -> tuple[RecallMatch, ...]:
    """Return the hits; those that only asking for all brings say so."""
    above = {each.id for each in answering}
    return tuple(
        each if each.memory.id in above else replace(each, is_above_floor=False) for each in found
    )


def _shown_floor(stores: Stores, search: _Search, near: Sequence[RankedHit]) -> float | None:
    """Return the score below which hits are folded, as far as there is one."""
    if search.query.all or not near or search.scored is None:
        return None
    return round(_floor_of(stores, search).needed(near[0].score), 4)


# --- stages ---------------------------------------------------------------------------------


def _begin_search(
    stores: Stores, query: RecallQuery, prepared: PreparedQuestion, without: str
) -> _Search:
    """What a question says about when narrows the filter, unless there is nothing from then, or
    nothing that answers (`without`)."""
    search = _Search(query, prepared, query.filter, stores.clock.now(), prepared.notes)
    if without:
        search.notes += (Cause(NoteKind.NO_ANSWER_FROM_TIME, {"when": without}),)
        return search
    spans = [each for each in search.understood.spans if each.firm or _asks_only_when(search)]
    narrow = _narrow_filter(query.filter, spans)
    said = ", ".join(dict.fromkeys(each.words for each in spans))
    if spans and not stores.search.listing(narrow, search.now, 1):
        search.nothing_from = said
        search.notes += (Cause(NoteKind.NOTHING_FROM_TIME, {"when": said}),)
    else:
        search.chosen, search.when = narrow, said
    return search


def _narrow_filter(chosen: Filter, spans: Sequence[TimeSpan]) -> Filter:
    """Return the filter within all of the times; of times that exclude each other, from the
    beginning of the first to the end of the last."""
    starts, ends = [each.start for each in spans], [each.end for each in spans]
    after, before = _latest(starts), _earliest(ends)
    if after is not None and before is not None and after >= before:
        after = None if None in starts else _earliest(starts)
        before = None if None in ends else _latest(ends)
    return replace(
        chosen,
        created_after=_latest([chosen.created_after, after]),
        created_before=_earliest([chosen.created_before, before]),
    )


def _latest(moments: Sequence[datetime | None]) -> datetime | None:
    return max((each for each in moments if each is not None), default=None)


def _earliest(moments: Sequence[datetime | None]) -> datetime | None:
    return min((each for each in moments if each is not None), default=None)


def _asks_only_when(search: _Search) -> bool:
    understood = search.understood
    timed = bool(understood.spans) or understood.newest_first
    return timed and not understood.telling and not understood.ids


def _is_listing(search: _Search) -> bool:
    """Whether everything from a time is the answer. A date that nothing is from may still be
    spoken of, and is looked for."""
    dated = any(not each.firm for each in search.understood.spans)
    return _asks_only_when(search) and (bool(search.when) or not dated)


def _list_from_time(stores: Stores, search: _Search) -> list[RankedHit]:
    """Return what is from the time asked for, or of any time, newest first, and decisions before
    all else if those are asked for; then what speaks of it."""
    found = _list_newest(stores, search, search.chosen)
    if asks_for_decisions(search.understood.text) and not search.chosen.types:
        only = replace(search.chosen, types=(MemoryType.DECISION,))
        decided = _list_newest(stores, search, only)
        known = {each.id for each in decided}
        found = [*decided, *(each for each in found if each.id not in known)]
        found = found[: search.query.limit]
    then = Cause(ReasonKind.FROM_TIME, {"when": search.when})
    said = then if search.when else Cause(ReasonKind.AMONG_NEWEST)
    listed = [RankedHit(each.id, each.created, FROM_THEN, said=[said]) for each in found]
    if len(listed) >= search.query.limit:
        return listed
    return [*listed, *_find_speaking_of_time(stores, search, {each.id for each in found})]


def _list_newest(stores: Stores, search: _Search, chosen: Filter) -> list[Memory]:
    newest = stores.search.listing(chosen, search.now, search.query.limit + 1)
    return [each for each in newest if each.source != SELF_SOURCE][: search.query.limit]


def _find_speaking_of_time(stores: Stores, search: _Search, known: set[str]) -> list[RankedHit]:
    """Return what speaks of the date asked for. What was said relative to now was written
    down then."""
    dates = [each for each in search.understood.spans if not each.firm]
    found = find_speaking_of(stores, dates, search.query.filter, search.now)
    return [
        RankedHit(
            each.id,
            each.created,
            SPOKEN_OF,
            said=[Cause(ReasonKind.SPEAKS_OF_DATE, {"date": date.words})],
        )
        for each, date in found
        if each.id not in known
    ]


def _compare_candidates(stores: Stores, search: _Search) -> list[RankedHit]:
    """Draw candidates, compare them with the question and rank them."""
    query, now = search.query, search.now
    pool = draw_candidates(stores, query, search.prepared, search.chosen, now)
    prepared, heads = search.prepared, heads_of(stores)
    search.scored = score_candidates(
        stores, heads, prepared.asked, pool, query.limit, prepared.named, query.is_question
    )
    count = SPREAD_AMONG * query.limit if _is_spread(search) else query.limit
    hits = rank_candidates(stores, prepared, search.scored, now, count)
    return _drop_self(stores, search, hits)


def _drop_self(stores: Stores, search: _Search, hits: list[RankedHit]) -> list[RankedHit]:
    """Leave out the memory that stands for the asker, unless they are asked about."""
    self_id = stores.graph.self_id()
    found = next((each for each in hits if each.id == self_id), None)
    if found is None or _asks_about_self(stores, search, found):
        return hits
    return [each for each in hits if each is not found]


def _asks_about_self(stores: Stores, search: _Search, found: RankedHit) -> bool:
    """Whether the self is an answer: the question names or quotes it, is about the asker or about
    nobody else, or says the name that it bears."""
    if not _ASKED_FOR.isdisjoint(found.lifts):
        return True
    understood = search.understood
    about = understood.telling - SELF_WORDS - STOP_WORDS - QUESTION_WORDS
    if (understood.about_self and not about) or asks_about_person(understood.text):
        return True
    memory = stores.search.memories([found.id]).get(found.id)
    name = telling_stems(memory.title or "") - UNNAMED_SELF if memory else frozenset[str]()
    return not name.isdisjoint(telling_stems(understood.text))


def _rerank_hits(stores: Stores, search: _Search, hits: list[RankedHit]) -> list[RankedHit]:
    """Let the cross-encoder have its say."""
    if search.scored is None:
        return hits
    hits, late = rerank(stores, search.query, hits, search.scored)
    search.notes += late
    return hits


def _follow_connections(
    stores: Stores, reader: MemoryReader, search: _Search, hits: list[RankedHit]
) -> list[RankedHit]:
    if search.scored is None:
        return hits
    hits = _drop_self(stores, search, _activate(stores, reader, search, hits))
    chosen = search.query.filter
    if chosen.outdated and chosen.as_of is None and not search.prepared.named:
        hits = _successors_first(reader, hits)
    first = [each.id for each in hits[: max(LOOKED_AT, search.query.limit)]]
    search.waiting = find_waiting_replacements(stores.log, first) if first else []
    search.waiting += find_suspected_replacements(stores.log, first)
    understood = search.understood
    dated = bool(understood.spans or understood.hints) or understood.asks.past
    # People who talk to each other come back to a matter without replacing what they said.
    talked = bool(hits) and _head_of(search, hits[0]) == "dialogue"
    if dated or talked or understood.asks.many:
        return hits
    hits = _possible_successors_first(stores, reader, search, hits)
    return put_newer_first(stores, reader, hits)


def _possible_successors_first(
    stores: Stores, reader: MemoryReader, search: _Search, hits: list[RankedHit]
) -> list[RankedHit]:
    """Put what may have replaced one of the first hits before it. If it was not found itself it is
    brought: the newer note is often the one that has none of the question's words. The older one
    stays close behind, for nothing is settled."""
    first = {each.id: each for each in hits[:LOOKED_AT] if _ASKED_FOR.isdisjoint(each.lifts)}
    pairs = [(each.older, each.newer) for each in search.waiting if each.older in first]
    if not pairs:
        return hits
    found = {each.id: each for each in hits}
    missing = sorted({after for _, after in pairs}.difference(found))
    passing = stores.search.select_allowed(missing, search.chosen, search.now) if missing else ()
    known = reader.read(each for pair in pairs for each in pair)
    weight = stores.config.recall.relevance_weight
    for each in passing:
        found[each] = _uncompared_hit(search, known[each], weight)
    for _ in pairs:  # a chain comes into order one step at a time
        for before, after in pairs:
            older, newer = first[before], found.get(after)
            if newer is not None and _may_go_before(older, newer, known):
                older.score, newer.score = max(BEHIND * older.score, newer.score), older.score
                newer.said.append(Cause(ReasonKind.NEWER_OF_TWO, {"memory": before}))
                newer.mentioned.append(before)
    return sorted((each for each in found.values() if each.score > 0), key=rank_key)


def _may_go_before(older: RankedHit, newer: RankedHit, known: Mapping[str, Memory]) -> bool:
    """Whether what may have replaced a hit is ranked behind it, and as true and as sure. What is
    private comes before nothing else."""
    if newer.score >= older.score or newer.factors.get("validity", 1.0) < 1:
        return False
    sure = newer.factors.get("confidence", 1.0) >= older.factors.get("confidence", 1.0)
    private = [ABOUT_SELF in known[each.id].tags for each in (older, newer) if each.id in known]
    return sure and len(private) == 2 and private[0] == private[1]


def _head_of(search: _Search, hit: RankedHit) -> str | None:
    """Return by which head a hit was weighed; none for what the graph brought."""
    if search.scored is None or hit.spot is None:
        return None
    return HEADS[search.scored.head[hit.spot]]


def _activate(
    stores: Stores, reader: MemoryReader, search: _Search, hits: list[RankedHit]
) -> list[RankedHit]:
    """Let the best hits pass on some of their score to what is connected with them."""
    seeds = [(each.id, min(each.score, 1.0)) for each in hits]
    passed = spread_activation(stores, seeds, search.chosen, search.now)
    if not passed:
        return hits
    known = {each.id: each for each in hits}
    strangers = reader.read(each for each in passed if each not in known)
    weight = stores.config.recall.relevance_weight
    known |= {each.id: _uncompared_hit(search, each, weight) for each in strangers.values()}
    for memory_id, what in passed.items():
        hit = known.get(memory_id)
        share = 0.0 if hit is None else boost_chance(what.score, hit.factors)
        if hit is not None and hit.score < share:
            hit.score = hit.inherited = share
            hit.said.append(what.reason)
            hit.mentioned.append(what.seed)
    return sorted(known.values(), key=rank_key)


def _uncompared_hit(search: _Search, memory: Memory, relevance_weight: float) -> RankedHit:
    """Return a memory that was not compared with the question, as it stands."""
    over = is_outdated(memory, search.chosen, search.now)
    newest = search.understood.newest_first
    standing = standing_of(memory, search.query.space, over, newest, search.now)
    weighed = replace(standing, relevance_weight=relevance_weight)
    return RankedHit(memory.id, memory.created, 0.0, factors=boost_factors(weighed))


def _successors_first(reader: MemoryReader, hits: list[RankedHit]) -> list[RankedHit]:
    """Let what superseded a memory change places with it where the old one fits better."""
    memories = reader.read(each.id for each in hits)
    known = {each.id: each for each in hits}
    newer = {each.id: known.get(each.superseded_by or "") for each in memories.values()}
    for _ in newer:  # a chain comes into order one step at a time
        for old in hits:
            new = newer.get(old.id)
            if new is not None and rank_key(old) < rank_key(new):
                old.score, new.score = min(new.score, OUTDATED_FACTOR * old.score), old.score
                new.said.append(Cause(ReasonKind.IN_PLACE_OF, {"memory": old.id}))
                new.mentioned.append(old.id)
    return sorted(hits, key=rank_key)


def _select_near_enough(
    stores: Stores, search: _Search, hits: list[RankedHit]
) -> tuple[list[RankedHit], Cause | None]:
    """Return the hits that are good enough, or why there are none. One must be better than
    merely good enough for the others to be worth saying."""
    config = stores.config
    if not search.understood.words:
        return [], Cause(SilenceKind.NO_WORD)
    if search.nothing_from and _is_listing(search):
        return [], Cause(SilenceKind.NOTHING_FROM_TIME, {"when": search.nothing_from})
    near = [each for each in hits if _is_near(search, each, config.recall.least_score)]
    if any(_is_near(search, each, config.recall.least_best) for each in near):
        return near, None
    if hits:
        return [], _none_near_enough(search, hits, config.recall.least_best)
    if stores.search.count(search.chosen, search.now) == 0:
        return [], _why_nothing_passes(stores, search)
    return [], Cause(SilenceKind.NOTHING_MATCHES)


def _none_near_enough(search: _Search, hits: Sequence[RankedHit], least: float) -> Cause:
    best = shortfall_parts(hits[0], least) if search.query.explain else {}
    return Cause(SilenceKind.NONE_NEAR_ENOUGH, {"count": len(hits), **best})


def _select_above_floor(stores: Stores, search: _Search, hits: list[RankedHit]) -> list[RankedHit]:
    """Return the hits that are shown unless everything is asked for."""
    shown = mark_above_floor(
        [each.score for each in hits],
        [_floor_standing(search, each) for each in hits],
        _floor_of(stores, search),
    )
    return [each for each, above in zip(hits, shown, strict=True) if above]


def _floor_of(stores: Stores, search: _Search) -> AnswerFloor:
    config = stores.config.recall
    floor = AnswerFloor(config.floor, config.floor_relative, config.floor_best)
    if search.scored is None or MOVED not in search.scored.evidence:
        floor = floor.for_unread()
    return floor.for_overview() if search.understood.asks.many else floor


def _floor_standing(search: _Search, hit: RankedHit) -> FloorStanding:
    if search.scored is None or not _ASKED_FOR.isdisjoint(hit.lifts):
        return FloorStanding.ASKED_FOR
    head = _head_of(search, hit)
    if head in SAID_HEADS:
        return FloorStanding.SAID
    return FloorStanding.COMPARED if head in CLOSE_HEADS else FloorStanding.ROUGH


def _select_wanted(search: _Search, hits: list[RankedHit]) -> list[RankedHit]:
    """Return as many hits as are wanted: the best, or for an overview the best of each conversation
    and day."""
    limit = search.query.limit
    if not _is_spread(search):
        return hits[:limit]
    groups = [_group_of(search, each) for each in hits]
    places = spread_over_groups([each.score for each in hits], groups, limit)
    return [hits[place] for place in places]


def _drop_surplus(search: _Search, hits: list[RankedHit]) -> list[RankedHit]:
    """Leave out what is at hand beyond as much of it as is wanted, where the question says so. What
    the graph brought stays: its tier is not known yet."""
    most, scored = search.query.at_hand_limit, search.scored
    if most is None or scored is None:
        return hits
    kept, left = list[RankedHit](), most
    for hit in hits:
        tier = None if hit.spot is None else scored.pool.tier[scored.places[hit.spot]]
        at_hand = tier is not None and bool(tier != _ARCHIVAL)
        if not at_hand or left > 0:
            kept.append(hit)
        left -= at_hand
    return kept


def _is_spread(search: _Search) -> bool:
    """Whether the answers are spread over conversations and days. Who says how many they want is
    given the best."""
    return search.query.overview_limit is not None and search.understood.asks.many


def _group_of(search: _Search, hit: RankedHit) -> int | date:
    """Return the conversation that a hit is from, or its day."""
    if search.scored is not None and hit.spot is not None:
        session = int(search.scored.pool.session[search.scored.places[hit.spot]])
        if session >= 0:
            return session
    return hit.created.date()


def _note_retired(stores: Stores, search: _Search, silence: Cause | None) -> Cause | None:
    """Return the reason for silence, and note what the asker should know of the rest."""
    search.notes += unread_note(stores)
    over = note_retired(stores, search.prepared.named, search.chosen, search.now)
    if over and silence is not None:
        return Cause(SilenceKind.ALL_RETIRED, {"memories": [dict(each.parts) for each in over]})
    search.notes += tuple(over)
    return silence


def _why_nothing_passes(stores: Stores, search: _Search) -> Cause:
    if stores.search.extent().memories == 0:
        return Cause(SilenceKind.NO_MEMORY)
    plain = search.chosen == Filter()
    return Cause(SilenceKind.ALL_OUTDATED if plain else SilenceKind.FILTERED_OUT)


def _is_near(search: _Search, hit: RankedHit, least: float) -> bool:
    """Whether a hit is worth saying: it shares words, has names for them, or is likely enough.
    Where no model has read it, words are all there is, and without one it is not likely at all."""
    scored = search.scored
    if scored is None or hit.spot is None:
        return hit.score >= least
    unread = HEADS[scored.head[hit.spot]] in ("words", "other_words")
    shared = {name: scored.columns[name][hit.spot] for name in ("words", "coverage", *KIN_COLUMNS)}
    if shared["coverage"] > 0 or shared["kin"] + shared["kin_everyday"] / 2 >= MUCH_KIN:
        return True
    if unread and ReasonKind.ABOUT_YOU in hit.lifts:
        return True
    baseless = unread and not any(value > 0 for value in shared.values())
    grounded = not baseless or bool(hit.lifts) or hit.inherited is not None
    return hit.score >= least and grounded


# --- words for it ---------------------------------------------------------------------------


def _build_hits(
    stores: Stores, reader: MemoryReader, search: _Search, hits: Sequence[RankedHit]
) -> tuple[RecallMatch, ...]:
    memories = reader.read(each.id for each in hits)
    around = find_surroundings(stores, hits, search.scored, search.chosen, search.now)
    found = [
        _add_versions(reader, search, _build_hit(stores, search, each, memories[each.id]))
        for each in hits
        if each.id in memories
    ]
    return tuple(
        replace(each, around=around[each.memory.id]) if each.memory.id in around else each
        for each in found
    )


def _add_versions(reader: MemoryReader, search: _Search, found: RecallMatch) -> RecallMatch:
    """Return a hit that says what took its place, and whose place it took."""
    before = find_predecessors(reader, found.memory, search.waiting)
    after = find_successor(reader, found.memory, search.waiting)
    return replace(found, replaced_by=after, replaces=before) if before or after else found


def _build_hit(stores: Stores, search: _Search, hit: RankedHit, memory: Memory) -> RecallMatch:
    scored = search.scored
    said = find_reasons(hit, memory, scored, search.query.filter, search.now)
    mentioned = (*hit.mentioned, *filter(None, [memory.superseded_by]))
    if scored is None:
        return RecallMatch(memory, display_score(hit.score), said, {}, mentioned=mentioned)
    explained = explain_score(hit, scored, heads_of(stores)) if search.query.explain else None
    return RecallMatch(
        memory=memory,
        score=display_score(hit.score),
        reasons=said,
        match=match_scores(hit, scored),
        passage=find_passage(hit, memory, scored),
        explained=explained,
        mentioned=mentioned,
    )


def _why_not(stores: Stores, search: _Search, ranks: AnswerRanks) -> AbsenceExplanation:
    return explain_absence(stores, search.query, search.chosen, search.scored, ranks, search.now)
