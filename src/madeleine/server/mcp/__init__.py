"""The memory as MCP tools, at POST /mcp of the daemon.

`tools` is the table of tools, plain values; `tool_answers` turns answers into what a tool returns.
`door` stands in the application and is light; `server` is the one module that knows the MCP
library, and is loaded by its name when somebody first comes to the door. The stdio side is
`hooks/mcp.py`, which hands every message to this door.
"""
