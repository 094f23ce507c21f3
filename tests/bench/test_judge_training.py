"""How the weights of the local judge are learned, on pairs that were made for it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bench._sleep_pairs import same, spoil
from bench.training._judge_fit import Examples, fit, folds
from bench.training._judge_pairs import made
from bench.training.train_judge import examples_of, main, pairs_of
from madeleine.language.pair_signs import LEARNT_RELATIONS, SIGNS
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.judges.local import LocalJudge
from madeleine.minds.judges.weights import shipped_weights
from madeleine.model.verdict import Relation


def test_the_same_seed_makes_the_same_pairs() -> None:
    assert made(3, 4) == made(3, 4)
    assert made(3, 4) != made(4, 4)


def test_every_relation_that_is_learnt_has_many_pairs() -> None:
    counts = Counter(each.relation for each in made(3, 12))

    assert set(counts) == set(LEARNT_RELATIONS)
    assert min(counts.values()) >= 50


def test_a_changed_pair_never_says_the_same() -> None:
    for each in made(5, 12):
        if each.relation is Relation.EVOLUTION:
            assert each.older != each.newer


def test_groups_are_left_out_whole() -> None:
    groups = np.array(["a", "b", "a", "c", "b"])
    seen = list(folds(groups, 2))

    assert sum(each.sum() for each in seen) == len(groups)
    for each in seen:
        assert not set(groups[each]) & set(groups[~each])


@pytest.mark.soak
def test_weights_are_learnt_from_what_the_judge_itself_sees() -> None:
    pairs = made(3, 12)
    given = pairs_of(pairs, FakeEmbedder())
    judge = LocalJudge(fit(examples_of(pairs, given)))

    right = [
        found is not None and found.relation is each.relation
        for found, each in zip(judge.judge(given), pairs, strict=True)
    ]

    assert np.mean(right) >= 0.75


@pytest.mark.soak
def test_a_sign_that_tells_gets_weight_and_noise_gets_little() -> None:
    dice = np.random.default_rng(1)
    rows = np.zeros((600, len(SIGNS)))
    truth = dice.integers(0, 2, 600) * (len(LEARNT_RELATIONS) - 1)
    rows[:, SIGNS.index("number_depth")] = (truth == 0) + dice.normal(0, 0.3, 600)
    rows[:, SIGNS.index("gone")] = dice.normal(0, 1, 600)
    names = np.array(["one"] * 600)

    weights = fit(Examples(rows, truth, names, names)).conflict.weights["evolution"]

    assert weights["number_depth"] > 1
    assert abs(weights["gone"]) < weights["number_depth"] / 5


def test_people_and_spoiling_decide_what_is_the_same() -> None:
    assert same({"set": "sts-b", "label": 4.2})
    assert not same({"set": "sick", "label": "contradiction"})
    assert same({"set": "mrpc", "label": 1})
    assert list(spoil("On Monday Vera is 3 years old")) == [
        "On Monday Vera is 4 years old",
        "On Quillon Vera is 3 years old",
        "On Monday Vera is not 3 years old",
    ]
    assert list(spoil("It is not so")) == []


def test_the_shipped_weights_were_learnt_from_invented_pairs_only() -> None:
    text = Path("src/madeleine/minds/judges/weights.json").read_text(encoding="utf-8")

    assert "invented pairs" in text
    assert shipped_weights().version >= 1


def test_an_unknown_word_on_the_command_line_is_refused() -> None:
    with pytest.raises(SystemExit):
        main(["--nonsense"])
