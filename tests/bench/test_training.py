"""What the training of recall's weights promises: the same stores for the same seed, labels that
are true, weights that keep their signs, and chances that mean something."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.training.calibration import (
    OWN,
    Scored,
    auc,
    calibration_error,
    chances,
    fit_calibration,
    judge,
    reliability,
)
from bench.training.collecting import Gathered, gather, home_of, scored_of
from bench.training.descent import Vector, minimise
from bench.training.dialogues import dialogues
from bench.training.fit import Example, fit_listwise, leave_one_out, sums_of
from bench.training.heads import GROUPS, HEADS, WIDER_GROUPS, HeadPlan
from bench.training.heads import OTHER_HEADS as OTHER_PLANS
from bench.training.metrics import measure
from bench.training.negatives import negatives, swap_names
from bench.training.notes import KEPT_EVERY, notes
from bench.training.projection import texts_of
from bench.training.texts import Topic, asked_of, asked_of_me, read_phrases, read_topics
from bench.training.train_recall import figures_line, fit_head, left_out, main, weights_file
from bench.training.values import About, Item, Question, Store
from madeleine import Madeleine
from madeleine.recall.features import READ_BY_TOKEN
from madeleine.recall.scoring import LEAD
from madeleine.recall.weights import (
    ENGLISH_HEADS,
    OTHER_HEADS,
    read_weights,
    shipped_weights,
)
from madeleine.recall.weights import HEADS as recall_heads
from madeleine.rules.fusion import Calibration

PLACE = re.compile(r"\{\w+\}")
MAKERS = pytest.mark.parametrize("make", [dialogues, notes])
Make = Callable[[int, int], list[Store]]


def example(rows: list[list[float]], gold: list[bool], total: int = 0, kind: str = "") -> Example:
    return Example(np.array(rows, np.float32), np.array(gold), total or sum(gold), kind)


def noisy_examples(seed: int, count: int = 60) -> list[Example]:
    """Questions whose answer is told by the first feature, told against by the second, and
    not by the third."""
    dice = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        rows = dice.normal(size=(12, 3)).astype(np.float32)
        gold = np.zeros(12, np.bool_)
        gold[int(np.argmax(rows[:, 0] - 0.5 * rows[:, 1] + 0.3 * dice.normal(size=12)))] = True
        made.append(Example(rows, gold, 1))
    return made


# -- stores --------------------------------------------------------------------------------


@MAKERS
def test_the_same_seed_makes_the_same_stores(make: Make) -> None:
    assert make(2, 7) == make(2, 7)


@MAKERS
def test_another_seed_makes_other_stores(make: Make) -> None:
    assert make(1, 7)[0].memories != make(1, 8)[0].memories


@MAKERS
def test_every_answer_is_a_memory_of_its_store(make: Make) -> None:
    for store in make(3, 7):
        ids = [each.id for each in store.memories]

        assert len(set(ids)) == len(ids)
        assert all(each.gold and each.gold <= set(ids) for each in store.questions)


@MAKERS
def test_no_place_for_a_word_is_left_open(make: Make) -> None:
    for store in make(4, 7):
        texts = [each.text for each in store.memories] + [each.text for each in store.questions]

        assert [text for text in texts if PLACE.search(text)] == []


def test_a_dialogue_asks_in_four_ways_and_mostly_for_details() -> None:
    asked = [each for store in dialogues(4, 11) for each in store.questions]
    share = {k: sum(q.kind == k for q in asked) / len(asked) for k in {q.kind for q in asked}}

    assert set(share) == {"detail", "time", "several", "open"}
    assert 0.45 < share["detail"] < 0.6
    assert 0.1 < share["several"] < 0.25


def test_a_question_for_a_detail_names_who_answered_it() -> None:
    for store in dialogues(2, 11):
        by_id = {each.id: each for each in store.memories}
        for asked in (each for each in store.questions if each.kind == "detail"):
            (answer,) = (by_id[name] for name in asked.gold)
            assert answer.speaker is not None
            assert answer.speaker in asked.text


def test_a_question_for_a_month_is_answered_by_all_that_was_told_in_it() -> None:
    (store,) = dialogues(1, 11)
    by_id = {each.id: each for each in store.memories}
    dated = [each for each in store.questions if each.kind == "time" and each.about is None]

    assert dated
    for asked in dated:
        months = {f"{by_id[name].created:%B %Y}" for name in asked.gold}
        assert len(months) == 1
        assert months.pop().split()[0] in asked.text


def test_kept_notes_have_titles_and_chats_have_sessions() -> None:
    chat, kept = notes(2, 5)

    assert all(each.session and each.title is None for each in chat.memories)
    assert all(each.session is None for each in kept.memories)
    assert sum(each.title is not None for each in kept.memories) > len(kept.memories) / 2


def test_an_instruction_is_found_by_a_request_on_its_topic() -> None:
    (store,) = notes(1, 5)
    by_id = {each.id: each for each in store.memories}
    asked = [each for each in store.questions if each.kind == "instruction"]

    assert asked
    for each in asked:
        assert each.about is not None
        (topic,) = (t for t in _all_topics() if t.name == each.about.topic)
        assert all(topic.label in by_id[name].text for name in each.gold)


def test_questions_read_well_in_both_persons() -> None:
    asked = "What is the problem with {P}'s {i} for {M}, and what does {P} do?"

    assert asked_of(asked, "Vera", "a telescope") == (
        "What is the problem with Vera's telescope for Vera, and what does Vera do?"
    )
    assert asked_of_me(asked, "a telescope") == (
        "What is the problem with my telescope for me, and what do I do?"
    )


def test_every_text_has_only_places_that_are_filled() -> None:
    for topic in _all_topics():
        asked = [*topic.several, *topic.open, *(a for d in topic.details for a in d.asked)]
        assert {p for text in asked for p in PLACE.findall(text)} <= {"{P}", "{M}", "{i}"}
        assert all(PLACE.findall(each.told) == ["{T}"] for each in topic.things)
        assert len(topic.details) >= 3


# -- questions without an answer -----------------------------------------------------------


@pytest.mark.soak
def test_questions_without_an_answer_come_in_four_kinds() -> None:
    stores = dialogues(3, 11)

    found = negatives(stores[0], stores, 10, 1)

    assert {each.kind for each in found} == {"small", "task", "other", "swap"}
    assert all(not each.gold for each in found)
    assert found == negatives(stores[0], stores, 10, 1)


@pytest.mark.soak
def test_foreign_questions_do_not_name_who_speaks_here() -> None:
    stores = dialogues(4, 11)

    found = [each.text for each in negatives(stores[0], stores, 50, 1) if each.kind == "other"]

    assert found
    assert not [text for text in found for name in stores[0].speakers if name in text]


@pytest.mark.soak
def test_swapped_questions_are_about_who_speaks_here_but_nothing_they_told() -> None:
    stores = dialogues(4, 11)
    here = stores[0]

    found = [each for each in negatives(here, stores, 50, 1) if each.kind == "swap"]

    assert found
    for each in found:
        assert any(name in each.text for name in here.speakers)
        assert each.about not in here.told
        assert each.about is not None
        if each.about.thing is None:
            assert each.about.topic not in {about.topic for about in here.told}


def test_a_notebook_is_asked_what_another_knows_about_a_common_topic() -> None:
    stores = notes(6, 5)
    here = stores[0]
    topics = {about.topic for about in here.told}

    found = [each for each in negatives(here, stores, 50, 1) if each.kind == "swap"]

    assert found
    assert all(each.about and each.about.topic in topics for each in found)
    assert all(each.about not in here.told for each in found)


def test_what_was_told_is_known_by_topic_and_thing() -> None:
    (store,) = notes(1, 5)

    assert all(isinstance(each, About) and each.thing for each in store.told)


def test_names_are_swapped_whole_and_shortened() -> None:
    assert swap_names("Did Vera meet Boris, and Bor agree?", ["Vera", "Boris"], ["Ada", "Cy"]) == (
        "Did Ada meet Cy, and Cy agree?"
    )


def test_small_talk_and_tasks_are_many_and_different() -> None:
    prompts = read_phrases("prompts")
    lines = [*prompts["small"], *prompts["task"]]

    assert len(lines) >= 120
    assert len(set(lines)) == len(lines)


# -- fitting -------------------------------------------------------------------------------


def test_descent_stops_at_a_bound() -> None:
    def bowl(weights: Vector) -> tuple[float, Vector]:
        away = weights - np.array([3.0, -2.0])
        return float(away @ away / 2), away

    found = minimise(bowl, np.array([-np.inf, 0.0]), np.array([np.inf, np.inf]), 200)

    assert found == pytest.approx([3.0, 0.0], abs=1e-3)


def test_the_fit_finds_what_tells_answers_from_others() -> None:
    signs = {"for": 0, "against": 0, "noise": 0}

    weights = fit_listwise(noisy_examples(1), list(signs), signs, l2=0.1)

    assert weights["for"] > 1
    assert weights["against"] < -0.5
    assert abs(weights["noise"]) < weights["for"] / 5


def test_the_loss_is_the_documented_one() -> None:
    """One feature, one question with two answers: Σ ln(1 + e^(other - answer)) / √2 + l2/2 w²,
    whose least point is found here by trying all."""
    asked = example([[1.0], [0.5], [0.8]], [True, True, False])
    rows = (asked.features[:, 0] - asked.features.mean()) / asked.features.std()

    def loss(weight: float) -> float:
        margins = [weight * (rows[2] - rows[0]), weight * (rows[2] - rows[1])]
        return float(sum(np.log1p(np.exp(m)) for m in margins) / 2**0.5 + 0.05 * weight**2)

    best = min(np.linspace(-5, 5, 20_001), key=loss)
    fitted = fit_listwise([asked], ["f"], {"f": 0}, l2=0.1, steps=500)["f"]

    assert fitted * asked.features.std() == pytest.approx(best, abs=2e-3)


def test_weights_do_not_depend_on_the_unit_of_a_feature() -> None:
    signs = {"for": 1, "against": -1, "noise": 0}
    metres = noisy_examples(2)
    miles = [Example(e.features * np.float32(1_000), e.gold, 1) for e in metres]

    one = fit_listwise(metres, list(signs), signs, l2=1)
    other = fit_listwise(miles, list(signs), signs, l2=1)

    assert other["for"] * 1_000 == pytest.approx(one["for"], rel=1e-2)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), signs=st.tuples(*[st.sampled_from([-1, 0, 1])] * 3))
def test_every_weight_keeps_its_sign(seed: int, signs: tuple[int, int, int]) -> None:
    names = ["one", "two", "three"]

    weights = fit_listwise(
        noisy_examples(seed, 8), names, dict(zip(names, signs, strict=True)), 1.0, 60
    )

    assert all(weights[name] * sign >= 0 for name, sign in zip(names, signs, strict=True))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_holding_weights_back_makes_them_smaller(seed: int) -> None:
    names = ["one", "two", "three"]
    free = dict.fromkeys(names, 0)
    asked = noisy_examples(seed, 10)

    loose = fit_listwise(asked, names, free, 0.5)
    tight = fit_listwise(asked, names, free, 50)

    assert sum(w * w for w in tight.values()) <= sum(w * w for w in loose.values())


def test_a_question_whose_answer_was_not_a_candidate_teaches_nothing() -> None:
    signs = {"for": 1, "against": -1, "noise": 0}
    asked = noisy_examples(3)
    lost = Example(np.full((5, 3), 9, np.float32), np.zeros(5, np.bool_), 1)

    assert fit_listwise([*asked, lost], list(signs), signs, 1) == fit_listwise(
        asked, list(signs), signs, 1
    )


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(ValueError, match="no question has an answer"):
        fit_listwise([example([[1.0]], [False], 1)], ["f"], {"f": 1}, 1)


def test_a_store_is_scored_by_weights_that_never_saw_it() -> None:
    names = ["f"]
    stores = {"a": [example([[1.0], [0.0]], [True, False])], "b": [example([[2.0]], [True])]}
    seen: list[int] = []

    def fit(rest: list[Example]) -> dict[str, float]:
        seen.append(len(rest[0].gold))
        return {"f": float(len(rest[0].gold))}

    sums = leave_one_out(stores, names, fit)

    assert seen == [1, 2]
    assert [found.tolist() for found in sums["a"]] == [[1.0, 0.0]]
    assert [found.tolist() for found in sums["b"]] == [[4.0]]


# -- figures -------------------------------------------------------------------------------


def test_figures_of_an_order_worked_out_by_hand() -> None:
    """Two answers of three are candidates, at places 1 and 6."""
    gold = np.array([False, True, False, False, False, False, True])
    asked = Example(
        np.zeros((7, 1), np.float32),
        gold,
        3,
        "several",
        sessions=np.array([4, 4, 5, 6, 7, 8, 9]),
        gold_sessions=frozenset({5, 9}),
    )

    figures = measure([(asked, -np.arange(7.0))])

    assert figures.recall == {5: 1 / 3, 10: 2 / 3, 20: 2 / 3, 60: 2 / 3}
    assert figures.mrr == 1 / 2
    assert figures.by_kind == {"several": 2 / 3}
    assert figures.sessions == {1: 0.0, 5: 1.0, 10: 1.0}
    ideal = 1 + 1 / np.log2(3) + 1 / 2
    assert figures.ndcg == pytest.approx((1 / np.log2(3) + 1 / 3) / ideal)


def test_a_question_without_its_answer_among_the_candidates_counts_as_missed() -> None:
    figures = measure([(example([[1.0]], [False], 1), np.ones(1))])

    assert figures.recall[60] == 0
    assert figures.mrr == 0


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_recall_grows_with_the_number_looked_at(seed: int) -> None:
    asked = noisy_examples(seed, 5)
    weights = {"one": 1.0, "two": -1.0, "three": 0.0}

    figures = measure((each, sums_of(each, list(weights), weights)) for each in asked)

    assert list(figures.recall.values()) == sorted(figures.recall.values())


# -- chances -------------------------------------------------------------------------------


def scored(seed: int, truth: Calibration, count: int, kind: str = OWN) -> list[Scored]:
    """Questions whose candidates are answers as often as `truth` says."""
    dice = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        evidence = {name: float(dice.uniform(0, 1)) for name in truth.evidence}
        asked = Scored(kind, dice.normal(size=10), np.zeros(10, np.bool_), evidence)
        made.append(
            Scored(kind, asked.sums, dice.uniform(size=10) < chances(truth, asked), evidence)
        )
    return made


def test_a_known_calibration_is_found_again() -> None:
    truth = Calibration(slope=1.5, bias=-2.0, evidence={"coverage": 2.0, "tokens": 0.0})

    found = fit_calibration(scored(1, truth, 2_000), list(truth.evidence), l2=0.0)

    assert found.slope == pytest.approx(1.5, abs=0.1)
    assert found.bias == pytest.approx(-2.0, abs=0.15)
    assert found.evidence["coverage"] == pytest.approx(2.0, abs=0.2)
    assert found.evidence["tokens"] == pytest.approx(0.0, abs=0.2)


def test_evidence_never_lowers_a_chance_even_where_the_data_say_so() -> None:
    truth = Calibration(slope=-1.0, bias=0.0, evidence={"coverage": -3.0})

    found = fit_calibration(scored(2, truth, 200), ["coverage"])

    assert found.evidence["coverage"] == 0
    assert found.slope > 0


def test_questions_without_an_answer_count_as_much_as_those_with_one() -> None:
    own = scored(3, Calibration(1.0, 0.0, {}), 100)
    none = scored(4, Calibration(1.0, -60.0, {}), 10, "small")

    once = fit_calibration([*own, *none], [], l2=0.0)
    thrice = fit_calibration([*own, *none, *none, *none], [], l2=0.0)

    assert once.bias < fit_calibration(own, [], l2=0.0).bias - 0.5
    assert once.bias == pytest.approx(thrice.bias, abs=0.02)


def test_true_chances_have_no_error_and_bold_ones_do() -> None:
    truth = Calibration(1.0, -0.5, {"coverage": 1.0})
    asked = scored(5, truth, 2_000)

    honest = judge(truth, asked)
    bold = judge(Calibration(3.0, 0.0, {"coverage": 3.0}), asked)

    assert honest.error < 0.02
    assert honest.middle_error < 0.03
    assert bold.middle_error > 0.1


def test_chances_of_unanswerable_questions_are_compared_by_kind() -> None:
    truth = Calibration(1.0, 0.0, {"coverage": 4.0})
    own = scored(6, truth, 50)
    hard = scored(7, truth, 50, "swap")
    easy = [Scored("small", np.full(3, -9.0), np.zeros(3, np.bool_), {"coverage": 0.0})] * 5

    report = judge(truth, [*own, *hard, *easy])

    assert report.auc["small"] == 1.0
    assert 0.3 < report.auc["swap"] < 0.7
    assert report.ceiling["small"] < 0.01 < report.ceiling["swap"]


def test_reliability_worked_out_by_hand() -> None:
    said = np.array([0.05, 0.05, 0.55, 1.0])
    was = np.array([False, False, True, True])

    bins = reliability(said, was)

    assert [(b.low, b.count, b.was) for b in bins] == [(0.0, 2, 0.0), (0.5, 1, 1.0), (0.9, 1, 1.0)]
    assert calibration_error(bins) == pytest.approx((0.05 * 2 + 0.45 + 0.0) / 4)


def test_auc_counts_ties_half() -> None:
    assert auc(np.array([1.0, 2.0]), np.array([1.0, 0.0])) == pytest.approx((0.5 + 1 + 1 + 1) / 4)


# -- heads ---------------------------------------------------------------------------------


def test_there_is_a_plan_for_every_head_of_recall() -> None:
    assert set(HEADS) == set(ENGLISH_HEADS)
    assert set(OTHER_PLANS) == set(OTHER_HEADS)


def test_every_group_that_is_left_out_names_features_of_a_head() -> None:
    known = {name for head in HEADS.values() for name in head.names}

    assert all(set(names) & known for names in (GROUPS | WIDER_GROUPS).values())


def _all_topics() -> list[Topic]:
    return [*read_topics("topics"), *read_topics("work")]


def test_texts_have_no_two_things_of_one_name() -> None:
    names = [thing.name for topic in _all_topics() for thing in topic.things]

    assert len(set(names)) == len(names)


# -- the whole way -------------------------------------------------------------------------


def small(store: Store, count: int = 60) -> Store:
    """Return the beginning of a store, with the questions that it can answer."""
    kept = store.memories[:count]
    ids = {each.id for each in kept}
    asked = [each for each in store.questions if each.gold <= ids][:12]
    return Store(store.name, kept, asked, store.told)


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Gathered]]:
    """What recall sees of a few questions, in homes with a model made of spelling."""
    folder = tmp_path_factory.mktemp("homes")
    stores = [small(each) for each in [*dialogues(2, 11), *notes(2, 5)]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        return {store.name: _gathered(folder, store, stores) for store in stores}


def _gathered(folder: Path, store: Store, stores: list[Store]) -> list[Gathered]:
    asked = [*store.questions, *negatives(store, stores, 4, 1)]
    return list(gather(home_of(folder, store), store, asked))


@pytest.mark.soak
def test_weights_are_learnt_from_what_recall_itself_computes(
    taught: dict[str, list[Gathered]],
) -> None:
    heads = {name: fit_head(plan, taught) for name, plan in HEADS.items()}

    read = read_weights(weights_file(heads, "a test"))

    assert set(read) == set(recall_heads)
    for name in HEADS:
        head = read[name]
        assert all(HEADS[name].signs[each] * w >= 0 for each, w in head.weights.items() if w)
        assert head.calibration.slope > 0
        assert all(weight > 0 for weight in head.calibration.evidence.values())
    assert read["dialogue"].weights["speaker"] > 0


def test_every_feature_of_a_plan_is_one_that_recall_computes(
    taught: dict[str, list[Gathered]],
) -> None:
    seen = [each for given in taught.values() for each in given if len(each.answers)]
    columns = set(seen[0].columns)

    plans = [*HEADS.values(), *OTHER_PLANS.values()]
    assert {name for plan in plans for name in plan.names} <= columns
    assert {name for names in GROUPS.values() for name in names} == columns - {READ_BY_TOKEN}
    assert {name for plan in HEADS.values() for name in plan.evidence} <= {LEAD, *seen[0].evidence}


def test_dialogues_are_weighed_as_dialogues_and_notes_as_notes(
    taught: dict[str, list[Gathered]],
) -> None:
    for name, gathered in taught.items():
        heads = {head for each in gathered for head in each.heads.tolist()}
        assert heads == {_head_of(name)}


def _head_of(store: str) -> str:
    """Return what weighs a store's memories: every third notebook has no sessions."""
    if store.startswith("dialogue"):
        return "dialogue"
    return "kept" if int(store.split("-")[1]) % KEPT_EVERY == 1 else "note"


@pytest.fixture
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Store]:
    """A home with an old price, the new one, and something else."""
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    texts = (
        "the ferry to the island costs 24 euros a car",
        "the ferry to the island costs 31 euros a car",
        "the ferry has no dogs on the upper deck",
    )
    memories = [Item(f"m{number}", text) for number, text in enumerate(texts)]
    asked = Question("what does the ferry to the island cost?", frozenset({"m1"}), "question")
    store = Store("prices", memories, [asked])
    return home_of(tmp_path, store), store


def test_training_takes_an_old_value_and_the_new_one_as_one_as_recall_does(
    prices: tuple[Path, Store],
) -> None:
    home, store = prices
    (given,) = gather(home, store, store.questions)
    head = str(given.heads[0])
    shipped = shipped_weights()[head].weights
    names = sorted(shipped)
    plan = HeadPlan((head,), dict.fromkeys(names, 1), (LEAD,), 1.0)
    text = store.questions[0].text

    scored = scored_of(given, plan, {each: shipped[each] for each in names})

    with Madeleine.open(home, in_process=True) as madeleine:
        hits = madeleine.recall(text, explain=True, all=True)
    parts = [hit.explained for hit in hits]
    said = sorted(part.evidence[LEAD] for part in parts if part is not None)
    leads = scored.evidence[LEAD]
    assert sorted(np.round(leads, 4).tolist()) == pytest.approx(said, abs=1e-3)
    assert sum(lead > 0 for lead in said) == 2


def test_figures_are_of_stores_that_were_left_out(taught: dict[str, list[Gathered]]) -> None:
    figures = left_out(HEADS["dialogue"], taught)

    assert figures.questions == sum(
        bool(each.question.gold)
        for name, given in taught.items()
        if name.startswith("dialogue")
        for each in given
    )
    assert figures.recall[20] > 0.3
    assert "R@10" not in figures_line("dialogue", figures)


def test_a_home_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    store = small(dialogues(1, 11)[0], 5)

    home = home_of(tmp_path, store)
    made = (home / "index.db").stat().st_mtime_ns

    assert home_of(tmp_path, store) == home
    assert (home / "index.db").stat().st_mtime_ns == made


def test_the_projection_is_made_of_memories_as_they_are_read() -> None:
    store = small(dialogues(1, 11)[0], 3)
    first = store.memories[0]

    line = next(iter(texts_of(store)))

    assert line.endswith(f"{first.speaker}: {first.text}")
    assert line.startswith(f"[{first.created:%-d %B %Y}]")


def test_sets_that_only_measure_need_the_place_where_they_are() -> None:
    with pytest.raises(SystemExit):
        main(["--cross-validate", "locomo"])
    with pytest.raises(SystemExit):
        main(["--cross-validate", "nonsense"])
