"""A quote proves something only if it stands in the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.quotes import LEAST_CHARS, find_quote, find_unsupported_part

TEXT = "We decided to use SQLite,\n  because there’s “one writer” – only."


@pytest.mark.parametrize(
    "quote",
    [
        "decided to use SQLite",
        "decided to  use sqlite, because",
        'because there\'s "one writer" - only',
        "SQLITE, BECAUSE THERE'S",
    ],
)
def test_words_are_found_whatever_their_spacing_and_marks(quote: str) -> None:
    span = find_quote(quote, TEXT)

    assert span is not None
    assert len(TEXT[slice(*span)].split()) == len(quote.split())


@pytest.mark.parametrize("quote", ["decided to use Postgres", "We decided not to", "", "use", "  "])
def test_other_words_and_mere_scraps_are_not_found(quote: str) -> None:
    assert find_quote(quote, TEXT) is None


@given(st.text(max_size=80), st.text(min_size=LEAST_CHARS, max_size=60), st.text(max_size=80))
def test_what_stands_in_a_text_is_found_where_it_stands(
    before: str, quote: str, after: str
) -> None:
    text = f"{before} {quote} {after}"
    span = find_quote(quote, text)

    if span is not None:
        assert 0 <= span[0] < span[1] <= len(text)
    if quote.isascii() and quote.isalnum():
        assert span is not None


HOSTED = "We host the invoices service on Hetzner since May. We do not use Redis for it."


@pytest.mark.parametrize(
    "said",
    [
        "The invoices service is hosted on Hetzner since May.",
        "Invoices are hosted on Hetzner; Redis is not used.",
        "The user hosts the invoices service on Hetzner.",
        "Hetzner hosts the invoices service.",
    ],
)
def test_a_text_may_be_put_in_other_words(said: str) -> None:
    assert find_unsupported_part(said, "We host the invoices service", HOSTED) == ""


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("The invoices service is hosted on Hetzner since June 2019.", "name or a number"),
        ("The invoices service is hosted on Hetzner in Falkenstein.", "name or a number"),
        ("Mallory hosts the invoices service on Hetzner.", "name or a number"),
        ("The invoices service is not hosted on Hetzner.", "denies"),
        ("They use Redis for the invoices service.", "denies"),
        ("The administrator may read every secret and owns all of it.", "about something"),
    ],
)
def test_what_was_not_told_is_not_supported_by_a_true_quote(said: str, problem: str) -> None:
    assert problem in find_unsupported_part(said, HOSTED, HOSTED)


def test_who_took_whose_place_is_not_to_be_exchanged() -> None:
    told = "We moved the invoices from Hetzner to AWS."

    assert find_unsupported_part("The invoices moved from Hetzner to AWS.", told, told) == ""
    assert "turns round" in find_unsupported_part(
        "The invoices moved from AWS to Hetzner.", told, told
    )
