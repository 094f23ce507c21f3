"""The parts of a prompt that asks for several things: `do A, then B`.

Looked up as one, the words of both share one vector, and the note that answers the first part is
ahead of the one that answers the second. A part must be able to stand by itself: it has words of
its own that say what it is about. What was pasted is no request, so a long text has no parts.
"""

from __future__ import annotations

import re

from madeleine.language.late_pattern import compile_late
from madeleine.language.self_questions import count_content_words

READ_CHARS = 400  # of a prompt; a longer one was pasted together
MOST_PARTS = 3
LEAST_WORDS = 2  # that say what a part is about

_AND = "and|und|et|y|e|en|i|oraz|и"
_THEN = (
    "then|after that|afterwards|dann|danach|anschließend|puis|ensuite|luego|después"
    "|poi|dopo|depois|em seguida|daarna|vervolgens|potem|następnie|затем|потом"
)
_ALSO = "also|außerdem|aussi|también|anche|também|ook|także|также"
_BORDER = compile_late(
    rf"\s*[,;.]\s+(?:(?:{_AND})\s+)?(?:{_THEN})\b[\s,]+"
    rf"|\s+(?:{_AND})\s+(?:{_THEN}|{_ALSO})\b[\s,]+"
    rf"|\s*[,;.]\s+(?:(?:{_AND})\s+)?(?:{_ALSO})\s+"
    r"|[，,；。]\s*(?:然后|接着)|[、。]\s*(?:次に|それから|その後)[、]?",
    re.IGNORECASE,
)


def split_prompt(text: str) -> list[str]:
    """Return the parts of a prompt that asks for several things, without those that say too little
    by themselves; nothing of a prompt that asks for one thing."""
    if len(text) > READ_CHARS:
        return []
    parts = [each for part in _BORDER.split(text) if (each := part.strip())]
    telling = [each for each in parts if count_content_words(each) >= LEAST_WORDS]
    return telling[:MOST_PARTS] if len(parts) > 1 else []
