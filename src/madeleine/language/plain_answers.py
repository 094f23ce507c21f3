"""Whether somebody who was asked yes or no said so, in their own words: "yes, that changed".

Only what is plain is read. Who says yes and goes on with a `but` or a `not` has said something
else, and is asked again.
"""

from __future__ import annotations

import re

MOST_WORDS = 12
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_YES_WORDS = """
yes yeah yep yup approve approved correct right ja jo sí si oui sim tak да evet はい 是 对
"""
_NO_WORDS = """
no nope nah reject rejected wrong nein nee nej non não nie нет hayır いいえ 不 否
"""
_BUT_WORDS = """
but not never both still keep except aber nicht kein keine noch beide pero aún ambos mais pas
encore mas ainda ale ma non maar niet но не
"""
YES, NO = frozenset(_YES_WORDS.split()), frozenset(_NO_WORDS.split())
_BUT = frozenset(_BUT_WORDS.split())
_CHANGED = frozenset({"changed", "changes", "replaces", "replaced", "did", "does", "geändert"})


def read_plain_answer(text: str) -> bool | None:
    """Return whether a text says yes; nothing if it says neither yes nor no plainly."""
    first, *rest = [each.lower() for each in _WORD.findall(text)] or [""]
    said = set(rest)
    if len(rest) >= MOST_WORDS:
        return None
    if first in YES:
        takes_back = said & (_BUT | NO) or any(each.endswith(("n't", "n’t")) for each in rest)
        return None if takes_back else True
    if first in NO:
        return None if said & (YES | _CHANGED) else False
    return None
