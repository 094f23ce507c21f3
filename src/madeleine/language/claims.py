"""When two memories claim something of the same thing, and which of them holds.

A claim is a subject, an attribute and a value. Subject and attribute are its *address*, told in
whatever case and spacing. Two claims at one address with different values are *rivals*, and the
newer one holds; with the same value they are copies of one claim, and all of them hold until a
newer value replaces them all.

An address holds within a space. A global claim is about every space, so it meets those of all;
claims of two projects never meet: each project has its own.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import datetime

from madeleine.language.change_words import UNITS
from madeleine.language.late_pattern import compile_late
from madeleine.model.memory import Claim, Memory

_QUANTITY = compile_late(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s?(?P<unit>[a-z]*|%)"
)
_ARTICLES = compile_late(r"\A(?:(?:the|an?) )+(?=.)")


def claim_address(claim: Claim) -> str:
    """Return what two claims about the same attribute of the same subject have in common."""
    return f"{normalize_text(claim.subject)}\n{normalize_text(claim.attribute)}"


def claim_value_key(claim: Claim) -> str:
    """Return what two claims of the same value have in common. A quantity is the same in every
    way to write it: `30 s` and `30 seconds`, `1,000` and `1000`, `5 %` and `5%`."""
    value = normalize_text(claim.value)
    if (found := _QUANTITY.fullmatch(value)) is None:
        return value
    unit = found["unit"].replace("%", "percent")
    return f"{found['number'].replace(',', '')} {UNITS.get(unit, unit)}".rstrip()


def normalize_text(text: str) -> str:
    """Return the text without what makes no difference: case, spacing, Unicode form, and an
    article at its beginning, unless there is nothing else."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _ARTICLES.sub("", " ".join(folded.split()))


def are_rivals(one: Memory, other: Memory) -> bool:
    """Whether two memories claim different values at one address that both speak of."""
    if one.claim is None or other.claim is None or not _spaces_overlap(one.space, other.space):
        return False
    same_address = claim_address(one.claim) == claim_address(other.claim)
    return same_address and claim_value_key(one.claim) != claim_value_key(other.claim)


def _spaces_overlap(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def is_newer(one: Memory, other: Memory) -> bool:
    """Whether one memory came after another: by when it was so, never by whose file was written
    last, unless that is all there is to tell them apart."""
    return _age_key(one) > _age_key(other)


def _age_key(memory: Memory) -> tuple[datetime, datetime, str]:
    return memory.created, memory.updated, memory.id


def find_overtaken(memories: Iterable[Memory]) -> list[tuple[Memory, Memory]]:
    """Return each memory that a newer rival replaces, with the first that does: a value that
    changed twice is a chain. Oldest first."""
    in_order = sorted(memories, key=_age_key)
    found = []
    for place, older in enumerate(in_order):
        after = (each for each in in_order[place + 1 :] if are_rivals(older, each))
        if (first := next(after, None)) is not None:
            found.append((older, first))
    return found
