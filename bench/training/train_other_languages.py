"""Learns how recall weighs pairs that are not both English, and when they are whispered.

    python -m bench.training.train_other_languages --cache DIR [--english-cache DIR] [--out FILE]

Everything is gathered twice: with the model of other languages, which must be installed, and with
the English model alone (`--english-cache`). The English model has been taught with the train stores
of Everyday, so of those only the first run learns. It writes
`src/madeleine/recall/other_language_weights.json`, and prints the gates that stand in
`rules/whisper_gate.py`, and how far chances can be trusted in a store that was left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.training.calibration import (
    OWN,
    Scored,
    calibration_error,
    chances,
    fit_calibration,
    reliability,
    scale_to_first_hits,
)
from bench.training.collecting import Gathered, example_of, gather, home_of, scored_of
from bench.training.fit import fit_listwise
from bench.training.heads import OTHER_HEADS, HeadPlan
from bench.training.other_languages import blocks_in_other_languages, everyday_in_other_languages
from bench.training.train_gate import fit as fit_rows
from bench.training.train_need import (
    LabelledPrompt,
    need_values,
    read_block_prompts,
    read_wants,
    rows_of,
)
from bench.training.train_need import (
    fit as fit_prompts,
)
from bench.training.train_recall import weights_file
from bench.training.values import Store
from madeleine.language.prompt_form import read_prompt_form
from madeleine.minds.local import LocalEmbedder, load_built_in
from madeleine.minds.multilingual import load_multilingual
from madeleine.rules.fusion import RecallHead
from madeleine.rules.whisper_gate import WhisperGate
from madeleine.whisper.memory_need import estimate_need

ENGLISH_KIND = "MADELEINE_EMBEDDER_KIND"
FILE_OF_BLOCKS = "blocks-"
BINS = 5
BEST = 6  # candidates of a prompt that may be whispered
LEAST = 1e-6
EVERY_BLOCK = 4  # of the prompts of English blocks that the need is learnt from, one in so many
OF_EVERY_LANGUAGE = ("long", "asks", "digits", "lines", "colon", "path")
"""What the form of a prompt says whatever its language."""

Sets = Mapping[str, Sequence[Gathered]]


def gather_stores(stores: Sequence[Store], cache: Path) -> Sets:
    """Return what recall sees of all questions. It is kept beside the homes."""
    found = {}
    for store in stores:
        print(store.name, file=sys.stderr, flush=True)
        home = home_of(cache, store)
        kept = home.with_suffix(".gathered")
        if not kept.exists():
            kept.write_bytes(pickle.dumps(list(gather(home, store, store.questions))))
        found[store.name] = pickle.loads(kept.read_bytes())
    return found


def fit_head(plan: HeadPlan, sets: Sets) -> RecallHead:
    """Return the weights and the calibration of a head. Chances are learnt on whole stores, as far
    as there are any: a file of blocks is small, and its questions are easier."""
    mine = {
        name: [each for each in given if set(each.heads.tolist()) & set(plan.candidates)]
        for name, given in sets.items()
    }
    examples = [
        example_of(each, plan) for rows in mine.values() for each in rows if each.question.gold
    ]
    weights = fit_listwise(examples, plan.names, plan.signs, plan.l2)
    whole = [name for name in mine if not name.startswith(FILE_OF_BLOCKS)]
    asked = [
        scored_of(each, plan, weights)
        for name in whole or mine
        for each in mine[name]
        if not each.question.unasked
    ]
    calibration = fit_calibration(asked, plan.evidence, alike=False)
    return RecallHead(weights, scale_to_first_hits(calibration, asked))


def fit_gate(
    plan: HeadPlan, head: RecallHead, sets: Sets, others: LocalEmbedder | None
) -> WhisperGate:
    """Return the gate: a logistic regression over the chance of each candidate and, where its model
    is given, the need of the prompt."""
    rows, fits = [], []
    whole = {each: head.weights.get(each, 0.0) for each in plan.names}
    for given in (each for theirs in sets.values() for each in theirs):
        if not given.question.unasked or not set(given.heads.tolist()) & set(plan.candidates):
            continue
        scored = scored_of(given, plan, whole)
        said = np.clip(chances(head.calibration, scored), LEAST, 1 - LEAST)[:BEST]
        text, need = given.question.text, 0.0
        if others is not None:
            need = estimate_need(text, others.ask(text).vector, others.name)
        ones = np.ones(len(said))
        rows.append(np.column_stack([np.log(said / (1 - said)), need * ones, ones]))
        fits += scored.gold[: len(said)].tolist()
    slope, need, bias = fit_rows(np.concatenate(rows), np.array(fits)).tolist()
    even = 1 / (1 + math.exp(bias / slope))
    return WhisperGate(round(even, 3), round(slope, 3), need=round(need, 3))


def write_need(path: Path, others: LocalEmbedder) -> None:
    """Learn whether a prompt wants a memory, by the vectors of the model of other languages.
    English prompts teach it too, read by that model."""
    stores = [*everyday_in_other_languages(), *blocks_in_other_languages()]
    prompts = [
        LabelledPrompt(each.text, bool(each.gold), each.kind)
        for store in stores
        for each in store.questions
        if each.unasked
    ]
    english = [*read_wants(), *read_block_prompts()[::EVERY_BLOCK]]
    taught = [*english, *prompts]
    names = list(read_prompt_form(""))
    rows = rows_of(taught, others)
    vectors = rows.shape[1] - len(names) - 1
    mine = [vectors + names.index(each) for each in OF_EVERY_LANGUAGE]
    rows = rows[:, [*range(vectors), *mine, -1]]
    weights = fit_prompts(rows, np.array([each.wants for each in taught]))
    names = list(OF_EVERY_LANGUAGE)
    values = need_values(others.name, len(taught), weights, names)
    path.write_text(json.dumps(values) + "\n", encoding="utf-8")


def left_out(plan: HeadPlan, sets: Sets) -> dict[str, list[tuple[Scored, np.ndarray, bool]]]:
    """Return for each store its questions with the chances under weights of all others."""
    found = {}
    for name, given in sets.items():
        head = fit_head(plan, {other: each for other, each in sets.items() if other != name})
        whole = {each: head.weights.get(each, 0.0) for each in plan.names}
        found[name] = [
            (scored, chances(head.calibration, scored), each.question.unasked)
            for each in given
            if set(each.heads.tolist()) & set(plan.candidates)
            for scored in [scored_of(each, plan, whole)]
        ]
    return found


def report(plan: HeadPlan, sets: Sets) -> None:
    """Print how often the first hit is right, and how far its chance is from that."""
    together: list[tuple[float, bool]] = []
    for name, rows in left_out(plan, sets).items():
        asked = [(s, c) for s, c, unasked in rows if not unasked and len(c)]
        own = [(float(c[0]), bool(s.gold[0])) for s, c in asked if s.kind == OWN]
        together += own
        none = [float(c[0]) for s, c in asked if s.kind != OWN]
        first = np.mean([right for _, right in own])
        five = np.mean([bool(s.gold[:5].any()) for s, _ in asked if s.kind == OWN])
        said = np.mean([chance for chance, _ in own])
        print(
            f"  {name}: first {first:.3f}, first five {five:.3f} of {len(own)}; "
            f"says {said:.3f}; without an answer {np.mean(none):.3f}"
        )
    said, right = np.array([c for c, _ in together]), np.array([r for _, r in together])
    bins = reliability(said, right, BINS)
    print(f"  together: first {right.mean():.3f}, error {calibration_error(bins):.3f}")
    for each in bins:
        print(f"    {each.low:.1f}: says {each.said:.2f}, is {each.was:.2f} ({each.count})")


def main(argv: Sequence[str] | None = None) -> int:
    """Learn, report and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="keep homes for the next run")
    parser.add_argument("--english-cache", type=Path, help="the same with the English model alone")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--need", type=Path, help="where the need of prompts is written")
    given = parser.parse_args(argv)
    blocks = blocks_in_other_languages()
    stores = [*everyday_in_other_languages(), *blocks]
    sets = {"other_kept": gather_stores(stores, given.cache)}
    english = load_built_in(1)
    others = load_multilingual(english, 1) if english else None
    assert others is not None
    if given.need is not None:
        write_need(given.need, others)
    if given.english_cache:
        os.environ[ENGLISH_KIND] = "english"
        sets["other_meaning"] = gather_stores(blocks, given.english_cache)
        sets["other_words"] = sets["other_kept"]
    heads = {}
    for name, taught in sets.items():
        plan = OTHER_HEADS[name]
        heads[name] = fit_head(plan, taught)
        print(name)
        report(plan, taught)
        print(f"  {fit_gate(plan, heads[name], taught, others if name == 'other_kept' else None)}")
    if given.out is not None:
        text = weights_file(heads, "5 stores of Everyday's train split, blocks in 10 languages")
        given.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
