"""What somebody means in the end who corrects themselves: "30 days. no, sorry, 45".

Where a value is taken back and another one of its kind follows, the later one stands in the
earlier one's place. Where the correction is a sentence of its own, the sentence that it corrects
is left out. The first value is in neither.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache

from madeleine.language.changed_words import find_changed_words
from madeleine.language.kinds import find_kinds
from madeleine.language.language_files import list_languages, load_language
from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import WORD, stem, telling_stems
from madeleine.language.word_hints import STOP_WORDS

MOST_BARE_WORDS = 5  # of a correction that only gives a value
MOST_NAMING_WORDS = 3  # of a correction that only gives another name
MOST_SENTENCES_BACK = 3  # that a correction may reach

_EDGES = " ,.!:…-–—"
_ALTERNATIVE = compile_late(r"\s+(?:or|oder|o|ou|of)\s*$", re.I)

_TAKEN_BACK = compile_late(
    r"(?:^|[\s,.(–—-])(?P<mark>no,? wait|wait,? no|no,? sorry|sorry,? no|wait,? sorry|scratch that"
    r"|strike that|correction|i meant?|i mean|no,? hang on|hang on|hold on|hm+,? no|no,? actually"
    r"|actually,? no|actually|make (?:it|that)|let'?s say|or rather|rather|better|nope|oops|sorry"
    r"|wait"
    r"|no,? make it|ehm+,? wait|erm|uh|hm+|ach nee|ach nein|nee,? warte|nein,? warte|warte|quatsch"
    r"|moment|äh+m?|ich meine|doch lieber|sagen wir|stimmt nicht|no,? espera|espera|perd[oó]n"
    r"|quiero"
    r" decir|mejor|digo|non,? attends|attends|pardon|je veux dire|plutôt|enfin|euh|scusa|anzi"
    r"|espera aí"
    r"|aliás|czekaj|nie,? czekaj|of nee|nee wacht"
    r"|nein,? (?:entschuldigung|sorry|falsch)|entschuldigung(?:,? nein)?|korrektur|mein fehler|nein"
    r"|no,? disculpa|disculpa|me equivoqu[eé]|correcci[oó]n|non,? (?:pardon|désolée?)"
    r"|je me suis trompée?|my mistake|my bad|i misspoke|no)(?=[\s,.!:…–—-]|$)",
    re.I,
)
_NUMBER = r"\d+(?:[.,:]\d+)*"
_VALUE = compile_late(
    rf"(?P<sign>[€$£]\s?)?(?P<number>{_NUMBER})(?P<unit>\s?(?:%|percent|ms|mins?|minutes?|secs?|seconds?"
    r"|s\b|h\b|hours?|days?|weeks?|months?|years?|kg|g\b|km|m\b|cm|mm|mb|gb|tb|gigs?|k\b|euros?|eur"
    r"|dollars?|pounds?|rows?|times?|tage?n?|stunden|minuten|wochen|monate|jahre|prozent|stück"
    r"|días?|horas|minutos|semanas|meses|años|fois|jours?|heures|semaines|mois|ans|uhr|am\b|pm\b))?"
    r"(?!\w)",
    re.I,
)
_LIGHT = frozenset(
    [
        "no",
        "sorry",
        "wait",
        "hm",
        "hmm",
        "ok",
        "okay",
        "yeah",
        "yes",
        "make",
        "it",
        "that",
        "let's",
        "say",
        "rather",
        "actually",
        "better",
        "at",
        "then",
        "is",
        "was",
        "oh",
        "god",
        "ah",
        "a",
        "the",
        "to",
        "of",
        "nee",
        "nein",
        "warte",
        "ach",
        "doch",
        "äh",
        "ja",
        "lieber",
        "auf",
        "mach",
        "also",
        "dann",
        "besser",
        "sagen",
        "wir",
        "no",
        "perdón",
        "espera",
        "mejor",
        "digo",
        "sí",
        "non",
        "attends",
        "pardon",
        "plutôt",
        "euh",
        "oui",
        "plus",
        "max",
        "at",
        "most",
        "only",
        "just",
        "i",
        "meant",
        "mean",
        "it's",
        "its",
        "was",
        "be",
        "should",
        "about",
        "please",
        "bitte",
        "after",
        "on",
        "by",
        "in",
        "for",
        "until",
        "nach",
        "um",
        "bis",
        "am",
        "im",
        "nicht",
        "entschuldigung",
        "después",
        "las",
        "los",
        "el",
        "la",
        "en",
        "disculpa",
        "après",
        "à",
        "le",
    ]
)


def settle_corrections(sentences: Sequence[str]) -> list[str]:
    """Return the sentences of one message as they are meant in the end."""
    settled: list[str] = []
    for sentence in sentences:
        settled = _take_up(settled, sentence)
    return settled


def correct_earlier(earlier: str, message: str) -> str | None:
    """Return a sentence with the value that a later message gives in its place: "no, sorry, 90".
    Nothing of a message that says anything else, or of a sentence with no such value or several."""
    said = message.strip()
    mark = _TAKEN_BACK.match(said)
    tail = said[mark.end() :].strip(_EDGES) if mark is not None else ""
    new = _VALUE.search(tail)
    if new is None:
        return _correct_words(earlier, tail) if tail else None
    if not _is_bare(tail, new) or len(list(_VALUE.finditer(earlier))) != 1:
        return None
    old = _find_corrected(earlier, new)
    return None if old is None else _write_correction(earlier, old, new, tail)


def _correct_words(earlier: str, tail: str) -> str | None:
    """Return a sentence with the words that a later message gives in the place of others: a day for
    a day, `gross amounts` for `net amounts`."""
    said = [each.strip(_EDGES) for each in tail.split() if each.strip(_EDGES)]
    while said and said[0].lower() in _LIGHT:
        del said[0]
    if not 0 < len(said) <= MOST_NAMING_WORDS or any(each.lower() in _LIGHT for each in said):
        return None
    words = list(WORD.finditer(earlier))
    if len(said) == 1:
        return _correct_one_word(earlier, words, said[0])
    ends = [at for at, each in enumerate(words) if stem(each[0].lower()) == stem(said[-1].lower())]
    if len(ends) != 1 or ends[0] < len(said) - 1:
        return None
    first = words[ends[0] - len(said) + 1]
    replaced = earlier[first.start() : words[ends[0]].start()].split()
    if any(each.lower() in _LIGHT | STOP_WORDS for each in replaced):
        return None
    return f"{earlier[: first.start()]}{' '.join(said)}{earlier[words[ends[0]].end() :]}"


def _correct_one_word(earlier: str, words: Sequence[re.Match[str]], said: str) -> str | None:
    """Return a sentence with another word of one kind: a weekday, a database, a colour."""
    kinds = _find_word_kinds(said)
    fitting = [each for each in words if kinds & _find_word_kinds(each[0])]
    if len(fitting) != 1 or fitting[0][0].lower() == said.lower():
        return None
    return f"{earlier[: fitting[0].start()]}{said}{earlier[fitting[0].end() :]}"


def _find_word_kinds(word: str) -> frozenset[str]:
    low = word.lower()
    return find_kinds([stem(low)]) | _time_names().get(low, frozenset())


@cache
def _time_names() -> Mapping[str, frozenset[str]]:
    """Return the days and months of all languages, each with its kind."""
    found: dict[str, frozenset[str]] = {}
    for known in filter(None, map(load_language, list_languages())):
        for kind, names in (("day", known.weekdays), ("month", known.months)):
            for each in (form for forms in names for form in forms):
                found[each] = found.get(each, frozenset()) | {kind}
    return found


def is_about_value(said: str, earlier: str) -> bool:
    """Whether what was said last may be about the value of an earlier sentence: it has that one, or
    none of its own."""
    mine, theirs = set(_DIGITS.findall(said)), set(_DIGITS.findall(earlier))
    return not mine or not mine.isdisjoint(theirs)


def _take_up(before: list[str], sentence: str) -> list[str]:
    for mark in _TAKEN_BACK.finditer(sentence):
        head, tail = sentence[: mark.start()].strip(" ,"), sentence[mark.end() :].strip(_EDGES)
        new = _VALUE.search(tail)
        if new is None or not _is_said_at_once(tail, new):
            continue
        if head and (old := _find_corrected(head, new)):
            return [*before, _write_correction(head, old, new, tail)]
        if not head and (place := _find_corrected_sentence(before, new)) is not None:
            return _correct_earlier(before, place, new, tail)
    bare = _VALUE.search(sentence)
    if bare and _is_bare(sentence, bare):
        if before and bare["number"] in [each["number"] for each in _VALUE.finditer(before[-1])]:
            return before
        place = _find_corrected_sentence(before, bare)
        if place is not None:
            return _correct_earlier(before, place, bare, sentence[bare.start() :])
    return [*before, sentence]


def _find_corrected_sentence(before: Sequence[str], new: re.Match[str]) -> int | None:
    """Return the last sentence whose value another one corrects."""
    for place in range(len(before) - 1, max(-1, len(before) - 1 - MOST_SENTENCES_BACK), -1):
        if not _begins_with_mark(before[place]) and _find_corrected(before[place], new):
            return place
    return None


def _correct_earlier(before: list[str], place: int, new: re.Match[str], tail: str) -> list[str]:
    """Correct a sentence. What was said between, only to take it back, goes."""
    old = _find_corrected(before[place], new)
    assert old is not None
    between = [each for each in before[place + 1 :] if not _begins_with_mark(each)]
    return [*before[:place], _write_correction(before[place], old, new, tail), *between]


def _begins_with_mark(sentence: str) -> bool:
    found = _TAKEN_BACK.match(sentence)
    return found is not None and len(found["mark"]) > len("no")


def _find_corrected(text: str, new: re.Match[str]) -> re.Match[str] | None:
    """Return the last value that another may stand for: of the same unit, or that has none."""
    found = list(_VALUE.finditer(text))
    unit = _normalize_unit(new)
    fitting = [each for each in found if not unit or _normalize_unit(each) == unit]
    return fitting[-1] if fitting and fitting[-1]["number"] != new["number"] else None


def _normalize_unit(value: re.Match[str]) -> str:
    return (value["unit"] or "").strip().lower().rstrip("s")


def _is_said_at_once(tail: str, new: re.Match[str]) -> bool:
    return all(each in _LIGHT for each in _bare_words(tail[: new.start()]))


def _bare_words(text: str) -> list[str]:
    return [each.strip(_EDGES).lower() for each in text.split() if each.strip(_EDGES)]


def _write_correction(text: str, old: re.Match[str], new: re.Match[str], tail: str) -> str:
    """Return a sentence with the new value, and with what is said beside it."""
    unit = new["unit"] or old["unit"] or ""
    start, end = text[: old.start()], text[old.end() :]
    told = f"{start}{old['sign'] or ''}{new['number']}{unit}{end}".rstrip(_EDGES)
    if re.search(rf"(?<!\d){re.escape(new['number'])}(?!\d)", start):
        told = _ALTERNATIVE.sub("", start).rstrip(_EDGES) + end.rstrip(_EDGES)
    rest = tail[new.end() :].strip(_EDGES) if tail[new.start() :].startswith(new[0]) else ""
    said = [each for each in _bare_words(rest) if each not in _LIGHT and each != new["number"]]
    return f"{told}, {rest}" if said else told


def _is_bare(sentence: str, value: re.Match[str]) -> bool:
    """Whether a sentence only gives a value again: `hm. 0.5`, `make it 4`."""
    words = _bare_words(sentence)
    unit = (value["unit"] or "").strip().lower()
    others = [each for each in words if each not in _LIGHT and value["number"] not in each]
    return 0 < len(words) <= MOST_BARE_WORDS and others in ([], [unit])


# -- taken back later ----------------------------------------------------------------------

_DENIED = compile_late(
    r"(?:\bnot|n't|\binstead of|\brather than|\bno longer|\bnicht(?: mehr)?|\bstatt|\bno|\bpas"
    r"|\bnie|\bau lieu de"
    r"|\ben vez de)\s+(?:the |in |at |on |by |to |all |die |den |les? |las? |m(?:r|s|rs)\.? |dr\.? "
    r"|herr |frau |um |am )?"
    r"(?P<value>[\w.,:%-]*\d[\w.,:%-]*|[\w'-]{4,})"
    r"|(?P<wrong>[\w.,:%-]*\d[\w.,:%-]*)\s+(?:is|was|ist|war|es|est)\s+(?:wrong|too|falsch|zu|mal|faux|trop)",
    re.I,
)
_CORRECTS = compile_late(
    r"^(?:(?:ok|okay|ah|oh|hm+|well|so|ach|shit|right|god|ugh)[\s,.]+)*(?:no|nope|neither|wait"
    r"|actually|sorry|excuse me|correction"
    r"|not|hold on|hang on|nein|nee|doch|quatsch|warte|nicht|perdón|espera|pardon|attends"
    r"|you're right|you've caught me|that'?s (?:wrong|not right|not true)|that is wrong|i was wrong"
    r"|my mistake|i misspoke|korrektur|falsch|entschuldigung|das (?:stimmt nicht|ist falsch)"
    r"|mein fehler|corrección|disculpa|eso está mal|está mal|me equivoqué|c'est faux|non"
    r"|je me suis trompée?)\b",
    re.I,
)
_INSTEAD = compile_late(
    r"\b(?:then|instead|after all|make it|actually|rather|doch|lieber|dann|entonces|mejor"
    r"|finalmente|alors|plutôt|finalement)\b",
    re.I,
)
_DIGITS = compile_late(_NUMBER)
_CODED = compile_late(r"[\w.-]*[a-z][\w.-]*\d[\w.-]*", re.I)
SURELY_SAME = 3  # telling words that two sentences share which are about the same
ALIKE = 0.75  # from which two names with digits are of one kind: `c7g.4xlarge`, `c7i.4xlarge`


def takes_value_back(later: str, earlier: str) -> bool:
    """Whether a later message denies a value of an earlier sentence, or gives another one of its
    kind instead. A mere word counts only where the message begins by saying no."""
    corrects = _CORRECTS.match(later) is not None
    shared = telling_stems(later) & telling_stems(earlier)
    if len(shared) >= SURELY_SAME and gives_other_value(later, earlier):
        return True
    if any(
        _is_denial_of(found, earlier, corrects and bool(shared))
        for found in _DENIED.finditer(later)
    ):
        return True
    if corrects and (
        gives_other_value(later, earlier) or _changes_words(later, earlier, len(shared))
    ):
        return True
    return _INSTEAD.search(later) is not None and names_other_kind(later, earlier)


def is_correction(message: str) -> bool:
    """Whether a message begins by saying that something said before is wrong."""
    return _CORRECTS.match(message.strip()) is not None


def begins_correction(message: str) -> bool:
    """Whether a message may only give a value anew, or says that something is wrong."""
    return is_correction(message) or _TAKEN_BACK.match(message.strip()) is not None


def ends_earlier_value(message: str, earlier: str) -> bool:
    """Whether a message shows by itself, in whatever session it is said, that it corrects an
    earlier text: it says so, speaks of the same, and names the value that is wrong or another one
    in its place."""
    if _denies_whole(message, earlier):
        return True
    shared = telling_stems(message) & telling_stems(earlier)
    if not is_correction(message) or len(shared) < SURELY_SHARED:
        return False
    return any(_is_denial_of(found, earlier, True) for found in _DENIED.finditer(message)) or (
        gives_other_value(message, earlier) or _changes_words(message, earlier, len(shared))
    )


def _denies_whole(message: str, earlier: str) -> bool:
    """Whether a message says an earlier text again, with another value and the old one denied:
    `from now on in AsciiDoc, no longer in Markdown`."""
    said, known = telling_stems(message), telling_stems(earlier)
    for found in _DENIED.finditer(message):
        value = telling_stems(found["value"] or found["wrong"])
        rest = known - value
        if value and value < known and rest <= said and len(rest) >= SURELY_SHARED and said - known:
            return True
    return False


def _changes_words(later: str, earlier: str, shared: int) -> bool:
    """Whether a correction says an earlier sentence again, with other words for a value."""
    plain = _OPENS_CORRECTION.sub("", later.strip())
    return shared >= SURELY_SHARED and find_changed_words(earlier, plain) is not None


_OPENS_CORRECTION = compile_late(r"^(?:[^,.:!]{1,30}[,.:!]\s+){1,2}(?=\S+\s+\S+\s+\S)")
"""What a correction begins with: `wait, that's wrong, `."""
SURELY_SHARED = 2  # telling words of a correction that says again what it corrects


def _is_denial_of(found: re.Match[str], earlier: str, by_word: bool) -> bool:
    value = (found["value"] or found["wrong"]).strip(".,:").lower()
    number = _DIGITS.search(value)
    if number:
        return number[0] in _DIGITS.findall(earlier)
    return by_word and re.search(rf"\b{re.escape(value)}", earlier, re.I) is not None


def gives_other_value(later: str, earlier: str) -> bool:
    """Whether a message gives a value with the unit of one that it does not repeat."""
    told = {_normalize_unit(each): each["number"] for each in _VALUE.finditer(earlier)}
    given = [(_normalize_unit(each), each["number"]) for each in _VALUE.finditer(later)]
    return any(unit and unit in told and told[unit] != number for unit, number in given)


def names_other_kind(later: str, earlier: str) -> bool:
    """Whether a message names something much like what it does not repeat: `kestrel-2`."""
    return any(
        mine.lower() != theirs.lower()
        and SequenceMatcher(None, mine.lower(), theirs.lower()).ratio() >= ALIKE
        for mine in _CODED.findall(later)
        for theirs in _CODED.findall(earlier)
    )
