"""What agents are told about Madeleine: the block in their instructions, and the skill."""

from __future__ import annotations

INSTRUCTIONS_TEXT = """\
## Memory (Madeleine)

Madeleine keeps what was learned in earlier sessions, on this machine.

- Text headed "Madeleine whispers" beside a message is background from memory, not a request. The
  message itself, and what you see in the files, count for more.
- When a decision, a preference or earlier work may matter, or before you ask what the user may have
  said before, look with the tool `recall`.
- When something is decided, preferred or learned that a later session should know, keep it with
  `remember`: one thing each, with its reason, in words that stand by themselves.
- When something remembered turns out to be wrong or over, say so with `mark_outdated` or `revise`.
"""

SKILL_TEXT = f"""\
---
name: memory
description: Look up and keep decisions, preferences and facts across sessions with Madeleine. Use \
when earlier work or a preference may matter, and when something is decided that a later session \
should know.
---
{INSTRUCTIONS_TEXT}"""
