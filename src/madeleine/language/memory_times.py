"""Whether a time in a question is when something was remembered, or belongs to the matter.

`what did I decide last week` is answered by what was written down last week. In `who is on call
this week` or `a query for the last 90 days` the time belongs to the matter, and its answer may have
been written down at any time: there a time is a hint at most, and nothing is left out for it.

The words here are English; those of other languages stand in their files (`keeping`). A question
whose words say neither is taken to be about the matter, because that leaves nothing out.
"""

from __future__ import annotations

import re

from madeleine.language.late_pattern import compile_late
from madeleine.language.phrases import likely_languages

TEXT_CHARS = 2_000  # as far as times are read
_WORD = re.compile(r"[^\W_]+")

_TOLD = (
    "sa(?:y|id)|tell|told|mention(?:ed)?|not(?:e|ed)|writ(?:e|ten)|wrote|jot(?:ted)?|record(?:ed)?"
    "|sav(?:e|ed)|stor(?:e|ed)|remember(?:ed)?|ke(?:ep|pt)|learn(?:ed|t)?|f(?:ind|ound)"
    "|discover(?:ed)?|figured?|notic(?:e|ed)|decid(?:e|ed)|agreed?|settled?|cho(?:ose|se|sen)"
    "|pick(?:ed)?|discuss(?:ed)?|talk(?:ed)?|speak|spoken?|promis(?:e|ed)|underto(?:ok|ake)"
    "|conclud(?:e|ed)|resolv(?:e|ed)|commit(?:ted)?|announc(?:e|ed)|ask(?:ed)?|answer(?:ed)?"
    "|explain(?:ed)?|report(?:ed)?|suggest(?:ed)?|propos(?:e|ed)|recommend(?:ed)?|warn(?:ed)?"
    "|chang(?:e|ed)|fix(?:ed)?|add(?:ed)?|do|done|did|finish(?:ed)?|start(?:ed)?"
)
"""Verbs for what leaves a memory at the time that it is done."""
_DONE = (
    "went|got|put|landed|made|took|saw|met|worked|ended|built|shipped|bought|tried|used|came|gave"
    "|moved|switched|dropped|tested|ran|set|read|heard|planned|thought|left|had|was|were"
)
"""More of them in the past, as somebody says them of themselves."""
_A_FEW = r"(?:[\w'-]{1,30} ){0,3}?"  # words between, such as a name or `already`
_OF_MEMORY = compile_late(
    # What somebody did then was told then.
    r"\bdid\b(?! (?:\w{1,30} ){1,2}use to\b)"
    r"|\b(?:was|were) (?:i|we)\b(?! (?:supposed|meant|allowed)\b)"
    rf"|\b(?:have|has|had) {_A_FEW}(?:{_TOLD})\b"
    rf"|\b(?:was|were|been|got) {_A_FEW}(?:{_TOLD})\b"
    rf"|\b(?:what|which|who|whom|where|why|when|how|that|it|things?|everything|anything|all)"
    rf" {_A_FEW}(?:i|we|they|he|she|you) (?:{_TOLD}|{_DONE})\b"
    rf"|\b(?:what|which|who|where|why|when|how) {_A_FEW}(?:said|told|decided|agreed|settled)\b"
    r"|\bhappen(?:ed|s|ing)?\b|\bwent (?:wrong|on|down)\b|\bcame (?:up|out|of)\b"
    r"|\b(?:what|anything|something|everything) (?:has |have |is |was )?(?:changed|new)\b"
    r"|\bwhat['’]?s (?:changed|new)\b|\bremind me (?:what|where|who|which|how|why|of)\b"
    r"|(?<!release )(?<!patch )\bnotes\b|\bmemor(?:y|ies)\b|\bdecisions\b|\bentries\b"
    r"|\bconversations?\b|\bdiscussions?\b|\brecap\b"
)
_OF_DECISIONS = compile_late(
    r"\b(?:decid(?:e|ed|ing)|decisions?|agreed?|settled?|cho(?:ose|se|sen)|pick(?:ed)?)\b"
)


def asks_about_memory_time(text: str) -> bool:
    """Whether a time in this question is when the memory that is asked for came to be."""
    return _OF_MEMORY.search(_lower_beginning(text)) is not None or _asks_elsewhere(text)


def find_keeping_words(text: str) -> frozenset[str]:
    """Return the words that ask for what left a memory, and name nothing else, of the languages in
    which a text seems to ask so."""
    words = frozenset(_WORD.findall(text[:TEXT_CHARS].lower()))
    return frozenset().union(
        *(
            known.keeping | known.asks | known.stop_words
            for known in likely_languages(text)
            if not known.keeping.isdisjoint(words)
        )
    )


def _asks_elsewhere(text: str) -> bool:
    """Whether somebody asks in another language what was decided, noted or said then."""
    words = frozenset(_WORD.findall(text[:TEXT_CHARS].lower()))
    return any(
        not known.keeping.isdisjoint(words) and not known.asks.isdisjoint(words)
        for known in likely_languages(text)
        if known.keeping
    )


def asks_for_decisions(text: str) -> bool:
    """Whether what was decided is asked for."""
    return _OF_DECISIONS.search(_lower_beginning(text)) is not None


def is_possessive(text: str, end: int) -> bool:
    """Whether what ends there owns what follows: `last week's figures` are no memory of then."""
    return re.match(r"['’]s\b", text[end : end + 3]) is not None


def _lower_beginning(text: str) -> str:
    return " ".join(text[:TEXT_CHARS].lower().split())
