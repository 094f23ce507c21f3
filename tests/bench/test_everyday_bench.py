"""`madeleine bench everyday`: what its figures mean, and that it runs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from madeleine.model.proposal import ProposalType
from tests.bench.test_recall_bench import bench

everyday_set: Any = bench("_everyday_set")
systems: Any = bench("_everyday_systems")
asking: Any = bench("_everyday_asking")
judging: Any = bench("_everyday_pairs")
sleeping: Any = bench("_everyday_night")
program: Any = bench("everyday")

STORE = everyday_set.read_stores("dev")[0]


def said(*ids: str, before: tuple[str, ...] = ()) -> Any:
    scored = tuple(systems.ScoredId(each, 0.5) for each in ids)
    return systems.Whispered(scored, frozenset(before))


def prompt(must: tuple[str, ...] = (), ok: tuple[str, ...] = (), **fields: Any) -> Any:
    made = replace(STORE.prompts[0], must=frozenset(must), ok=frozenset(ok), borderline=False)
    return replace(made, **fields)


def answered(row: Any, whispered: Any, same: dict[str, frozenset[str]] | None = None) -> Any:
    groups = {each: frozenset([each]) for each in (*row.must, *row.ok)} | (same or {})
    return asking.AnsweredPrompt(asking.Labels.of(row, groups), whispered, row)


def figures(found: Any) -> dict[str, float]:
    return {f"{each.part}: {each.what}": each.value for each in found}


def test_a_hit_is_any_needed_memory_and_precision_counts_what_fits() -> None:
    rows = [
        answered(prompt(("a", "b"), ("c",), silence=None), said("a", "c", "x")),
        answered(prompt(("d",), silence=None), said("x")),
    ]

    found = figures(asking.whisper_figures(rows))

    assert found["whisper: hit: any needed one"] == 0.5
    assert found["whisper: needed ones said"] == pytest.approx(1 / 3)
    assert found["whisper: precision"] == 0.5


def test_each_language_that_is_asked_in_has_lines_of_its_own() -> None:
    row = prompt(("a",), silence=None)
    rows = [
        replace(answered(row, said("a")), language="de"),
        replace(answered(row, said("x")), language="ja"),
    ]
    question = replace(STORE.questions[0], kind="answer")
    hits = (systems.ScoredId("a", 0.5),)
    recalled = [
        asking.Recalled(question, {"a": 2}, hits, "de"),
        asking.Recalled(question, {"b": 2}, hits, "ja"),
    ]

    found = figures(asking.whisper_figures(rows)) | figures(asking.recall_figures(recalled))

    assert found["whisper, de: hit: any needed one"] == 1.0
    assert found["whisper, ja: hit: any needed one"] == 0.0
    assert found["recall, de: an answer among the first 1"] == 1.0
    assert found["recall, ja: expected error of the first score"] == 0.5
    assert found["recall, ja: what the first score says"] == 0.5


def test_one_language_alone_has_no_lines_of_its_own() -> None:
    rows = [answered(prompt(("a",), silence=None), said("a"))]

    assert not any(", en" in each for each in figures(asking.whisper_figures(rows)))


def test_a_text_is_in_one_of_the_languages_of_its_store() -> None:
    store = replace(STORE, languages=("en", "it"))

    assert asking.language_of("dove sono le chiavi del cantiere?", store) == "it"
    assert asking.language_of("where are the keys of the site?", store) == "en"
    assert asking.language_of("12", store) == "en"


def test_what_says_the_same_or_was_said_before_in_the_session_will_do() -> None:
    same = {"a": frozenset("ab")}

    assert answered(prompt(("a",)), said("b"), same).needed == [True]
    assert answered(prompt(("a",)), said(before=("b",)), same).needed == [True]
    assert answered(prompt(("a",)), said("c", before=("d",)), same).needed == [False]


def test_silence_is_counted_apart_for_tricky_prompts_and_borderline_ones() -> None:
    rows = [
        answered(prompt(silence="chit_chat"), said()),
        answered(prompt(silence="definition"), said("x")),
        answered(prompt(silence="definition", borderline=True), said("x")),
    ]

    found = figures(asking.whisper_figures(rows))

    assert found["whisper: false on silent"] == 0.5
    assert found["whisper: false on silent, plain"] == 0
    assert found["whisper: false on silent, tricky"] == 1
    assert found["whisper, borderline: false on silent"] == 1


def test_an_old_value_is_above_the_new_one_also_when_the_new_one_is_missing() -> None:
    question = replace(STORE.questions[0], kind="changed", old="o", new="n")

    def old_first(*ids: str) -> float:
        hits = [systems.ScoredId(each, 0.5) for each in ids]
        found = figures(asking.recall_figures([asking.Recalled(question, {}, hits)]))
        return found["recall: old value above new"]

    assert [old_first("o", "n"), old_first("o"), old_first("n", "o"), old_first("x")] == [
        1,
        1,
        0,
        0,
    ]


def test_the_error_of_a_score_is_how_far_it_is_from_how_often_it_is_right() -> None:
    scored = [(0.9, True), (0.9, True), (0.1, True), (0.1, False)]

    found = figures(asking.reliability("recall", scored))

    assert found["recall: right at a score of 0.0 to 0.2"] == 0.5
    assert found["recall: expected error of the first score"] == pytest.approx(0.25)


def test_a_threshold_is_fitted_for_the_best_balance() -> None:
    wanted = answered(prompt(("a",)), systems.Whispered((systems.ScoredId("a", 0.8),)))
    silent = answered(prompt(silence="control"), systems.Whispered((systems.ScoredId("x", 0.4),)))

    assert asking.best_threshold([wanted, silent]) == (0.8, 1.0)


def test_every_relation_of_the_judge_has_a_label_of_the_set() -> None:
    pair = everyday_set.read_pairs("dev")[0]
    judged = [(replace(pair, label="same"), "same"), (replace(pair, label="update"), "same")]

    found = figures(judging.pair_figures(judged))

    assert sorted(judging.LABEL_OF.values()) == sorted(everyday_set.PAIR_LABELS)
    assert found["pairs: right"] == 0.5
    assert found["pairs: F1 of same"] == pytest.approx(2 / 3)
    assert found["pairs: macro F1"] == pytest.approx(2 / 3 / 8)


def test_a_night_is_right_in_what_it_does_unasked_and_in_what_it_asks() -> None:
    night = sleeping.Night(
        retired=(True, False),
        merged=(True,),
        asked={"conflict": (True, True), "merge": (False,)},
        outdated=8,
        restated=3,
        memories=60,
    )

    found = figures(sleeping.night_figures([night, replace(night, retired=())]))

    assert found["sleep: done unasked: right"] == pytest.approx(3 / 4)
    assert found["sleep: retired unasked: right"] == 0.5
    assert found["sleep: outdated ones retired unasked"] == 1
    assert found["sleep: asked: right"] == pytest.approx(2 / 3)
    assert found["sleep: asked about a merge: right"] == 0
    assert found["sleep: questions asked"] == 6


def test_a_question_is_right_when_one_memory_replaced_the_other_or_says_the_same() -> None:
    outdated = next(each for each in STORE.memories if each.replaced_by is not None)
    restated = next(each for each in STORE.memories if each.same_as is not None)
    alike = next(each for each in STORE.memories if each.lookalike_of is not None)

    def is_right(kind: str, one: str | None, other: str | None) -> bool:
        asked = SimpleNamespace(type=ProposalType(kind))
        same = asking.same_as(STORE)
        return bool(sleeping.is_right(STORE, same, asked, [one, other]))

    assert is_right("conflict", outdated.id, outdated.replaced_by)
    assert is_right("conflict", outdated.replaced_by, outdated.id)
    assert is_right("merge", restated.id, restated.same_as)
    assert not is_right("merge", alike.id, alike.lookalike_of)
    assert not is_right("decay", outdated.id, outdated.replaced_by)


def test_full_text_search_is_measured_through_the_command(tmp_path: Path) -> None:
    where = tmp_path / "figures.json"

    code = program.main(["--system", "fts5", "--only", "recall", "--json", str(where)])

    found = json.loads(where.read_text(encoding="utf-8"))
    first = found["figures"][0]
    assert code == 0
    assert (found["benchmark"], found["split"], found["system"]) == ("everyday", "dev", "fts5")
    assert first["n"] == 350
    assert 0.3 < first["value"] < 0.5


@pytest.mark.parametrize("words", [["--only", "dreams"], ["--system", "fts5", "--only", "pairs"]])
def test_a_part_that_is_not_there_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit):
        program.main(words)


def test_sessions_are_transcripts_whose_turns_are_there() -> None:
    sessions = [each for split in everyday_set.SPLITS for each in everyday_set.read_sessions(split)]

    assert len(sessions) == 40
    for session in sessions:
        lines = list(everyday_set.read_lines(session.path))
        turns = {each["promptId"] for each in lines}
        assert 20 <= len(turns) <= 60
        assert {f"turn-{each.turn}" for each in session.keep} <= turns
        assert 3 <= len(session.keep) <= 9
        assert 3 <= len(session.never) <= 8
        assert [each["parentUuid"] for each in lines] == [
            None,
            *(each["uuid"] for each in lines[:-1]),
        ]


def test_the_test_split_is_as_it_was_frozen() -> None:
    folder = everyday_set.FOLDER
    frozen = dict(
        reversed(line.split(maxsplit=1))
        for line in (folder / "test.sha256").read_text(encoding="utf-8").splitlines()
    )
    there = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in [
            *(folder / "stores" / "test").iterdir(),
            *(folder / "sessions" / "test").iterdir(),
            folder / "pairs" / "test.jsonl",
        ]
    }

    assert there == frozen
