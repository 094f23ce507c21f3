"""When a reply shows that a memory was used."""

from __future__ import annotations

import pytest

from madeleine.language.reply_use import reply_use_confidence, share_difference

CONTENT = "The staging cluster runs in Frankfurt. Deployments happen with flyctl from main."


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("As noted in 97ACBE8E, it is in Germany.", 1.0),
        ("See «Where staging runs» for details.", 0.95),
        ("Indeed: the staging  cluster runs in\nFrankfurt, so ping is low.", 0.9),
        ("It is the cluster in Frankfurt; deployments go through flyctl.", pytest.approx(0.85)),
        ("The weather in Paris is fine.", 0.0),
        ("", 0.0),
    ],
)
def test_the_plainest_sign_decides(reply: str, expected: float) -> None:
    assert reply_use_confidence(reply, "", "97acbe8e", "Where staging runs", CONTENT) == expected


def test_what_the_prompt_said_itself_tells_nothing() -> None:
    prompt = "does the staging cluster in Frankfurt run deployments with flyctl?"

    assert reply_use_confidence(prompt, prompt, "97acbe8e", None, CONTENT) == 0.0


def test_a_short_title_in_a_reply_is_chance() -> None:
    assert reply_use_confidence("we use tests", "", "97acbe8e", "tests", "run them") == 0.0


def test_a_difference_between_shares_is_surer_the_more_were_seen() -> None:
    few, many = share_difference((3, 10), (1, 10)), share_difference((300, 1000), (100, 1000))

    assert few[0] == many[0] == pytest.approx(0.2)
    assert few[1] > 0.2 > many[1] > 0


def test_shares_of_nothing_differ_by_nothing_and_may_be_anything() -> None:
    difference, margin = share_difference((0, 0), (0, 0))

    assert difference == 0
    assert margin > 0.9


def test_none_of_a_few_is_not_surely_none() -> None:
    assert share_difference((0, 3), (0, 3))[1] > 0.3
