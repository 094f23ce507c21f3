"""The parts that are measured on public data: LoCoMo, BEAM, PrecisionMemBench and ormah."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from _recall_asking import DEPTH, Asked, ask_all
from _recall_homes import Homes
from _recall_metrics import (
    Mean,
    any_at,
    collapsed,
    intruders,
    mean,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)
from _recall_report import Figure, Target, share
from _recall_sets import Store
from _recall_speed import against_embedding, ratio

MAIN = ("1", "2", "3", "4")  # LoCoMo's categories that have an answer; 5 is a trap
CATEGORIES = {
    "1": "1 (multi-hop)",
    "2": "2 (temporal)",
    "3": "3 (open-domain)",
    "4": "4 (single-hop)",
    "5": "5 (adversarial)",
}
Targets = Mapping[str, float]

LOCOMO: Targets = {"recall@5": 0.81, "recall@10": 0.87, "recall@60": 0.96, "1": 0.62, "any@5": 0.97}
POOLED: Targets = {"recall@10": 0.75}
BEAM: Targets = {"recall@10": 0.73}

NOTES = {
    "recall@60": "the share of the evidence among those that are scored",
    "hits a question": f"of {DEPTH} asked for; what is not near enough is not shown",
}

Score = Callable[[Asked], float]


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of all the stores of a part. Ids differ between stores."""

    part: str
    asked: tuple[Asked, ...]
    sessions: Mapping[str, str]

    def of(self, labels: Iterable[str]) -> Answers:
        """Return those to questions with one of these labels."""
        wanted = frozenset(labels)
        kept = tuple(each for each in self.asked if each.question.label in wanted)
        return Answers(self.part, kept, self.sessions)

    def mean(self, score: Score) -> Mean:
        return mean(map(score, self.asked))

    @property
    def labels(self) -> list[str]:
        return sorted({each.question.label for each in self.asked})


def answers(homes: Homes, part: str, stores: Sequence[Store]) -> Answers:
    """Ask each store its questions, in a home of its own."""
    asked: list[Asked] = []
    sessions: dict[str, str] = {}
    for store in stores:
        with homes.of_store(store) as opened:
            asked += ask_all(opened, store.questions, f"asking {store.name}")
        sessions |= store.sessions
    return Answers(part, tuple(asked), sessions)


def locomo(homes: Homes, stores: Sequence[Store], part: str, targets: Targets) -> list[Figure]:
    """Return the figures of conversations, at the level of turns and of sessions."""
    found = answers(homes, part, stores)
    figures = ranking(found.of(MAIN), (5, 10, 20, 60), targets)
    for label in found.labels:
        at_10 = found.of([label]).mean(recall(10))
        what = f"recall@10 of category {CATEGORIES.get(label, label)}"
        figures.append(share(part, what, at_10, target(targets, label)))
    return figures + sessions(found, targets)


def one_store(homes: Homes, store: Store) -> list[Figure]:
    """Return the figures of all conversations in one store, and how long a recall takes there:
    with speakers, sessions and dates everything that recall can do is in use."""
    figures = locomo(homes, [store], "pooled", POOLED)
    with homes.of_store(store) as opened:
        pair = against_embedding(homes, opened, store.questions)
    return [*figures, ratio("pooled", f"recall at {len(store.drafts):,} turns", pair)]


def beam(homes: Homes, stores: Sequence[Store]) -> list[Figure]:
    """Return the figures of chats with an assistant, whole and by ability."""
    found = answers(homes, "beam", stores)
    figures = ranking(found, (5, 10, 20, 60), BEAM)
    for ability in found.labels:
        figures.append(
            share("beam", f"recall@10 of {ability}", found.of([ability]).mean(recall(10)))
        )
    return figures


def precision(homes: Homes, stores: Sequence[Store]) -> list[Figure]:
    """Return how well beliefs are found, and how often one that does not hold comes first."""
    found = answers(homes, "precision", stores)
    above = found.mean(
        lambda each: intruders(each.ranked, each.question.gold, each.question.foreign)
    )
    note = "excluded, of another scope or no longer true; a case, above the last one expected"
    wrong = share("precision", "foreign beliefs", above, Target(0, at_most=True), note)
    return [*ranking(found, (5, 10), {}), wrong]


def ormah(homes: Homes, stores: Sequence[Store]) -> list[Figure]:
    """Return how well the memory that a prompt needs is found among all of them."""
    return ranking(answers(homes, "ormah", stores), (5, 10), {})


# -- pieces --------------------------------------------------------------------------------


def ranking(found: Answers, depths: Sequence[int], targets: Targets) -> list[Figure]:
    """Return the usual figures of ranked lists."""
    scores: dict[str, Score] = {f"recall@{k}": recall(k) for k in depths}
    scores["any@10"] = lambda each: any_at(each.ranked, each.question.gold, 10)
    scores["nDCG@10"] = lambda each: ndcg_at(each.ranked, each.question.gold, 10)
    scores["MRR"] = lambda each: reciprocal_rank(each.ranked, each.question.gold)
    scores["hits a question"] = lambda each: len(each.ranked)
    return [
        share(found.part, name, found.mean(score), target(targets, name), NOTES.get(name, ""))
        for name, score in scores.items()
    ]


def sessions(found: Answers, targets: Targets) -> list[Figure]:
    """Return how often a session of the evidence is among the first; every category counts."""

    def hit(k: int) -> Score:
        def score(each: Asked) -> float:
            gold = frozenset(found.sessions[one] for one in each.question.gold)
            return any_at(collapsed(each.ranked, found.sessions), gold, k)

        return score

    means = {f"any@{k}": found.mean(hit(k)) for k in (1, 5, 10)}
    return [
        share(found.part, f"session {name}", of, target(targets, name))
        for name, of in means.items()
    ]


def recall(k: int) -> Score:
    return lambda each: recall_at(each.ranked, each.question.gold, k)


def target(targets: Targets, name: str) -> Target | None:
    return Target(targets[name]) if name in targets else None
