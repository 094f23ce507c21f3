"""What was said around a sentence that says too little by itself.

A question of the agent names what a short answer is about, and its first words afterwards often
say the same in full: "So read-only until Christmas". Only words that repeat are taken over; a
proposal, another question or what the agent is about to do is not.
"""

from __future__ import annotations

import re

from madeleine.language.late_pattern import compile_late
from madeleine.language.spoken_sentences import split_thoughts
from madeleine.language.stems import telling_stems

FEW_STEMS = 6  # below which a sentence says little by itself
QUESTION_CHARS = 160
RESTATED_CHARS = 220
RESTATED_SHARE = 0.3  # of what the agent says in its first sentence that the person had said

_POINTS = compile_late(
    r"^(?:it|its|it's|they|them|that|that's|this|these|those|he|she|his|her|him|there|both|neither|the"
    r" (?:first|second|other)|always until|er|sie|es|das|dies|el|ella|eso|esto|il|elle|ça|c'est"
    r"|\d|yes|no|not"
    r"|null|only|nur|solo|then|and|or)\b",
    re.I,
)
_OFFERS = compile_late(
    r"\b(?:shall i|should i|would you like|do you want me|may i|can i|could i|soll ich"
    r"|möchtest du|quieres que"
    r"|te gustaría|veux-tu|tu veux que|je peux)\b",
    re.I,
)
_PROPOSES = compile_late(
    r"\b(?:i'd|i would|i suggest|i propose|i could|could|might|maybe|perhaps|alternatively|shall"
    r"|should i|would"
    r"|let me|i'll|i will|i can|i've|i have|i'm|one could|option|ich würde|ich könnte|könnte"
    r"|ich schlage|soll"
    r"|podría|propongo|je propose|on pourrait|je vais|voy a|ich werde|done|added|changed|created"
    r"|congratulations"
    r"|good luck|enjoy|noted|private|nowhere|password|pin)\b|\?",
    re.I,
)
_UNDERSTOOD = compile_late(
    r"^(?:understood|right|ok(?:ay)?|so|fine|good|got it|clear|agreed|alright|all right|then|sure"
    r"|kept|also"
    r"|verstanden|gut|klar|alles klar|entendido|vale|perfecto|de acuerdo|compris|d'accord|entendu"
    r"|bien|très bien)"
    r"(?:\s*[,:;.!–—-]+\s*|\s+)",
    re.I,
)
_WORKED = compile_late(
    r"\b(?:worked with|works with|works only|only works|works (?:when|if|once)|needed|what helped"
    r"|order"
    r" matters|turned out|took (?:two|three|four|\d) things|things were needed|has to|have to"
    r"|had to|must"
    r"|otherwise|because|missing|instead of|was the (?:cause|reason|problem|culprit)|the (?:cause"
    r"|fix|cure|trick|reason)"
    r" (?:is|was)|requires|did the trick|solved|sonst|nötig|es lag|geholfen|muss"
    r"|funktioniert(?: nur)? mit|läuft(?: nur)? mit"
    r"|hacía falta|funciona (?:con|si)|era (?:el|la)|hay que|il fallait|il faut|fonctionne avec"
    r"|manquait)\b",
    re.I,
)


def needs_context(text: str) -> bool:
    """Whether a text says too little to be understood by itself."""
    return len(telling_stems(text)) < FEW_STEMS or _POINTS.match(text) is not None


def points_back(text: str) -> bool:
    """Whether a text begins with a word for what was said before it."""
    return _POINTS.match(text) is not None


def select_question(lead: str) -> str:
    """Return the question that was asked last; nothing where only something was offered."""
    thoughts = split_thoughts(lead.replace("\n", " "))
    if not thoughts or not thoughts[-1].endswith(("?", "？")):
        return ""
    question = thoughts[-1]
    return "" if len(question) > QUESTION_CHARS or _OFFERS.search(question) else question


def list_statements(lead: str) -> list[str]:
    """Return the sentences of what the agent said that may be what somebody answers."""
    thoughts = split_thoughts(lead.replace("\n", " "))
    return [
        each
        for each in thoughts
        if len(telling_stems(each)) > 1
        and len(each) <= QUESTION_CHARS
        and not _UNDERSTOOD.match(each)
    ]


def read_confirmation(reply: str, value: str) -> str:
    """Return the agent's first sentence where it says back a value that it was given; nothing
    where it does not."""
    thoughts = split_thoughts(reply.split("\n")[0])
    plain = _UNDERSTOOD.sub("", thoughts[0]) if thoughts else ""
    says_it = re.search(rf"(?<![\d.,]){re.escape(value)}(?![\d])", plain) is not None
    if not says_it or _PROPOSES.search(plain) or len(telling_stems(plain)) < 2:
        return ""
    return plain[:1].upper() + plain[1:]


def select_restatement(reply: str, said: str) -> str:
    """Return the agent's first sentence where it says again what the person said, and more of what
    it is about; nothing otherwise."""
    thoughts = split_thoughts(reply.split("\n")[0])
    if not thoughts or len(thoughts[0]) > RESTATED_CHARS:
        return ""
    if len(thoughts) > 1 and _UNDERSTOOD.fullmatch(f"{thoughts[0]} "):
        thoughts = thoughts[1:]
    plain = _UNDERSTOOD.sub("", thoughts[0])
    mine, theirs = telling_stems(said), telling_stems(plain)
    if _PROPOSES.search(plain) or not theirs - mine:
        return ""
    if len(mine & theirs) < RESTATED_SHARE * len(theirs):
        return ""
    return plain[:1].upper() + plain[1:]


def find_recovery(reply: str) -> str:
    """Return what an agent says that made something work; nothing where it does not say so."""
    thoughts = [each for line in reply.splitlines() for each in split_thoughts(line)]
    told = [each for each in thoughts if not _PROPOSES.search(each)]
    telling = [place for place, each in enumerate(told) if _WORKED.search(each)]
    if not telling:
        return ""
    first, last = telling[0], min(telling[-1], telling[0] + 1)
    return " ".join(told[first : last + 1])
