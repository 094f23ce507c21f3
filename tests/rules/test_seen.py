"""When a reply shows that a memory was used."""

from __future__ import annotations

import pytest

from madeleine.rules.seen import seen_use

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
    assert seen_use(reply, "", "97acbe8e", "Where staging runs", CONTENT) == expected


def test_what_the_prompt_said_itself_tells_nothing() -> None:
    prompt = "does the staging cluster in Frankfurt run deployments with flyctl?"

    assert seen_use(prompt, prompt, "97acbe8e", None, CONTENT) == 0.0


def test_a_short_title_in_a_reply_is_chance() -> None:
    assert seen_use("we use tests", "", "97acbe8e", "tests", "run them") == 0.0
