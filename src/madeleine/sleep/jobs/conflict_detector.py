"""Notices when two memories cannot both be true now.

Two outcomes are told apart. *Evolution*: the newer view replaces the older one, which gets an
`evolved_from` connection and is no longer current; so are other memories that say the same as
the older one, because a claim that lives on in a copy was not replaced. *Tension*: both are
meant to hold, and a `contradicts` connection says so.

Contradicting texts are often little alike, so beside the nearest a memory is held against what
shares its rarest words, and claims are held against those of the same address. What is newer
is told by when it was so (`created`), never by when a file was last written. A statement for
one project does not replace one for all of them by itself, nor the other way round: that is
for a person to say. What was said in a conversation is a record, and left alone by a judge that
only looks at words.

Nothing is retired unasked without evidence in the newer memory (I12): the local judge does it only
where both claim different values of one address, or where the newer text tells the change and
names what it ends (`language/replacements.py`). `judge.unasked` makes it stricter or looser.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from madeleine.language.changes import ChangeVerdict, judge_change
from madeleine.language.distinctions import are_told_apart, have_same_wording
from madeleine.language.replacements import find_replacement, restates_what_was_taken
from madeleine.language.statements import parse_statement
from madeleine.language.stems import telling_stems
from madeleine.language.text_merging import denies_alike, join_title_and_text
from madeleine.model.memory import Connection, Memory
from madeleine.model.query import Filter
from madeleine.model.verdict import MemoryPair, Relation, Verdict
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.sleep.actions import action_question_key
from madeleine.sleep.pairs import (
    Arrows,
    PairAnswers,
    PairJob,
    PairQuery,
    build_pair,
    has_one_scope,
    has_one_voice,
    is_about_different_things,
    is_from_conversation,
)
from madeleine.sleep.seen import judge_pairs
from madeleine.sleep.suspicions import note_suspicions
from madeleine.sleep.values import AddConnections, JobContext, Patch, Supersede
from madeleine.write.claims import find_overtaken_claims
from madeleine.write.questions import asked_keys

NAME = "conflict_detector"
BELIEFS = (
    MemoryType.PREFERENCE,
    MemoryType.FACT,
    MemoryType.OBSERVATION,
    MemoryType.GOAL,
    MemoryType.DECISION,
    MemoryType.PERSON,
)
TELLING = (*BELIEFS, MemoryType.EVENT)
"""What may tell that a belief is over: also what happened. An event itself is never over."""
COPY_SIMILARITY = 0.6  # what restates a claim is at least so near to it
COPIES = 8  # of one claim that are looked for in a run
LATER_MENTIONS = 16  # memories after a change that may take up again what it ended
MENTION_SIMILARITY = 0.2

SETTLED = frozenset({Edge.EVOLVED_FROM, Edge.CONTRADICTS, Edge.DERIVED_FROM, Edge.SUMMARIZES})
"""Edges that say already how the two stand to each other."""


def make_conflict_detector() -> PairJob:
    return PairJob(NAME, build_pair_query, build_patches, note=note_suspected_updates)


def note_suspected_updates(context: JobContext, answers: PairAnswers) -> None:
    """Keep which memories may be replaced by newer ones, for recall to know until it is asked."""
    found = answers.with_relation(Relation.EVOLUTION)
    if not found:
        return
    asked = asked_keys(context.stores)
    keys = {
        pair.ids: action_question_key(
            _build_supersede_patch(
                context, MemoryReplacement(pair, verdict.sure, verdict.reason, is_evident=False)
            ).action
        )
        for pair, verdict in found
    }
    gone = {
        each.action.older.id for each in context.carried_out if isinstance(each.action, Supersede)
    }
    settled = {ids for ids, key in keys.items() if key in asked or ids[0] in gone}
    new = note_suspicions(context, found, settled)
    if new:
        context.report.counts["suspected"] = new


def build_pair_query(context: JobContext) -> PairQuery:
    """Return which pairs may disagree."""
    chosen = Filter(types=TELLING, spaces=() if context.config.conflict_all_spaces else (None,))
    return PairQuery(
        chosen=chosen,
        beside=lambda memory: _partner_filter(memory, context.config.conflict_all_spaces),
        neighbours=context.config.conflict_neighbours,
        least=context.config.conflict_similarity,
        worth=lambda pair, arrows: (
            _is_worth_judging(pair, arrows)
            and not (context.judge.cheap and is_from_conversation(pair))
        ),
        by_words=True,
        one_subject=False,
    )


def _partner_filter(memory: Memory, all_spaces: bool) -> Filter:
    """What may disagree with a memory: beliefs of its own space or of none, and with a belief what
    happened after it."""
    types = BELIEFS if memory.type is MemoryType.EVENT else TELLING
    if not all_spaces:
        return Filter(types=types, spaces=(None,))
    return Filter(types=types, spaces=(memory.space, None) if memory.space else ())


def _is_worth_judging(pair: MemoryPair, arrows: Arrows) -> bool:
    known = any(row.connection.edge in SETTLED for row in arrows)
    if pair.older.type is MemoryType.EVENT:
        return False
    return not known and has_one_scope(pair) and has_one_voice(pair)


@dataclass(frozen=True, slots=True)
class MemoryReplacement:
    """The newer memory of a pair replaces the older one."""

    pair: MemoryPair
    sure: float
    reason: str
    is_evident: bool
    """Whether the newer memory itself shows it: by its text, or by a claim of the same address."""


def build_patches(context: JobContext, answers: PairAnswers) -> list[Patch]:
    """Return what replaces what, and what contradicts what."""
    replacing = _select_one_each(
        context, [*_find_overtaken_claims(context), *_find_replacements(context, answers)]
    )
    surely = {each.pair.older.id: each for each in replacing if not _needs_person(context, each)}
    replacing += _select_one_each(context, _find_copies(context, surely), surely)
    gone = {each.pair.older.id for each in replacing if not _needs_person(context, each)}
    tensions = answers.with_relation(Relation.TENSION)
    return [
        *(_build_supersede_patch(context, each) for each in replacing),
        *(
            _build_contradiction_patch(context, *each)
            for each in tensions
            if _is_current_tension(context, each, gone)
        ),
    ]


def _find_overtaken_claims(context: JobContext) -> list[MemoryReplacement]:
    """Return the claims that a newer value of the same address replaces. Most are put in order
    when they are written; these came by hand, or from another device."""
    return [
        MemoryReplacement(
            MemoryPair(older, newer, 1.0),
            1.0,
            f"claims a newer value of {newer.claim.attribute}",
            True,
        )
        for older, newer in find_overtaken_claims(context.stores)
        if newer.claim is not None
    ]


def _find_replacements(context: JobContext, answers: PairAnswers) -> list[MemoryReplacement]:
    return [
        MemoryReplacement(
            pair,
            verdict.sure,
            verdict.reason,
            _states_replacement(pair.older, pair.newer) and not _is_taken_up_again(context, pair),
        )
        for pair, verdict in answers.with_relation(Relation.EVOLUTION)
        if verdict.sure >= context.config.propose_at
        if not restates_what_was_taken(pair.older.content, pair.newer.content)
    ]


def _is_taken_up_again(context: JobContext, pair: MemoryPair) -> bool:
    """Whether a memory that came after the change speaks of what was left and does not say that it
    is over: who moved to Bergen and back to Oslo lives in Oslo."""
    older, newer = pair.older, pair.newer
    told = find_replacement(older.content, newer.content)
    left = telling_stems(told.left) if told is not None else frozenset()
    after = Filter(spaces=(older.space,), created_after=newer.created)
    near = context.stores.search.neighbours(
        [older.id, newer.id], after, context.now, LATER_MENTIONS, MENTION_SIMILARITY
    )
    later = {hit.id for hits in near.values() for hit in hits} - {older.id, newer.id}
    return any(
        left <= telling_stems(each.content)
        and find_replacement(older.content, each.content) is None
        for each in context.stores.search.memories(sorted(later)).values()
    )


def _select_one_each(
    context: JobContext, found: Iterable[MemoryReplacement], taken: Container[str] = ()
) -> list[MemoryReplacement]:
    """Return one replacement for each older memory: by the first that surely came after it, so
    that a belief that changed twice is a chain."""
    best: dict[str, MemoryReplacement] = {}
    for each in sorted(found, key=lambda each: _replacement_order(context, each)):
        best.setdefault(each.pair.older.id, each)
    return [each for older, each in best.items() if older not in taken]


def _replacement_order(context: JobContext, each: MemoryReplacement) -> tuple[object, ...]:
    return _needs_person(context, each), each.pair.newer.created, -each.sure, each.pair.newer.id


def _needs_person(context: JobContext, each: MemoryReplacement) -> bool:
    """Whether a person has to decide: the judge is not sure enough, nothing in the newer one
    shows it, the two differ in scope, nobody can tell which is the newer, or what everybody is
    told of would go."""
    older, newer = each.pair.older, each.pair.newer
    in_order = older.space == newer.space and older.created < newer.created
    core = older.tier is Tier.CORE and newer.tier is not Tier.CORE
    unsure = each.sure < context.config.conflict_at or (context.judge.cheap and _denies_other(each))
    return unsure or core or not in_order or _lacks_evidence(context, each)


def _lacks_evidence(context: JobContext, each: MemoryReplacement) -> bool:
    """Whether `judge.unasked` asks for more than there is. A language model and an agent have
    understood both texts and answer for themselves; with `never` they are asked about too."""
    match context.config.unasked:
        case "never":
            return True
        case "sure":
            return False
        case _:
            return context.judge.cheap and not each.is_evident


def _states_replacement(older: Memory, newer: Memory) -> bool:
    return find_replacement(older.content, newer.content) is not None


def _denies_other(each: MemoryReplacement) -> bool:
    """Whether the newer one denies something of which the older one does not speak: that Atlas
    does not run on Windows says nothing about Linux. Not where it tells that what the older one
    says is over: `a hamster now, no ferret`."""
    older, newer = each.pair.older.content, each.pair.newer.content
    if (
        each.is_evident
        or denies_alike(newer, [older])
        or telling_stems(older) <= telling_stems(newer)
    ):
        return False
    return judge_change(parse_statement(older), parse_statement(newer)) not in (
        ChangeVerdict.OVER,
        ChangeVerdict.CHANGED,
    )


def _find_copies(
    context: JobContext, surely: Mapping[str, MemoryReplacement]
) -> list[MemoryReplacement]:
    """Return the other memories that say what was replaced, as replaced by the same one."""
    pairs = [pair for each in surely.values() for pair in _pairs_with_copies(context, each)]
    answers = zip(pairs, judge_pairs(context, pairs), strict=True)
    found = [
        _replace_copy(pair, verdict, surely)
        for pair, verdict in answers
        if verdict is not None and verdict.relation is Relation.DUPLICATE
    ]
    return [each for each in found if each and each.sure >= context.config.propose_at]


def _pairs_with_copies(context: JobContext, each: MemoryReplacement) -> list[MemoryPair]:
    """Return the older memory with each that may be a copy of it: near, of the same space, and
    no younger than what replaces it. Who says it again later may mean it."""
    search, older, newer = context.stores.search, each.pair.older, each.pair.newer
    beside = Filter(types=(older.type,), spaces=(older.space,), created_before=newer.created)
    near = search.neighbours([older.id], beside, context.now, COPIES, COPY_SIMILARITY)
    hits = {hit.id: hit.score for hit in near.get(older.id, ()) if hit.id != newer.id}
    found = search.memories(hits).values()
    pairs = [build_pair(older, other, hits[other.id]) for other in found]
    return [pair for pair in pairs if has_one_voice(pair) and not _are_different(pair)]


def _are_different(pair: MemoryPair) -> bool:
    """Whether the two are no copies, whatever a judge says: another host, another number."""
    return are_told_apart(join_title_and_text(pair.older), join_title_and_text(pair.newer))


def _replace_copy(
    pair: MemoryPair, verdict: Verdict, surely: Mapping[str, MemoryReplacement]
) -> MemoryReplacement | None:
    """Return how the copy of a pair is replaced, if one of the two is and the other is not."""
    original = pair.older if pair.older.id in surely else pair.newer
    copy = pair.newer if original is pair.older else pair.older
    if copy.id in surely:
        return None
    known = surely[original.id]
    again = MemoryPair(copy, known.pair.newer, pair.similarity)
    reason = f"says the same as `{original.short_id}`, which was replaced"
    is_evident = have_same_wording(
        join_title_and_text(copy), join_title_and_text(original)
    ) or _states_replacement(copy, known.pair.newer)
    return MemoryReplacement(again, min(known.sure, verdict.sure), reason, is_evident)


def _build_supersede_patch(context: JobContext, each: MemoryReplacement) -> Patch:
    older, newer = each.pair.older, each.pair.newer
    arrow = _build_connection(context, older, Edge.EVOLVED_FROM, each.reason)
    ask = _needs_person(context, each)
    return Patch(Supersede(older, newer, arrow), each.reason, each.sure, ask)


def _is_current_tension(
    context: JobContext, answer: tuple[MemoryPair, Verdict], gone: set[str]
) -> bool:
    """Whether a tension is sure enough, between two that are both still current and speak of one
    thing, as far as words show it."""
    pair, verdict = answer
    if context.judge.cheap and is_about_different_things(pair):
        return False
    if MemoryType.EVENT in (pair.older.type, pair.newer.type):
        return False
    return verdict.sure >= context.config.propose_at and not gone & set(pair.ids)


def _build_contradiction_patch(context: JobContext, pair: MemoryPair, verdict: Verdict) -> Patch:
    arrow = _build_connection(context, pair.older, Edge.CONTRADICTS, verdict.reason)
    ask = verdict.sure < context.config.conflict_at
    link = AddConnections(pair.newer, (arrow,), (pair.older,))
    return Patch(link, verdict.reason, verdict.sure, ask)


def _build_connection(context: JobContext, target: Memory, edge: Edge, reason: str) -> Connection:
    weight = context.config.conflict_weight
    return Connection(target.id, edge, weight, reason or None, context.report.job, context.now)
