"""The declarations of operations, the table made of them, and the page made from it."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import madeleine
from madeleine import api
from madeleine.api.contract.memories import CONTRACT
from madeleine.api.contract.responses import Health
from madeleine.api.contract.schema import SchemaBuilder
from madeleine.api.contract.shape import ShapeField
from madeleine.api.endpoint import NON_JSON_ROUTES, Endpoint
from madeleine.api.local import open_local
from madeleine.api.operation import Operation, operation
from madeleine.api.operations import (
    DECLARING_MODULES,
    OPERATION_BY_NAME,
    OPERATIONS,
    collect_operations,
)
from madeleine.api.reference import render_routes_page
from madeleine.api.request_fields import parse_query
from madeleine.errors import InvalidValue, Missing
from madeleine.model.people import Role
from madeleine.server.hook_service import HOOK_ROUTES
from madeleine.server.openapi import OPENAPI_ROUTE

SOURCE = Path(madeleine.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "routes.md"


def test_every_declaration_is_in_the_table() -> None:
    """A module that declares operations stands in `DECLARING_MODULES`."""
    names = [each.name for each in pkgutil.walk_packages(api.__path__, "madeleine.api.")]
    modules = [importlib.import_module(each) for each in names]

    declared = {value for each in modules for value in vars(each).values() if is_operation(value)}

    assert declared == set(OPERATIONS)
    assert len(OPERATION_BY_NAME) == len(OPERATIONS)


def is_operation(value: object) -> bool:
    return isinstance(value, Operation)


CALLING = frozenset({"call", "_call", "_get", "_post", "ask"})


def called_in(source: Path) -> set[str]:
    """Return the operations that a module calls by name."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    return {
        each.args[0].value
        for each in calls
        if getattr(each.func, "attr", getattr(each.func, "id", None)) in CALLING
        and each.args
        and isinstance(each.args[0], ast.Constant)
        and isinstance(each.args[0].value, str)
    }


def test_commands_doctor_and_python_call_what_is_declared() -> None:
    files = [*(SOURCE / "cli").rglob("*.py"), *(SOURCE / "agents").rglob("*.py")]
    called = set().union(*map(called_in, [*files, SOURCE / "api" / "madeleine.py"]))

    assert called <= set(OPERATION_BY_NAME)
    assert len(called) > 40


def declaring(name: str, path: str) -> ModuleType:
    """Return a module that declares one operation."""
    module = ModuleType("declaring")
    declare = operation(name, "GET", path, "a test", role=Role.READER, answer=Health)
    vars(module)["declared"] = declare(OPERATION_BY_NAME["health"].perform)
    return module


@pytest.mark.parametrize(
    ("name", "path", "problem"),
    [
        ("status", "/elsewhere", "two operations are called status"),
        ("other_status", "/admin/status", "two operations are at GET /admin/status"),
    ],
)
def test_a_name_or_a_path_that_is_declared_twice_is_refused(
    name: str, path: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        collect_operations([*DECLARING_MODULES, declaring(name, path)])


def test_an_operation_that_another_module_imports_counts_once() -> None:
    assert collect_operations([*DECLARING_MODULES, *DECLARING_MODULES]) == OPERATIONS


READ_BY_POST = frozenset(
    [
        *("recall", "connected", "whisper", "deed", "page_link", "page_alike"),
        *("hook_statusline",),
        *("hook_inject", "hook_delivered", "hook_undelivered"),
    ]
)


def test_a_reader_may_ask_only_for_what_changes_no_memory() -> None:
    known: list[Endpoint] = [*OPERATIONS, *HOOK_ROUTES, *NON_JSON_ROUTES, OPENAPI_ROUTE]

    asked = {each.name for each in known if each.role == "reader" and each.method != "GET"}

    assert asked == READ_BY_POST
    assert inspect.signature(operation).parameters["role"].default is inspect.Parameter.empty
    assert inspect.signature(Endpoint).parameters["role"].default is inspect.Parameter.empty


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
    assert parse_query(OPERATION_BY_NAME["list"].query_fields, given) == typed


def test_one_value_given_twice_is_refused() -> None:
    with pytest.raises(InvalidValue, match="`limit` is given more than once"):
        parse_query(OPERATION_BY_NAME["list"].query_fields, {"limit": ["1", "2"]})


def test_the_bounds_that_are_declared_are_those_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    tried: set[str] = set()
    with closing(open_local(tmp_path / "home")) as door:
        memory = str(door.call("remember", body={"content": "Within bounds"})["node_id"])

        def sample(field: ShapeField) -> object:
            if SchemaBuilder(CONTRACT).property_of(field).get("type") == "integer":
                return 0
            return [memory] if field.wire == "ids" else memory

        def ask(asked: Operation[Any], field: ShapeField, value: int) -> None:
            needed = {each.wire: sample(each) for each in asked.fields if each.is_required}
            given: dict[str, object] = {**needed, field.wire: value}
            tried.add(asked.name)
            if field in asked.query_fields:
                door.call(asked.name, memory, query=given)
            else:
                door.call(asked.name, memory, body=given)

        for asked in OPERATIONS:
            for field in asked.fields:
                schema = SchemaBuilder(CONTRACT).property_of(field)
                for bound, beyond in (("minimum", -1), ("maximum", 1)):
                    if schema.get("type") != "integer" or bound not in schema:
                        continue
                    try:
                        ask(asked, field, schema[bound])
                    except Missing:
                        pass  # the memory is no run and no change
                    with pytest.raises(InvalidValue, match=f"`{field.wire}`"):
                        ask(asked, field, schema[bound] + beyond)
    assert len(tried) >= 18
