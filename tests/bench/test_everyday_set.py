"""Everyday: every store and pair is whole, labelled as the guidelines say, and there once."""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.bench.test_recall_bench import bench

everyday: Any = bench("_everyday_set")
adding: Any = bench("everyday_add")

STORES = {"train": 30, "dev": 10, "test": 8}
WORLDS = {"train": 31, "dev": 10, "test": 9}
CHANCE = 1 / 8
"""What a guess gets right of eight relations, of each of which there are as many."""


@functools.cache
def stores() -> tuple[Any, ...]:
    return tuple(chain.from_iterable(everyday.read_stores(split) for split in everyday.SPLITS))


@functools.cache
def pairs() -> tuple[Any, ...]:
    return tuple(chain.from_iterable(everyday.read_pairs(split) for split in everyday.SPLITS))


def labelled(store: Any) -> list[Any]:
    return [*store.prompts, *store.actions]


def test_each_split_has_its_stores_and_each_store_its_parts() -> None:
    for split, count in STORES.items():
        assert len(everyday.read_stores(split)) == count
    for store in stores():
        assert 45 <= len(store.memories) <= 70
        assert (len(store.prompts), len(store.actions), len(store.questions)) == (60, 15, 45)


def test_labels_name_memories_of_their_store_that_are_still_true() -> None:
    for store in stores():
        known = {each.id: each for each in store.memories}
        assert len(known) == len(store.memories)
        for row in labelled(store):
            assert not row.must & row.ok
            assert all(known[each].replaced_by is None for each in row.must | row.ok)
        for question in store.questions:
            best = [known[key] for key, grade in question.grades.items() if grade == 2]
            assert all(each.replaced_by is None for each in best)
            assert (question.kind == "none") == (not question.grades)


def test_two_fifths_of_the_prompts_deserve_silence_and_half_of_those_are_tricky() -> None:
    for store in stores():
        silent = [each.silence for each in store.prompts if each.silence is not None]
        assert len(silent) == 24
        assert sum(each in everyday.TRICKY_SILENCE for each in silent) == 12
        assert all((each.silence is None) == bool(each.must | each.ok) for each in store.prompts)


def test_what_replaces_is_newer_and_no_text_stands_twice() -> None:
    texts = Counter(each.content for store in stores() for each in store.memories)
    assert texts.most_common(1)[0][1] == 1
    for store in stores():
        known = {each.id: each for each in store.memories}
        for each in store.memories:
            if each.replaced_by is not None:
                assert known[each.replaced_by].created > each.created
            assert each.created < store.now


def test_every_world_has_ten_pairs_of_each_relation_and_no_note_stands_twice() -> None:
    worlds = {each.world for each in pairs()}
    counted = Counter((each.world, each.label) for each in pairs())
    texts = Counter(text for each in pairs() for text in (each.older, each.newer))

    assert {split: len(everyday.read_pairs(split)) for split in WORLDS} == {
        split: 80 * count for split, count in WORLDS.items()
    }
    assert counted == {(world, label): 10 for world in worlds for label in everyday.PAIR_LABELS}
    assert all(each.older_created < each.newer_created for each in pairs())
    assert len({each.id for each in pairs()}) == len(pairs())
    assert texts.most_common(1)[0][1] == 1


def test_a_third_of_the_pairs_of_each_relation_are_hard_and_a_fifth_are_not_in_english() -> None:
    for label in everyday.PAIR_LABELS:
        hard = [each.hard for each in pairs() if each.label == label]
        assert sum(hard) >= len(hard) / 3
    assert sum(each.language != "en" for each in pairs()) >= len(pairs()) / 5


def test_every_id_and_every_place_comes_from_a_hash_of_the_text() -> None:
    """So that neither tells anything about a label."""
    for split in everyday.SPLITS:
        for path in sorted((everyday.FOLDER / "stores" / split).iterdir()):
            rows = list(everyday.read_lines(path))
            ids = [row["id"] for row in rows if "id" in row]

            assert adding.tidied_store(path.stem, rows) == rows
            assert len(set(ids)) == len(ids)
        rows = list(everyday.read_lines(everyday.FOLDER / "pairs" / f"{split}.jsonl"))

        assert adding.tidied_pairs(rows) == rows


def test_a_corrected_text_gets_its_id_and_place_anew_and_labels_follow(tmp_path: Path) -> None:
    path = tmp_path / "quarry.jsonl"
    rows = list(everyday.read_lines(everyday.FOLDER / "stores" / "train" / "quarry.jsonl"))
    prompt = next(row for row in rows if row.get("must"))
    needed = next(row for row in rows if row.get("id") == prompt["must"][0])
    needed["content"] += " So it is."
    adding.write_lines(path, rows)

    assert adding.run(["tidy", str(path)]) == 0

    kept = everyday.read_store(path)
    (corrected,) = (each for each in kept.memories if each.content == needed["content"])
    (asking,) = (each for each in kept.prompts if each.id == prompt["id"])
    assert corrected.id != needed["id"]
    assert corrected.id in asking.must
    assert adding.tidied_store("quarry", list(everyday.read_lines(path))) == list(
        everyday.read_lines(path)
    )


def hours_between(pair: Any) -> float:
    older, newer = (
        datetime.fromisoformat(each) for each in (pair.older_created, pair.newer_created)
    )
    return (newer - older).total_seconds() / 3600


LOOK_UPS: dict[str, Callable[[Any], object]] = {
    "gap between the dates": lambda pair: int(math.log2(hours_between(pair))),
    "gap in days": lambda pair: hours_between(pair) // 240,
    "month of the older one": lambda pair: pair.older_created[:7],
    "id": lambda pair: pair.id[0],
}


@pytest.mark.parametrize("name", LOOK_UPS)
def test_neither_dates_nor_ids_tell_a_relation(name: str) -> None:
    """What a look-up learns on train helps on the other splits by five points at most."""
    look_up = LOOK_UPS[name]
    learnt: dict[object, Counter[str]] = defaultdict(Counter)
    for each in everyday.read_pairs("train"):
        learnt[look_up(each)][each.label] += 1
    others = [*everyday.read_pairs("dev"), *everyday.read_pairs("test")]
    guesses = [learnt[look_up(each)].most_common(1) for each in others]

    right = sum(
        bool(guess) and guess[0][0] == each.label
        for guess, each in zip(guesses, others, strict=True)
    )

    assert right / len(others) <= CHANCE + 0.05


def test_prompts_begin_in_many_ways() -> None:
    prompts = [each for store in stores() for each in store.prompts]
    begins = Counter(" ".join(each.text.lower().split()[:2]) for each in prompts)

    assert begins.most_common(1)[0][1] <= 0.03 * len(prompts)
    assert sum(each.borderline for store in stores() for each in store.prompts) >= 0.19 * len(
        prompts
    )


@pytest.mark.parametrize("what", ["store", "pairs"])
def test_a_draft_is_taken_in(tmp_path: Path, what: str) -> None:
    draft = tmp_path / "draft"
    pair = {"a": "Pier one", "b": "Pier two", "label": "update", "hard": False, "lang": "en"}
    adding.write_lines(draft / "w-pier.jsonl", [pair])
    if what == "pairs":
        words = ["pairs", str(draft / "w-pier.jsonl"), "--split", "dev", "--folder", str(tmp_path)]
        assert adding.run(words) == 0
        (kept,) = everyday.read_pairs("dev", tmp_path)
        assert (kept.older, kept.newer, kept.world) == ("Pier one", "Pier two", "w-pier")
        return
    memory = {"key": "m1", "type": "fact", "space": None, "created": "2026-01-02T08:00:00Z"}
    prompt = {"text": "where?", "space": None, "must": ["m1"], "ok": [], "kind": "question"}
    names = {"who": "w", "trade": "t", "group": "life", "languages": ["en"], "voice": "v"}
    store = {"name": "pier", **names, "spaces": [], "now": "2026-02-01T00:00:00Z"}
    (draft / "store.json").write_text(adding.json.dumps(store), encoding="utf-8")
    adding.write_lines(draft / "memories.jsonl", [{**memory, "content": "Pier four"}])
    adding.write_lines(draft / "prompts.jsonl", [{**prompt, "why": "it answers"}])
    adding.write_lines(draft / "actions.jsonl", [])
    adding.write_lines(draft / "questions.jsonl", [])

    path = adding.add_store(draft, "dev", tmp_path)

    lines = list(everyday.read_lines(path))
    assert [each["record"] for each in lines] == ["store", "memory", "prompt"]
    assert lines[2]["must"] == [lines[1]["id"]] != ["m1"]
