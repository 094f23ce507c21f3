"""Learns which notes say how things are to be done, and when one of them applies to a prompt.

    python -m bench.training.train_standing notes [--write]
    python -m bench.training.train_standing gate [--cache DIR]

`notes` learns the two heads of `language/standing.py` from the notes in `standing/`, the rules of
`blocks/` and the memories of Everyday's train stores, and reads the sentences of `activities.toml`
with the built-in model. `gate` fits the weights of `rules/standing_gate.py` on the prompts of
Everyday's train stores, as the whisper looks them up; the figures that it prints leave out the
store that a prompt is from. Dev and test are never read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, os.fspath(Path(__file__).parents[1]))

from _everyday_asking import Labels, same_as
from _everyday_set import EverydayPrompt, read_stores
from _everyday_systems import MadeleineAsked, MadeleineSystem
from _recall_homes import Homes

from bench.training.blocks_file import read_blocks
from bench.training.calibration import auc
from bench.training.descent import minimise
from bench.training.logistic import LogisticLoss
from madeleine.api.local import LocalDoor
from madeleine.bootstrap.context import HomeContext
from madeleine.language.activities import activity_names, activity_sentences
from madeleine.language.standing_signs import read_standing_signs
from madeleine.language.triggers import count_constraint_words
from madeleine.minds.local import LocalEmbedder, load_built_in
from madeleine.model.embedding import Passage
from madeleine.whisper.stages import STAGES, Silence, WhisperContext, WhisperState
from madeleine.whisper.values import Prompt

FOLDER = Path(__file__).parent
LANGUAGE = FOLDER.parents[1] / "src" / "madeleine" / "language"
STANDING = "standing"
EVENTFUL = ("event", "person", "observation", "goal", "project")
OF_BLOCKS, OF_PREFERENCES, OF_FACTS = 0.5, 0.5, 0.25
"""What a row counts whose label was not written for this."""
VECTOR_SCALE = 3.0
L2 = 2.0
STEPS = 500
FOLDS = 8
DIGITS = 4
GATE_PENALTY = 5.0
MOST = 2
GATES = (0.3, 0.35, 0.4, 0.42, 0.44, 0.46, 0.48, 0.5, 0.52, 0.55, 0.6)

Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledNote:
    """A note, whether it is a standing one, where it is from and what it counts."""

    text: str
    standing: bool
    group: str
    counts: float = 1.0


def read_notes() -> list[LabelledNote]:
    """Return all notes that are learnt from."""
    found = []
    for path in sorted((FOLDER / "standing").glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, text = line.split("\t")
            found.append(LabelledNote(text, kind == STANDING, path.stem))
    for path in sorted((FOLDER / "blocks").glob("rules-*.txt")):
        found += [LabelledNote(each.note, True, "blocks", OF_BLOCKS) for each in read_blocks(path)]
    for store in read_stores("train"):
        for memory in store.memories:
            plain = memory.type in ("fact", "concept") and not count_constraint_words(
                memory.content
            )
            if memory.type == "preference":
                found.append(LabelledNote(memory.content, True, "stores", OF_PREFERENCES))
            elif memory.type in EVENTFUL or plain:
                found.append(LabelledNote(memory.content, False, "stores", OF_FACTS))
    return found


def learn_notes(write: bool) -> None:
    embedder = load_built_in(1)
    assert embedder is not None
    notes = read_notes()
    gold = np.array([each.standing for each in notes])
    counts = np.array([each.counts for each in notes])
    signs = np.array([[*read_standing_signs(each.text).values(), 1.0] for each in notes])
    traces = embedder.read([Passage(each.text, 0, len(each.text)) for each in notes])
    both = np.hstack([VECTOR_SCALE * np.array([each.vector for each in traces]), signs])
    fold = np.random.default_rng(0).integers(0, FOLDS, len(notes))
    for name, rows in (("by signs", signs), ("with vector", both)):
        sums = np.zeros(len(notes))
        for number in range(FOLDS):
            held = fold == number
            sums[held] = rows[held] @ fit(rows[~held], gold[~held], counts[~held])
        for group in sorted({each.group for each in notes}):
            of = np.array([each.group == group for each in notes])
            right = np.mean((sums[of] > 0) == gold[of])
            told = auc(sums[of & gold], sums[of & ~gold]) if (of & ~gold).any() else 1.0
            print(f"{name}, {group}: AUC {told:.3f}, right {right:.3f} of {of.sum()}")
    names = [*read_standing_signs("")]
    values = {
        "model": embedder.name,
        "trained_on": f"{len(notes)} notes of bench/training and of Everyday's train stores",
        "with_vector": write_head(fit(both, gold, counts), names),
        "by_signs": write_head(fit(signs, gold, counts), names),
    }
    if write:
        text = json.dumps(values) + "\n"
        (LANGUAGE / "standing_weights.json").write_text(text, encoding="utf-8")
        write_activity_vectors(embedder)


def fit(rows: Rows, gold: NDArray[np.bool_], counts: Rows) -> Rows:
    free = np.full(rows.shape[1], np.inf)
    return minimise(LogisticLoss(rows, gold, counts, L2), -free, free, STEPS)


def write_head(weights: Rows, names: Sequence[str]) -> dict[str, object]:
    size = len(weights) - len(names) - 1
    signs = weights[size:-1].tolist()
    head: dict[str, object] = {
        "bias": round(float(weights[-1]), DIGITS),
        "signs": {name: round(each, DIGITS) for name, each in zip(names, signs, strict=True)},
    }
    if size:
        head["vector"] = [round(VECTOR_SCALE * each, DIGITS) for each in weights[:size].tolist()]
    return head


def write_activity_vectors(embedder: LocalEmbedder) -> None:
    """Write what the model makes of the sentences, those of an activity one after the other."""
    vectors, starts = [], []
    for name in activity_names():
        starts.append(len(vectors))
        vectors += [embedder.ask(each).vector for each in activity_sentences()[name]]
    np.savez_compressed(
        LANGUAGE / "activity_vectors.npz",
        model=np.array(embedder.name),
        vectors=np.array(vectors, np.float16),
        starts=np.array(starts, np.int32),
    )


# -- the gate ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PromptRows:
    """A prompt, its standing notes as numbers, and what else is whispered to it."""

    store: str
    prompt: EverydayPrompt
    labels: Labels
    ids: Sequence[str]
    rows: Rows
    others: frozenset[str]
    before: frozenset[str]


def collect_prompts(homes: Homes) -> tuple[list[str], list[PromptRows]]:
    """Return the names of the numbers, and the rows of each prompt."""
    names: list[str] = []
    found: list[PromptRows] = []
    for store in read_stores("train"):
        same = same_as(store)
        with MadeleineSystem(homes).opened(store) as asked:
            assert isinstance(asked, MadeleineAsked)
            door = asked.opened._door
            assert isinstance(door, LocalDoor)
            for number, each in enumerate(store.prompts):
                session = f"gate-{number}"
                before = {
                    one.id for text in each.session for one in asked._say(text, each.space, session)
                }
                state = run_stages(door.context, each, session)
                ids = [asked.ids.get(one, one) for one in state.weighed]
                names = names or [name for one in state.weighed.values() for name in one]
                rows = np.array([[*one.values()] for one in state.weighed.values()])
                told = [one.memory.id for one in state.candidates if one.head != STANDING]
                others = frozenset(asked.ids.get(one, one) for one in told)
                labels = Labels.of(each, same)
                found.append(
                    PromptRows(store.name, each, labels, ids, rows, others, frozenset(before))
                )
        print(store.name, file=sys.stderr)
    return list(dict.fromkeys(names)), found


def run_stages(home: HomeContext, prompt: EverydayPrompt, session: str) -> WhisperState:
    """Return what becomes of a prompt, whether anything is said or not."""
    stores, config, whisperer = home.stores, home.whisper_config, home.whisperer
    now = stores.clock.now()
    recent = whisperer.sessions.recent(session, now, config.session_gap_minutes)
    context = WhisperContext(stores, config, whisperer.examples.of(stores), (), whisperer.notes)
    state = WhisperState(Prompt(prompt.text, prompt.space, session), recent, now)
    try:
        for state.stage, stage in STAGES:
            stage(context, state)
    except Silence:
        state.candidates = []
    return state


def fit_gate(prompts: Sequence[PromptRows]) -> Rows:
    """Return intercept and weights of a logistic regression."""
    known = [each for each in prompts if len(each.rows)]
    rows = np.vstack([each.rows for each in known])
    rows = np.c_[np.ones(len(rows)), rows]
    wanted = np.array([float(one in each.labels.fitting) for each in known for one in each.ids])
    weights, penalty = np.zeros(rows.shape[1]), np.eye(rows.shape[1]) * GATE_PENALTY
    penalty[0, 0] = 1e-6
    for _ in range(20):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = chance * (1 - chance) + 1e-9
        gradient = rows.T @ (chance - wanted) + penalty @ weights
        weights -= np.linalg.solve((rows * slope[:, None]).T @ rows + penalty, gradient)
    return weights


def leave_stores_out(prompts: Sequence[PromptRows]) -> Iterator[tuple[PromptRows, Rows]]:
    """Give each prompt with the chances of its notes by weights that never saw its store."""
    for store in sorted({each.store for each in prompts}):
        weights = fit_gate([each for each in prompts if each.store != store])
        for each in prompts:
            if each.store == store:
                sums = each.rows @ weights[1:] + weights[0] if len(each.rows) else np.zeros(0)
                yield each, 1 / (1 + np.exp(-sums))


def report_gate(held_out: Sequence[tuple[PromptRows, Rows]], gate: float) -> None:
    hit, fits, false, added = [], [], [], []
    for each, chances in held_out:
        if each.prompt.borderline:
            continue
        order = np.argsort(-chances)[:MOST]
        notes = {each.ids[place] for place in order if chances[place] >= gate} - each.before
        said = notes | each.others
        if each.labels.must:
            told = said | each.before
            hit.append(any(not group.isdisjoint(told) for group in each.labels.must))
        fits += [one in each.labels.fitting for one in said]
        added += [one in each.labels.fitting for one in notes]
        if each.prompt.silence is not None:
            false.append(bool(said))
    print(
        f"gate {gate:.2f}: hit {np.mean(hit):.3f}, precision {np.mean(fits):.3f},"
        f" false {np.mean(false):.3f}; {len(added)} standing notes, {np.mean(added or [0]):.3f} fit"
    )


def learn_gate(cache: Path | None) -> None:
    with tempfile.TemporaryDirectory(prefix="madeleine-standing-") as temporary:
        names, prompts = collect_prompts(Homes(cache or Path(temporary)))
    held_out = list(leave_stores_out(prompts))
    for gate in GATES:
        report_gate(held_out, gate)
    weights = fit_gate(prompts)
    print(f"INTERCEPT = {weights[0]:.4f}")
    for name, each in zip(names, weights[1:], strict=True):
        print(f'        "{name}": {each:.4f},')


def main(argv: Sequence[str] | None = None) -> int:
    """Learn, measure and write or print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("notes", "gate"))
    parser.add_argument("--write", action="store_true", help="write what notes are told by")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the homes here")
    given = parser.parse_args(argv)
    if given.what == "notes":
        learn_notes(given.write)
    else:
        learn_gate(given.cache)
    return 0


if __name__ == "__main__":
    sys.exit(main())
