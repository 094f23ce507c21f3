"""Everyday: every store and pair is whole, labelled as the guidelines say, and there once."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.bench.test_recall_bench import bench

everyday: Any = bench("_everyday_set")
adding: Any = bench("everyday_add")
checks: Any = bench("_everyday_checks")
reporting: Any = bench("everyday_check")

STORES = {"train": 39, "dev": 10, "test": 8}
WORLDS = {"train": 31, "dev": 10, "test": 9}
GROUPS = {"software": 34, "knowledge": 8, "life": 10, "business": 5}
LANGUAGES = {"en", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "zh", "ja"}
TYPES = 10


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


def test_stores_are_of_many_trades_and_ten_of_them_in_other_languages() -> None:
    assert Counter(each.group for each in stores()) == GROUPS
    assert {language for each in stores() for language in each.languages} == LANGUAGES
    assert sum(each.languages != ("en",) for each in stores()) == 10


def test_a_store_has_every_type_and_spaces_and_months_and_what_became_outdated() -> None:
    for store in stores():
        memories = store.memories
        assert len({each.type for each in memories}) == TYPES
        assert len({each.space for each in memories}) >= 3
        first, last = (
            datetime.fromisoformat(pick(each.created for each in memories)) for pick in (min, max)
        )
        assert (last - first).days >= 180
        outdated = sum(each.replaced_by is not None for each in memories) / len(memories)
        assert 0.1 <= round(outdated, 2) <= 0.15
        assert sum(each.same_as is not None for each in memories) >= 3
        assert sum(each.lookalike_of is not None for each in memories) >= 6


def test_a_lookalike_of_what_is_needed_is_not_welcome() -> None:
    for store in stores():
        alike = {each.id: each.lookalike_of for each in store.memories}
        for row in labelled(store):
            assert not [each for each in row.ok if alike[each] in row.must]
            assert not [each for each in row.must if alike[each] in row.ok]


def test_questions_have_answers_or_none_or_one_that_changed() -> None:
    for store in stores():
        kinds = Counter(each.kind for each in store.questions)
        assert kinds == {"answer": 35, "none": 6, "changed": 4}
        replaced_by = {each.id: each.replaced_by for each in store.memories}
        for question in store.questions:
            assert set(question.grades.values()) <= {1, 2}
            if question.kind == "changed":
                assert replaced_by[question.old] == question.new
                assert (question.grades[question.old], question.grades[question.new]) == (1, 2)


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


def test_nothing_shows_a_machine_at_work() -> None:
    """Beginnings, trigrams, and texts of one store that nearly stand in another."""
    sessions = list(chain.from_iterable(map(everyday.read_sessions, everyday.SPLITS)))

    found = list(checks.machine_figures(stores(), pairs(), sessions))

    assert [each for each in found if each.passed is False] == []
    assert {each.part for each in found if each.target is not None} == {
        *("memories", "prompts", "questions", "notes of pairs", "turns of sessions")
    }


def test_neither_dates_nor_ids_nor_lengths_tell_a_label() -> None:
    """What a look-up learns on train helps on the other splits by five points at most."""
    by_split = {split: everyday.read_pairs(split) for split in everyday.SPLITS}

    found = list(checks.leak_figures(stores(), by_split))

    assert [each for each in found if each.passed is False] == []


def test_no_prompt_or_question_stands_in_two_stores() -> None:
    """Short ones do: "yes" is what everybody types."""
    texts = checks.texts_of(stores())
    for name in ("prompts", "questions", "actions"):
        owners: dict[str, set[str]] = defaultdict(set)
        for each in texts[name]:
            words = checks.words_of(each.text)
            if len(words) >= 3:
                owners[" ".join(words)].add(each.owner)

        assert {text: who for text, who in owners.items() if len(who) > 1} == {}


def test_a_fifth_of_the_prompts_are_borderline() -> None:
    for store in stores():
        assert sum(each.borderline for each in store.prompts) == 12


# -- the checks themselves -----------------------------------------------------------------


def owned(*texts: tuple[str, str]) -> list[Any]:
    return [checks.OwnedText(owner, text) for owner, text in texts]


def test_texts_of_two_stores_are_neighbours_by_the_phrases_they_share() -> None:
    texts = owned(
        ("mill", "never push to main on a Friday"),
        ("quay", "Never push to main on a Monday!"),
        ("mill", "never push to main on a Tuesday"),
        ("quay", "go on"),
        ("reed", "go on"),
    )

    first, *others = checks.nearest_in_phrases(texts, 9)

    assert first.similarity == pytest.approx(4 / 6)
    assert {first.one.owner, first.other.owner} == {"mill", "quay"}
    assert len(others) == 1


def test_texts_of_two_stores_are_neighbours_by_the_rare_words_they_share() -> None:
    filler = [(f"store {each}", f"note {each} says thing {each} here") for each in range(200)]
    texts = owned(
        *filler,
        ("mill", "the otter gnaws the sluice gate"),
        ("quay", "a sluice gate the otter gnaws here"),
    )

    (nearest,) = checks.nearest_in_words(texts, 1)

    assert {nearest.one.owner, nearest.other.owner} == {"mill", "quay"}
    assert nearest.similarity > 0.7


def test_signs_without_spaces_between_them_are_words() -> None:
    assert checks.words_of("寿司 or Sushi-2?") == ["寿", "司", "or", "sushi", "2"]


def test_a_look_up_gains_what_its_feature_tells() -> None:
    rows = [("long", "update"), ("short", "same"), ("long", "update"), ("short", "update")]

    def gain(feature: int) -> float:
        return float(checks.look_up_gain(rows, rows, lambda row: row[feature], lambda row: row[1]))

    assert gain(1) == 0.25
    assert gain(0) == 0


def test_the_report_names_neighbours_and_lengths_and_fails_where_a_bound_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = checks.Target(0.03, at_most=True)
    broken = checks.Figure("prompts", "begin with the same two words", 0.2, 60, target)
    few = stores()[:2]
    monkeypatch.setattr(reporting, "read_stores", lambda split: few if split == "train" else [])
    monkeypatch.setattr(reporting, "machine_figures", lambda *given: [broken])
    monkeypatch.setattr(reporting, "leak_figures", lambda *given: [])

    code = reporting.main(["--neighbours", "1"])

    said = capsys.readouterr().out
    assert code == 1
    assert "| prompts | begin with the same two words | ≤ .030 | .200 | 60 | **miss** |" in said
    assert "## Nearest memories of two stores, by words" in said
    assert f"| {few[0].name} | " in said


# -- taking drafts in ----------------------------------------------------------------------


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
