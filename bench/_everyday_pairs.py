"""What the judge says two notes are to each other, against what the set's readers say."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from _everyday_set import PAIR_LABELS, EverydayPair
from _recall_homes import Homes
from _recall_metrics import mean
from _recall_report import Figure, share
from _recall_speed import all_models

from madeleine.bootstrap import load_settings, make_judge
from madeleine.language.passages import split_passages
from madeleine.minds.port import CachingEmbedder
from madeleine.model.memory import Memory, Origin
from madeleine.model.verdict import MemoryPair, Relation, Verdict

LABEL_OF = {
    Relation.DUPLICATE: "same",
    Relation.EVOLUTION: "update",
    Relation.TENSION: "contradiction",
    Relation.RELATED_TO: "related",
    Relation.NONE: "different",
    Relation.SUPPORTS: "supports",
    Relation.PART_OF: "part_of",
    Relation.DEPENDS_ON: "depends_on",
}
AT_ONCE = 200

Confusion = Counter[tuple[str, str]]
"""How often a label was said to be which."""


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A labelled pair as memories, and what the local judge says of it."""

    labelled: EverydayPair
    pair: MemoryPair
    verdict: Verdict | None

    @property
    def said(self) -> str:
        """The label that stands for the verdict."""
        return "different" if self.verdict is None else LABEL_OF[self.verdict.relation]


def name_relations(homes: Homes, pairs: Sequence[EverydayPair]) -> list[tuple[EverydayPair, str]]:
    """Return each pair with what the local judge calls it."""
    return [(each.labelled, each.said) for each in judge_pairs(homes, pairs)]


def judge_pairs(homes: Homes, pairs: Sequence[EverydayPair]) -> list[JudgedPair]:
    """Return each pair with the local judge's verdict."""
    with all_models(homes.folder) as minds:
        judge = make_judge(load_settings(homes.folder), os.environ, minds.relations)
        asked = _memory_pairs(pairs, minds.embedder)
        verdicts = [
            verdict
            for start in range(0, len(asked), AT_ONCE)
            for verdict in judge.judge(asked[start : start + AT_ONCE])
        ]
    return [JudgedPair(*each) for each in zip(pairs, asked, verdicts, strict=True)]


def _memory_pairs(pairs: Sequence[EverydayPair], embedder: CachingEmbedder) -> list[MemoryPair]:
    older = [_memory(each.id, "a", each.older, each.older_created) for each in pairs]
    newer = [_memory(each.id, "b", each.newer, each.newer_created) for each in pairs]
    vectors = [
        np.array(
            [each.vector for each in embedder.read([split_passages(one)[0] for one in texts])],
            np.float64,
        )
        for texts in (older, newer)
    ]
    similarity = np.sum(vectors[0] * vectors[1], axis=1)
    return [
        MemoryPair(a, b, float(near)) for a, b, near in zip(older, newer, similarity, strict=True)
    ]


def pair_figures(judged: Sequence[tuple[EverydayPair, str]]) -> Iterator[Figure]:
    """Return accuracy, macro F1, precision and recall of every label, and the confusion table."""
    yield share("pairs", "right", mean(float(pair.label == said) for pair, said in judged))
    for name, chosen in (
        ("hard", [each for each in judged if each[0].hard]),
        ("English", [each for each in judged if each[0].language == "en"]),
        ("not English", [each for each in judged if each[0].language != "en"]),
    ):
        found = mean(float(pair.label == said) for pair, said in chosen)
        yield share("pairs", f"right, {name}", found)
    confusion: Confusion = Counter((pair.label, said) for pair, said in judged)
    scores = {label: _f1(confusion, label) for label in PAIR_LABELS}
    macro = math.fsum(scores.values()) / len(scores)
    yield Figure("pairs", "macro F1", macro, len(judged))
    for label in PAIR_LABELS:
        row = {said: confusion[label, said] for said in PAIR_LABELS if confusion[label, said]}
        said_as = ", ".join(f"{said} {count}" for said, count in row.items())
        total = sum(row.values())
        yield Figure("pairs", f"F1 of {label}", scores[label], total, note=f"said: {said_as}")


def _f1(confusion: Confusion, label: str) -> float:
    right = confusion[label, label]
    said = sum(confusion[each, label] for each in PAIR_LABELS)
    true = sum(confusion[label, each] for each in PAIR_LABELS)
    return 2 * right / (said + true) if said + true else 0.0


def _memory(pair: str, side: str, text: str, created: str) -> Memory:
    at = datetime.fromisoformat(created)
    return Memory(f"{pair}/{side}", text, at, at, origin=Origin())
