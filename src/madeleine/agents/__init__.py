"""Wiring coding agents: what is written into their settings, how it is taken out, what is wrong.

A *piece* (`pieces.py`) is one thing of ours in one file of a host: a hook, an MCP server, a block
of instructions. `catalog.py` says which pieces each host gets and where; `plan.py` works out what
every file would become, without writing; `apply.py` writes all of it or nothing. `receipts.py`
remembers how the files were before, so that leaving brings back every byte. `doctor.py` looks for
what is wrong with an installation.

What is kept true: a stranger's entries, comments, order and line ends are left as they are; doing
it twice is doing it once; nothing is written when any file cannot be read; memories are never
touched.
"""
