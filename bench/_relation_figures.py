"""Figures of `bench relations`: F1 of the eight relations, reliability, and what a night does.

A verdict is reliable when of those that are said with .9 about nine in ten are right. What is
merged unasked is a `same` from the night's `merge_at` on that no number, name or small word tells
apart; what is asked is the rest from `propose_at` on. What is retired unasked is a told change.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from _everyday_pairs import JudgedPair, judge_pairs, pair_figures
from _everyday_set import EverydayPair
from _recall_homes import Homes
from _recall_metrics import mean
from _recall_report import Figure, Target, share
from _recall_speed import all_models

from madeleine.language.distinctions import are_told_apart
from madeleine.language.replacements import find_replacement
from madeleine.minds.relation_reader import (
    RELATION_OF,
    load_relation_network,
    why_no_relation_reader,
)
from madeleine.model.verdict import Relation
from madeleine.sleep.config import SleepConfig

LEAST_F1 = Target(0.75)
BOUNDS = (0.0, 0.5, 0.7, 0.8, 0.9, 1.0)
"""Between which a verdict's sureness is counted as about the same."""
LEAST_RIGHT = Target(0.87)  # of what is said with .9 or more
LEAST_SPEED = Target(150.0)  # pairs a second of one core
SHORT_TOKENS = (26, 38)  # of a pair of short notes: about 32
TIMED = 400
LINKS = ("related", "supports", "part_of", "depends_on")
LINK_RIGHT, LINK_FOUND = Target(0.85), Target(0.60)

Said = tuple[str, str, float]
"""The label, what was said, and how surely."""


def reader_figures(homes: Homes, pairs: Sequence[EverydayPair]) -> Iterator[Figure]:
    """Return how the reader does by itself."""
    label_of = {relation: label for label, relation in RELATION_OF.items()}
    with all_models(homes.folder) as models:
        if models.relations is None:
            raise SystemExit(f"there is no reader: {why_no_relation_reader()}")
        given = models.relations.read([(each.older, each.newer) for each in pairs])
    read = [each for each in given if each is not None]
    best = [max(each, key=lambda relation, each=each: each[relation]) for each in read]
    said = [
        (pair.label, label_of[relation], chances[relation])
        for pair, relation, chances in zip(pairs, best, read, strict=True)
    ]
    named = [(pair, name) for pair, (_, name, _) in zip(pairs, said, strict=True)]
    for figure in pair_figures(named):
        target = LEAST_F1 if figure.what == "macro F1" else None
        yield replace(figure, part="reader", target=target)
    yield from reliability("reader", said)


def judge_figures(homes: Homes, pairs: Sequence[EverydayPair]) -> Iterator[Figure]:
    """Return how the local judge does, and what a night would do of what it says."""
    judged = judge_pairs(homes, pairs)
    for figure in pair_figures([(each.labelled, each.said) for each in judged]):
        target = LEAST_F1 if figure.what == "macro F1" else None
        yield replace(figure, part="judge", target=target)
    sure = [(each.labelled.label, each.said, each.verdict.sure) for each in judged if each.verdict]
    yield from reliability("judge", sure)
    yield from night_figures(judged)


def reliability(part: str, said: Sequence[Said]) -> Iterator[Figure]:
    """Return how often what is said with about the same sureness is right."""
    for low, high in pairwise(BOUNDS):
        within = [each for each in said if low <= each[2] < high or each[2] == high == 1]
        if within:
            right = mean(float(label == name) for label, name, _ in within)
            average = sum(each[2] for each in within) / len(within)
            target = LEAST_RIGHT if low == BOUNDS[-2] else None
            note = f"said {average:.2f} on average"
            yield share(part, f"said with {low:.1f} to {high:.1f}: right", right, target, note)


def night_figures(judged: Sequence[JudgedPair]) -> Iterator[Figure]:
    """Return precision and recall of what a night does unasked and of what it asks."""
    config = SleepConfig()
    same, update = Relation.DUPLICATE, Relation.EVOLUTION
    merged = [
        each
        for each in judged
        if _is_said(each, same, config.merge_at)
        and not are_told_apart(each.pair.older.content, each.pair.newer.content)
    ]
    told = [
        each
        for each in judged
        if find_replacement(each.pair.older.content, each.pair.newer.content) is not None
    ]
    asked_same = [each for each in judged if _is_said(each, same, config.propose_at)]
    asked_update = [each for each in judged if _is_said(each, update, config.propose_at)]
    yield from chain(
        _found("merged unasked", merged, judged, "same"),
        _found("merged or asked about", asked_same, judged, "same"),
        _found("retired unasked", told, judged, "update"),
        _found("retired or asked about", asked_update, judged, "update"),
    )
    yield from _linked(judged, config.link_at)
    wrong = sum(each.labelled.label == "different" for each in merged)
    yield Figure("judge", "different ones merged", wrong, len(merged), Target(0, True), "pairs")


def _is_said(each: JudgedPair, relation: Relation, least: float) -> bool:
    verdict = each.verdict
    return verdict is not None and verdict.relation is relation and verdict.sure >= least


def _found(
    what: str, found: Sequence[JudgedPair], judged: Sequence[JudgedPair], label: str
) -> Iterator[Figure]:
    yield share("judge", f"{what}: right", mean(each.labelled.label == label for each in found))
    true = [each for each in judged if each.labelled.label == label]
    ids = {each.labelled.id for each in found}
    yield share("judge", f"{what}: of all", mean(each.labelled.id in ids for each in true))


def _linked(judged: Sequence[JudgedPair], least: float) -> Iterator[Figure]:
    """Return how many of the connections that are drawn say what the set says, and how many of
    those that the set knows are drawn so."""
    drawn = [each for each in judged if each.said in LINKS and _is_said_surely(each, least)]
    right = [each for each in drawn if each.labelled.label == each.said]
    known = sum(each.labelled.label in LINKS for each in judged)
    yield share(
        "judge", "connections drawn: right", mean(each in right for each in drawn), LINK_RIGHT
    )
    found = [1.0] * len(right) + [0.0] * (known - len(right))
    yield share("judge", "connections drawn: of all", mean(found), LINK_FOUND)


def _is_said_surely(each: JudgedPair, least: float) -> bool:
    return each.verdict is not None and each.verdict.sure >= least


def speed_figures(pairs: Sequence[EverydayPair]) -> Iterator[Figure]:
    """Return how many pairs of short notes one core reads in a second, by its own clock."""
    network = load_relation_network()
    if network is None:
        raise SystemExit(f"there is no reader: {why_no_relation_reader()}")
    low, high = SHORT_TOKENS
    texts = [(each.older, each.newer) for each in pairs]
    short = [pair for pair in texts if low <= network.count_tokens(pair) <= high][:TIMED]
    network.read_logits(short[:8])
    began = time.thread_time()
    network.read_logits(short)
    taken = time.thread_time() - began
    note = f"pairs of {low} to {high} tokens, one thread"
    speed = len(short) / taken
    yield Figure("speed", "pairs a second", speed, len(short), LEAST_SPEED, "/s", note=note)
