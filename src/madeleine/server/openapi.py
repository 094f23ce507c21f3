"""/openapi.json, made from the operations."""

from __future__ import annotations

import re

from madeleine.api.contract.memories import CONTRACT, ErrorAnswer
from madeleine.api.contract.schema import JsonSchema, SchemaBuilder
from madeleine.api.contract.shape import ShapeField
from madeleine.api.endpoint import NON_JSON_ROUTES, Endpoint, NonJsonEndpoint
from madeleine.api.operation import Operation
from madeleine.api.operations import OPERATIONS
from madeleine.model.people import Role
from madeleine.server.automem.door import CANNOT_WORK
from madeleine.server.automem.routes import AUTOMEM_ROUTES, AutomemRoute
from madeleine.server.ormah_routes import ORMAH_ROUTES, OrmahRoute
from madeleine.version import __version__

OPENAPI_ROUTE = Endpoint(
    "openapi", "GET", "/openapi.json", "this description of the routes", Role.READER
)

_ERROR_BY_STATUS = {
    "401": "no valid token",
    "403": "a foreign Host or Origin, or not yours to do",
    "404": "not there",
    "409": "it changed, or the id fits several",
    "413": "too large",
    "422": "can never work as sent",
    "429": "too many requests at once",
    "500": "stored bytes make no sense, or a bug",
    "503": "try again later",
}
_TEXT_SCHEMA: JsonSchema = {"type": "string"}


def build_openapi() -> JsonSchema:
    """Return the OpenAPI 3.1 document."""
    paths: JsonSchema = {}
    schemas = SchemaBuilder(CONTRACT, null_is_absent=True)
    for route in (*OPERATIONS, *NON_JSON_ROUTES, OPENAPI_ROUTE, *ORMAH_ROUTES, *AUTOMEM_ROUTES):
        paths.setdefault(route.path, {})[route.method.lower()] = _describe_endpoint(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Madeleine",
            "version": __version__,
            "summary": "Memory for AI agents: markdown files on your own disk",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas.named,
            "securitySchemes": {"token": _describe_security()},
        },
    }


def _describe_security() -> JsonSchema:
    return {
        "type": "http",
        "scheme": "bearer",
        "description": "run/token of the home folder, or a person's; the unix socket needs none",
    }


def _describe_endpoint(route: Endpoint, schemas: SchemaBuilder) -> JsonSchema:
    query = route.query_fields if isinstance(route, Operation) else ()
    described: JsonSchema = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [
            *_path_parameters(route),
            *(_describe_parameter(each, schemas) for each in query),
        ],
        "responses": {"200": _describe_answer(route, schemas), **_describe_errors(schemas)},
    }
    if isinstance(route, AutomemRoute):
        described["responses"] = _describe_automem_answers(route)
        if route.method in ("POST", "PATCH"):
            content = {"application/json": {"schema": {"type": "object"}}}
            described["requestBody"] = {"required": False, "content": content}
    if isinstance(route, Operation) and route.body:
        content = {"application/json": {"schema": schemas.of(route.body)}}
        is_needed = any(each.is_required for each in route.body_fields)
        described["requestBody"] = {"required": is_needed, "content": content}
    if route.open:
        described["security"] = []
    return described


def _describe_automem_answers(route: AutomemRoute) -> JsonSchema:
    """Return what a route of AutoMem answers: docs/reference/automem.md says more."""
    content = {"application/json": {"schema": {"type": "object"}}}
    refused = {"400": "can never work as sent", **_ERROR_BY_STATUS}
    return {
        str(route.status): {"description": route.summary, "content": content},
        **{
            status: {"description": why, "content": content}
            for status, why in refused.items()
            if status != str(CANNOT_WORK)
        },
    }


def _path_parameters(route: Endpoint) -> list[JsonSchema]:
    names = re.findall(r"{(\w+)}", route.path)
    help_text = "a whole id, a short id or an unambiguous prefix"
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": _TEXT_SCHEMA,
            "description": help_text,
        }
        for name in names
    ]


def _describe_parameter(field: ShapeField, schemas: SchemaBuilder) -> JsonSchema:
    schema = schemas.property_of(field)
    return {
        "name": field.wire,
        "in": "query",
        "required": field.is_required,
        "description": schema.pop("description", ""),
        "schema": schema,
    }


def _describe_answer(route: Endpoint, schemas: SchemaBuilder) -> JsonSchema:
    if isinstance(route, NonJsonEndpoint):
        content = {route.media_type: {"schema": _TEXT_SCHEMA}}
        return {"description": route.content, "content": content}
    bare: JsonSchema = {} if isinstance(route, OrmahRoute) else {"type": "object"}
    schema = schemas.of(route.answer) if isinstance(route, Operation) else bare
    return {"description": route.summary, "content": {"application/json": {"schema": schema}}}


def _describe_errors(schemas: SchemaBuilder) -> JsonSchema:
    content = {"application/json": {"schema": schemas.of(ErrorAnswer)}}
    return {
        status: {"description": why, "content": content} for status, why in _ERROR_BY_STATUS.items()
    }
