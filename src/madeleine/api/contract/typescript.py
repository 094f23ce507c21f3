"""The types of the page: what the daemon answers, as TypeScript."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from madeleine.api.contract.schema import Schema, Schemas
from madeleine.api.contract.shape import Contract

HEAD = """\
/* What the daemon answers. Made from `madeleine.api.contract` by `make docs`; do not edit it. */
"""


def typescript(contract: Contract, kinds: Iterable[Any]) -> str:
    """Return a module with an interface for every shape that these types hold."""
    schemas = Schemas(contract, prefix="")
    for each in kinds:
        schemas.of(each)
    found = (_interface(name, schema) for name, schema in sorted(schemas.named.items()))
    return "\n".join([HEAD, *found])


def _interface(name: str, schema: Schema) -> str:
    lines = [f"/** {schema['description']} */"] if schema.get("description") else []
    lines.append(f"export interface {name} {{")
    for field, given in schema["properties"].items():
        if given.get("description"):
            lines.append(f"  /** {given['description']} */")
        mark = "" if field in schema["required"] else "?"
        lines.append(f"  {field}{mark}: {_type(given)}")
    if schema.get("additionalProperties"):
        lines.append("  [name: string]: unknown")
    return "\n".join([*lines, "}", ""])


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(_literal(each) for each in schema["enum"])
    names = schema.get("type", "unknown")
    if isinstance(names, list):
        return " | ".join(_type({**schema, "type": each}) for each in names)
    return _NAMES.get(names) or _several(names, schema)


def _literal(value: object) -> str:
    if value is None:
        return "null"
    return f"'{value}'" if isinstance(value, str) else str(value)


def _several(name: str, schema: Schema) -> str:
    """Return the type of a list or of a table."""
    if name == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {_type(values) if values else 'unknown'}>"
    if "prefixItems" in schema:
        return f"[{', '.join(_type(each) for each in schema['prefixItems'])}]"
    item = _type(schema["items"])
    return f"({item})[]" if "|" in item else f"{item}[]"


_NAMES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "unknown": "unknown",
}
