"""Fixtures that run a test once for every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.index.port import Index
from madeleine.testing.engines import Maker
from tests.contracts.engines import MAKERS

# `make test` has ten minutes. SQLite and PostgreSQL have the contract in it, FalkorDB a share; the
# rest of it, and Qdrant beside it, have their turn in `make soak`.
SHARE = ("test_index_gathering.py", "test_index_standing.py")

FEW = {
    "test_above_the_exact_size_neighbours_are_still_found": 1,
    "test_any_text_can_be_kept_replaced_and_dropped": 1,
    "test_any_text_may_be_asked_for": 1,
    "test_every_search_obeys_every_filter": 1,
    "test_every_source_obeys_every_filter": 1,
    "test_one_that_bears_the_tag_is_found_behind_many_others_that_do": 1,
    "test_the_few_that_are_relevant_are_found_among_many": 1,
    "test_an_event_of_an_odd_shape_stops_nothing": 16,
    "test_neighbours_in_bulk_are_those_found_one_by_one": 2,
    "test_letters_that_only_look_otherwise_are_the_same_letters": 10,
    "test_many_batches_of_changes_keep_meaning_and_rows_together": 1,
    "test_no_term_is_ever_taken_for_syntax": 14,
    "test_no_wanted_word_is_ever_taken_for_syntax": 12,
    "test_of_one_turn_and_time_the_ids_decide_whichever_was_written_first": 10,
    "test_one_opened_again_and_one_filled_anew_say_what_the_live_one_says": 4,
    "test_the_order_of_arrival_changes_no_answer": 8,
    "test_words_are_found_in_many_scripts": 10,
}
"""How many examples `make test` takes of tests that have many, over all engines."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if count := FEW.get(item.name.partition("[")[0]):
            item.add_marker(pytest.mark.few(count))
        if "falkordb" in item.name and not ("qdrant" not in item.name and item.path.name in SHARE):
            item.add_marker(pytest.mark.soak)


@pytest.fixture(params=MAKERS)
def make_index(request: pytest.FixtureRequest) -> Maker:
    return MAKERS[request.param]


@pytest.fixture
def index(make_index: Maker, tmp_path: Path) -> Iterator[Index]:
    opened = make_index(tmp_path)
    yield opened
    opened.close()
