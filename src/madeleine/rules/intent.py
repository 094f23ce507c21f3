"""What a prompt is for: talk, going on, the asker themselves, a time, or anything else.

Told by turns of phrase where those are plain, and otherwise by likeness to examples, which
the caller measures. The phrases are English; in other languages likeness alone decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

CLEARLY = 0.15  # how much less likely all else must be for a prompt to be mere talk
SHORT_WORDS = 8  # a longer prompt says more than that it goes on


class Intent(StrEnum):
    """A prompt may have several."""

    CONVERSATIONAL = "conversational"
    CONTINUATION = "continuation"
    IDENTITY = "identity"
    TEMPORAL = "temporal"
    GENERAL = "general"


EXAMPLES: Mapping[Intent, tuple[str, ...]] = {
    Intent.CONVERSATIONAL: (
        "thanks a lot",
        "ok great",
        "sounds good to me",
        "hello, how are you?",
        "good morning",
        "yes please go ahead",
        "nice work, well done",
        "tell me a joke",
        "what is the meaning of life?",
        "bye, see you tomorrow",
    ),
    Intent.CONTINUATION: (
        "continue with that",
        "go on from where we left off",
        "keep going with the same thing",
        "what about the other one?",
        "and then what?",
        "do the same for the rest",
    ),
    Intent.IDENTITY: (
        "what do you know about me?",
        "who am I?",
        "where do I live?",
        "what are my preferences?",
        "what is my name?",
    ),
    Intent.TEMPORAL: (
        "what did we do yesterday?",
        "what happened last week?",
        "what have I been working on recently?",
        "what did we decide today?",
    ),
}

# The longer phrase stands first and a word once taken is not given back (`(?>`): otherwise "thank
# you", which is also two words, doubles the work each time that it is said.
_TALK = re.compile(
    r"(?>\W|\b(?:got it|i see|makes sense|sounds good|looks good|well done|good job|nice work"
    r"|love it|good (?:morning|afternoon|evening|night)|see you|go ahead|do it|run it|ship it|go on"
    r"|try again|never ?mind|how are you(?: doing)?|what'?s up|a lot|so much|very much|thank you"
    r"|ok(?:ay)?|k|yes|yeah|yep|yup|no|nope|sure|thanks?|thx|ty|great|good|nice"
    r"|cool|perfect|awesome|excellent|fine|right|correct|exactly|indeed|agreed"
    r"|lgtm|hi|hello|hey|bye|goodbye|welcome|please|hm+|ah+|oh+|wow"
    r"|lol|haha|proceed|continue|next|stop|wait|cancel|undo|retry|again|done"
    r"|all|it|that|then|now|everyone|there|you|and|me|for|the|is)\b)+",
    re.IGNORECASE,
)
_GOING_ON = re.compile(
    r"^\W*(?:and|also|but|so|then|now)\b|^\W*(?:continue|go on|keep going|carry on|resume"
    r"|pick up where|same (?:again|thing|for)|what about|how about|do (?:the same|that|it) )"
    r"|\b(?:where we left off|as (?:before|above)|the (?:other|next|same) one|do that again)\b",
    re.IGNORECASE,
)
_IDENTITY = re.compile(
    r"\b(?:who am i|about me|know me|remember me|my (?:name|preferences?|job|birthday|age|home"
    r"|family|wife|husband|partner|kids?|children|address|email|timezone|setup)"
    r"|where (?:do|did) i (?:live|work)|do i (?:like|prefer|live|own|have(?! to\b))"
    r"|(?:tell|remind) me about myself)\b",
    re.IGNORECASE,
)
_OF_A_TIME = re.compile(
    r"\b(?:what|which|anything|summari[sz]e|recap|show|list|remind)\b.{0,60}\b(?:yesterday|today"
    r"|tonight|last (?:night|week|month|year|time|session|\w+day)|this (?:week|month|morning|year)"
    r"|recent(?:ly)?|lately|latest|past (?:few |\d+ )?(?:days?|weeks?|months?)"
    r"|since \w+|\d+ (?:days?|weeks?|months?) ago)\b",
    re.IGNORECASE,
)


def told_intents(prompt: str) -> frozenset[Intent]:
    """Return the intents that a prompt's own words tell."""
    text = prompt[:2_000].strip()
    few = len(text.split()) <= SHORT_WORDS
    found = set()
    if text and _TALK.fullmatch(text):
        found.add(Intent.CONVERSATIONAL)
    if few and _GOING_ON.search(text):
        found.add(Intent.CONTINUATION)
    if _IDENTITY.search(text):
        found.add(Intent.IDENTITY)
    if _OF_A_TIME.search(text):
        found.add(Intent.TEMPORAL)
    return frozenset(found)


def intents(
    told: frozenset[Intent], likeness: Mapping[Intent, float], threshold: float
) -> frozenset[Intent]:
    """Return what a prompt is for, given its words and its best likeness to each intent's
    examples. It is mere talk only if nothing else comes near."""
    found = set(told) | {each for each, value in likeness.items() if value >= threshold}
    talk = likeness.get(Intent.CONVERSATIONAL, 0.0)
    others = [value for each, value in likeness.items() if each is not Intent.CONVERSATIONAL]
    surely = Intent.CONVERSATIONAL in told or all(value <= talk - CLEARLY for value in others)
    if not surely:
        found.discard(Intent.CONVERSATIONAL)
    return frozenset(found) or frozenset({Intent.GENERAL})


def only_talk(found: frozenset[Intent]) -> bool:
    """Whether a prompt asks for nothing that a memory could help with."""
    return found == {Intent.CONVERSATIONAL}
