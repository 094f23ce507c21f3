"""Whether anything that was said is lost when memories are merged or told as one.

The store holds facts of the made-up world, most of them again: word for word but for a detail,
in other words, with something added. After the nights every content word of every original must
stand in what is left of it: the memory itself, the one it was merged into, or one linked to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from _measure import progress
from _recall_homes import Homes, Notes, digest, remember_all
from _recall_report import Figure, Target
from _recall_sets import Draft, memory_id
from _recall_world import Fact, facts
from _sleep_homes import lent

from madeleine import Madeleine
from madeleine.errors import Missing

SEED = 13
NIGHTS = 3  # what one night made is looked at in the next
BEGAN = datetime(2026, 3, 1, 8, tzinfo=UTC)
MERGES = 10_000
ADDED = (
    "Ana said so on Tuesday.",
    "It was decided in room 214.",
    "Nobody objected.",
    "See ticket 4711 for the reasons.",
)
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_EMPTY = (
    "a an and are as at be by for from has have in is it its of on or s so that the this to was "
    "were will with"
)


def words(text: str) -> set[str]:
    """Return the words that say something, in lower case."""
    return set(_WORD.findall(text.lower())) - set(_EMPTY.split())


def told(count: int) -> list[Draft]:
    """Return some facts, each said up to four times."""
    drafts: list[Draft] = []
    for place, fact in enumerate(islice(facts(SEED), count)):
        for number, text in enumerate(_ways(fact, place)):
            at = BEGAN + timedelta(hours=place, days=number)
            known_as = memory_id("kept", SEED, place, number)
            drafts.append({"id": known_as, "content": text, "created": at})
    return drafts


def _ways(fact: Fact, place: int) -> list[str]:
    extra = ADDED[place % len(ADDED)]
    ways = [fact.text, f"{fact.text} {extra}", f"Note: {fact.text[:1].lower()}{fact.text[1:]}"]
    return [*ways[: 1 + place % 4], fact.restated] if place % 4 else ways[:1]


def kept(homes: Homes, count: int) -> list[Figure]:
    """Return how many facts are lost after some nights."""
    drafts = told(count)
    home, _ = homes.made("kept", digest([drafts]), lambda at: _filled(at, drafts))
    with lent(homes, home) as work, Madeleine.open(work, in_process=True) as opened:
        progress("nights over what was said several times")
        for _ in range(NIGHTS):
            opened.sleep()
        _approve(opened)
        went = _went_into(opened)
        lost = [each for each in drafts if _missing(opened, each, went)]
        made = opened.list(limit=1).total
    note = f"{len(drafts):,} memories became {made:,}, {len(went):,} by merging"
    figure = Figure("kept", "facts lost by merging or consolidating", float(len(lost)), len(drafts),
                    Target(0, at_most=True), "facts", note=note)  # fmt: skip
    return [figure]


def _approve(opened: Madeleine) -> None:
    """Agree to everything that was proposed: that must not lose anything either."""
    for proposal in opened.proposals():
        if opened.proposal(proposal.id).problem is None:
            opened.decide(proposal.id, "approved")


def _filled(home: Path, drafts: list[Draft]) -> Notes:
    with Madeleine.open(home, in_process=True) as opened:
        remember_all(opened, drafts, "remembering what was said several times")
    return {}


def _went_into(opened: Madeleine) -> dict[str, str]:
    """Return for each memory that was merged away the one that it went into."""
    merges = opened._door.call("merges", query={"limit": MERGES})["merges"]
    assert isinstance(merges, list)
    return {str(each["removed"]): str(each["kept"]) for each in merges}


def _missing(opened: Madeleine, draft: Draft, went: dict[str, str]) -> set[str]:
    """Return the words of an original that stand nowhere near what is left of it."""
    memory = str(draft["id"])
    while memory in went:
        memory = went[memory]
    return words(str(draft["content"])) - words(" ".join(_near(opened, memory)))


def _near(opened: Madeleine, memory: str) -> Iterable[str]:
    """Yield the text of a memory and of those that it is linked to."""
    try:
        shown = opened.show(memory)
    except Missing:
        return
    yield f"{shown.memory.title or ''} {shown.memory.content}"
    for link in shown.connections:
        other = link.target if link.direction == "out" else link.source
        if link.resolved:
            yield opened.get(other).content
