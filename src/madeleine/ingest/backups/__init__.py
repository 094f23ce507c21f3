"""Backups: the vault, the journal and the settings in one file that can be trusted.

`archive` is the file: what it holds and how it is checked. `taking` makes one while others write,
`rotation` names, lists and rotates them, and `restoring` puts one back, with what was there before
put aside.
"""
