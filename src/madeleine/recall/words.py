"""What to look for in a query: its words, in any script."""

from __future__ import annotations

import re
import unicodedata

from madeleine.model.words import ABOUT_SELF

TERMS_AT_MOST = 48  # a pasted page is still one question; the rest adds only time
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[^\W]+")
_IDENTITY = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "user"})
_STOP_WORDS = """
a about after all also am an and any are as at be been being but by can could did do does doing
done for from get got had has have having he her hers him his how i if in into is it its itself
just let me might mine more most must my myself no nor not now of off on once only or other our
ours out over own please shall she should so some such than that the their theirs them then there
these they this those through to too under until up us very was we were what when where which
while who whom whose why will with would you your yours
"""
_STOP = frozenset(_STOP_WORDS.split())


def search_words(text: str) -> list[str]:
    """Return the words to search for, each once, stop words left out.

    A query made only of stop words keeps them. Words about the asker bring the tag that
    marks what is known about them.
    """
    words = [each.lower() for each in _WORD.findall(unicodedata.normalize("NFKC", text))]
    telling = [each for each in words if each not in _STOP]
    terms = list(dict.fromkeys(telling or words))[:TERMS_AT_MOST]
    if not _IDENTITY.isdisjoint(words):
        terms.append(ABOUT_SELF)
    return terms
