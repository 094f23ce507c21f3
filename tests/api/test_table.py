"""The table, what stands behind it, and the page made from it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from madeleine.api.contract.memories import CONTRACT
from madeleine.api.contract.schema import SchemaBuilder
from madeleine.api.contract.shape import ShapeField
from madeleine.api.contract.table import SHAPES_BY_OPERATION
from madeleine.api.local import open_local
from madeleine.api.operations import OPERATIONS
from madeleine.api.query_parameters import parse_query
from madeleine.api.reference import render_routes_page
from madeleine.api.routes import NON_JSON_ROUTES, ROUTE_BY_NAME, ROUTES, Route
from madeleine.errors import InvalidValue, Missing
from madeleine.server.hook_service import HOOK_ROUTES
from madeleine.server.openapi import OPENAPI_ROUTE

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "routes.md"


def test_every_route_has_an_operation_and_none_is_left_over() -> None:
    assert set(OPERATIONS) == set(SHAPES_BY_OPERATION) == set(ROUTE_BY_NAME)
    assert len(ROUTE_BY_NAME) == len(ROUTES)
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


READ_BY_POST = frozenset(
    ["recall", "whisper", "hook_inject", "hook_delivered", "hook_undelivered", "page_link"]
)


def test_a_reader_may_ask_only_for_what_changes_no_memory() -> None:
    known = (*ROUTES, *HOOK_ROUTES, *NON_JSON_ROUTES, OPENAPI_ROUTE)

    asked = {each.name for each in known if each.role == "reader" and each.method != "GET"}

    assert asked == READ_BY_POST
    assert "role" not in Route._field_defaults


def test_the_routes_page_is_the_one_the_table_makes() -> None:
    """`python -m madeleine.api.reference > docs/reference/routes.md` brings it up to date."""
    assert PAGE.read_text(encoding="utf-8") == render_routes_page()


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
    assert parse_query("list", given) == typed


def test_one_value_given_twice_is_refused() -> None:
    with pytest.raises(InvalidValue, match="`limit` is given more than once"):
        parse_query("list", {"limit": ["1", "2"]})


def test_the_bounds_that_are_declared_are_those_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    tried: set[str] = set()
    with closing(open_local(tmp_path / "home")) as door:
        memory = str(door.call("remember", body={"content": "Within bounds"})["node_id"])

        def ask(name: str, field: ShapeField, value: int) -> None:
            shapes = SHAPES_BY_OPERATION[name]
            needed = {each.wire: memory for each in shapes.fields if each.is_required}
            given: dict[str, object] = {**needed, field.wire: value}
            tried.add(name)
            if field in shapes.query_fields:
                door.call(name, memory, query=given)
            else:
                door.call(name, memory, body=given)

        for name, shapes in SHAPES_BY_OPERATION.items():
            for field in shapes.fields:
                schema = SchemaBuilder(CONTRACT).property_of(field)
                for bound, beyond in (("minimum", -1), ("maximum", 1)):
                    if schema.get("type") != "integer" or bound not in schema:
                        continue
                    try:
                        ask(name, field, schema[bound])
                    except Missing:
                        pass  # the memory is no run and no change
                    with pytest.raises(InvalidValue, match=f"`{field.wire}`"):
                        ask(name, field, schema[bound] + beyond)
    assert len(tried) >= 18
