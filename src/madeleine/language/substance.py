"""What a text must not lose: every word and sign but the few that only hold it together.

`stems.is_telling` chooses words to find texts by, and there `on`, `5`, `B` and `her` tell nothing.
Where a text is to stand for another, they tell everything: `zone B` is not `zone C`, `from Oslo`
is not `to Oslo`, `5 s` is not `5 ms`. So here a text is its *tokens*, in order: articles and the
present of `to be` are left out, short forms are written out (`isn't` is `not`), numbers keep
their sign, and what is written to the letter keeps its case. Scripts without spaces are taken
character by character. What remains counts, whatever it is; where that is too strict, somebody
is asked once too often, and nothing is lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, zip_longest

from madeleine.language.function_words import read_language
from madeleine.language.late_pattern import compile_late
from madeleine.language.marks import find_literal_places
from madeleine.language.stems import UNSPACED, split_words

TOKEN_CACHE_SIZE = 512  # texts whose tokens are kept at hand: two texts are asked several questions
DENIAL_CACHE_SIZE = (
    16_384  # texts whose denials are known: of every pair that is looked at they are asked
)

# A mark that begins a line of a list or a heading says nothing.
_BULLET = compile_late(r"^[ \t]*(?:[-*+•]|#{1,6})[ \t]+(?!\d)", re.MULTILINE)
_TOKEN = compile_late(
    r"(?P<number>(?:(?<![\w)\]])[-+−–])?(?:(?<![\w.])\.)?\d+(?:[.,:/]\d+)*)"
    r"|(?P<option>(?<![\w)\]-])--?(?=[^\W\d_])[\w-]+)"
    r"|(?P<word>_{0,2}[^\W\d_](?:[^\W_]|['_.](?=[^\W_]))*_*(?:\+\+|#)?)"
    r"|(?P<sign>(?<=\d)[-–—](?=\d)|(?<=\w)-(?!\w)|(?<!\S)-+(?!\S)"
    r"|[^\w\s.,;:!'\"“”‘’«»()\[\]`…。、，！：；「」『』（）–—-]+)"
)
_CHARACTER = compile_late(f"{UNSPACED.pattern}|(?:(?!{UNSPACED.pattern}).)+")
_THOUSANDS = compile_late(r"\d{1,3}(?:,\d{3})+")
_DIGIT = compile_late(r"\d")
_VERSION = compile_late(r"v\d[\d.]*")
_INSIDE = compile_late(
    r"(?<=[^\s.!?:] )[A-ZÀ-ÞА-Я](?:[\w.-]*\w)?|\b\w*[a-z][A-Z]\w*|\b[A-Z]{2,}\w*"
)

_BEING = frozenset({"is", "are", "am", "be"})
_FOLLOWING = _BEING | {"was", "were", "has", "had", "and", "or", "to"}
"""Words before which a capital `A` is no article."""
_ABBREVIATED = _BEING | {"us", "it", "who", "or", "in", "an"}
"""Small words that are something else in capitals: `US`, `IT`."""
_SHORTENED = {"can't": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not"),
              "cannot": ("can", "not"), "let's": ("let", "us")}  # fmt: skip
_ENDINGS = {"'m": (), "'re": (), "'ve": ("have",), "'ll": ("will",)}
_IS_SHORTENED = frozenset(
    ("it", "he", "she", "that", "there", "here", "what", "who", "where", "when", "how")
)

_DENYING = """
not no never none nobody nothing neither nor without cannot
nicht nichts nie niemals kein keine keinen keinem ohne ne pas jamais aucun aucune sans nunca jamás
ningún ninguna sin non mai senza nessun não sem nem niet geen nooit zonder inte aldrig utan ikke
nie nigdy bez не нет никогда без нельзя لا ليس لم لن 안
"""
DENIAL_WORDS = frozenset(_DENYING.split())
_DENYING_CHARACTERS = compile_late(r"[不没沒未勿別别無无非]|ない|なく|なかっ|ません|않|없|못|아니")

_GROUPS = {
    "person": "i me you he him she we us they them",
    "place": """in out into onto on off up down at by to from with without over under above below
        inside outside through against behind near left right across""",
    "time": "before after until till since during while now then was were had",
    "amount": """all some none every each any few many both either neither only most least more
        less fewer enough half twice once always never sometimes often rarely first last""",
    "duty": "may might must can could will would should shall if unless except whether",
}
TURNING_WORDS = {word: group for group, members in _GROUPS.items() for word in members.split()}
"""Small words without which a sentence says something else, by what they say."""
PLACE_AND_TIME = ("place", "time")
CONTRARY_WORDS = {
    one: tuple(others.split())
    for one, others in {
        "from": "to into onto", "to": "from", "into": "from out", "in": "out outside",
        "out": "in into", "inside": "outside", "outside": "in inside", "on": "off under",
        "off": "on", "up": "down", "down": "up", "over": "under below", "under": "over on above",
        "above": "below under", "below": "above over", "with": "without against",
        "without": "with", "against": "with", "before": "after", "after": "before",
        "until": "since after", "till": "since after", "since": "until till",
        "left": "right", "right": "left",
    }.items()
}  # fmt: skip
"""Words of place and time that say the contrary of each other."""
_PERSONS = {
    form: person
    for person, forms in {
        "i": "my mine myself", "you": "your yours", "he": "his", "she": "her hers",
        "we": "our ours", "they": "their theirs",
    }.items()
    for form in forms.split()
}  # fmt: skip
_SPEAKERS = frozenset({"i", "me", "you", "we"})
BEFORE_CHARS = 8  # spaces and quotation marks between two sentences
_UNIT_CHARS = 3  # letters of a unit as it is written after a number: `ms`, `GB`, `pm`

Tokens = tuple[str, ...]


@lru_cache(maxsize=TOKEN_CACHE_SIZE)
def tokenize(text: str) -> Tokens:
    """Return all that a text says, word by word and sign by sign."""
    text = _BULLET.sub(" ", _normalize_text(text))
    literal = find_literal_places(text)
    found = list(_TOKEN.finditer(text))
    made: list[str] = []
    for match, after in zip_longest(found, found[1:]):
        made += _read_token(match, after, made, match.start() in literal)
    return tuple(made)


def _normalize_text(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("’", "'"))


def _read_token(
    match: re.Match[str], after: re.Match[str] | None, before: Sequence[str], literal: bool
) -> Iterable[str]:
    if match["number"]:
        return (_normalize_number(match["number"]),)
    word = match["word"]
    if not word:
        return (match[0].replace("–", "-").replace("—", "-"),)
    if UNSPACED.search(word):
        return _CHARACTER.findall(word.casefold())
    low = word.casefold()
    if _is_filler(match, after, before):
        return ()
    if (literal and not _VERSION.fullmatch(low)) or (word.isupper() and low in _ABBREVIATED):
        return (word,)
    return _expand_short_form(low)


def _normalize_number(written: str) -> str:
    written = written.replace("−", "-").replace("–", "-")
    return written.replace(",", "") if _THOUSANDS.fullmatch(written.lstrip("+-")) else written


def _expand_short_form(word: str) -> Tokens:
    """Return a word without its short forms."""
    if word in _SHORTENED:
        return _SHORTENED[word]
    if word.endswith("n't"):
        return tuple(each for each in (word[:-3], "not") if each not in _BEING)
    start, mark, ending = word.rpartition("'")
    if mark + ending in _ENDINGS:
        return (start, *_ENDINGS[mark + ending])
    if ending == "s" and mark:
        return (start,) if start in _IS_SHORTENED else (start, "'s")
    return (word,)


def _is_filler(match: re.Match[str], after: re.Match[str] | None, before: Sequence[str]) -> bool:
    """Whether a word only holds others together. `A` is a letter where no word follows it, or
    inside a sentence; `am` after a number is a time."""
    word, low = match[0], match[0].casefold()
    if word.isupper() and len(word) > 1:
        return False
    if low in _BEING:
        return not (low == "am" and before and _DIGIT.search(before[-1]))
    text = match.string
    touches = after is not None and not text[match.end() : after.start()].strip(" ")
    if low in ("the", "an"):
        return low == "the" or touches
    following = after[0].casefold() if after is not None and touches else ""
    if low == "there":
        return following in _BEING
    if low != "a" or not following[:1].isalnum():
        return False
    return word == "a" or (following not in _FOLLOWING and _is_sentence_start(text, match.start()))


def _is_sentence_start(text: str, place: int) -> bool:
    before = text[max(0, place - BEFORE_CHARS) : place].rstrip(" \t\"'“(*")
    return not before or before[-1] in ".!?:;\n"


def find_lost_words(said: str, texts: Sequence[str]) -> frozenset[str]:
    """Return the tokens of some texts that stand nowhere in what is to replace them."""
    wanted = frozenset[str]().union(*map(tokenize, texts))
    return wanted - frozenset(tokenize(said)) - _all_spellings(said) if wanted else wanted


def _all_spellings(text: str) -> frozenset[str]:
    """Return every word and sign of a text, as it is written and in lower case: what a word is
    may hang on what stands around it, and around it now stands something else."""
    found = [match[0] for match in _TOKEN.finditer(_normalize_text(text))]
    low = (part for each in found for part in _expand_short_form(each.casefold()))
    return frozenset((*found, *low, *(part for each in found for part in _CHARACTER.findall(each))))


def find_particulars(text: str) -> frozenset[str]:
    """Return what a text is particular about: numbers and their units, signs, single letters,
    and what has capitals inside sentences or in odd places."""
    names = frozenset(name for each in _INSIDE.findall(text) for name in tokenize(each))
    return find_exact_tokens(text) | (
        names.intersection(tokenize(text)) - TURNING_WORDS.keys() - _PERSONS.keys()
    )


def find_exact_tokens(text: str) -> frozenset[str]:
    """Return the numbers of a text with their units, its signs and its single letters."""
    found = tokenize(text)
    units = (
        after
        for before, after in pairwise(found)
        if is_number(before) and after.isalpha() and len(after) <= _UNIT_CHARS
        if normalize_pronoun(after) not in TURNING_WORDS
    )
    return frozenset((*units, *(each for each in found if _is_exact(each))))


def _is_exact(token: str) -> bool:
    if is_number(token) or not any(map(str.isalnum, token)):
        return True
    return token[0] == "-" or (len(token) == 1 and token.isascii() and token != "i")


def is_number(token: str) -> bool:
    return _DIGIT.search(token) is not None


def normalize_pronoun(token: str) -> str:
    """Return a pronoun as its first form, and everything else as it is."""
    return _PERSONS.get(token, token)


def group_turning_words(text: str) -> dict[str, frozenset[str]]:
    """Return the small words that turn a text round, by what they tell."""
    found = frozenset(map(normalize_pronoun, tokenize(text))) & TURNING_WORDS.keys()
    return {
        group: frozenset(each for each in found if TURNING_WORDS[each] == group)
        for group in _GROUPS
    }


def find_bound_words(text: str) -> frozenset[tuple[str, str]]:
    """Return the words of place and time with what they stand before."""
    return frozenset(
        (word, each)
        for word, each in pairwise(tokenize(text))
        if TURNING_WORDS.get(word) in PLACE_AND_TIME
    )


def find_turning_words(text: str) -> frozenset[str]:
    """Return all of them but who speaks and is spoken to: whoever retells it may say that
    otherwise."""
    return frozenset().union(*group_turning_words(text).values()) - _SPEAKERS


@lru_cache(maxsize=DENIAL_CACHE_SIZE)
def count_denials(text: str) -> int:
    """Return how often a text denies something."""
    words = split_words(text)
    known = read_language(text)
    own = known.denials if known is not None else frozenset[str]()
    said = sum(word in DENIAL_WORDS or word.endswith("n't") or word in own for word in words)
    return said if text.isascii() else said + len(_DENYING_CHARACTERS.findall(text))
