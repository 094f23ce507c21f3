"""Whether a newer text itself tells that what an older text states is over.

`Switched background jobs from Celery to Arq` names what was left, what was taken, and of what it
tells: the *scope*, here background jobs. Such a told change ends an older statement only if

- the newer text asserts the change as done: it does not ask, plan, deny, suppose, report or recall
  it, and the change is neither partial nor temporary;
- the older text states what was left, as a value that somebody or something has now; it denies
  nothing and does not name what was taken;
- both have the same scope: every word that says of what they speak stands in both. Where the newer
  text names no scope (`Jenkins is gone, we use Buildkite`), the older one must speak of the same
  people and of a plain purpose at most (`we use Jenkins for builds`).

A word that is in none of the tables (`change_words.py`) counts as scope, so an unknown word
prevents a replacement and never causes one. The tables are English; for other languages see
`foreign_changes.py`. In doubt nothing is found, and the judge proposes what it thinks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from madeleine.language.change_words import (
    ARTICLES,
    CHANGE_PHRASES,
    CHANGE_STARTERS,
    CLAUSE_UNDONE,
    CONTRAST_MARKERS,
    DISTINGUISHING_WORDS,
    ENDS_STATES,
    LIGHT_WORDS,
    PERIODS,
    PREPOSITIONS,
    STATE_WORDS,
    STATES_BY_WORD,
    TEXT_UNDONE,
    TEXT_UNDONE_TURNS,
    TIME_WORDS,
    TIMES_OF_YEAR,
    TRAILING_WORDS,
    UNSTATED_WORDS,
    VALUE_ENDS,
    WORD_LISTS,
)
from madeleine.language.foreign_changes import find_foreign_change
from madeleine.language.late_pattern import compile_late
from madeleine.language.sentences import Sentence, Words, read_sentences
from madeleine.language.shared_subject import are_turned_round
from madeleine.language.stems import WORD, stem, telling_stems
from madeleine.language.word_hints import STOP_WORDS

OLDER_CHARS = 320  # a longer text states more than one thing
NEWER_CHARS = 480
VALUE_WORDS = 5  # of what was left or taken
PURPOSE_WORDS = 2  # that an older text may add where the newer one names no scope
READING_CACHE_SIZE = 8_192  # texts whose readings are kept at hand


@dataclass(frozen=True, slots=True)
class Replacement:
    """What a newer text says took the place of what an older text states, as it is written."""

    left: str
    taken: str
    """Empty if the newer text names nothing that came instead."""


def find_replacement(older: str, newer: str) -> Replacement | None:
    """Return what the newer text says took the place of what the older one states, if it does."""
    changes = _read_changes(newer)
    if not changes and (elsewhere := find_foreign_change(older, newer)) is not None:
        return Replacement(elsewhere.left, elsewhere.taken)
    if not changes or _is_undone(newer) or len(older) > OLDER_CHARS or _is_undone(older):
        return None
    sentences = read_sentences(older)
    if sentences == read_sentences(newer):
        return None
    for change in changes:
        for place, sentence in enumerate(sentences):
            rest = [each for at, each in enumerate(sentences) if at != place]
            left = change.find_ended_value(sentence) if all(map(_only_explains, rest)) else None
            if left is not None:
                written = change.sentence.written
                taken = " ".join(written[at] for at in change.taken)
                return Replacement(" ".join(written[at] for at in left), taken)
    return None


def tell_same_change(one: str, other: str) -> bool:
    """Whether two texts tell that the same thing is over: they agree, in other words."""
    sides = [
        {
            change.sentence.stems[left.start : left.stop]
            for change in _read_changes(text)
            for left in change.left
        }
        for text in (one, other)
    ]
    return not sides[0].isdisjoint(sides[1])


def restates_what_was_taken(older: str, newer: str) -> bool:
    """Whether the newer text only says what the older one says was taken: `Background jobs run on
    Arq now` is no news after `Switched background jobs from Celery to Arq`, and ends nothing."""
    stems = telling_stems(newer)
    if stems - LIGHT_STEMS - telling_stems(older):
        return False
    changes = _read_changes(older)
    return any(_names_taken_only(change, stems) for change in changes)


def _names_taken_only(change: _ToldChange, stems: frozenset[str]) -> bool:
    words = change.sentence.stems
    taken = {words[at] for at in change.taken}
    left = {words[at] for span in change.left for at in span}
    return bool(taken) and taken <= stems and left.isdisjoint(stems)


LIGHT_STEMS = frozenset(
    stem(word.split("_")[-1])
    for listed in (*STATE_WORDS.values(), " ".join(LIGHT_WORDS))
    for word in listed.split()
)
"""What holds a statement together: `run on`, `now`."""


def render_replacement(found: Replacement) -> str:
    """Return in a sentence what a newer text tells."""
    if found.taken:
        return f"the newer one says that {found.taken} took the place of {found.left}"
    return f"the newer one says that {found.left} is over"


# -- what a newer text tells -------------------------------------------------------------------

_SLOTS = ("A", "B", "X")


@dataclass(frozen=True, slots=True)
class _ChangePhrase:
    """A turn of phrase as a pattern over the words of a sentence."""

    cue: str
    pattern: re.Pattern[str]
    first: str
    """The slot that it begins with, if any: what stands before the cue in its clause."""
    last: str
    """The slot that it ends with, if any: what stands after the cue in its clause."""
    own: frozenset[str]
    """Its own words. Some of them, like `not`, would undo a change elsewhere."""
    needed: frozenset[str]
    """Words of which it has one. Most sentences have none, and need not be searched."""
    required: tuple[tuple[frozenset[str], ...], ...]
    """For each part that it cannot do without its choices, as words that must all be there."""


def _compile_phrase(line: str) -> _ChangePhrase:
    cue, _, turn = line.partition(": ")
    parts = turn.split()
    first, last = (each if each in _SLOTS else "" for each in (parts[0], parts[-1]))
    made = r"(?:(?<=[|:] )|^)" if first else r"(?<!\S)"
    for place, part in enumerate(parts):
        greedy = "" if place == len(parts) - 1 else "?"
        choices = "|".join(
            _choice_pattern(each, greedy) for each in part.replace("?", "").split("/")
        )
        made += f"(?:{choices})" + "?" * part.endswith("?")
    own = frozenset(turn.replace("?", "").replace("/", " ").split())
    must = [_starting_words(each) for each in parts if not each.endswith("?")]
    needed = min((each for each in must if each), key=lambda each: len(each & STOP_WORDS))
    listed = (_list_choices(each) for each in parts if not each.endswith("?"))
    required = tuple(each for each in listed if each)
    return _ChangePhrase(cue, compile_late(made), first, last, own, needed, required)


def _starting_words(part: str) -> frozenset[str]:
    """Return the words with which a part may begin; none for a slot, which may be any."""
    found: set[str] = set()
    for choice in part.split("/"):
        if choice in _SLOTS or choice == "V":
            return frozenset()
        found.update(each.split("_")[0] for each in WORD_LISTS.get(choice, choice).split())
    return frozenset(found)


def _list_choices(part: str) -> tuple[frozenset[str], ...]:
    """Return the words of each choice of a part; none for a slot, and for a sign, which may stand
    for any end of a clause."""
    choices = part.split("/")
    if any(each in _SLOTS or each == "V" or not each.isidentifier() for each in choices):
        return ()
    listed = (WORD_LISTS.get(each, each).split() for each in choices)
    return tuple(frozenset(words.split("_")) for each in listed for words in each)


def _choice_pattern(part: str, greedy: str) -> str:
    if part in WORD_LISTS:
        listed = sorted(WORD_LISTS[part].split(), key=len, reverse=True)
        return "|".join(re.escape(each.replace("_", " ")) + " " for each in listed)
    if part in _SLOTS:
        return rf"(?P<{part}>(?:[^|:→\s]+ )+{greedy})"
    return r"(?P<V>[^|:→\s]+ )" if part == "V" else re.escape(part) + " "


_COMPILED_PHRASES = tuple(map(_compile_phrase, CHANGE_PHRASES.strip().splitlines()))


@dataclass(frozen=True, slots=True)
class _ToldChange:
    """A change that a sentence tells."""

    cue: str
    sentence: Sentence
    left: tuple[range, ...]
    """The places of what may have been left: a turn says not always where its name begins."""
    taken: range
    clause: tuple[int, ...]
    """The places of the other words of its clause, and of labels and `in the app` around it."""
    beside: tuple[int, ...]
    """The places of the words of other clauses, up to where the sentence explains itself."""
    verb: str
    """The stem of what is no longer done, if the turn names it."""

    def find_ended_value(self, older: Sentence) -> range | None:
        """Return the places of what was left, if an older sentence states it of the same scope."""
        for left in self.left:
            for run in _possible_stems(self.sentence, left, self.taken):
                found = [
                    at
                    for at in range(len(older.stems) - len(run) + 1)
                    if older.stems[at : at + len(run)] == run
                    and not _is_other_name(older, at, self.sentence, left.start)
                ]
                if len(found) == 1 and self._ends_value(
                    older, range(found[0], found[0] + len(run)), left
                ):
                    return left
        return None

    def _ends_value(self, older: Sentence, value: range, left: range) -> bool:
        """Whether the change ends what an older sentence states of a value."""
        stop = older.find_reason_start(value.stop)
        others = [
            at for at in range(stop) if at not in value and not _is_attached(older, at, value.stop)
        ]
        stated = _find_states(older, others, value)
        if UNSTATED_WORDS.intersection(older.words[at] for at in range(stop)) or not stated:
            return False
        if not stated & ENDS_STATES[self.cue] or not self._may_mean(older, stated):
            return False
        taken = frozenset(self.sentence.stems[at] for at in self.taken)
        clause = [at for at in self.clause if at not in left]
        dated = any(older.words[at] in TIME_WORDS for at in others)
        scope, told = older.scope(others), self.sentence.scope(clause, dated)
        if (taken and taken <= frozenset(older.stems)) or not told <= frozenset(older.stems):
            return False
        heard = taken | {self.sentence.stems[at] for at in (*clause, *self.beside)}
        scope = frozenset(each for each in scope if each not in PERIODS or each in heard)
        if scope <= heard and (scope <= told | taken or self._other_clauses_agree(older)):
            return not are_turned_round(older, self.sentence, scope)
        may_lack = self.cue not in ("with", "role") and not told
        return may_lack and _is_plain_purpose(older, scope, value)

    def _other_clauses_agree(self, older: Sentence) -> bool:
        """Whether the other clauses speak of what the older sentence speaks of, where that is told
        by their words. What they name anew is what was taken, if nothing else names that: it stands
        after the verb, or before it where somebody follows somebody in a role."""
        sentence, known = self.sentence, frozenset(older.stems)
        for span in _clause_spans(sentence.words):
            if span.start not in self.beside:
                continue
            verb = next((at for at in span if at in sentence.verbs), span.stop)
            subject = sentence.scope(range(span.start, verb)) - known
            rest = sentence.scope(range(verb, span.stop)) - known
            if {"not", "never", "no"}.intersection(sentence.words[at] for at in span):
                return False
            if (subject or rest) and (self.taken or (subject and (rest or self.cue != "role"))):
                return False
        return True

    def _may_mean(self, older: Sentence, stated: frozenset[str]) -> bool:
        """Whether both may have the same speaker, and speak of the same deed."""
        speakers = _find_speaker(older.words), _find_speaker(self.sentence.words)
        if all(speakers) and speakers[0] != speakers[1]:
            return False
        plain = self.verb in _USE_STEMS and "use" in stated
        return not self.verb or plain or self.verb in older.stems


_USE_STEMS = frozenset(stem(word) for word in STATE_WORDS["use"].split())


@lru_cache(maxsize=READING_CACHE_SIZE)
def _read_changes(text: str) -> tuple[_ToldChange, ...]:
    """Return the changes of which a text tells."""
    if len(text) > NEWER_CHARS or not _may_tell_change(text):
        return ()
    return _read_all_changes(read_sentences(text))


def _read_all_changes(sentences: Sequence[Sentence]) -> tuple[_ToldChange, ...]:
    return tuple(
        change
        for sentence in sentences
        for turn in _COMPILED_PHRASES
        if not turn.needed.isdisjoint(sentence.words)
        for match in turn.pattern.finditer("".join(f"{word} " for word in sentence.words))
        if (change := _read_change(sentence, turn, match)) is not None
    )


def _may_tell_change(text: str) -> bool:
    """Whether a text may tell of a change, by its words as they are written. No is certain, and to
    read sentences takes ten times as long."""
    if _RESPELLED.search(text):  # the words of its sentences may be others
        return True
    words = frozenset(WORD.findall(text.lower()))
    return any(
        all(any(choice <= words for choice in part) for part in turn.required)
        for word in _PHRASES_BY_WORD.keys() & words
        for turn in _PHRASES_BY_WORD[word]
    )


_RESPELLED = compile_late(r"['’€$£%]|\d[a-zA-Z]|\b(?:cannot|wont)\b", re.IGNORECASE)
"""What `read_sentences` may write in other words: short forms, units, signs of money."""


def _index_phrases() -> dict[str, list[_ChangePhrase]]:
    """Return the phrases under words of which each has one: of the part that has the fewest words
    that stand in every text, from each choice the longest."""
    found: dict[str, list[_ChangePhrase]] = {}
    for turn in _COMPILED_PHRASES:
        listed = [
            {max(choice - STOP_WORDS or choice, key=len) for choice in part}
            for part in turn.required
        ]
        for word in min(listed, key=lambda words: (len(words & STOP_WORDS), len(words))):
            found.setdefault(word, []).append(turn)
    return found


_PHRASES_BY_WORD = _index_phrases()


@lru_cache(maxsize=READING_CACHE_SIZE)
def _is_undone(text: str) -> bool:
    """Whether something in a text says that a change is not done, whole and lasting."""
    text = text.replace("’", "'")
    found = (word.lower() for word in WORD.findall(text))
    return any(each in TEXT_UNDONE for each in found) or bool(TEXT_UNDONE_TURNS.search(text))


def _read_change(
    sentence: Sentence, turn: _ChangePhrase, match: re.Match[str]
) -> _ToldChange | None:
    words = sentence.words
    start, end = _word_place(match.string, match.start()), _word_place(match.string, match.end())
    slots = {
        name: range(
            _word_place(match.string, match.start(name)), _word_place(match.string, match.end(name))
        )
        for name in match.re.groupindex
        if match[name] is not None
    }
    left, taken = slots["A"], slots.get("B", range(0))
    lefts = [left, _trim_to_value(words, left)]
    if turn.first == "A":
        lefts = [range(at, left.stop) for at in left]
    elif turn.last == "A":
        lefts = [_trim_to_value(words, left)]
    elif joints := [at for at in left if words[at] == "and"]:
        edges = [left.start - 1, *joints, left.stop]
        lefts = [range(a + 1, b) for a, b in pairwise(edges)]
    if turn.first == "B":
        taken = _find_last_name(sentence, taken)
    elif turn.last == "B":
        taken, whole = _trim_to_value(words, taken), taken
        if words[taken.stop : taken.stop + 1] and words[taken.stop] in _OF_TAKEN:
            end, slots = taken.stop, slots | {"B": range(whole.start, taken.stop)}
    lefts = [_strip_edge_words(words, each) for each in lefts]
    lefts = [each for each in lefts if each and not all(words[at] in LIGHT_WORDS for at in each)]
    taken = _strip_edge_words(words, taken)
    told_at = max(at + 1 for span in (*lefts, taken, range(start, start + 1)) for at in span)
    reason = sentence.find_reason_start(told_at)
    clause, beside = _split_clauses_around(sentence, start, end, reason)
    slotted = _slot_places(slots)
    said = {words[at] for at in (*clause, *slotted) if at < reason}
    told_end = reason if _says_only_why(words, reason, lefts) else end
    said |= {words[at] for at in range(start, min(end, told_end))} - turn.own
    if ("B" in slots and not taken) or not lefts or said & CLAUSE_UNDONE:
        return None
    if turn.cue == "with" and not _is_lasting_contrast(words):
        return None
    if turn.cue in ("drop", "quit", "left") and TIMES_OF_YEAR.intersection(
        words[at] for at in taken
    ):
        return None  # `gave up sugar for January`
    if frozenset(words[at] for at in taken).issuperset(words[at] for at in min(lefts, key=len)):
        return None  # `replaced the bulb with a new bulb`
    inside = [at for at in range(start, end) if at not in taken and at in slotted]
    return _ToldChange(
        turn.cue, sentence, tuple(each for each in lefts if len(each) <= VALUE_WORDS), taken,
        tuple(at for at in (*clause, *inside) if at < reason), beside,
        stem(match["V"].strip()) if "V" in slots else "",
    )  # fmt: skip


def _says_only_why(words: Words, reason: int, lefts: Sequence[range]) -> bool:
    """Whether what follows says only why: `because it is small`, and nothing more of what was left
    (`because billing still needs Celery`)."""
    left = {words[at] for span in lefts for at in span}
    return words[reason : reason + 1] in EXPLAINING and left.isdisjoint(words[reason:])


EXPLAINING = (("because",), ("since",), ("as",), ("due",), ("thanks",))
"""Words after which nothing but a reason comes."""


def _is_lasting_contrast(words: Words) -> bool:
    """Whether `B instead of A` tells a change and no single occasion: `from today`, not `today`."""
    markers = CONTRAST_MARKERS.intersection(words)
    days = [at for at, word in enumerate(words) if word in ("today", "yesterday")]
    if any(at == 0 or words[at - 1] not in ("from", "since", "of") for at in days):
        return False
    return bool(markers - {"from"}) or bool(days)


_OF_TAKEN = frozenset({"with", "via", "by", "using"})
"""Words that say how or by what something was taken, and not of what."""


def _slot_places(slots: dict[str, range]) -> frozenset[int]:
    return frozenset(at for name in _SLOTS for at in slots.get(name, ()))


def _word_place(line: str, at: int) -> int:
    return line.count(" ", 0, at)


def _split_clauses_around(
    sentence: Sentence, start: int, end: int, reason: int
) -> tuple[list[int], tuple[int, ...]]:
    """Return the places around a change: of its own clause, with labels and adverbials that belong
    to it, and of clauses of their own."""
    words = sentence.words
    own: list[int] = []
    beside: list[int] = []
    for span in _clause_spans(words):
        if span.stop <= start or span.start >= end:
            has_verb = any(at in sentence.verbs or words[at] in CHANGE_STARTERS for at in span)
            scoping = span.start >= end and words[span.start] not in PREPOSITIONS
            (beside if has_verb or scoping else own).extend(span)
        else:
            own.extend(at for at in span if at < start or at >= end)
    return own, tuple(at for at in beside if at < reason)


def _clause_spans(words: Words) -> list[range]:
    marks = [-1, *(at for at, word in enumerate(words) if word in ("|", ":")), len(words)]
    return [range(a + 1, b) for a, b in pairwise(marks) if b > a + 1]


def _trim_to_value(words: Words, span: range) -> range:
    """Return the places from the first of a span up to a word that begins something else."""
    start = next((at for at in span if words[at] not in ARTICLES), span.stop)
    return range(
        start, next((at for at in range(start, span.stop) if words[at] in VALUE_ENDS), span.stop)
    )


def _find_last_name(sentence: Sentence, span: range) -> range:
    """Return the places of the last words of a span that name something; none if that may be more
    than one thing: `in staging Redis`."""
    words = sentence.words
    while span and words[span[-1]] in LIGHT_WORDS:
        span = span[:-1]
    light = [at for at in span if words[at] in LIGHT_WORDS or words[at] in STATES_BY_WORD]
    named = range(light[-1] + 1, span.stop) if light else span
    opens = bool(span) and words[span[0]] in PREPOSITIONS
    if opens and not any(at in sentence.verbs for at in span):
        return range(0)
    capitals = [at for at in named if sentence.written[at][:1].isupper()]
    if capitals and capitals[-1] == named[-1]:
        start = named[-1]
        while start - 1 in capitals:
            start -= 1
        return range(start, named.stop)
    return named


def _strip_edge_words(words: Words, span: range) -> range:
    while span and words[span[0]] in ARTICLES:
        span = span[1:]
    while span and words[span[-1]] in TRAILING_WORDS:
        span = span[:-1]
    return span


def _possible_stems(sentence: Sentence, left: range, taken: range) -> list[Words]:
    """Return what was left as stems, and with the unit that only what was taken names: `from 30 to
    60 seconds`."""
    run = sentence.stems[left.start : left.stop]
    after = sentence.stems[taken.start : taken.stop]
    if len(run) == 1 and run[0][0].isdigit() and len(after) > 1 and after[0][0].isdigit():
        return [(*run, *after[1:]), run]
    return [run]


def _is_other_name(older: Sentence, at: int, newer: Sentence, place: int) -> bool:
    """Whether two words have one stem, but one of them may be a name: `Teams` and `the team`."""
    if older.words[at] == newer.words[place]:
        return False
    return older.written[at][0].isupper() or newer.written[place][0].isupper()


# -- what an older text states -----------------------------------------------------------------


def _only_explains(sentence: Sentence) -> bool:
    return sentence.words[0] in ("because", "reason", "reasons", "it", "that", "this", "they", "so")


def _find_states(older: Sentence, others: Sequence[int], value: range) -> frozenset[str]:
    """Return in which ways an older sentence states that something has a value: by a verb, by a
    label (`Editor: Vim`), or by nothing but a place (`rehearsals in the youth centre`)."""
    found = frozenset[str]().union(
        *(STATES_BY_WORD[older.words[at]] for at in others if at in older.verbs)
    )
    before = older.words[: value.start]
    if not found and (":" in before or PREPOSITIONS.intersection(before)):
        return frozenset({"use", "keep"})
    return found


def _is_attached(older: Sentence, place: int, after: int) -> bool:
    """Whether a word belongs to what comes along with a value: `Celery with Redis`."""
    if older.words[after : after + 1] != ("with",) or place < after:
        return False
    ends = (at for at in range(after + 1, len(older.words)) if older.words[at] in VALUE_ENDS)
    return place < next(ends, len(older.words))


def _find_speaker(words: Words) -> str:
    for word in words:
        if word in ("i", "my", "me", "user"):
            return "i"
        if word in ("we", "our", "us"):
            return "we"
    return ""


def _is_plain_purpose(older: Sentence, scope: frozenset[str], value: range) -> bool:
    """Whether an older sentence says of its speaker that they have a value, or what a thing of
    theirs is (`our database is Postgres`), for a plain purpose at most. What it says of anybody or
    anything else is not what an unnamed change is about: `Switched from Vim to Emacs` does not tell
    of Ben, nor of my brother."""
    verb = next((at for at in range(value.start) if at in older.verbs), value.start)
    subject = [at for at in range(verb) if older.scope([at])]
    if not _find_speaker(older.words[:verb]) or DISTINGUISHING_WORDS.intersection(
        older.words[:verb]
    ):
        return False
    if subject and older.words[verb] not in ("is", "are"):
        return False
    places = [at for at, root in enumerate(older.stems) if root in scope]
    if len(scope) > PURPOSE_WORDS or {"and", "|"}.intersection(older.words):
        return False
    names = [at for at in places if at not in subject and older.written[at][:1].isupper()]
    if len(names) == 1 and older.words[names[0] - 1] == "for":
        names = [at for at in names if not older.written[at].isupper()]  # `for CI`
    numbers = [at for at in places if any(letter.isdigit() for letter in older.words[at])]
    apart = DISTINGUISHING_WORDS.intersection(older.words[at] for at in places)
    counted = any(each[0].isdigit() for each in older.words[value.start : value.stop])
    return verb < value.start and not (names or numbers or apart or counted)
