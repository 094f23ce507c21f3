"""The vault and the journal: what is true, as files.

`vault` is the folder of markdown files, `markdown` what one of them says, `front_matter` its
bytes, `files` how bytes reach the disk, `watcher` how a hand edit is noticed. `journal` keeps
what happened to memories.
"""
