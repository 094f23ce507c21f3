"""AutoMem's HTTP API, for the clients that people have: its MCP bridge, its plugins, scripts.

These routes only translate. Each takes a request of AutoMem apart, has one or a few of our
operations done for whoever asks (`call.py`), and says what came of it in AutoMem's shapes. So
roles, tenants, limits, undo and everything that is decided are what they are at every other door.
`routes.py` has all routes; docs/guides/from-automem.md says what differs.
"""
