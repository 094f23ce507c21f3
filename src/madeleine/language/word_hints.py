"""What single words and turns of phrase say about a text.

Tables of English words, and small questions that are answered yes or no. They are hints for
ranking: elsewhere than in English the answer is mostly no, and nothing depends on a yes. Each
question looks at the first `TEXT_CHARS` characters, so a pasted book costs no more than a page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from madeleine.language.late_pattern import compile_late

TEXT_CHARS = 4_000  # about 700 words; what a text is like shows long before that

_STOP_WORDS = """
a about after again all also am an and any are as at be been before being between both but by can
could d did do does doing done down during each ever few for from get go going got had has have
having he her here hers him his how i if in into is it its itself just know let like ll m made
make may me might mine more most must my myself no nor not now of off on once only or other our
ours out over own please re really remember s said same say shall she should so some such t take
tell than that the their theirs them then there these they think this those through to too took
under until up us ve very was we went were what when where which while who whom whose why will
with would you your yours
"""
_SHORTENED = """
aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mustn't needn't shan't
shouldn't wasn't weren't won't wouldn't he's i'm i've let's she's that's they're what's when's
where's who's you're
"""
CONTRACTION_STEMS = frozenset(
    each.partition("'")[0] for each in _SHORTENED.split() if "n't" in each
)
"""What stands before `'t`. Without it, `don`, `won` and `haven` are words or names."""

STOP_WORDS = (
    frozenset(_STOP_WORDS.split())
    | {each.replace("'", "") for each in _SHORTENED.split()}
    | (CONTRACTION_STEMS - {"don", "won", "haven"})
)
"""Words that stand in every text and tell none from another."""

_QUESTION_WORDS = """
what which who whom whose when where why how many much long did does do is are was were has
have had a an the of in on at by to for from with about and or s it its her his their they she
he you i me my your be been
"""
QUESTION_WORDS = frozenset(_QUESTION_WORDS.split())
"""Words that make a question a question."""

_LIGHT_WORDS = """
use used uses using need needs needed want wants wanted prefer prefers preferred like likes liked
currently usually normally typically generally again still
"""
LIGHT_WORDS = frozenset(_LIGHT_WORDS.split())
"""Words of a question that say how it is about its matter, not what that is: in `which linter do
we use` all is said by `linter`."""

_META_WORDS = """
aspect aspects clarify comprehensive conversation conversations different discuss discussed
discussing discussion discussions include included including item items list listed mention
mentioned mentions order overview overviews provide provided specific specifically summaries
summarise summarised summarize summarized summary various
"""
META_WORDS = frozenset(_META_WORDS.split())
"""Words about the asking itself: what shape the answer should have, not what it is about."""

_META_PHRASES = compile_late(
    r"\b(?:walk(?:ed|ing)? me through|(?:bring|brings|bringing|brought) (?:it |them )?up|"
    r"talk(?:ed|ing)? about|give me|over time|so far|throughout|across)\b",
    re.IGNORECASE,
)


def find_meta_phrases(text: str) -> list[tuple[int, int]]:
    """Return where a text speaks about the asking: `walk me through`, `brought up`. The words
    of these mean something else when they stand alone."""
    return [found.span() for found in _META_PHRASES.finditer(text, 0, TEXT_CHARS)]


SELF_WORDS = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "user"})
"""Words by which the asker means themselves."""

_GROUPS = tuple(
    tuple(line.split())
    for line in """
    be am is are was were been being
    have has had having
    do does did done doing
    go goes went gone going
    get gets got gotten getting
    make made
    take took taken
    buy bought
    bring brought
    think thought
    teach taught
    catch caught
    fight fought
    seek sought
    find found
    feel felt
    keep kept
    sleep slept
    leave left
    meet met
    see saw seen
    say said
    tell told
    give gave given
    forgive forgave forgiven
    come came
    become became
    overcome overcame
    begin began begun
    run ran
    swim swam swum
    sing sang sung
    drink drank drunk
    sink sank sunk
    shrink shrank shrunk
    ring rang rung
    write wrote written
    drive drove driven
    ride rode ridden
    rise rose risen
    arise arose arisen
    speak spoke spoken
    break broke broken
    freeze froze frozen
    choose chose chosen
    wear wore worn
    tear tore torn
    swear swore sworn
    eat ate eaten
    bite bitten
    beat beaten
    fall fell fallen
    know knew known
    grow grew grown
    throw threw thrown
    blow blew blown
    draw drew drawn
    withdraw withdrew withdrawn
    fly flew flown
    show showed shown
    shake shook shaken
    mistake mistook mistaken
    hold held
    stand stood
    understand understood
    sit sat
    win won
    lose lost
    pay paid
    sell sold
    send sent
    spend spent
    bend bent
    build built
    rebuild rebuilt
    lend lent
    hear heard
    mean meant
    deal dealt
    learn learnt
    burn burnt
    dream dreamt
    lead led
    feed fed
    bleed bled
    breed bred
    flee fled
    light lit
    hide hid hidden
    slide slid
    forget forgot forgotten
    steal stole stolen
    wake woke woken
    weave wove woven
    shoot shot
    shine shone
    stick stuck
    strike struck stricken
    dig dug
    spin spun
    swing swung
    cling clung
    hang hung
    sweep swept
    creep crept
    weep wept
    prove proven
    child children kid kids
    person people
    man men
    woman women
    foot feet
    tooth teeth
    goose geese
    mouse mice
    wife wives
    knife knives
    wolf wolves
    shelf shelves
    thief thieves
    half halves
    analysis analyses
    criterion criteria
    matrix matrices
    vertex vertices
    mom moms mother mothers mum mums
    dad dads father fathers
    grandma grandmas grandmother grandmothers
    grandpa grandpas grandfather grandfathers
    photo photos picture pictures pic pics photograph photographs
    tv tvs television televisions
    family families fam
    bike bikes bicycle bicycles
    phone phones smartphone smartphones
    """.strip().splitlines()
)

IRREGULAR_FORMS: dict[str, str] = {form: group[0] for group in _GROUPS for form in group}
"""Each form to the head of its group. Forms that a stemmer joins by itself are left out, and so
are those that are mostly another word (`lives`, `leaves`, `bit`, `lay`, `wound`)."""

_FORMS = {form: group for group in _GROUPS for form in group}


def word_forms(word: str) -> tuple[str, ...]:
    """Return every form of a lower-case word that a stemmer would not find, the word included."""
    return _FORMS.get(word, (word,))


_DAYS = (
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tues?|wed|thu(?:rs)?|fri|sat|sun"
)
_SEASONS = "summer|winter|spring|autumn|fall"
_COUNTS = "an?|one|two|three|four|five|six|seven|eight|nine|ten|few|couple|several"

_TELLS_TIME = compile_late(
    r"\b(?:yesterday|today|tonight|tomorrow|recently|lately|ago|the other day|just now"
    rf"|last (?:\w{{1,20}} )?(?:night|week|weekend|month|year|{_SEASONS}|{_DAYS})"
    rf"|next (?:week|weekend|month|year|{_SEASONS}|{_DAYS})"
    rf"|this (?:week|weekend|month|year|morning|afternoon|evening|past|{_SEASONS})"
    rf"|(?:{_COUNTS}|\d+) (?:of )?(?:days?|weeks?|weekends?|months?|years?) ago"
    r"|since \w+|(?:19|20)\d\d"
    r"|january|february|april|june|july|august|september|october|november|december"
    rf"|for (?:\w{{1,20}} )?(?:\d+|{_COUNTS}) (?:years|months|weeks)"
    r"|(?:i|we|he|she|they|you|has|have|had|['’]ve|['’]s|['’]d) just)\b",
)
_TELLS_NUMBER = compile_late(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice|couple"
    r"|few|several|dozen|hundred|thousand|both)\b",
)
_FIRST_PERSON = compile_late(r"\b(?:i|my|me|we|our)\b")
_INSTRUCTION = compile_late(
    r"(?:^|[.!?\n])\s{0,3}(?:please |also |and )?"
    r"(?:always|never|from now on|going forward|whenever|every time|each time|make sure"
    r"|be sure to)\b"
    r"|\bwhen(?:ever)? (?:i|we|you) (?:ask|talk|discuss|mention|write)\b"
    r"|\b(?:from now on|going forward)\b|\bwhenever [^.!?\n]{1,40} comes up\b"
    r"|\b(?:you|we) (?:should|must) (?:always|never)\b",
)
_INSTRUCTION_HINTS = ("always", "never", "now on", "forward", "when", " time", " sure")
_PREFERENCE_HINTS = ("prefer", "rather", "favo")
_PREFERENCE = compile_late(
    r"\b(?:prefer(?:s|red|ence|ences)?|(?:i|he|she|they|we)(?:['’]d| would) rather|favou?rites?)\b",
)
_ASKS_WHEN = compile_late(
    r"^\W{0,3}(?:(?:since |until )?when|how long"
    r"|(?:on |in )?(?:what|which) (?:date|day|week|month|year|time))\b"
    r"|\bwhen (?:did|was|were|is|are|will|do|does|have|has|had)\b",
)
_ASKS_HOW_MANY = compile_late(
    r"\bhow (?:many|much|old|often|long|far|tall|big)\b|\b(?:what|which) number\b"
)
_ASKS_WHO_OR_WHERE = compile_late(r"^\W{0,3}(?:who|whom|whose|which|where)\b")
_ASKS_FOR_HELP = compile_late(
    r"\b(?:how (?:do|can|should|would|could|to|might)|(?:can|could|would|will) you"
    r"|what (?:should|would|could|are the|is the best|types?|kinds?|\w{1,30} (?:should|would))"
    r"|which \w{1,30} (?:should|would)|where should|help me|suggest|recommend|explain|show me"
    r"|i want|i need)\b",
)
_ASKS_WHAT_WAS = compile_late(r"\W{0,3}(?:when did|have i|did i|what did i|how many)\b")
_ASKS_FOR_OVERVIEW = compile_late(
    r"\b(?:summary|summaries|summari[sz](?:e[sd]?|ing)|overview|in order(?! to\b)"
    r"|order in which|over time|throughout|chronolog\w{0,8}|timeline|walk me through"
    r"|across (?:all|my|our|the|several|multiple|different))\b",
)
_ASKS_FOR_ALL = compile_late(
    r"\b(?:list|name|show|give|tell|find|recount)(?: me| us)? (?:all|every|everything|each)\b"
    r"|\b(?:what|which) order\b|\b(?:every|each) (?:time|occasion)\b"
    r"|\ball (?:of )?(?:the |my |our |those )?(?:times|occasions)\b"
)
_ASKS_FOR_PAST = compile_late(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|initial(?:ly)?|back then|at first"
    r"|in the past|(?:the|our|my|your|its|an?) (?:old|older|earlier|first)|history of|no longer"
    r"|before (?:that|it|we|i|they|the (?:change|move|switch|migration)))\b"
)
_QUESTION_MARK = compile_late(r"\?(?!\w)|[？؟⁇⁈⁉]")
_ENDING_MARKS = "?？؟⁇⁈"
_AFTER_THE_END = " \t\r\n\"'”’»*_`"
_UPPER, _LOWER = "A-ZÀ-ÖØ-ÞА-ЯЁ", "a-zß-öø-ÿа-яё"
# What stands before the letter is looked at after it: letters in upper case are few.
_CAPITALISED = compile_late(rf"[{_UPPER}](?<![.!?\"'\n] .)(?<!\n.)(?<!^.)(?<=\b.)[{_LOWER}]{{2,}}")


def tells_time(text: str) -> bool:
    """Whether it says when something was: `last week`, `two years ago`, `in 2019`."""
    return _matches_lowered(_TELLS_TIME, text)


def tells_number(text: str) -> bool:
    """Whether it says how many or how often."""
    return _matches_lowered(_TELLS_NUMBER, text)


def is_first_person(text: str) -> bool:
    """Whether somebody speaks of themselves."""
    return _matches_lowered(_FIRST_PERSON, text)


def is_instruction(text: str) -> bool:
    """Whether it says how something is to be done from now on."""
    return _has_hint(_INSTRUCTION_HINTS, text) and _matches_lowered(_INSTRUCTION, text)


def is_preference(text: str) -> bool:
    """Whether it says what somebody would rather have."""
    return _has_hint(_PREFERENCE_HINTS, text) and _matches_lowered(_PREFERENCE, text)


def asks_when(text: str) -> bool:
    """Whether the answer is a time or a length of time."""
    return _matches_lowered(_ASKS_WHEN, text)


def asks_how_many(text: str) -> bool:
    """Whether the answer is a number."""
    return _matches_lowered(_ASKS_HOW_MANY, text)


def asks_who_or_where(text: str) -> bool:
    """Whether the answer is a name: of a person, a place or a thing."""
    return _matches_lowered(_ASKS_WHO_OR_WHERE, text)


def asks_for_help(text: str) -> bool:
    """Whether something is to be done or advised, so that standing instructions and
    preferences matter. A question about what was (`what did I …`) is no request."""
    return _matches_lowered(_ASKS_FOR_HELP, text) and _ASKS_WHAT_WAS.match(text.lower()) is None


def asks_for_overview(text: str) -> bool:
    """Whether many things are to be told, not one."""
    return _matches_lowered(_ASKS_FOR_OVERVIEW, text)


def asks_for_all(text: str) -> bool:
    """Whether everything of a kind is to be told: each time that something happened."""
    return _matches_lowered(_ASKS_FOR_ALL, text)


def asks_for_past(text: str) -> bool:
    """Whether it is asked how something was before it changed."""
    return _matches_lowered(_ASKS_FOR_PAST, text)


def ends_in_question(text: str) -> bool:
    """Whether the last thing said is a question, leaving aside a remark in brackets after it."""
    rest = _strip_remark(text.rstrip(_AFTER_THE_END)).rstrip(_AFTER_THE_END)
    return rest.endswith(tuple(_ENDING_MARKS))


def has_question(text: str) -> bool:
    """Whether a question stands anywhere in it. The `?` of a web address is none."""
    if "?" not in text and text.isascii():  # most texts, and sooner than by a pattern
        return False
    return _matches_lowered(_QUESTION_MARK, text)


def count_capitalised(text: str) -> int:
    """Return how many capitalised words stand inside sentences: names, mostly."""
    return sum(1 for _ in _CAPITALISED.finditer(text, 0, TEXT_CHARS))


def _matches_lowered(what: re.Pattern[str], text: str) -> bool:
    """Whether the pattern, written in lower case, is in the text. Lowering the text first is
    four times as quick as a pattern that ignores case."""
    return what.search(_lower_beginning(text)) is not None


@lru_cache(maxsize=4)
def _lower_beginning(text: str) -> str:
    """Return as much of a text as is looked at, in lower case: one text is asked about often."""
    return text[:TEXT_CHARS].lower()


def _has_hint(hints: Sequence[str], text: str) -> bool:
    """Whether the text holds one of the words without which a pattern fits nowhere: looking
    for those takes a hundredth of the time."""
    low = _lower_beginning(text)
    return any(map(low.__contains__, hints))


def _strip_remark(text: str) -> str:
    """Return the text without the bracketed remark that ends it, if one does."""
    for opening, closing in ("[]", "()", "（）", "【】"):
        if text.endswith(closing):
            start = text.rfind(opening)
            return text[:start] if start >= 0 else text
    return text
