"""The types of the page: what the daemon answers, as TypeScript."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from madeleine.api.contract.schema import JsonSchema, SchemaBuilder
from madeleine.api.contract.shape import Contract

FILE_HEADER = """\
/* What the daemon answers. Made from `madeleine.api.contract` by `make docs`; do not edit it. */
"""


def render_typescript(contract: Contract, kinds: Iterable[Any]) -> str:
    """Return a module with an interface for every shape that these types hold."""
    schemas = SchemaBuilder(contract, prefix="")
    for each in kinds:
        schemas.of(each)
    found = (_render_interface(name, schema) for name, schema in sorted(schemas.named.items()))
    return "\n".join([FILE_HEADER, *found])


def _render_interface(name: str, schema: JsonSchema) -> str:
    lines = [f"/** {schema['description']} */"] if schema.get("description") else []
    lines.append(f"export interface {name} {{")
    for field, given in schema["properties"].items():
        if given.get("description"):
            lines.append(f"  /** {given['description']} */")
        mark = "" if field in schema["required"] else "?"
        lines.append(f"  {field}{mark}: {_render_type(given)}")
    if schema.get("additionalProperties"):
        lines.append("  [name: string]: unknown")
    return "\n".join([*lines, "}", ""])


def _render_type(schema: JsonSchema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_render_type(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(_render_literal(each) for each in schema["enum"])
    names = schema.get("type", "unknown")
    if isinstance(names, list):
        return " | ".join(_render_type({**schema, "type": each}) for each in names)
    return _TYPESCRIPT_BY_JSON_TYPE.get(names) or _render_container(names, schema)


def _render_literal(value: object) -> str:
    if value is None:
        return "null"
    return f"'{value}'" if isinstance(value, str) else str(value)


def _render_container(name: str, schema: JsonSchema) -> str:
    """Return the type of a list or of a table."""
    if name == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {_render_type(values) if values else 'unknown'}>"
    if "prefixItems" in schema:
        return f"[{', '.join(_render_type(each) for each in schema['prefixItems'])}]"
    item = _render_type(schema["items"])
    return f"({item})[]" if "|" in item else f"{item}[]"


_TYPESCRIPT_BY_JSON_TYPE = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "unknown": "unknown",
}
