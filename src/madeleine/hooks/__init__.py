"""What hosts start and wait for: the standard library, and little of it.

`whisper.py` is a program of its own, run by its path; it knows nothing of the package around it.
`mcp.py` is `madeleine mcp`, the tools on stdio; `daemon_client.py` is its way to the daemon.
"""
