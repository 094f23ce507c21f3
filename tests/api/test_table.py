"""The table, what stands behind it, and the page made from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.api.contract.table import SHAPES
from madeleine.api.operations import OPERATIONS
from madeleine.api.params import typed_query
from madeleine.api.reference import routes_page
from madeleine.api.routes import BY_NAME, ROUTES
from madeleine.errors import InvalidValue

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "routes.md"


def test_every_route_has_an_operation_and_none_is_left_over() -> None:
    assert set(OPERATIONS) == set(SHAPES) == set(BY_NAME)
    assert len(BY_NAME) == len(ROUTES)
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_the_routes_page_is_the_one_the_table_makes() -> None:
    """`python -m madeleine.api.reference > docs/reference/routes.md` brings it up to date."""
    assert PAGE.read_text(encoding="utf-8") == routes_page()


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ({"types": "fact,goal"}, {"types": ["fact", "goal"]}),
        ({"types": ["fact", "goal,event"]}, {"types": ["fact", "goal", "event"]}),
        ({"types": ("fact",)}, {"types": ["fact"]}),
        ({"types": ""}, {"types": []}),
        ({"limit": "7"}, {"limit": 7}),
        ({"limit": 7}, {"limit": 7}),
        ({"limit": "seven"}, {"limit": "seven"}),
        ({"limit": "9" * 5_000}, {"limit": "9" * 5_000}),
        ({"outdated": "true"}, {"outdated": True}),
        ({"outdated": "false"}, {"outdated": False}),
        ({"outdated": "1"}, {"outdated": "1"}),
        ({"created_after": "2026-01-01"}, {"created_after": "2026-01-01"}),
        ({"unknown": "x"}, {"unknown": "x"}),
    ],
)
def test_parameters_become_what_the_table_says_they_are(
    given: dict[str, object], typed: dict[str, object]
) -> None:
    assert typed_query("list", given) == typed


def test_one_value_given_twice_is_refused() -> None:
    with pytest.raises(InvalidValue, match="`limit` is given more than once"):
        typed_query("list", {"limit": ["1", "2"]})
