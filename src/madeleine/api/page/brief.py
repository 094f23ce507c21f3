"""A memory as a line of a list: enough to know it by, without its whole text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from madeleine.api.contract.page_responses import AbsenceReason, Brief, BriefHit, Mention
from madeleine.api.wording import causes_to_fields
from madeleine.index.search import MemorySearch
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.times import format_time
from madeleine.recall.explaining import AbsenceExplanation, is_outdated
from madeleine.recall.recall import RecallMatch
from madeleine.rules.likelihood import name_likelihood

MAX_EXTRACT_CHARS = 240
MAX_READ_CHARS = 4 * MAX_EXTRACT_CHARS  # white space may be most of it
MAX_TAGS = 8
_SHORT_ID_PATTERN = re.compile(r"\b([0-9a-f]{8})\b|`([0-9a-f]{8})`")
_MARKDOWN_PATTERN = re.compile(r"\*\*|`+|^ {0,3}(?:#{1,6}|>|[-*+]) +", re.MULTILINE)


def build_brief(memory: Memory, now: datetime) -> Brief:
    """Return what a list shows of a memory."""
    until = memory.valid_until
    return Brief(
        id=memory.id,
        short_id=memory.short_id,
        type=memory.type,
        tier=memory.tier,
        space=memory.space,
        headline=memory.headline,
        extract=cut_extract(_text_after_headline(memory)),
        tags=list(memory.tags[:MAX_TAGS]),
        created=format_time(memory.created),
        updated=format_time(memory.updated),
        valid_until=format_time(until) if until else None,
        superseded_by=memory.superseded_by,
        outdated=is_outdated(memory, Filter(), now),
    )


def build_brief_hit(found: RecallMatch, now: datetime, known: Mapping[str, Memory]) -> BriefHit:
    """Return what a list shows of a memory that answers: also how well, why, and by what; `known`
    are the memories that reasons mention."""
    shown = vars(build_brief(found.memory, now))
    if found.passage is not None:
        shown = {**shown, "extract": cut_extract(found.passage.text)}
    mentioned = [known[each] for each in dict.fromkeys(found.mentioned) if each in known]
    return BriefHit(
        **shown,
        score=found.score,
        likelihood=name_likelihood(found.score, found.is_above_floor),
        **causes_to_fields("reasons", found.reasons),
        mentions=[build_mention(each) for each in mentioned],
    )


def build_mention(memory: Memory) -> Mention:
    """Return what a memory is called where words have only its short id."""
    return Mention(id=memory.id, short_id=memory.short_id, headline=memory.headline)


def _text_after_headline(memory: Memory) -> str:
    """Return what the headline does not say already."""
    if memory.title:
        return memory.content
    beginning = memory.headline.removesuffix("…")
    at = memory.content.find(beginning, 0, MAX_READ_CHARS)
    rest = memory.content[at + len(beginning) :].lstrip() if at >= 0 else memory.content
    return f"… {rest}" if rest and memory.headline.endswith("…") else rest


def cut_extract(text: str) -> str:
    """Return the beginning of a text on one line, without the signs of markdown."""
    words = " ".join(_MARKDOWN_PATTERN.sub("", text[:MAX_READ_CHARS]).split())
    return words if len(words) <= MAX_EXTRACT_CHARS else f"{words[: MAX_EXTRACT_CHARS - 1]}…"


def build_absence_reason(absent: AbsenceExplanation | None) -> AbsenceReason | None:
    """Return why a memory is not among the answers, in the parts that a sentence is made of."""
    return None if absent is None else AbsenceReason(**asdict(absent))


def replace_ids_with_titles(search: MemorySearch, words: str) -> str:
    """Return a sentence with memories by what they are called, where it has their ids."""

    def title(found: re.Match[str]) -> str:
        ids = search.ids_with_prefix(found[1] or found[2], 2)
        known = search.memories(ids) if len(ids) == 1 else {}
        return next((f"“{each.headline}”" for each in known.values()), found[0])

    return _SHORT_ID_PATTERN.sub(title, words)
