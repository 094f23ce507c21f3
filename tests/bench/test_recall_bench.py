"""`madeleine bench recall`: its metrics, its reading of data sets, and a run of every part.

All texts are made up here, in the shape in which the sets are published.
"""

from __future__ import annotations

import importlib
import itertools
import json
import math
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from madeleine.api.madeleine import Madeleine
from madeleine.model.embedding import PassageEmbedding
from tests.cli.running import Cli, Ran

BENCH = Path(__file__).parents[2] / "bench"
GOLD = frozenset({"a", "b"})


def bench(name: str) -> ModuleType:
    """Import a module of the folder `bench`, which is no package."""
    if str(BENCH) not in sys.path:
        sys.path.insert(0, str(BENCH))
    return importlib.import_module(name)


metrics: Any = bench("_recall_metrics")
sets: Any = bench("_recall_sets")
world: Any = bench("_recall_world")
homes: Any = bench("_recall_homes")
scale: Any = bench("_recall_scale")
recall: Any = bench("recall")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)
    return Cli(tmp_path / "home")


# -- metrics -------------------------------------------------------------------------------


def test_recall_is_the_share_of_the_answers_and_any_is_whether_there_is_one() -> None:
    ranked = ["x", "a", "y", "b"]

    assert metrics.recall_at(ranked, GOLD, 1) == 0
    assert metrics.recall_at(ranked, GOLD, 3) == 0.5
    assert metrics.recall_at(ranked, GOLD, 4) == 1
    assert [metrics.any_at(ranked, GOLD, k) for k in (1, 2)] == [0, 1]


def test_ndcg_compares_with_the_best_order_there_could_be() -> None:
    worse = metrics.ndcg_at(["x", "a", "y", "b"], GOLD, 10)

    assert worse == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3)))
    assert metrics.ndcg_at(["b", "a"], GOLD, 10) == 1
    assert metrics.ndcg_at(["a", "x", "b"], GOLD, 1) == 1


def test_an_answer_below_the_fiftieth_rank_counts_as_none() -> None:
    others = [f"x{number}" for number in range(60)]

    assert metrics.reciprocal_rank(["x", "y", "a"], GOLD) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank([*others[:49], "a"], GOLD) == pytest.approx(1 / 50)
    assert metrics.reciprocal_rank([*others[:50], "a"], GOLD) == 0


def test_turns_collapse_to_sessions_by_first_appearance() -> None:
    group = {"t1": "monday", "t2": "monday", "t3": "friday"}

    assert metrics.collapsed(["t3", "t1", "t2", "unknown"], group) == ["friday", "monday"]


def test_only_what_stands_above_the_last_answer_is_an_intruder() -> None:
    foreign = frozenset({"old", "other"})

    assert metrics.intruders(["old", "a", "x", "b", "other"], GOLD, foreign) == 1
    assert metrics.intruders(["old", "other"], GOLD, foreign) == 0


def test_a_mean_says_how_many_and_how_sure() -> None:
    found = metrics.mean([0, 1, 1, 0])

    assert (found.value, found.n) == (0.5, 4)
    assert found.spread == pytest.approx(1.96 * math.sqrt((1 / 3) / 4))
    assert metrics.mean([]).n == 0


def test_a_percentile_is_a_value_that_occurred() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]

    assert metrics.percentile(values, 0.5) == 3
    assert metrics.percentile(values, 0.95) == 5


# -- data sets -----------------------------------------------------------------------------

CONVERSATION = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Mira",
        "speaker_b": "Jonas",
        "session_10_date_time": "11:05 am on 3 June, 2024",
        "session_10": [
            {"speaker": "Jonas", "dia_id": "D10:1", "text": "The ferry to Bergen was late."}
        ],
        "session_2_date_time": "1:56 pm on 8 May, 2024",
        "session_2": [
            {"speaker": "Mira", "dia_id": "D2:1", "text": "I bought a kayak."},
            {
                "speaker": "Jonas",
                "dia_id": "D2:2",
                "text": "Look at mine!",
                "blip_caption": "a red canoe",
            },
        ],
    },
    "qa": [
        {"question": "Who bought a kayak?", "answer": "Mira", "evidence": ["D2:1"], "category": 4},
        {"question": "Who has a kayak or a canoe?", "evidence": ["D2:01; D:2:2"], "category": 1},
        {"question": "Which ferry was late?", "evidence": ["D10:1"], "category": 5},
        {"question": "What is nowhere?", "evidence": ["D99:1"], "category": 4},
        {"question": "What is unknown?", "evidence": [], "category": 3},
    ],
}  # fmt: skip


def written(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def contents(store: Any) -> dict[str, str]:
    return {draft["id"]: draft["content"] for draft in store.drafts}


def test_conversations_are_read_as_turns_in_order_of_their_sessions(tmp_path: Path) -> None:
    (store,) = sets.read_locomo(written(tmp_path / "locomo.json", [CONVERSATION]))

    texts = [draft["content"] for draft in store.drafts]
    assert texts == [
        "I bought a kayak.",
        "Look at mine! [shared image: a red canoe]",
        "The ferry to Bergen was late.",
    ]
    second = store.drafts[1]
    assert second["origin"] == {"session": "conv-1-s2", "turn": 1, "speaker": "Jonas"}
    assert second["created"] == datetime(2024, 5, 8, 13, 56, tzinfo=UTC)


def test_evidence_is_mended_and_a_question_without_any_is_left_out(tmp_path: Path) -> None:
    (store,) = sets.read_locomo(written(tmp_path / "locomo.json", [CONVERSATION]))

    assert [question.label for question in store.questions] == ["4", "1", "5"]
    said = contents(store)
    assert {said[each] for each in store.questions[1].gold} == set(list(said.values())[:2])
    assert sets.evidence_ids(["D8:6; D9:17", "D:11:26", "D30:05"]) == [
        "D8:6", "D9:17", "D11:26", "D30:5",
    ]  # fmt: skip


def test_pooled_conversations_keep_their_own_ids(tmp_path: Path) -> None:
    other = {**CONVERSATION, "sample_id": "conv-2"}
    stores = sets.read_locomo(written(tmp_path / "locomo.json", [CONVERSATION, other]))

    together = sets.pooled(stores)

    assert len({draft["id"] for draft in together.drafts}) == 6
    assert len(together.questions) == 6
    assert set(together.sessions.values()) == {
        "conv-1-s2", "conv-1-s10", "conv-2-s2", "conv-2-s10",
    }  # fmt: skip


def message(number: int, role: str, text: str, **more: str) -> dict[str, object]:
    return {"id": number, "role": role, "content": text, **more}


CHAT = [
    {
        "batch_number": 1,
        "turns": [
            [
                message(0, "user", "Plan my trip. ->-> 1,1", time_anchor="March-15-2024"),
                message(1, "assistant", "Where to?"),
                message(2, "user", "To Tallinn, by boat. ->-> 1,2"),
                message(3, "assistant", "Here is a plan."),
            ]
        ],
    },
    {"batch_number": 2, "turns": [[message(4, "user", "I moved the trip. ->-> 2,1")]]},
]
PROBES = {
    "temporal_reasoning": [{"question": "When is it?", "source_chat_ids": {"a": [2], "b": [4]}}],
    "summarization": [{"question": "What was planned?", "source_chat_ids": [3]}],
    "abstention": [{"question": "What is my shoe size?", "source_chat_ids": []}],
}  # fmt: skip


def written_chat(folder: Path) -> Path:
    written(folder / "1" / "chat.json", CHAT)
    written(folder / "1" / "probing_questions.json", PROBES)
    return folder


def test_chats_are_read_without_their_markers(tmp_path: Path) -> None:
    (store,) = sets.read_beam(written_chat(tmp_path))

    assert [draft["content"] for draft in store.drafts] == [
        "Plan my trip.", "To Tallinn, by boat.", "I moved the trip.",
    ]  # fmt: skip
    assert [draft["origin"]["turn"] for draft in store.drafts] == [0, 1, 0]
    assert {draft["created"] for draft in store.drafts} == {datetime(2024, 3, 15, tzinfo=UTC)}


def test_an_answer_counts_for_the_message_before_it(tmp_path: Path) -> None:
    (store,) = sets.read_beam(written_chat(tmp_path))

    said, (both, planned) = contents(store), store.questions
    assert {said[each] for each in both.gold} == {"To Tallinn, by boat.", "I moved the trip."}
    assert {said[each] for each in planned.gold} == {"To Tallinn, by boat."}


def belief(name: str, text: str, scope: str, **more: object) -> dict[str, object]:
    return {
        "_id": name, "user_id": "test-user", "type": "preference", "canonical_name": name,
        "aliases": ["alias of " + name], "content": text, "scope": [scope],
        "created_at": "2025-01-01T00:00:00Z", "superseded_by": None, "resolved_at": None, **more,
    }  # fmt: skip


BELIEFS = [
    belief("tabs", "Indents with tabs.", "domain:code"),
    belief("spaces", "Indents with spaces.", "domain:code", superseded_by="tabs"),
    belief("host", "Which host to take?", "domain:code", resolved_at="2025-02-01T00:00:00Z"),
    belief("voice", "Writes in the first person.", "domain:writing"),
    belief("short", "Likes short answers.", "user:universal"),
    belief("theirs", "Indents with dots.", "domain:code", user_id="other-user"),
]
CASES = [
    {
        "caseId": "indent", "category": "alias", "query": "how do I indent code with tabs?",
        "scope": ["domain:code"],
        "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["tabs"], "mustExclude": ["short"]}},
    },
    {
        "caseId": "nothing", "category": "alias", "query": "what about lunch?",
        "scope": ["domain:code"], "expect": {"relevantBeliefs": {"shouldOnlyInclude": []}},
    },
]  # fmt: skip


def written_beliefs(folder: Path) -> Path:
    written(folder / "beliefs.seed.json", BELIEFS)
    written(folder / "retrieval.cases-some.json", CASES)
    return folder


def test_beliefs_keep_their_scope_and_what_no_longer_holds_is_foreign(tmp_path: Path) -> None:
    other, own = sets.read_precision(written_beliefs(tmp_path))

    said = contents(own)
    (asked,) = own.questions
    assert [draft["content"] for draft in other.drafts] == ["Indents with dots."]
    assert [draft["space"] for draft in own.drafts].count("domain:code") == 3
    assert asked.options == {"spaces": ["global", "domain:code"]}
    assert {said[each] for each in asked.gold} == {"Indents with tabs."}
    assert {said[each] for each in asked.foreign} == {
        "Indents with spaces.", "Which host to take?", "Writes in the first person.",
        "Likes short answers.",
    }  # fmt: skip
    assert [(said[old], said[new]) for old, new in own.retired] == [
        ("Indents with spaces.", "Indents with tabs.")
    ]


GOLDEN = {
    "id": "case-1",
    "space": "atlas",
    "memories": [
        {"node_id": "n1", "title": "Prefers dark themes", "content": "Dark, with a serif font.",
         "type": "preference", "tier": "core", "tags": ["design"], "space": None},
        {"node_id": "n2", "title": "Settings page", "content": "It has three tabs.",
         "type": "fact", "tier": "working", "tags": [], "space": "atlas"},
    ],
    "prompts": [
        {"text": "which themes are preferred, dark ones?", "category": "preference",
         "expected": {"should_inject": ["n1"], "should_not_inject": ["n2"]}},
        {"text": "thanks", "category": "noise", "expected": {"should_suppress": True}},
    ],
}  # fmt: skip


def test_golden_cases_are_pooled_and_noise_is_not_asked(tmp_path: Path) -> None:
    path = written(tmp_path / "golden.jsonl", GOLDEN)

    (store,) = sets.read_ormah(path)

    assert [draft["title"] for draft in store.drafts] == ["Prefers dark themes", "Settings page"]
    assert [question.label for question in store.questions] == ["preference"]
    assert store.questions[0].options == {"space": "atlas"}


# -- the made-up world ---------------------------------------------------------------------


def test_the_world_tells_each_thing_about_each_subject_once() -> None:
    facts = list(itertools.islice(world.facts(7), 3_000))

    assert len({(fact.subject, fact.relation.name) for fact in facts}) == 3_000
    assert len({fact.relation.name for fact in facts}) == 12
    assert facts == list(itertools.islice(world.facts(7), 3_000))
    rare = {fact.subject for fact in facts if fact.rare}
    common = {fact.subject for fact in facts if not fact.rare}
    assert abs(len(rare) - len(common)) <= 2
    assert not any(" " in name for name in rare)
    assert all(" " in name for name in common)


def test_every_question_about_a_needle_names_its_subject_and_not_its_value() -> None:
    plan = scale.Plan(2_000, 100)

    for fact, kind in itertools.product(plan.needles, world.KINDS):
        assert fact.subject in fact.question(kind)
        assert fact.value not in fact.question(kind)


def test_a_filter_lets_through_exactly_what_is_sought() -> None:
    plan = scale.Plan(2_000, 100)

    ids = [draft["id"] for draft in plan.remembered]
    assert len(set(ids)) == len(ids)
    tagged = [draft for draft in plan.remembered if draft.get("tags") == ["pilot-3"]]
    assert len(tagged) == 1
    assert {each.filter for each in plan.sought} == {"tag", "space", "time", "type", "tier"}


def test_a_copy_is_near_what_it_is_a_copy_of_and_the_same_each_time() -> None:
    dice = np.random.default_rng(1)
    rows = dice.standard_normal((6, 32)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    trace = PassageEmbedding(rows[0], np.rint(127 * rows[1:]).astype(np.int8))

    copy, again, other = scale.moved(5, trace), scale.moved(5, trace), scale.moved(6, trace)

    assert float(copy.vector @ trace.vector) == pytest.approx(0.95, abs=0.06)
    assert float(np.linalg.norm(copy.vector)) == pytest.approx(1)
    lengths = np.linalg.norm(copy.tokens.astype(np.float32), axis=1)
    assert np.allclose(lengths, 127, atol=3)
    assert np.array_equal(copy.tokens, again.tokens)
    assert not np.array_equal(copy.vector, other.vector)


# -- homes ---------------------------------------------------------------------------------


def test_a_home_is_made_anew_only_when_its_content_changes(cli: Cli, tmp_path: Path) -> None:
    made: list[str] = []
    kept = homes.Homes(tmp_path / "cache")

    def build(home: Path) -> dict[str, float]:
        made.append(home.name)
        return {"seen": len(made)}

    first = kept.made("one", "content", build)
    second = homes.Homes(tmp_path / "cache").made("one", "content", build)
    third = kept.made("one", "other content", build)

    assert first == second
    assert made == ["one", "one"]
    assert third[1] == {"seen": 2}


def test_asking_leaves_the_kept_home_as_it_was(cli: Cli, tmp_path: Path) -> None:
    draft = {"id": sets.memory_id("a"), "content": "The ferry leaves from Tallinn."}
    store = sets.Store("one", (draft,), ())
    kept = homes.Homes(tmp_path / "cache")

    for _ in range(2):
        with kept.of_store(store) as opened:
            (hit,) = opened.recall("when does the ferry leave?")
            assert hit.memory.access_count == 0

    assert sorted(path.name for path in kept.folder.iterdir()) == ["embeddings.db", "one"]
    with Madeleine.open(kept.folder / "one", in_process=True) as opened:
        assert opened.get(str(draft["id"])).content == draft["content"]


# -- the whole -----------------------------------------------------------------------------


def data_folder(root: Path) -> Path:
    written(root / "locomo" / "locomo-some.json", [CONVERSATION])
    written_chat(root / "beam-tiny")
    written_beliefs(root / "precisionmembench")
    written(root / "ormah" / "golden-some.jsonl", GOLDEN)
    return root


def figures(ran: Ran) -> dict[tuple[str, str], dict[str, Any]]:
    return {(each["part"], each["what"]): each for each in ran.answer["figures"]}


@pytest.mark.soak
def test_every_set_is_measured_through_the_command(cli: Cli, tmp_path: Path) -> None:
    data, parts = data_folder(tmp_path / "data"), "locomo,pooled,beam,precision,ormah"

    ran = cli("--json", "bench", "recall", "--", "--only", parts, "--data", str(data))

    found = figures(ran)
    assert {part for part, _ in found} == set(parts.split(","))
    assert ran.answer["left_out"] == []
    assert found["locomo", "recall@10"]["value"] == 1  # three turns, all of them found
    assert found["locomo", "recall@10"]["n"] == 2
    assert found["locomo", "recall@10 of category 5 (adversarial)"]["n"] == 1
    assert found["locomo", "session any@5"]["n"] == 3
    assert found["precision", "foreign beliefs"]["value"] == 0
    assert found["ormah", "recall@5"]["value"] == 1
    missed = any(each["passed"] is False for each in found.values())
    assert ran.code == int(missed)


@pytest.mark.soak
def test_the_made_up_world_is_measured_through_the_command(cli: Cli, tmp_path: Path) -> None:
    words = ["--only", "scale,updates,filters", "--sizes", "600", "--embedded", "100"]
    kept = tmp_path / "cache"

    ran = cli(
        "bench", "recall", "--", *words, "--cache", str(kept), "--json", str(tmp_path / "out")
    )
    rows = json.loads((tmp_path / "out").read_text(encoding="utf-8"))["figures"]

    found = {(each["part"], each["what"]): each["value"] for each in rows}
    assert found["scale 600", "lex hit@5"] == 1
    assert found["updates", "a retired fact at rank 1"] == 0
    assert found["updates", "the new fact at rank 1"] == 1
    assert found["filters 600", "found by tag"] == 1
    assert found["filters 600", "found by time"] == 1
    assert found["scale 600", "index"] > 0
    assert "| scale 600 | lex hit@5 |" in ran.out
    assert (kept / "world-600" / "index.db").exists()


def test_a_part_without_its_data_says_which_option_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stopped:
        recall.main(["--only", "beam,scale"])

    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert "--beam" in said
    assert "github.com/mohammadtavakoli78/BEAM" in said


def test_an_unknown_part_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stopped:
        recall.main(["--only", "locomo,nothing"])

    assert stopped.value.code == 2
    assert "precision" in capsys.readouterr().err


def test_weights_reach_recall_by_the_environment_and_only_meanwhile(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "weights.json", {})
    seen: list[str | None] = []

    def watch(homes: object, at: Path) -> list[object]:
        seen.append(os.environ.get(recall.WEIGHTS))
        return []

    monkeypatch.setitem(recall.ON_DATA, "ormah", ("ormah", watch))
    data = written(tmp_path / "golden.jsonl", GOLDEN)

    recall.main(["--only", "ormah", "--ormah", str(data), "--weights", str(path)])

    assert seen == [str(path)]
    assert recall.WEIGHTS not in os.environ
