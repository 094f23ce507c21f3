"""Fits how likely a near pair of a store is the same or an update: `in_store` of
`calibration.json` of the relation model's package.

    python -m bench.training.calibrate_in_store [--write] [--least .40]

The pairs of that calibration are balanced; in a store nearly all that is near is nothing of the
kind. So all near pairs of Everyday's English train stores are read with the built model, as
Madeleine reads them, and two heads are fitted by maximum likelihood: one with the readings, and
one without, which says what need not be read. How good they are is told on whole stores left out,
and on dev, which was not learnt. A pair is an update if its newer note replaced the older one,
directly or through others.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from _everyday_asking import same_as
from _everyday_set import EverydayMemory, EverydayStore, read_stores
from _recall_speed import all_models

from bench.training.calibrate_relations import CALIBRATION
from madeleine.language.passages import split_passages
from madeleine.minds.port import CachingEmbedder, RelationChances
from madeleine.minds.relation_reader import READ_SIGNS, measure_store_signs
from madeleine.model.embedding import Passage
from madeleine.model.memory import Memory, Origin
from madeleine.model.times import parse_time
from madeleine.model.verdict import MemoryPair
from madeleine.model.words import MemoryType
from madeleine.rules.chances import log_odds
from madeleine.rules.store_chances import RARE_HOLDERS, word_rarity
from madeleine.sleep.store_words import find_word_stems, share_words

Rows = NDArray[np.float64]
ANSWERS = ("same", "update")
STEPS, RATE, HELD_BACK = 3_000, 0.05, 1.0
FOLDS = 4
LEVELS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.02)


@dataclass(frozen=True, slots=True)
class StorePair:
    """A near pair of a store and what it is; `read` is missing where it need not be read."""

    store: str
    pair: MemoryPair
    label: int
    read: RelationChances | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Fit, tell, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write calibration.json")
    parser.add_argument("--least", type=float, default=0.40, help="similarity of a near pair")
    parser.add_argument("--cache", type=Path, default=Path("build/in-store"))
    given = parser.parse_args(argv)
    train = list(read_split("train", given.least, given.cache))
    dev = list(read_split("dev", given.least, given.cache))
    print(f"{len(train)} near pairs of train: {sorted(Counter(p.label for p in train).items())}")
    heads = {}
    for name, read in (("read", True), ("unread", False)):
        names, rows = measure(train, read)
        gold = np.array([each.label for each in train])
        held_out(rows, gold, np.array([each.store for each in train]), name)
        heads[name] = fit(names, rows, gold)
        tell(chances(heads[name], *measure(dev, read)), np.array([p.label for p in dev]), "dev")
    print(json.dumps(heads))
    if given.write:
        told = json.loads(CALIBRATION.read_text(encoding="utf-8"))
        CALIBRATION.write_text(json.dumps({**told, "in_store": heads}, indent=2) + "\n")
    return 0


def read_split(split: str, least: float, cache: Path) -> Iterator[StorePair]:
    """Yield the near pairs of the English stores of a split, read."""
    cache.mkdir(parents=True, exist_ok=True)
    with all_models(cache) as minds:
        assert minds.relations is not None
        for store in read_stores(split):
            if store.languages[0] == "en":
                pairs = list(find_pairs(store, minds.embedder, least))
                texts = [(each.pair.older.content, each.pair.newer.content) for each in pairs]
                minds.relations.release()
                for each, read in zip(pairs, minds.relations.read(texts), strict=True):
                    yield StorePair(each.store, each.pair, each.label, read)


def find_pairs(
    store: EverydayStore, embedder: CachingEmbedder, least: float
) -> Iterator[StorePair]:
    """Yield the pairs of one scope that are near, or that say the same or replace each other."""
    memories = [_make_memory(each) for each in store.memories]
    vectors = np.array(
        [each.vector for each in embedder.read([_first_passage(m) for m in memories])]
    )
    stems = {each.id: frozenset(find_word_stems(each).values()) for each in memories}
    holders = Counter(stem for own in stems.values() for stem in own)
    rarity = {each: word_rarity(count, len(memories)) for each, count in holders.items()}
    rare = {each for each, count in holders.items() if count <= RARE_HOLDERS}
    same, later = same_as(store), _find_later(store)
    for (i, one), (j, other) in combinations(enumerate(memories), 2):
        older, newer = sorted((one, other), key=lambda each: (each.created, each.id))
        label = 1 if newer.id in same[older.id] else 2 * (newer.id in later[older.id])
        similarity = float(vectors[i] @ vectors[j])
        in_scope = older.space == newer.space or None in (older.space, newer.space)
        if in_scope and (label or similarity >= least):
            shared = share_words(stems[older.id], stems[newer.id], rarity, rare)
            yield StorePair(store.name, MemoryPair(older, newer, similarity, shared), label)


def measure(pairs: Sequence[StorePair], read: bool) -> tuple[list[str], Rows]:
    """Return the signs of pairs, by name and in rows."""
    rows = [_measure_signs(each, read) for each in pairs]
    return list(rows[0]), np.array([list(each.values()) for each in rows])


def _measure_signs(each: StorePair, read: bool) -> dict[str, float]:
    said = each.read if read and each.read is not None else {}
    told = {name: log_odds(said[relation]) for name, relation in READ_SIGNS.items() if said}
    return {**told, **measure_store_signs(each.pair)}


def fit(names: Sequence[str], rows: Rows, gold: NDArray[np.int64]) -> dict[str, dict[str, float]]:
    """Return the weights of each answer against none of them, under which the labels are
    likeliest."""
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    scaled = np.c_[(rows - mean) / spread, np.ones(len(rows))]
    chosen = np.eye(len(ANSWERS) + 1)[gold][:, 1:]
    weights = np.zeros((scaled.shape[1], len(ANSWERS)))
    held = np.append(np.full(scaled.shape[1] - 1, HELD_BACK), 0.0)[:, None]
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = (scaled.T @ (_shares(scaled @ weights) - chosen) + held * weights) / len(rows)
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        pace = np.sqrt(second / (1 - 0.999**step)) + 1e-8
        weights -= RATE * first / (1 - 0.9**step) / pace
    plain = weights[:-1] / spread[:, None]
    bias = weights[-1] - mean @ plain
    return {
        answer: {
            "bias": round(float(bias[place]), 4),
            **{name: round(float(plain[row, place]), 4) for row, name in enumerate(names)},
        }
        for place, answer in enumerate(ANSWERS)
    }


def chances(head: Mapping[str, Mapping[str, float]], names: Sequence[str], rows: Rows) -> Rows:
    """Return the chances of both answers for all rows, as `rules.store_chances` makes them."""
    weights = np.array([[head[answer][name] for answer in ANSWERS] for name in names])
    return _shares(rows @ weights + np.array([head[answer]["bias"] for answer in ANSWERS]))


def _shares(sums: Rows) -> Rows:
    most = np.maximum(sums.max(1, keepdims=True), 0.0)
    likely = np.exp(sums - most)
    done: Rows = likely / (likely.sum(1, keepdims=True) + np.exp(-most))
    return done


def held_out(rows: Rows, gold: NDArray[np.int64], stores: NDArray[np.str_], name: str) -> None:
    """Tell how good a head is on stores that it was not fitted on."""
    given, known = np.zeros((len(rows), len(ANSWERS))), sorted(set(stores))
    names = [str(each) for each in range(rows.shape[1])]
    for fold in range(FOLDS):
        held = np.isin(stores, known[fold::FOLDS])
        given[held] = chances(fit(names, rows[~held], gold[~held]), names, rows[held])
    tell(given, gold, f"held-out stores, {name}")


def tell(given: Rows, gold: NDArray[np.int64], what: str) -> None:
    """Print how many of those that are said with a chance are so."""
    sides = {answer: (given[:, at], gold == at + 1) for at, answer in enumerate(ANSWERS)}
    for answer, (chance, right) in {**sides, "either": (given.sum(1), gold > 0)}.items():
        said = [f"{at}: {right[chance >= at].sum()}/{(chance >= at).sum()}" for at in LEVELS]
        print(f"{what}, {answer}, {right.sum()} in all: {', '.join(said)}")


def _make_memory(each: EverydayMemory) -> Memory:
    at = parse_time("created", each.created)
    kind, tags = MemoryType(each.type), tuple(each.tags)
    return Memory(
        each.id, each.content, at, at, title=each.title, space=each.space, type=kind, tags=tags,
        origin=Origin(),
    )  # fmt: skip


def _first_passage(memory: Memory) -> Passage:
    return split_passages(memory)[0]


def _find_later(store: EverydayStore) -> dict[str, set[str]]:
    """Return for each memory all that replaced it, directly or through others."""
    same, by = same_as(store), {each.id: each.replaced_by for each in store.memories}
    found: dict[str, set[str]] = {}
    for each in by:
        found[each], following = set(), by[each]
        while following is not None and following not in found[each]:
            found[each] |= same[following]
            following = by[following]
    return found


if __name__ == "__main__":
    sys.exit(main())
