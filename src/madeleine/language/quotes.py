"""Whether words really stand in a text: what proves that nothing was made up.

A true quote proves nothing of what is put beside it. So what a model says in its own words is held
against the text as well (`find_unsupported_part`): it may leave out, and it may not add a name, a
number or a denial, turn round who took whose place (`contrasts.py`), or be about something else
altogether.

In a quote spacing, case, typographic quotes and dashes may differ, since a model rarely copies
those faithfully. Nothing else may.
"""

from __future__ import annotations

import re
import unicodedata

from madeleine.language.contrasts import reverses_contrast
from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import is_telling, stem, telling_stems
from madeleine.language.substance import count_denials
from madeleine.language.synthesis_check import find_made_up

LEAST_CHARS = 8  # shorter words stand in any text by chance
LEAST_SHARE = 1 / 3  # of its telling words that what is put anew has from the text
MOST_SHARE = 2 / 3  # of the words of a denial, which are the same without it

_SENTENCE = compile_late(r"(?<=[.!?;])\s+|(?<=[。！？])|\n+")
_OPENING = compile_late(r"[\s\"'“(*]*([A-ZÀ-ÞА-Я][^\W\d_]+)")
_NO_NAME = compile_late(
    r".+(?:ing|tion|sion|ment|ness|ity|ly|ed|es|age|ance|ence|able|ible|ful|ive|ous|al|ic|s)"
    r"|user|person|people|team|project|agent|assistant|speaker|author|customer|client|developer"
    r"|owner|everyone|everybody|somebody|someone|anyone|both|please|code|data|work|note|file|text"
    r"|server|service|system|database|storage|backup|build|test|release|version|preference|decision"
    r"|goal|plan|rule|reason|default|use|keep|avoid|prefer|make|run|ask|store|do|don|only|never",
    re.I,
)

_QUOTES = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"}


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return where in a text the quoted words begin and end; nothing if they do not stand there."""
    words = _fold_text(quote).split()
    if sum(map(len, words)) < LEAST_CHARS:
        return None
    plain, places = _fold_with_places(text)
    found = re.search(r"\s+".join(map(re.escape, words)), plain)
    return None if found is None else (places[found.start()], places[found.end() - 1] + 1)


def _fold_with_places(text: str) -> tuple[str, list[int]]:
    """Return a text in its plain form, and for each character where it came from."""
    pieces = [
        (each, place) for place, character in enumerate(text) for each in _fold_text(character)
    ]
    return "".join(each for each, _ in pieces), [place for _, place in pieces]


def _fold_text(text: str) -> str:
    return "".join(
        _QUOTES.get(each, each) for each in unicodedata.normalize("NFKC", text)
    ).casefold()


# -- what is put anew ----------------------------------------------------------------------


def find_unsupported_part(said: str, quote: str, told: str) -> str:
    """Return what is wrong with words that are to say what a text tells, proven by a quote from
    it; empty if nothing."""
    if find_made_up(said, [told]) or _adds_names(said, told):
        return "a memory with a name or a number that was not told"
    if _adds_denial(said, told) or _loses_denial(said, quote):
        return "a memory that denies what was not denied, or the reverse"
    if reverses_contrast(said, told):
        return "a memory that turns round what was told"
    wanted = telling_stems(said)
    if said.isascii() and len(wanted & telling_stems(told)) < LEAST_SHARE * len(wanted):
        return "a memory about something that was not told"
    return ""


def _adds_names(said: str, told: str) -> bool:
    """Whether a sentence begins with what may be a name, and the text does not have it: there a
    capital alone tells nothing."""
    openings = (_OPENING.match(each) for each in _SENTENCE.split(said))
    words = [each[1] for each in openings if each is not None]
    known = telling_stems(told)
    return any(
        is_telling(each.casefold()) and stem(each.casefold()) not in known
        for each in words
        if not _NO_NAME.fullmatch(each)
    )


def _adds_denial(said: str, told: str) -> bool:
    """Whether a sentence denies something, and none of the text that is about it does."""
    denied = [telling_stems(each) for each in _SENTENCE.split(told) if count_denials(each)]
    return any(
        not any(telling_stems(each) & about for about in denied)
        for each in _SENTENCE.split(said)
        if count_denials(each)
    )


def _loses_denial(said: str, quote: str) -> bool:
    """Whether a sentence says nearly what is quoted, without the denial in it."""
    denied = [
        about
        for each in _SENTENCE.split(quote)
        if count_denials(each) and (about := telling_stems(each))
    ]
    return any(
        len(about & telling_stems(each)) >= MOST_SHARE * len(about)
        for about in denied
        for each in _SENTENCE.split(said)
        if not count_denials(each)
    )
