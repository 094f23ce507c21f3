"""Which words of two notes a question names: only those that both texts show."""

from __future__ import annotations

import pytest

from madeleine.language.changed_words import find_changed_words


@pytest.mark.parametrize(
    ("older", "newer", "was", "now"),
    [
        (
            "The on-call phone is with Piotr",
            "The on-call phone is with Selma now",
            "Piotr",
            "Selma",
        ),
        ("The wiki is in Confluence", "The wiki is in Outline since May", "Confluence", "Outline"),
        ("Ana lives in Ghent", "Ana moved to Turin", "Ghent", "Turin"),
        (
            "Timesheets are due on Friday by four",
            "Hand timesheets in by Monday",
            "Friday",
            "Monday",
        ),
        ("El taller abre a las nueve", "El taller abre ahora a las ocho", "nueve", "ocho"),
        ("Die Probe ist am Montag", "Die Probe ist jetzt am Dienstag", "Montag", "Dienstag"),
    ],
)
def test_the_value_that_took_anothers_place_is_named_as_written(
    older: str, newer: str, was: str, now: str
) -> None:
    assert find_changed_words(older, newer) == (was, now)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Atlas deploys on Fridays", "Atlas is deployed with Hetzner"),
        ("The boat lies in Roskilde in winter", "The boat is 9 metres long"),
        ("Usamos MySQL para los pedidos", "Cambiamos de MySQL a Postgres para los pedidos"),
        ("Die Tomaten stehen an der Südwand", "Die Tomaten sind Ochsenherzen"),
        ("We invoice monthly in euros", "Invoices leave every quarter, and in Swiss francs"),
    ],
)
def test_where_the_texts_do_not_show_it_no_words_are_named(older: str, newer: str) -> None:
    assert find_changed_words(older, newer) is None
