"""Holds every answer that a test gets over HTTP to what /openapi.json says of it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from madeleine.server.openapi import build_openapi


@cache
def _routes() -> list[tuple[str, re.Pattern[str], Draft202012Validator]]:
    """Return the method, the paths and the schema of every route that answers with JSON."""
    document = build_openapi()
    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            right = min(operation["responses"])
            content = operation["responses"][right]["content"].get("application/json")
            if content is not None:
                schema = {**content["schema"], "components": close(document["components"])}
                pattern = re.compile(re.sub(r"{\w+}", "[^/]+", path))
                found.append((method.upper(), pattern, Draft202012Validator(schema)))
    return sorted(found, key=lambda each: "[" in each[1].pattern)  # whole names come first


def close(schema: Any) -> Any:
    """Return a schema in which an object has no field that is not named."""
    if isinstance(schema, list):
        return [close(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: close(each) for name, each in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        closed.setdefault("additionalProperties", False)
    return closed


def problems_of(method: str, path: str, answer: object) -> list[str]:
    """Return where an answer is not what the document says."""
    for known, pattern, validator in _routes():
        if known == method and pattern.fullmatch(path):
            return [f"{each.json_path}: {each.message}" for each in validator.iter_errors(answer)]
    return []
