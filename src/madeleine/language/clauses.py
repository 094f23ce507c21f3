"""A text taken apart into what it states, so that two texts can be held against each other.

Each *clause* knows its telling words, what it denies, what it says is no longer so, whether it
tells of a change, and its quantities. The words are English; of a text in another language only
words, names and numbers are known, and no verdict that changes anything rests on those alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from madeleine.language.late_pattern import compile_late
from madeleine.language.quantities import Quantity, read_quantities
from madeleine.language.stems import WORD, is_telling, split_words, stem

PROSE_CHARS = 6_000  # what a text is about stands in its first pages
MOST_CLAUSES = 80

_CODE = compile_late(r"```.*?(?:```|\Z)|<[^>\n]{1,400}>", re.DOTALL)
_SENTENCE = compile_late(r"(?<=[.!?;])\s+|\n+|(?<=[。！？；])|\s+[-–—]+\s+")
_CLAUSE = compile_late(
    r",\s+(?!(?:19|20)\d\d\b)|:\s+"
    r"|\s+(?=(?:but|so|because|while|although|though|which|where|whereas|since then)\s)"
    r"|\s+(?=and\s(?:i|we|he|she|it|they|now|also|have|i['’]\w+|we['’]\w+)\s)"
)

_HEDGE = compile_late(
    r"\b(?:not|n't|n’t|never|no)\s(?:(?:quite|really|entirely|so|too|yet|fully|100%)\s)?"
    r"(?:sure|certain|clear|only|just|know|knowing|understand|remember|figure|problem|idea|doubt"
    r"|matter|need|mind|hesitate|wonder|forget|wait|bad)\b"
    r"|\b\w+n['’]t\s(?:(?:quite|really|fully)\s)?(?:know|understand|remember|figure|mind|sure|wait"
    r"|hesitate|forget|think|need)\b|\bwhy\snot\b|\bor\snot\b|\bif\snot\b|\bno\sone\sof\b"
)
_NEGATION = compile_late(
    r"\b(?P<never>never|not\s(?:yet\s)?(?:once|ever)|\w+n['’]t\s(?:yet|ever|actually))\b"
    r"|\b(?P<not>not|no|none|nobody|nothing|neither|nor|cannot|\w{2,}n['’]t|hardly|lacks?"
    r"|lacked|fail(?:s|ed)?\sto|refuses?|refused|avoids?|avoided|isnt|doesnt|didnt|wont|cant)\b"
)
_GONE = compile_late(
    r"\b(?:no\slonger|instead\sof|rather\sthan|used\sto|moved\soff|(?:moved|switched|away|migrated)"
    r"\sfrom|replac(?:es|ed|ing)|stopped|quit|dropped|ditched|abandoned|gave\sup|given\sup|removed"
    r"|retired|deprecated|previously|formerly|not\sany\s?more|got\srid\sof|swapped(?:\sout)?)\b"
)
_CHANGE = compile_late(
    r"\b(?:now|no\slonger|any\s?more|instead|recently|lately|since\sthen|as\sof|from\snow\son|new"
    r"|currently|these\sdays|finally|meanwhile|"
    r"(?:re)?(?:switch|mov|migrat|chang|replac|upgrad|renam|swapp|convert|updat|increas|decreas"
    r"|improv|reach|extend|reduc|rais|lower|dropp|postpon|schedul|push|delay|add|expand|adjust"
    r"|transition|adopt|bump|doubl|tripl|rewrit|correct|revis|shift|ported)(?:e[ds]?|ed|ing|es|s)?"
    r"|grown|grew|rose|risen|fell|fallen|became|turned|total\sof|up\sto|down\sto|went\s(?:up|down)"
    r"|more\sthan|brings?|brought|final)\b"
)
_MOVES = compile_late(
    r"\b(?:now|instead|no\slonger|new\s(?:\w+\s)?(?:deadline|date|day|time|appointment)"
    r"|(?:re)?(?:mov|schedul|postpon|push|delay|shift|extend|chang|brought|pull)\w*)\b"
)
_DID = compile_late(
    r"(?:\b(?:i|we|he|she|they|you|who)(?:'ve|\shave|\shad|\shas|'d)|\b(?:has|have))\s"
    r"(?:(?:\w+ly|only|just|already|also|since|now|been)\s){0,2}"
    r"(?:\w+(?:ed|en|wn|ne|pt|lt|nt|ad|et|ot|ught|ing)|made|put|run|come|read|met|won)\b"
    r"|\b(?:i|we|he|she|they|it|which|and|that)\s(?:\w+ly\s|only\s|just\s|also\s)?\w{2,}(?:ed|pt)\b(?!\sto\b)"
    r"|\b(?:i|we|he|she|they)\s(?:just\s|only\s)?(?:got|met|went|took|made|ran|wrote|built|spent|chose"
    r"|began|bought|saw|did|read|sent|won|lost|left|gave|found|had)\b"
    r"|\bafter\s\w+ing\b|\b\w{4,}ed\s(?:on|in|by|with|from|at|last)\s(?!of\b)"
    r"|\bmy\s(?:\w+\s)?(?:score|accuracy|grade|result)\b|\bsince\s\w+ing\b"
)
_STATES = compile_late(
    r"\b(?:is|are|was|were|has|have|uses?|holds?|takes?|costs?|needs?|runs?|shows?)\b"
)
_WISH = compile_late(
    r"\b(?:want(?:s|ed)?\sto|try(?:ing)?\sto|plan(?:s|ning)?\sto|hop(?:e|es|ing)\sto|going\sto"
    r"|would\slike|need(?:s)?\sto|should|could|might|may(?!\s\d)|will|thinking\s(?:of|about)"
    r"|how\s(?:do|can|should|to)|can\syou|what\s(?:are|is|should)|what's|if|whether"
    r"|ensur\w+|make\ssure|why|so\sthat|in\sorder\sto|always|please|wondering)\b"
)

_LIGHT_WORDS = """
use try want need help make work thing way lot bit project app application issue sure good best
great better current new recent total start look find give show keep time day today week month
year number part kind set add added adding include included first last final next able possible
question example step plan point case detail etc actually already just really currently recently
still yet always never different many much several various implement implementing create
creating created improve improving ensure related relate handle handling provide suggest
understand learn manage trouble having getting properly especially considering using based chose
choose pick picked decide decided adopt select switch switched move moved change changed update
updated user users my code
"""
LIGHT_STEMS = frozenset(stem(word) for word in _LIGHT_WORDS.split())
"""Stems that stand in many texts without saying what they are about."""

LIGHT_WEIGHT = 0.3


def stem_weight(stems: frozenset[str]) -> float:
    """Return how much some stems say together."""
    light = len(stems & LIGHT_STEMS)
    return len(stems) - (1 - LIGHT_WEIGHT) * light


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing a text states."""

    stems: frozenset[str]
    around: frozenset[str]
    """The stems of its whole sentence."""
    denied: frozenset[str]
    """The stems that it denies; empty when it denies nothing."""
    denials: tuple[frozenset[str], ...]
    """All of them, and where it says `or`, what stands on each side of it."""
    verb: str
    """The first of them: what is said not to be done."""
    object: frozenset[str]
    """The next two of them: to what."""
    never: bool
    gone: frozenset[str]
    """The stems that it says are no longer so."""
    change: bool
    moves: bool
    """Whether it tells that something is at another time now."""
    states: bool
    did: float
    """1 if it tells of something that was done, one half if its sentence does elsewhere."""
    wish: bool
    quantities: tuple[Quantity, ...]
    text: str


@dataclass(frozen=True, slots=True)
class ParsedText:
    """All that is known of a text for judging it."""

    words: tuple[str, ...]
    """Every word of it, also of code, in lower case and in order."""
    telling: tuple[str, ...]
    """The stems of the telling words of its prose, in order."""
    stems: frozenset[str]
    clauses: tuple[Clause, ...]
    names: frozenset[str]
    """Stems of words that seem to be names."""
    small: tuple[str, ...]
    """Words without which it would say something else, in order: numbers, `before`, `all`."""
    denied: frozenset[str]
    """Everything that it denies."""
    values: frozenset[tuple[str, str]]
    """Kinds and values of all its quantities."""
    measured: tuple[tuple[Clause, Quantity], ...]
    """What it says is so, of what it measures."""
    text: str
    """All of it, as it is written."""

    def spell_stems(self, stems: frozenset[str], most: int = 4) -> str:
        """Return words of the text for some stems, as the text has them."""
        found = dict.fromkeys(word for word in self.words if stem(word) in stems)
        return " ".join(list(found)[:most])


def parse_text(title: str | None, content: str) -> ParsedText:
    """Return the reading of a memory's title and text."""
    full = content if not title or content.startswith(title) else f"{title}.\n{content}"
    everything = tuple(split_words(full[: 4 * PROSE_CHARS]))
    prose = _CODE.sub(" ", full)[:PROSE_CHARS].replace("’", "'")
    clauses = _split_clauses(prose)
    ordered = tuple(stem(word) for word in split_words(prose) if is_telling(word))
    return ParsedText(
        words=everything,
        telling=ordered,
        stems=frozenset(ordered),
        clauses=clauses,
        names=_find_names(prose),
        small=tuple(word for word in everything if word in SMALL_WORDS or _DIGIT.search(word)),
        denied=frozenset().union(*(each.denied for each in clauses)),
        values=frozenset((q.kind, q.value) for each in clauses for q in each.quantities),
        measured=_select_measured(clauses),
        text=full,
    )


_SMALL_WORDS = """
over under above below up down before after on off in out into from with without more less all
some none every few both only either he she his her him i you my your they we their our will
would should could might may must can won't wouldn't shouldn't couldn't can't if unless until
most least first last not no never nor neither cannot than against
"""
SMALL_WORDS = frozenset(_SMALL_WORDS.split())

_DIGIT = compile_late(r"\d")
_NAME = compile_late(
    r"(?<![.!?:\n]\s)(?<!^)(?<!\n)\b[A-ZÀ-ÞА-Я][^\W_]*|\b\w*[a-z][A-Z]\w*|\b\w+\.\w+\b"
)


def _select_measured(clauses: tuple[Clause, ...]) -> tuple[tuple[Clause, Quantity], ...]:
    """Return what is said to be so; not what is wished for, nor what was so before. A list of
    numbers alone says nothing, and a ratio is mostly part of a sum."""
    told = [(clause, each) for clause in clauses for each in clause.quantities]
    wished = {(each.kind, each.value) for _, each in told if each.aim}
    return tuple(
        (clause, each)
        for clause, each in told
        if clause.stems and not each.former and (each.kind, each.value) not in wished
        if each.kind != "ratio"
    )


def _find_names(prose: str) -> frozenset[str]:
    found = (WORD.findall(each.lower()) for each in _NAME.findall(prose))
    return frozenset(stem(word) for some in found for word in some if is_telling(word))


def _split_clauses(prose: str) -> tuple[Clause, ...]:
    made: list[Clause] = []
    for sentence in _SENTENCE.split(prose.lower()):
        parts = [part for part in _CLAUSE.split(sentence) if part and not part.isspace()]
        around = _telling_stems(sentence)
        did = 0.5 * (_DID.search(sentence) is not None)
        made += [_parse_clause(part, around, did) for part in parts]
        if len(made) >= MOST_CLAUSES:
            break
    return tuple(each for each in made[:MOST_CLAUSES] if each.stems or each.quantities)


def _telling_stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in split_words(text) if is_telling(word))


def _parse_clause(text: str, around: frozenset[str], did: float) -> Clause:
    plain = _HEDGE.sub(" ", text)
    wish = _WISH.search(plain)
    negation = _NEGATION.search(plain)
    if negation and not negation["never"] and _is_only_wished(plain, negation, wish):
        negation = None  # what is not wished for, or asked why it is not, is not denied
    gone = _GONE.search(plain)
    denied = plain[negation.end() :] if negation else ""
    told = [stem(word) for word in split_words(denied) if is_telling(word)]
    verb, *object_ = [each for each in told if each not in _ADVERBS][:3] or [""]
    return Clause(
        stems=_telling_stems(plain),
        around=around,
        denied=frozenset(told),
        denials=_split_denials(denied, frozenset(told), verb),
        verb=verb,
        object=frozenset(object_),
        never=negation is not None and negation["never"] is not None,
        gone=_telling_stems(plain[gone.end() :]) if gone else frozenset(),
        change=_CHANGE.search(plain) is not None,
        moves=_MOVES.search(plain) is not None,
        states=_STATES.search(plain) is not None,
        did=1.0 if did and _DID.search(plain) else did,
        wish=wish is not None,
        quantities=tuple(read_quantities(plain)),
        text=text,
    )


def _is_only_wished(text: str, negation: re.Match[str], wish: re.Match[str] | None) -> bool:
    """Whether it only says what is wished for, or which one is meant: `enhancements that don't
    get in the way`."""
    wished = wish is not None and wish.start() < negation.start()
    return wished or _THAT.search(text[: negation.start()]) is not None


def _split_denials(denied: str, all_of_it: frozenset[str], verb: str) -> tuple[frozenset[str], ...]:
    """Return what is denied, whole and in its alternatives: who never did one or the other
    did neither."""
    parts = [_telling_stems(part) for part in _OR.split(denied)] if all_of_it else []
    some = [part | {verb} for part in parts if stem_weight(part - {verb}) >= 1]
    return (all_of_it, *some) if len(parts) > 1 else (all_of_it,)


_THAT = compile_late(r"\w\s(?:that|which|who)\s(?:\w+\s)?$")
_OR = compile_late(r"\s(?:n?or|and)\s")
_ADVERBS = frozenset(map(stem, ("actually", "really", "ever", "even", "once", "fully")))
