"""One text out of several, the score of duplicates, and what a model's text must keep."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.extracts import extract_synthesis, find_central_member
from madeleine.language.overlap import levenshtein_distance, title_similarity, word_overlap
from madeleine.language.substance import find_lost_words
from madeleine.language.synthesis_check import MERGE_SHARE, SYNTHESIS_SHARE, find_synthesis_fault
from madeleine.model.memory import Memory
from madeleine.rules.duplicates import duplicate_score

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def memory(text: str, hours: int = 0, title: str | None = None) -> Memory:
    made = NOON + timedelta(hours=hours)
    return Memory(f"{hours:032x}", text, made, made, title=title)


# -- extracts ---------------------------------------------------------------------------------


def test_what_is_said_twice_is_kept_once_in_the_order_of_time() -> None:
    members = [
        memory("Harbor moved to Postgres. Vera did it.", 2),
        memory("Harbor is a tool for sailors.", 1),
        memory("Vera did it. Nobody complained.", 3),
    ]

    found = extract_synthesis(members)

    assert found.content == (
        "Harbor:\n- is a tool for sailors.\n- moved to Postgres.\n\n"
        "Vera did it.\n\nNobody complained."
    )


def test_a_sentence_that_denies_another_is_not_taken_for_it() -> None:
    found = extract_synthesis(
        [memory("Harbor uses SQLite."), memory("Harbor no longer uses SQLite.", 1)]
    )

    assert found.content == "Harbor:\n- uses SQLite.\n- no longer uses SQLite."


def test_other_numbers_and_directions_are_other_sentences() -> None:
    texts = ["Port 80 is open.", "Port 81 is open.", "Before noon eat.", "After noon eat."]

    found = extract_synthesis([memory(text, hours) for hours, text in enumerate(texts)])

    assert all(text in found.content for text in texts)


def test_a_longer_sentence_takes_the_place_of_a_shorter_one_beside_it() -> None:
    found = extract_synthesis([memory("Vera sails. Vera sails on Sundays in Oslo.")])

    assert found.content == "Vera sails on Sundays in Oslo."


def test_code_is_kept_in_one_piece() -> None:
    code = "```python\nimport os\n\nimport os\n```"

    assert code in extract_synthesis([memory(f"Run this:\n{code}\nThen rest.")]).content


def test_a_title_that_says_more_than_its_text_is_kept_as_a_sentence() -> None:
    found = extract_synthesis(
        [memory("It was a good day.", title="Launch of Lantern"), memory("Rest.", 1)]
    )

    assert "Launch of Lantern" in found.content


def test_the_title_is_what_most_members_have_in_common() -> None:
    members = [
        memory("Bananas are yellow.", 1, "Bananas"),
        memory("Harbor uses Postgres in Oslo.", 2, "Harbor and Postgres"),
        memory("Postgres of Harbor is slow.", 3, "Slow"),
    ]

    assert find_central_member(members).title in ("Harbor and Postgres", "Slow")
    assert extract_synthesis(members).title == "Harbor: Postgres"


PIECES = st.sampled_from(
    [
        "Vera ",
        "not ",
        "uses ",
        "SQLite",
        "3",
        "4.5 ",
        ". ",
        "\n",
        "! ",
        "```",
        "東京",
        "no ",
        "it's",
    ]
)
TEXTS = st.lists(
    st.lists(PIECES | st.characters(), max_size=40).map("".join), min_size=1, max_size=5
)


@given(texts=TEXTS, titles=st.lists(st.none() | st.text(max_size=20), min_size=5, max_size=5))
def test_no_telling_word_of_a_member_is_lost(texts: list[str], titles: list[str | None]) -> None:
    members = [
        memory(text, hours, title or None)
        for hours, (text, title) in enumerate(zip(texts, titles, strict=False))
    ]

    found = extract_synthesis(members)

    said = f"{found.title}\n{found.content}"
    originals = [f"{each.title or ''}\n{each.content}" for each in members]
    assert not find_lost_words(said, originals)


@given(texts=TEXTS)
def test_extracting_twice_says_no_more_than_once(texts: list[str]) -> None:
    once = extract_synthesis([memory(text, hours) for hours, text in enumerate(texts)])
    twice = extract_synthesis([memory(once.content), memory(once.content, 1)])

    assert not find_lost_words(once.content, [twice.content])


# -- duplicates -------------------------------------------------------------------------------


def test_the_score_is_the_documented_composite() -> None:
    """0.6 similarity + 0.2 titles by Levenshtein + 0.2 words by Jaccard."""
    score = duplicate_score(
        0.9, title_similarity("kitten", "sitting"), word_overlap("a b c d", "c d e f")
    )

    assert score == pytest.approx(0.6 * 0.9 + 0.2 * (1 - 3 / 7) + 0.2 * 2 / 6)


def test_the_walk_through_is_worth_asking_about() -> None:
    texts = ("Chose SQLite for Ormah", "Ormah uses SQLite")

    assert duplicate_score(0.93, title_similarity(*texts), word_overlap(*texts)) >= 0.60


def test_a_likeness_below_nothing_counts_as_nothing() -> None:
    assert duplicate_score(-0.3, title_similarity("", ""), word_overlap("", "")) == pytest.approx(
        0.4
    )


@pytest.mark.parametrize(
    ("one", "two", "distance"),
    [("", "", 0), ("a", "", 1), ("", "ab", 2), ("kitten", "sitting", 3), ("flaw", "lawn", 2)],
)
def test_known_distances(one: str, two: str, distance: int) -> None:
    assert levenshtein_distance(one, two) == distance


def by_the_table(one: str, two: str) -> int:
    row = list(range(len(two) + 1))
    for place, letter in enumerate(one, 1):
        above, row[0] = row[0], place
        for column, other in enumerate(two, 1):
            above, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, above + (letter != other)),
            )
    return row[-1]


@given(st.text("abcé", max_size=70), st.text("abcé", max_size=70))
def test_distances_are_those_of_the_table(one: str, two: str) -> None:
    assert levenshtein_distance(one, two) == by_the_table(one, two)


@given(st.text(max_size=40), st.text(max_size=40))
def test_likenesses_lie_between_nothing_and_all(one: str, two: str) -> None:
    assert 0 <= title_similarity(one, two) <= 1
    assert 0 <= word_overlap(one, two) <= 1
    assert title_similarity(one, one) == word_overlap(two, two) == 1


# -- texts of a model -------------------------------------------------------------------------

ORIGINALS = [
    ("Rent", "Vera pays 900 euros for the flat in Oslo."),
    (None, "The flat in Oslo has 3 rooms."),
]


def test_a_text_that_keeps_everything_is_fine() -> None:
    text = "Vera pays 900 euros of rent for the flat in Oslo, which has 3 rooms."

    assert find_synthesis_fault("Rent", text, ORIGINALS, MERGE_SHARE) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Vera pays for the flat in Oslo, which has 3 rooms, in euros.", "loses a number"),
        ("Vera pays 900 euros of rent for the flat there with 3 rooms.", "a number or a name"),
        ("Vera pays 900 euros in Oslo, flat, 3 rooms, since 2019.", "makes up a number"),
        ("Vera pays 900 euros to Petra in Oslo for a flat of 3 rooms.", "makes up"),
        ("Vera: 900, 3, Oslo.", "loses too many words"),
        ("Vera never pays 900 euros for the flat in Oslo with 3 rooms.", "denies"),
    ],
)
def test_a_text_that_loses_or_invents_is_refused(text: str, problem: str) -> None:
    assert problem in find_synthesis_fault("Rent", text, ORIGINALS, SYNTHESIS_SHARE)


def test_what_replaces_a_memory_has_to_keep_every_word() -> None:
    text = "Vera pays 900 euros for a flat in Oslo of 3."

    assert find_synthesis_fault("Rent", text, ORIGINALS, 0.6) == ""
    assert "loses a word" in find_synthesis_fault("Rent", text, ORIGINALS, MERGE_SHARE)


def test_zones_that_differ_in_a_letter_are_both_kept() -> None:
    members = [memory("It runs. Zone B is used."), memory("It runs. Zone C is used.", 1)]

    assert extract_synthesis(members).content == "It runs.\n\nZone B is used.\n\nZone C is used."


@pytest.mark.parametrize(
    ("texts", "wording", "problem"),
    [
        (
            ["Atlas has 3 replicas in zone A", "Atlas has 5 replicas in zone B"],
            "Atlas has 3 replicas in zone A",
            "it loses a number or a name",
        ),
        (["It takes 5 s", "It takes 5 ms"], "It takes 5 ms", "it loses a number or a name"),
        (["It costs 10 $", "It costs 10 €"], "It costs 10 $", "it loses a number or a name"),
        (["The pump is on", "The pump is off"], "The pump is on", "it turns something round"),
        (["Send it to us", "Send it to them"], "Send it to us", "it turns something round"),
        (
            ["Trains run from Oslo to Bergen", "Trains run daily"],
            "Trains run daily to Oslo from Bergen",
            "it turns something round",
        ),
    ],
)
def test_a_synthesis_that_loses_a_letter_or_a_small_word_is_refused(
    texts: list[str], wording: str, problem: str
) -> None:
    assert (
        find_synthesis_fault("", wording, [(None, text) for text in texts], SYNTHESIS_SHARE)
        == problem
    )


def test_a_merged_text_must_not_exchange_numbers() -> None:
    originals = [(None, "Ana owes 5 and Ben owes 3"), (None, "Ana owes 5, Ben owes 3")]

    assert find_synthesis_fault("", "Ana owes 5 and Ben owes 3", originals, MERGE_SHARE) == ""
    assert "exchanges" in find_synthesis_fault(
        "", "Ana owes 3 and Ben owes 5", originals, MERGE_SHARE
    )


def test_a_merged_text_must_not_exchange_names() -> None:
    originals = [(None, "Ana likes Ben"), (None, "Ana likes Ben a lot")]

    assert find_synthesis_fault("", "Ana likes Ben a lot", originals, MERGE_SHARE) == ""
    assert "exchanges" in find_synthesis_fault("", "Ben likes Ana a lot", originals, MERGE_SHARE)
