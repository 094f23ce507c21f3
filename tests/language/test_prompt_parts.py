"""The parts of a prompt that asks for several things."""

from __future__ import annotations

import pytest

from madeleine.language.prompt_parts import MOST_PARTS, READ_CHARS, split_prompt


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        (
            "set up the database layer, then reset the staging server",
            ["set up the database layer", "reset the staging server"],
        ),
        (
            "rename the pay module and then check the nightly export. After that, tell Marta",
            ["rename the pay module", "check the nightly export", "tell Marta"],
        ),
        (
            "Schreib die Einladung für Samstag, danach buche den Tisch im Adler",
            ["Schreib die Einladung für Samstag", "buche den Tisch im Adler"],
        ),
        (
            "prépare la facture de mars, puis relance le client suisse",
            ["prépare la facture de mars", "relance le client suisse"],
        ),
        (
            "обнови сервер сборки, затем проверь ночной отчёт",
            ["обнови сервер сборки", "проверь ночной отчёт"],
        ),
    ],
)
def test_a_prompt_is_split_where_it_goes_on_to_something_else(
    prompt: str, parts: list[str]
) -> None:
    assert [each for each in split_prompt(prompt) if len(each.split()) > 2] == [
        each for each in parts if len(each.split()) > 2
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "set up the database layer",
        "since then the staging server is slow",
        "what happened then, in the end, with the old bridge?",
        "find an hour with Dirk next week, preferably Wednesday",
        "reset staging, then",
        "let x = 1; then = 2; print(x)",
        "do it, then do it again",
    ],
)
def test_a_prompt_that_asks_for_one_thing_has_no_parts(prompt: str) -> None:
    assert split_prompt(prompt) == []


def test_a_part_that_says_too_little_is_left_out_and_the_other_stands_alone() -> None:
    assert split_prompt("what are the dunning fees, then which one do we use?") == [
        "what are the dunning fees"
    ]


def test_a_long_text_has_no_parts_and_a_list_of_tasks_only_the_first_few() -> None:
    task = "check the invoices of the Bern office"

    assert split_prompt(f"{task}, then {task}" + " and so on" * READ_CHARS) == []
    assert len(split_prompt(", then ".join([task] * 6))) == MOST_PARTS
