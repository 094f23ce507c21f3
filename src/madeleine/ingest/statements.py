"""What a person said that is worth keeping, found without a language model.

Only what is said outright: "remember that …", "note: …", "from now on …", "always …", "I prefer …",
"we decided …", "let's go with … for …", "my … is …". Everything else is left alone: a memory nobody
meant to make costs more trust than one that has to be said again. So a sentence is passed over when
it is a question, leaves a decision open ("maybe", "yet"), is about this moment ("for now", "in this
file"), points at something outside of itself ("that one"), holds what looks like a secret, or
stands in a text so long that it is probably pasted. Of a message that is off the record nothing is
kept.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from madeleine.language.late_pattern import compile_late
from madeleine.language.off_record import asks_not_to_remember
from madeleine.language.phrases import PhraseHit, find_foreign_phrases, says_nothing_in
from madeleine.language.secrets import may_hold_secret
from madeleine.language.spoken_corrections import settle_corrections
from madeleine.language.spoken_sentences import split_written
from madeleine.model.words import MemoryType
from madeleine.whisper.prompts import find_machine_author, strip_host_text

MESSAGE_CHARS = 2_000  # what is longer is pasted, and its "note:" is somebody else's
TASK_CHARS = 600  # what is longer describes a task, and its "always" is over with it
SENTENCE_CHARS = 400
LEAST_WORDS = 3
LEAST_CHARS = 6  # where words are not separated by spaces


class SpokenStatement(NamedTuple):
    """One thing worth keeping, in the person's own words."""

    text: str
    type: MemoryType
    about_self: bool = False


def find_statements(message: str) -> list[SpokenStatement]:
    """Return what a message asks to be kept, each once, in its order."""
    if find_machine_author(message):
        return []
    text = strip_host_text(message).replace("\u2019", "'")
    if len(text) > MESSAGE_CHARS or asks_not_to_remember(text):
        return []
    is_task = len(text) > TASK_CHARS
    found = (
        _read_sentence(each, is_task) for each in settle_corrections(list(split_written(text)))
    )
    return list(dict.fromkeys(each for each in found if each is not None))


# -- what is said outright -----------------------------------------------------------------

_LEAD = (
    r"(?:(?:ok|okay|please|pls|also|and|so|but|btw|by the way|hey|well|actually|again|oh"
    r"|one more thing|claude|codex|madeleine|listen)[,:!]?\s+)*"
)
_ASKED_TO = (
    r"(?:(?:can|could|will|would) you (?:please )?|(?:i'd like|i want|i need) you to "
    r"|you (?:should|must|need to) |(?:try|make sure) to )?"
)


def _compile_beginning(pattern: str) -> re.Pattern[str]:
    return compile_late(rf"{_LEAD}{pattern}", re.I)


_REMEMBER = _compile_beginning(
    rf"{_ASKED_TO}(?:please )?(?:"
    r"(?:remember|don't forget|do not forget)(?:\s+this)?(?:\s+that\s|\s*[:,–—]\s)"
    r"|(?:make|take|keep) (?:a )?note(?: that\s| of this:\s|\s*[:,]\s)"
    r"|note(?: to self)?\s*:\s|for the record[,:]\s"
    r")\s*(?P<said>.+)"
)
_REMEMBER_BARE = _compile_beginning(
    rf"{_ASKED_TO}(?:please )?(?:remember|don't forget)\s+(?P<said>.+)"
)
_FROM_NOW_ON = _compile_beginning(
    r"(?:from now on|from here on|going forward|from this point on)\b[,:]?\s.+"
)
_ALWAYS = _compile_beginning(r"(?:please )?(?:always|never)\s+(?P<next>[a-z']+)\s+\S.*")
_I_ALWAYS = _compile_beginning(r"(?:i|we)\s+(?:always|never)\s+(?P<next>[a-z']+)\s+\S.*")
_PREFER = _compile_beginning(
    r"(?:i|we)\s+(?:strongly |usually |generally |always |really )?prefer\s+\S.*"
)
_DECIDED = _compile_beginning(
    r"(?:(?:i|we)(?:'ve| have)?(?: now| just| finally)?\s+"
    r"(?:decided\s+(?:to|that|on|not|against|in favou?r)|agreed\s+(?:to|that|on)"
    r"|settled\s+on|chose\s+to|opted\s+(?:for|to))"
    r"|(?:i|we)(?:'ve| have)?\s+chose[n]?\s+\S+.*\s(?:over))\s+\S.*"
)
# Without `to` or `that`: a thing by its name, and what it is or does from now on.
_DECIDED_SO = _compile_beginning(
    r"(?:i|we)(?:'ve| have)?(?: now| just| finally| all)?\s+decided\s+"
    r"(?P<what>(?:[^\s,;:]+\s+){1,6}?)"
    r"(?:is|isn't|are|aren't|will|won't|shall|should|must|wins|win|beats|beat|stays|stay|remains"
    r"|remain|becomes|become|gets|get|goes|go|comes|come|moves|move|belongs|belong|owns|own"
    r"|handles|handle|replaces|replace|needs|need|has to|have to)\s+\S.*"
)
_LETS = _compile_beginning(
    r"let(?:'s| us)\s+(?:go|stick|stay)\s+with\s+(?P<what>(?:[^\s,;:]+\s+){1,4}?)"
    r"(?:for|as|over|instead of|rather than)\s+(?P<over>\S.*)"
)
_MY = _compile_beginning(
    r"my\s+(?P<what>[a-z][a-z' -]{1,40}?)(?:\s+(?:is|are)|'s)\s+(?P<value>\S.*)"
)

# Said in other languages, beside what their files give (`_read_by_phrase`): only what leaves no
# doubt. What stands in `said` is kept.
_ELSEWHERE = tuple(
    compile_late(pattern, re.I)
    for pattern in (
        r"(?:bitte )?merk(?:e)? dir(?: bitte)?(?:, dass\s|\s*:\s)(?P<said>.+)",
        r"(?:por favor,? )?recuerda(?: que\s|\s*:\s)(?P<said>.+)",
        r"(?:souviens-toi|rappelle-toi|retiens)(?: que\s| qu'|\s*:\s)(?P<said>.+)",
        r"ricorda(?:ti)?(?: che\s|\s*:\s)(?P<said>.+)",
        r"lembr[ae](?:-se)?(?: de)?(?: que\s|\s*:\s)(?P<said>.+)",
        r"onthoud(?: dat\s|\s*:\s)(?P<said>.+)",
        r"запомни(?:те)?(?:, что\s|\s*:\s)(?P<said>.+)",
        r"(?P<said>.+?)(?:を|と|って|ことを)覚えて(?:おいて)?(?:ください|ね|下さい)?[。！]?$",
        r"(?:请|請)?(?:记住|記住)[：:，,]?\s*(?P<said>.+)",
        r"تذك[رّ]ر? أن\s+(?P<said>.+)",
    )
)
_ELSEWHERE_FROM_NOW_ON = compile_late(
    r"(?:ab (?:jetzt|sofort)|a partir de (?:ahora|agora)|à partir de maintenant|désormais"
    r"|d'ora in poi|vanaf nu|отныне|впредь)\b.+"
    r"|(?:今後は|これからは|从现在起|从现在开始|從現在起|من الآن فصاعد).+",
    re.I,
)


def _read_sentence(sentence: str, is_task: bool) -> SpokenStatement | None:
    if not sentence or len(sentence) > SENTENCE_CHARS or may_hold_secret(sentence):
        return None
    asked = _REMEMBER.fullmatch(sentence)
    if asked:
        return _read_explicit(asked["said"])
    if sentence.endswith(("?", "？")):
        return None
    bare = _REMEMBER_BARE.fullmatch(sentence)
    if bare:
        return _read_implied(bare["said"])
    if is_task and not _FROM_NOW_ON.fullmatch(sentence):
        return _read_other_language(sentence)
    return _read_implied(sentence) or _read_other_language(sentence)


def _read_explicit(said: str) -> SpokenStatement | None:
    """What somebody asked to be remembered, whatever it is about."""
    text = _tidy_sentence(said.rstrip("?？"))
    if not _says_something(text) or _POINTS_AWAY.match(text):
        return None
    known = _classify_statement(text)
    return known or SpokenStatement(text, MemoryType.FACT, _is_about_self(text))


def _read_implied(sentence: str) -> SpokenStatement | None:
    """What is a lasting statement by its form, and not about this moment only."""
    text = _tidy_sentence(re.sub(rf"\A{_LEAD}", "", sentence, flags=re.I))
    if not _says_something(text) or _PASSING.search(_CHOSEN_HERE.sub(r"\1\2", text)):
        return None
    return _classify_statement(text)


def _classify_statement(text: str) -> SpokenStatement | None:
    if _is_decision(text):
        return SpokenStatement(text, MemoryType.DECISION)
    if _PREFER.fullmatch(text) and not _points_at(text):
        return SpokenStatement(text, MemoryType.PREFERENCE, _is_about_self(text))
    if _FROM_NOW_ON.fullmatch(text):
        return SpokenStatement(text, MemoryType.PREFERENCE)
    if _is_rule(text):
        return SpokenStatement(text, MemoryType.PREFERENCE, _is_about_self(text))
    return SpokenStatement(text, MemoryType.FACT, about_self=True) if _is_trait(text) else None


def _is_decision(text: str) -> bool:
    if _DECIDED.fullmatch(text):
        return not _points_at(text)
    found = _DECIDED_SO.fullmatch(text) or _LETS.fullmatch(text)
    if found is None or _UNSETTLED.search(text):
        return False
    named = all(_names_something(each) for each in found.groups())
    return named and _CLAUSE.isdisjoint(found["what"].lower().split())


def _names_something(text: str) -> bool:
    """Whether a text begins with a thing by its name, and not with a word for what was said
    elsewhere."""
    words = [each.strip(".!'\"").lower() for each in text.split()]
    name = words[1:] if words[0] in ("the", "our") else words
    return bool(name) and name[0] not in _NO_NAME


def _is_rule(text: str) -> bool:
    """Whether this is "always …" or "never …" as a rule, and not "never mind" or "always fails"."""
    ordered = _ALWAYS.fullmatch(text)
    if ordered:
        word = ordered["next"].lower()
        told_of = word.endswith(("ed", "ing", "'t")) or re.search(r"[^s]s$", word)
        return word not in _NO_ORDER and not told_of and not _points_at(text)
    told = _I_ALWAYS.fullmatch(text)
    return told is not None and told["next"].lower() in _HABITS


def _is_trait(text: str) -> bool:
    """Whether this is "my … is …" about something that lasts: a name, not a broken build."""
    found = _MY.fullmatch(text)
    if found is None:
        return False
    words = found["what"].lower().split()
    lasting = words[-1] in _TRAITS or words[0] in ("favourite", "favorite", "preferred", "default")
    return lasting and found["value"].split()[0].lower() not in _STATES


def _read_other_language(sentence: str) -> SpokenStatement | None:
    for pattern in _ELSEWHERE:
        found = pattern.fullmatch(sentence)
        if found and _says_something(_tidy_sentence(found["said"])):
            return SpokenStatement(_tidy_sentence(found["said"]), MemoryType.FACT)
    if _ELSEWHERE_FROM_NOW_ON.fullmatch(sentence) and not find_foreign_phrases(sentence, "passing"):
        return SpokenStatement(_tidy_sentence(sentence), MemoryType.PREFERENCE)
    return _read_by_phrase(sentence)


_KINDS_BY_ENGLISH = (
    ("remember that", None),
    ("note:", None),
    ("from now on", SpokenStatement("", MemoryType.PREFERENCE)),
    ("always", SpokenStatement("", MemoryType.PREFERENCE)),
    ("never", SpokenStatement("", MemoryType.PREFERENCE)),
    ("i prefer", SpokenStatement("", MemoryType.PREFERENCE, about_self=True)),
    ("we decided", SpokenStatement("", MemoryType.DECISION)),
    ("my name is", SpokenStatement("", MemoryType.FACT, about_self=True)),
    ("i live in", SpokenStatement("", MemoryType.FACT, about_self=True)),
)
"""As what something is kept, by what its phrase comes to. What is asked to be remembered is kept
without those words, everything else as it is said."""


def _read_by_phrase(sentence: str) -> SpokenStatement | None:
    """Read a sentence that is a phrase of another language from end to end, but for words that say
    nothing before it."""
    text = _tidy_sentence(sentence)
    hit = next(iter(find_foreign_phrases(text, "keeps")), None)
    if hit is None or not _is_whole(text, hit):
        return None
    kind = next((kind for said, kind in _KINDS_BY_ENGLISH if hit.english.startswith(said)), None)
    kept = text if kind else _tidy_sentence(hit.gaps.get("rest", ""))
    if not _says_something(kept) or not hit.gaps.get("rest"):
        return None
    if kind is None:
        return SpokenStatement(kept, MemoryType.FACT)
    return None if find_foreign_phrases(text, "passing") else kind._replace(text=kept)


def _is_whole(text: str, hit: PhraseHit) -> bool:
    after = text[hit.end :].strip(" .!。！")
    return not after and says_nothing_in(text[: hit.start], hit.language)


# -- what keeps a sentence out -------------------------------------------------------------


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PASSING = compile_late(
    r"\b(?:for now|right now|at the moment|this time|just once|this once|today|tonight|temporarily"
    r"|for the time being|in this (?:\w+ )?(?:file|function|method|class|test|case|commit|branch|pr"
    r"|session|conversation|chat|turn|step|task|example|loop)"
    r"|(?:here|above|below)[.!]?$)",
    re.I,
)
_POINTS_AWAY = compile_late(r"(?:it|this|that|these|those|they|he|she|them)\b", re.I)
_POINTED_AT = compile_late(
    r"\b(?:prefer|decided on|settled on|opted for|agreed on|agreed to|decided to"
    r"|(?:always|never)\s+\w+)\s+(?:do\s+)?"
    r"(?:(?:it|this|that|these|those|them|both|neither|yours?)\b|(?:the|your|option) "
    r"(?:first|second|third|last|latter|former|other|new|old|[a-c0-9])\b)",
    re.I,
)
# Which of two named things is chosen is about more than the place where it is said.
_CHOSEN_HERE = compile_late(
    r"\A((?:i|we)\b.*\b(?:decided|chose|chosen)\b.*\b(?:over|instead of|rather than)\s+\S+)"
    r"\s+here([.!]?)\Z",
    re.I,
)
# Leaves a doubt, points elsewhere, or tells of what became of a decision.
_UNSETTLED = compile_late(
    r"\b(?:yet|maybe|perhaps|probably|possibly|i (?:think|guess|believe)|or not|if|unless|until|but"
    r"|though|although|however|then|later|at first|initially|originally|back in|ago|used to|before"
    r"|changed|said|says|told|right|(?:did|have)n't we|this|that|these|those|it|for (?:the moment|a"
    r" (?:while|start|bit|moment)|starters|today|tonight|lunch|dinner|testing|debugging))\b",
    re.I,
)
_NO_NAME = _word_set(
    "a an any anything everything nothing something some somebody someone nobody none no all both"
    " neither either each every many most few more one ones it its this that these those they them"
    " their he him his she her you your yours my mine we us i there here now so yet already too"
    " together first second third fourth last latter former other others another same rest next"
    " following above below right wrong best better simple simpler simplest easy quick fastest safe"
    " safest option plan approach variant version choice alternative idea suggestion proposal"
    " number way solution fix thing things stuff b c d 1 2 3 4 5 what which who whom whose when"
    " where why how whether if on to that not against in by with for at from of and or but because"
    " as since after before during between earlier later upon among about long today yesterday"
)
_CLAUSE = _word_set(
    "that which who whom whose what when where why how whether while because if once as since after"
    " before until or but so it they he she you"
)
_NO_ORDER = _word_set(
    "mind a an the this that these those it its my your our his her their again been be had has"
    " have got get gone was were is are on in at by for from to of with since ever once before"
    " after so too more less thought knew saw said did done made came went ran told heard seen"
    " known felt found understood nice good great fun hard easy happy sad sure true possible"
    " worth much quite there here i we you he she they what when where why how if and or but not"
    " no"
)
_HABITS = _word_set(
    "use want write run commit push put work deploy prefer like start keep name test format"
    " indent sign log merge rebase squash review eat drink take build ship pin read check ask do"
    " store avoid document lint publish release tag back"
)
_TRAITS = _word_set(
    "name surname nickname timezone zone email mail birthday pronouns role job title profession"
    " employer company team manager boss wife husband partner girlfriend boyfriend son daughter"
    " child children kids dog cat mother father sister brother phone address city town country"
    " language tongue editor username handle website domain os shell keyboard layout allergy"
    " allergies diet hours stack"
)
_STATES = _word_set(
    "not broken failing slow wrong gone missing still being too so down stuck dead empty full"
    " undefined null none in on at about because why what weird acting"
)


def _points_at(text: str) -> bool:
    """Whether what is preferred or decided stands somewhere else: "I prefer the second one"."""
    return _POINTED_AT.search(text) is not None


def _says_something(text: str) -> bool:
    enough = len(text.split()) >= LEAST_WORDS
    return enough or (not text.isascii() and len(text) >= LEAST_CHARS)


def _is_about_self(text: str) -> bool:
    return re.match(r"(?:i|i'm|i've|i'd|my)\b", text, re.I) is not None


def _tidy_sentence(text: str) -> str:
    """Return a sentence without the dashes and commas it hung on, with a capital at the front."""
    plain = text.strip().strip("-–—,:;").strip()
    return plain[:1].upper() + plain[1:]
