"""Moving in: one reader for each program whose memories can be brought along.

A reader takes a path and gives what it finds there, piece by piece: items to bring in, things that
are broken, with their place, and notes. It writes nothing; `write/import_memories.py` does.
`formats` is the table of all of them.
"""
