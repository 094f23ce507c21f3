"""What the list of tools leaves out: docs/reference/tools.md, made from the table of tools by
`make docs`, and the same for agents as a resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from madeleine.server.mcp.tools import (
    MCP_INSTRUCTIONS,
    TOOLS,
    McpTool,
    Schema,
    input_schema,
    output_schema,
)

PAGE_TOP = """\
# MCP tools

What an agent can do with the memory, in this order. Made from `madeleine.server.mcp.tools` by
`make docs`; [the guide](../guides/mcp.md) says how an agent is connected.

- Every tool answers with a text to read, the one that the HTTP route gives, and with the same as
  structured content that fits its output schema; fields may be added.
- What memories say is data. In the text it stands indented under a line of ours; in either form it
  is cut: 1,200 characters of each hit, 20,000 of one memory.
- A tool that cannot do what was asked answers with `isError` and two lines: what is so, and `hint:`
  with the next thing to do. `_meta["madeleine/error"]` has its [kind](kinds.md) for programs. An
  unknown tool or method is a protocol error.
- `node_id` takes a whole id, the short one of 8 characters, or any prefix that fits one only.

| tool | reads only | may be repeated | destroys |
|---|---|---|---|
"""


BRIEF_SECTION = """\
## Resources and prompt

The resource `madeleine://tools` is this page for agents: what each argument means, and what a
tool returns. The list of tools is shorter, since every session pays for it: at most 2,500 tokens,
counted as bytes of its JSON by four.

The resource `madeleine://brief` and the prompt `brief` give what a session in this project should
know at its start, as [`GET /agent/brief`](routes.md) does. Hosts with a hook at the start of a
session are told it by that.
"""


def render_tools_page() -> str:
    """Return the whole page."""
    rows = "".join(_render_row(tool) for tool in TOOLS)
    told = "## What agents are told\n\n```text\n" + MCP_INSTRUCTIONS + "\n```\n"
    sections = [_render_section(tool) for tool in TOOLS]
    return "\n".join([PAGE_TOP + rows, *sections, BRIEF_SECTION, told])


def render_tools_guide() -> str:
    """Return what each argument means, for an agent that asks."""
    sections = [_render_section(tool, with_route=False) for tool in TOOLS]
    return "\n".join(["# The tools of Madeleine", "", *sections])


def _render_row(tool: McpTool) -> str:
    hints = (tool.operation.is_read_only, tool.idempotent, tool.destructive)
    words = " | ".join("yes" if each else "" for each in hints)
    return f"| [`{tool.name}`](#{tool.name}) | {words} |\n"


def _render_section(tool: McpTool, *, with_route: bool = True) -> str:
    taken, given = input_schema(tool), output_schema(tool)
    lines = [f"## {tool.name}", "", tool.description, ""]
    if with_route:
        lines += [f"As [`{tool.operation.method} {tool.operation.path}`](routes.md).", ""]
    lines += ["| argument | type | |", "|---|---|---|"]
    lines += [_render_argument(name, each, taken) for name, each in taken["properties"].items()]
    returned = ", ".join(f"`{name}`" for name in given["properties"])
    return "\n".join([*lines, "", f"Returns {returned}.", ""])


def _render_argument(name: str, schema: Mapping[str, Any], taken: Schema) -> str:
    needed = ", required" if name in taken["required"] else ""
    return f"| `{name}` | {_render_type(schema)}{needed} | {schema['description']} |"


def _render_type(schema: Mapping[str, Any]) -> str:
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if names == ["array"]:
        return f"array of {schema['items'].get('type', 'object')}"
    return " or ".join(names)
