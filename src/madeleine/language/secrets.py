"""Keys, tokens and passwords in a text: what is never to be written down.

Whatever is taken in unasked goes through `redact_secrets` first. What shows by its own form (a
provider's prefix, a key block, an address with a password) is found by `secret_forms`, what its
name tells (`password = …`, `the token is …`) by `secret_names`, a column of them by
`secret_tables`, and what is told in plain words by `secret_spoken`. A long string alone is no
secret: commits, checksums, ids, paths and pictures
stay. `may_hold_secret` is for who would rather lose a sentence than keep a secret: it also says yes
where a secret is only spoken of.

The time grows with the text and no faster: every repetition is bounded, or gives nothing back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from madeleine.language.late_pattern import compile_late
from madeleine.language.secret_forms import find_by_form
from madeleine.language.secret_names import find_by_name
from madeleine.language.secret_spoken import find_spoken
from madeleine.language.secret_tables import find_in_tables
from madeleine.language.secret_values import SecretSpan, is_inside

TEXT_CHARS = 8_000_000  # of a longer one nothing is looked at, and nothing may be kept
REDACTION_ROUNDS = 3  # a secret may show when the one before it is gone


class RedactedText(NamedTuple):
    """A text without its secrets, and how many it had."""

    text: str
    secrets: int


def redact_secrets(text: str) -> RedactedText:
    """Return the text with `[redacted …]` in the place of each secret."""
    if len(text) > TEXT_CHARS:
        return RedactedText("[redacted: too long to be looked through]", 1)
    count = 0
    for _ in range(REDACTION_ROUNDS):
        spans = _merge_spans(_find_secrets(text), text)
        if not spans:
            break
        text, count = _replace_spans(text, spans), count + len(spans)
    return RedactedText(text, count)


def may_hold_secret(text: str) -> bool:
    """Whether a text holds a secret, speaks of one as if to tell it, or has a string in it that
    nobody would type by hand."""
    return _SPOKEN_OF.search(text) is not None or redact_secrets(text).secrets > 0


def _replace_spans(text: str, spans: list[SecretSpan]) -> str:
    pieces, place = [], 0
    for span in spans:
        pieces += [text[place : span.start], f"[redacted {span.kind}]"]
        place = span.end
    return "".join([*pieces, text[place:]])


def _find_secrets(text: str) -> Iterator[SecretSpan]:
    """Yield the secrets of a text as a reader sees it: what has no width hides nothing."""
    seen, places = _strip_invisible(text)
    for span in _find_in_visible(seen):
        yield SecretSpan(places[span.start], places[span.end - 1] + 1, span.kind)


def _strip_invisible(text: str) -> tuple[str, Sequence[int]]:
    """Return the text without characters that nobody sees, and where each other one stands."""
    unseen = set(_UNSEEN.findall(text))
    if not unseen:
        return text, range(len(text))
    places = [place for place, each in enumerate(text) if each not in unseen]
    return "".join(text[place] for place in places), places


_UNSEEN = compile_late(r"[\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


def _find_in_visible(text: str) -> Iterator[SecretSpan]:
    low = _lower_in_place(text)
    yield from find_by_form(text, low)
    yield from find_by_name(text, low)
    yield from find_in_tables(text, low)
    yield from find_spoken(text)


def _lower_in_place(text: str) -> str:
    """Return the text in small letters, each where it stood: only `İ` would become two."""
    return text.replace("İ", "I").lower()


_LEFT_ALONE = compile_late(  # marks, and pictures
    r"\[redacted [a-z ]{1,20}\]|data:[\w.+-]{1,80}/[\w.+-]{1,80};base64,"
    r"[A-Za-z0-9+/=]*+(?:\r?\n[A-Za-z0-9+/]{60,}+={0,2})*+"
)


def _merge_spans(found: Iterator[SecretSpan], text: str) -> list[SecretSpan]:
    """Return the spans in their order; those that overlap become one, and what is a mark or a
    picture stays."""
    left = [each.span() for each in _LEFT_ALONE.finditer(text)]
    spans: list[SecretSpan] = []
    for span in sorted(found, key=lambda each: each.start):
        if is_inside(span.start, left) or is_inside(span.end - 1, left):
            continue
        if spans and span.start < spans[-1].end:
            last = spans[-1]
            spans[-1] = SecretSpan(last.start, max(last.end, span.end), last.kind)
        else:
            spans.append(span)
    return spans


# -- in doubt ------------------------------------------------------------------------------

_SPOKEN_OF = compile_late(
    r"\b(?:pass(?:word|wd|phrase|code)|secret|api[ _-]?key|access[ _-]?key|private[ _-]?key|token"
    r"|credentials?|pin|cvv)\b.{0,30}?(?:\bis\b|[=:])"
    r"|-----BEGIN|\beyJ[A-Za-z0-9_-]{10,}\."
    r"|(?<![\w.-])(?=[a-z_=]{0,63}\d)[a-z0-9_=]{28,}",
    re.I,
)
