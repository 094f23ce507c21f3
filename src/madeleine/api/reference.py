"""docs/reference/routes.md, made from the operations: `python -m madeleine.api.reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from madeleine.api.contract.memories import CONTRACT
from madeleine.api.contract.schema import JsonSchema, SchemaBuilder
from madeleine.api.contract.shape import ShapeField
from madeleine.api.endpoint import NON_JSON_ROUTES, NonJsonEndpoint
from madeleine.api.operation import Operation
from madeleine.api.operations import OPERATIONS

PAGE_TOP = """\
# Routes

The daemon answers on `127.0.0.1:8787` (settings `server.host` and `server.port`) and on the
unix socket `run/socket` in the home folder. `/openapi.json` describes the same routes for
programs. This page is made from `madeleine.api.operations` and
`madeleine.api.contract` by `python -m madeleine.api.reference`.

- Over TCP a request carries `Authorization: Bearer TOKEN`, the token in `run/token`. Its Host
  must name this machine, and its Origin, if it has one, must be the daemon's own. The unix
  socket needs none of this: its file mode decides who may use it. With
  `server.trust_loopback = true` clients on this machine need no token; whoever then shows none,
  and is no browser, is answered as Ormah's clients expect: docs/guides/from-ormah.md.
- Where several people share a database (docs/guides/team-server.md), the token is one that
  `madeleine token create` made. It says whose memory is asked, and its role what may be done:
  reader, writer, owner or admin, each more than the one before. What is somebody else's is
  answered like what is not there (404); what you see but may not do is refused (403). The socket
  and the token in `run/token` are the server's own admin, and nobody is let in on trust.
- `X-Agent-Id` says who asks; it becomes the source of what is remembered and stands in the
  history of what is changed.
- Bodies are JSON objects, sent as `Content-Type: application/json`. A field that nobody knows
  is refused. Lists in a query are repeated or separated by commas.
- `{id}` takes a whole id, the short one of 8 characters, or any prefix that fits one only.
- Times are RFC 3339 in UTC, such as `2026-11-15T18:04:00Z`. A request may also name a date, such as
  `2026-11-15`, which is its first moment.
- `text` in an answer is for an agent or a person to read; the other fields are for programs.
- Clients of AutoMem have [routes](automem.md) of their own.
- `POST /mcp` offers what agents need of it as [tools](tools.md), over MCP.

Errors look the same everywhere:

```json
{"error": {"code": "missing", "kind": "no_such_memory", "message": "no memory `7f3b`",
           "hint": "did you mean …?", "parts": {"wanted": "7f3b", "near": ["…"]}}}
```

Decide by `code`, or more finely by `kind`; never by the message. [Kinds](kinds.md) lists them all.

| code | status | means |
|---|---|---|
| `rejected` | 422, 401, 403, 405, 413 | this request can never work as sent |
| `missing` | 404 | the named thing is not there |
| `conflict` | 409 | it changed meanwhile, or the id fits several |
| `unavailable` | 503, 429 | nothing was changed; try again |
| `damaged` | 500 | stored bytes make no sense |
| `error` | 500 | a bug; `logs/daemon.log` says where |

Try it:

```console
$ curl -s --unix-socket ~/.madeleine/run/socket http://localhost/agent/recall \\
    -H 'Content-Type: application/json' -d '{"query": "which database did we pick?"}'
```

"""


SHAPES_HEADING = """\
# Shapes

What answers hold. A field that is marked with ? may be missing; new fields may be added.
"""


def render_routes_page() -> str:
    """Return the whole page."""
    schemas = SchemaBuilder(CONTRACT, prefix="")
    sections = [
        *(_render_route(each, schemas) for each in OPERATIONS),
        *(_render_route(each, schemas) for each in NON_JSON_ROUTES),
    ]
    shapes = [_render_shape(name, schema) for name, schema in sorted(schemas.named.items())]
    return PAGE_TOP + "\n\n".join([*sections, SHAPES_HEADING.strip(), *shapes]) + "\n"


def _render_route(route: Operation[Any] | NonJsonEndpoint, schemas: SchemaBuilder) -> str:
    summary = f"`{route.name}`: {route.summary}. Role: {route.role}."
    parts = [f"## {route.method} {route.path}", summary]
    if route.open:
        parts.append("Needs no token.")
    if route.admin:
        parts.append("Needs the admin token, when `server.admin_token` is set.")
    if isinstance(route, Operation):
        parts.extend(_render_fields("Query", route.query_fields, schemas))
        parts.extend(_render_fields("Body", route.body_fields, schemas))
        parts.append(f"Answer: {render_schema_type(schemas.of(route.answer))}")
    else:
        parts.append(f"Answer: `{route.content}`")
    return "\n\n".join(parts)


def _render_shape(name: str, schema: JsonSchema) -> str:
    """Return the fields of a shape as a table."""
    rows = [
        f"| `{field}{'' if field in schema['required'] else '?'}` | {render_schema_type(each)} | "
        f"{each.get('description', '')} |"
        for field, each in schema["properties"].items()
    ]
    head = [
        f"## {name}",
        "",
        *([f"{schema['description']}", ""] if "description" in schema else []),
    ]
    return "\n".join([*head, "| field | type | |", "|---|---|---|", *rows])


def render_schema_type(schema: JsonSchema) -> str:
    """Return the type that a schema describes in words, with a link to each shape."""
    if "$ref" in schema:
        return f"[{schema['$ref']}](#{schema['$ref'].lower()})"
    if "anyOf" in schema and "type" not in schema:
        return " or ".join(dict.fromkeys(render_schema_type(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return " or ".join("null" if each is None else f"`{each}`" for each in schema["enum"])
    names = schema.get("type", "any value")
    if names == "array" and "items" in schema:
        return f"array of {render_schema_type(schema['items'])}"
    if names == "array":
        return f"array: {', '.join(render_schema_type(each) for each in schema['prefixItems'])}"
    if names == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {render_schema_type(schema['additionalProperties'])}"
    return " or ".join(names) if isinstance(names, list) else str(names)


def _render_fields(title: str, fields: Iterable[ShapeField], schemas: SchemaBuilder) -> list[str]:
    rows = [
        f"| `{each.wire}` | {_render_field_type(each, schemas)} | {each.help} |" for each in fields
    ]
    return ["\n".join([f"| {title} | type | |", "|---|---|---|", *rows])] if rows else []


def _render_field_type(field: ShapeField, schemas: SchemaBuilder) -> str:
    needed = ", required" if field.is_required else ""
    return render_schema_type(schemas.property_of(field)) + needed


if __name__ == "__main__":
    sys.stdout.write(render_routes_page())
