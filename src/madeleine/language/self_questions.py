"""What a prompt asks about the person who types it.

A first-person pronoun alone asks nothing: `what do i do?` is talk, `how do I write a regex?` is
about a regex. A prompt asks about the person when it asks who they are as a whole, or names an
attribute of theirs: `where do I live`, `what is my wife's name`, `which editor do I prefer`. Which
memories answer is told by `self_statements.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

from madeleine.language.attributes import FAMILIES_BY_KIND
from madeleine.language.kinds import KINDS_BY_STEM
from madeleine.language.late_pattern import compile_late
from madeleine.language.person_tables import (
    ASKED_PHRASES,
    DRUG_NAME,
    NOTHING,
    OTHER_BEINGS,
    PREFERENCES,
    STATED_PHRASES,
    TOOL_FAMILIES,
    WIDER_ATTRIBUTES,
    content_stems,
    find_aspects,
    find_phrases,
    phrase_stems,
    read_tokens,
    stem_set,
    word_set,
)
from madeleine.language.phrases import find_foreign_phrases, says_nothing_in
from madeleine.language.stems import stem

PROMPT_CHARS = 2_000  # of a prompt that are read for a question about the person
SENTENCE_WORDS = 40  # a longer sentence asks for something else
SENTENCES_MOST = 20  # in the first person that are read
NOUN_PHRASE = 5  # words after `my` that may belong to what is owned

_SENTENCE = compile_late(r"[.!?;\n]+")
_FIRST_PERSON = word_set("""
i me my mine myself who ich mich mir je moi soy yo mí sono io me eu mim ik mij
""")
_PREFACE = word_set("""
hey hi hello ok okay so and also but well please quick question btw oh wait hmm um just now then
actually again one more thing sorry right alright listen dear by the way yo
""")
_WH = word_set("""
what which who whom whose where when why how
""")
_AUX = word_set("""
do does did am is are was were have has had
""")
_MODAL = word_set("""
should can could must may might shall will would
""")
_REQUEST = word_set("""
tell remind show give list describe summarise summarize recall name recap say
""")
_LEAD = compile_late(
    r"^(?:(?:can|could|would|will) you (?:please |quickly )?)?(?:please )?"
    r"(?:(?:tell|remind|show|give) (?:me|us)(?: again| please| once more| quickly)*(?: of| about)?"
    r"|(?:do|did|can|could|would) you (?:still |even |happen to |perhaps |actually )?"
    r"(?:know|remember|recall|tell|say)(?: of| about)?(?! me$| myself$| who i)"
    r"|(?:list|describe|recap|name|recall|say|summari[sz]e)(?= my| what| where| who| how| all"
    r"| which)"
    r"|i (?:forgot|forget|can not (?:remember|recall)|do not (?:remember|recall|know)|wonder"
    r"|was wondering|want to know|would like to know|need to know|keep forgetting)"
    r"|(?:you )?remember(?= my| what| where| who| how| when| which| that)"
    r"|any (?:idea|clue)|do we know|is it known)\b ?(?:all )?"
)
_KNOWING = (
    r"(?:know|knows|known|knew|remember|remembers|remembered|recall|recalled|learn|learned|learnt"
    r"|told|tell|gathered|stored|saved|kept|noted|have|has|got|written|recorded|say|said|find|found"
    r"|think|thoughts?|facts?|info|information|details?|notes?|memories|memory|things?|stuff"
    r"|anything|something|everything|all|lot|much|summary|bio|biography|profile|paragraph|intro"
    r"|introduction|sentence|words|record|records|data|know already|more|bit|what|list|how)"
)
_WHOLE = compile_late(
    rf"\b{_KNOWING}\b[^.?!]{{0,40}}\b(?:about|on|of|regarding|concerning) (?:me|myself)"
    r"(?: personally| as a person| so far| already| yet| again| now| then| today| please| exactly"
    r"| really| in general| at all| all in all| from before| from our (?:chats|conversations)"
    r"| until now| up to now| by now| in (?:a few words|one sentence|short|brief|total)"
    r"| and my life| right now)*$"
    r"|\bwho (?:exactly |really )?(?:am i|i am)(?: exactly| really| again| to you| anyway"
    r"| as a person"
    r"| please| then| actually| in (?:general|short|a few words|one sentence)| according to you)*$"
    r"|\bwho (?:is the person |is it )?(?:you are|are you) (?:talking|speaking|chatting) (?:to"
    r"|with)\b"
    r"|^(?:please |now |so |can you |could you |would you )*(?:describe|characteri[sz]e|introduce"
    r"|profile|summari[sz]e|sum up) (?:me|myself)(?: (?:in|as|to|briefly|please|with|for)\b.*)?$"
    r"|\b(?:do|did|can) you (?:still |even |really |actually )*(?:know|remember|recogni[sz]e) me$"
    r"|\bwhat (?:kind|sort|type) of (?:person|man|woman|human|guy) am i\b"
    r"|\bwhat am i like(?: as a person)?$"
    r"|\bmy (?:user )?(?:profile|bio|biography|life story|identity)$"
    r"|\bwhat (?:makes me|is special about me)\b"
    r"|^(?:wer bin ich|qui suis je|quién soy(?: yo)?|chi sono(?: io)?|quem sou eu|wie ben ik)$"
    r"|\b(?:was (?:weißt|weisst) du (?:alles )?(?:über|von) mich?|que sais tu (?:de|sur) moi"
    r"|qué sabes (?:de|sobre) mí|cosa sai (?:di|su) me|o que (?:você sabe|sabes) (?:de|sobre) mim"
    r"|wat weet je (?:over|van) (?:mij|me))$"
)
_CHOICE = compile_late(r"\b(?:what|which) do i (?:prefer|like)(?: again| more| better| most)?$")
"""A question after what it asks to choose from: `npm or pnpm: what do I prefer`."""
_OTHERS_OPINION = compile_late(
    r"\b(?:does|did|do|has|have|would|will) (?!you\b|we\b|i\b|it\b|madeleine\b|not\b)\w+(?: \w+)?"
    r" (?:think|say|said|know|feel|write|wrote|post|tell|told|mention|talk|heard|like)\b"
    r"|\b(?:page|section|route|component)\b"
)
_HOW_STATES = word_set("""
like prefer take want feel drink eat commute relax pronounce earn usually normally typically
generally always get have
""")
_DEICTIC = word_set("""
one ones it that this these those them first second third other others option options either
here there him her he she they something anything someone anyone
""")
_TASTE = stem_set("""
prefer like love enjoy hate dislike favourite favorite favourites favorites
""")
_TASTES = word_set("""
preference preferences likes dislikes favourites favorites tastes
""")
_NP_END = word_set("""
is are was were do does did to in on at of for with from by and or that which who whom when
where again please i you am have has had a an the so not called be been like if than but about
into over my your we before after now really exactly right currently going this next
these those today since until because
""")
_ADVERBS = word_set("""
usually normally typically generally always often currently actually really again now still even
ever originally exactly mostly mainly not
""")


@dataclass(frozen=True, slots=True)
class SelfQuestion:
    """What is asked about the person: all of it, some attributes, or what some words say."""

    whole: bool = False
    aspects: frozenset[str] = NOTHING
    words: frozenset[str] = NOTHING
    """Stems of what else the question names."""

    @property
    def is_definite(self) -> bool:
        """Whether it is known which attribute is asked for, so that the graph may answer."""
        return self.whole or bool(self.aspects)


def read_self_question(prompt: str) -> SelfQuestion | None:
    """Return what a prompt asks about the person who types it; None if it asks nothing of it."""
    return _read_self_question(prompt[:PROMPT_CHARS])


@lru_cache(maxsize=64)  # several stages ask about one prompt
def _read_self_question(prompt: str) -> SelfQuestion | None:
    personal = (
        (tokens, marked)
        for tokens, marked in _split_sentences(prompt)
        if len(tokens) <= SENTENCE_WORDS and not _FIRST_PERSON.isdisjoint(tokens)
    )
    found = [
        question
        for tokens, marked in islice(personal, SENTENCES_MOST)
        if (question := _read_sentence(tokens, marked)) is not None
    ]
    if not found:
        english = _tell_in_english(prompt)
        return _read_self_question(english) if english else None
    if any(each.whole for each in found):
        return SelfQuestion(whole=True)
    return SelfQuestion(
        aspects=frozenset().union(*(each.aspects for each in found)),
        words=frozenset().union(*(each.words for each in found)),
    )


def _tell_in_english(prompt: str) -> str:
    """Return a question about the person in another language as one in English, if that is all the
    prompt holds but for words that say nothing."""
    for hit in find_foreign_phrases(prompt, "about_me"):
        rest = f"{prompt[: hit.start]} {prompt[hit.end :]}"
        if says_nothing_in(rest, hit.language):
            return f"{hit.english}?"
    return ""


def asks_about_person(prompt: str) -> bool:
    """Whether a prompt asks for a known attribute of the person, or for all of them."""
    question = read_self_question(prompt)
    return question is not None and question.is_definite


def asks_about_assistant(prompt: str) -> bool:
    """Whether a prompt asks for an attribute of whoever answers it: `where do you live?`. What
    is known about the person who types does not answer that."""
    return any(_asks_of_you(tokens) for tokens, _ in _split_sentences(prompt[:PROMPT_CHARS]))


def _asks_of_you(tokens: Sequence[str]) -> bool:
    if not {"you", "your", "yours", "yourself"} & set(tokens):
        return False
    if {"i", "me", "my", "mine", "myself", "we", "our", "us"} & set(tokens):
        return False
    return tokens[0] in _WH | _AUX | _REQUEST


def _split_sentences(text: str) -> Iterator[tuple[list[str], bool]]:
    """Give the words of each sentence, without what only leads up to it, and whether a question
    mark ends it."""
    place = 0
    for end in [*(found.end() for found in _SENTENCE.finditer(text)), len(text)]:
        sentence, place = text[place:end], end
        tokens = read_tokens(sentence)
        while tokens and tokens[0] in _PREFACE:
            tokens.pop(0)
        if tokens:
            yield tokens, "?" in sentence


def _read_sentence(tokens: Sequence[str], marked: bool) -> SelfQuestion | None:
    text = " ".join(tokens)
    if _WHOLE.search(text) and not _OTHERS_OPINION.search(text):
        return SelfQuestion(whole=True)
    lead = _LEAD.match(text)
    rest = text[lead.end() :].split() if lead else list(tokens)
    while rest and rest[0] in _PREFACE:
        rest.pop(0)
    if not rest:
        return None
    opens = rest[0] in _WH | _AUX | _MODAL | _REQUEST or (
        (rest[0] in ("any", "anything") and "i" in rest)
        or _CHOICE.search(" ".join(rest)) is not None
    )
    owned_only = rest[0] == "my" and len(rest) <= NOUN_PHRASE and _ends_in_attribute(rest)
    if not (lead or marked or owned_only or opens):
        return None
    return _read_question(rest)


def _ends_in_attribute(tokens: Sequence[str]) -> bool:
    """Whether nothing but an attribute stands there: `my birthday`, but no `my wife says hello`."""
    stems = phrase_stems(tokens)
    return any(end == len(stems) for _, end, _ in find_phrases(ASKED_PHRASES, stems))


def _read_question(tokens: Sequence[str]) -> SelfQuestion | None:
    aspects: set[str] = set()
    words: set[str] = set()
    subject = _find_subject(tokens)
    if subject is not None and _is_procedural(tokens, subject):
        return None
    others = False
    for place, token in enumerate(tokens):
        if token in ("my", "mine") and not _asks_to_act(tokens[:place]):
            owned, named = _read_owned(tokens[place + 1 :])
            others = others or bool(owned & (OTHER_BEINGS | {"family"}))
            aspects |= owned
            words |= named if owned else NOTHING
            if tokens[0] == "who" and named:  # who founded my shop
                words |= content_stems(tokens)
    if others:
        aspects &= OTHER_BEINGS | {"family"}
        words |= content_stems(tokens)
    elif subject is not None:
        predicate = [*tokens[: subject.aux], *tokens[subject.place + 1 :]]
        asked = _subject_aspects(tokens, predicate)
        if subject.modal:
            asked = _permission_aspects(tokens[subject.place + 1 :])
        if subject.modal and not asked:
            return None
        aspects |= asked
        words |= content_stems(predicate) - _general_stems(predicate)
    elif "me" in tokens:
        aspects |= find_aspects(ASKED_PHRASES, tokens) & {"style", "name", "allergy", "reminders"}
        if content_stems(tokens) - _general_stems(tokens):  # explain hooks to me
            aspects.discard("style")
    if not aspects and _asks_for_taste(tokens, words):
        aspects.add(PREFERENCES)
        words.clear()
    if not aspects and not words:
        return None
    return SelfQuestion(aspects=frozenset(aspects), words=frozenset(words))


def _asks_to_act(before: Sequence[str]) -> bool:
    """Whether somebody else is to do something: `what would you do in my place?`."""
    return any(one in _MODAL and other == "you" for one, other in pairwise(before))


@dataclass(frozen=True, slots=True)
class _Subject:
    """Where the `I` of a question stands, and its auxiliary verb; the wh-phrase ends there."""

    place: int
    aux: int
    modal: bool


def _find_subject(tokens: Sequence[str]) -> _Subject | None:
    for place, token in enumerate(tokens):
        if token != "i":
            continue
        before = place - 1
        while before >= 0 and tokens[before] in ("not", *_ADVERBS):
            before -= 1
        if before >= 0 and tokens[before] in _AUX | _MODAL:
            return _Subject(place, before, tokens[before] in _MODAL)
        after = tokens[place + 1 : place + 2]
        return _Subject(place, place, bool(after) and after[0] in _MODAL)
    return None


def _is_procedural(tokens: Sequence[str], subject: _Subject) -> bool:
    """Whether it is asked how something is done: `how do I write a regex`."""
    predicate = [each for each in tokens[subject.place + 1 :] if each not in _ADVERBS]
    if (
        "to" in predicate[1:2]
        and predicate[2:]
        and predicate[0] in ("have", "need", "want", "get", "go")
    ):
        return tuple(map(stem, predicate[:3])) not in ASKED_PHRASES
    if predicate and predicate[0] in _ACTIONS and tokens[subject.aux] in ("do", "did", "am"):
        return True
    if tokens[0] != "how" or subject.aux != 1:
        return False
    if tokens[1] in _MODAL:
        return True
    return not predicate or predicate[0] not in _HOW_STATES


_ACTIONS = word_set("""
put add find place insert declare define import configure set edit update need push commit register
create mock see look open click download upload delete remove install deploy change fix paste mount
""")
"""Verbs of what is to be done: `where do I put the tests`."""
_WORK_OBJECTS = word_set("""
tests issues tickets builds logs docs branches commits pipelines repos repositories databases jobs
queues hosts messages checks todos
""")
"""Things of one's work that are no tool: `my open issues` are no tracker."""


def _read_owned(after: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the attributes and the content words of what stands after `my`. Whose something
    is counts first: `my wife's name` asks about the wife; else the last noun does: `my home
    directory` is no home."""
    phrase: list[str] = []
    for place, token in enumerate(after[:NOUN_PHRASE]):
        if token in _NP_END and phrase and not _is_inside_phrase(after[:NOUN_PHRASE], place):
            break
        phrase.append(token.removesuffix("'s").removesuffix("s'"))
    stems = phrase_stems(phrase)
    if phrase and stem(phrase[-1]) in _LIMBS:  # anywhere else it is no part of the body
        return frozenset({"joints"}), NOTHING
    found = list(find_phrases(ASKED_PHRASES, stems))
    others = frozenset().union(*(aspects & OTHER_BEINGS for _, _, aspects in found))
    if others:
        return others, content_stems(phrase)
    if any("family" in aspects for start, end, aspects in found if end == len(stems)):
        return frozenset({"family"}), NOTHING
    head, modifiers = NOTHING, phrase
    for start, end, aspects in found:
        if end == len(stems):
            head, modifiers = aspects, phrase[:start]
    if not head:
        head = find_aspects(STATED_PHRASES, phrase[-1:]) & _NAMED_BY_VALUE
    elif (head <= TOOL_FAMILIES and phrase[-1] in _WORK_OBJECTS) or (
        head & _TECHNICAL and any(content_stems([each]) - _PERSONAL for each in modifiers)
    ):
        return NOTHING, NOTHING
    if head & {"health"} and phrase[-1] in _ALL_HEALTH:
        head |= {"allergy"}
    return head, content_stems(modifiers)


_ALL_HEALTH = word_set("health conditions issues problems")
"""Words that ask for all of somebody's health, allergies too."""


def _is_inside_phrase(tokens: Sequence[str], place: int) -> bool:
    """Whether a word stands within a turn of phrase of the table: the `of` of `date of birth`."""
    found = find_phrases(ASKED_PHRASES, phrase_stems(tokens))
    return any(start < place < end - 1 for start, end, _ in found)


def _permission_aspects(predicate: Sequence[str]) -> frozenset[str]:
    """Return what `can I eat`, `can I take` and `can I speak` ask for; others ask nothing."""
    rest = [each for each in predicate if each not in _MODAL and each != "not"]
    verb = rest[:1]
    if verb in (["eat"], ["drink"], ["avoid"]):
        is_meal = bool(rest[1:]) and rest[1] in _MEALS
        return NOTHING if is_meal else frozenset({"diet", "allergy"})
    if verb == ["speak"]:
        return frozenset({"spoken"})
    if verb == ["take"] and (
        any(DRUG_NAME.fullmatch(each) for each in predicate)
        or "medication" in find_aspects(ASKED_PHRASES, predicate)
    ):
        return frozenset({"medication", "allergy"})
    return NOTHING


_MEALS = word_set("lunch breakfast dinner supper something here there now first it that this")
"""What may be eaten whatever somebody may not eat."""
_TECHNICAL = word_set("""
name home job hours style contact telephone devices language skills goals health birthday money
origin reading travel timezone spoken
""")
"""Attributes whose words programs use too: `my branch name` is nobody's name."""
_LIMBS = stem_set("back hand hands finger fingers leg legs foot feet arm arms thumb toe toes")
_NAMED_BY_VALUE = word_set("""
health heart lungs joints eyes ears skin stomach mind medication vehicle diet
""")
"""Attributes that may be asked for by what they are: `my migraines`."""
_GENERAL = word_set("""
home job name birthday age hours origin health allergy education money style contact telephone
hobbies sport timezone documents
""")
"""Attributes whose words say nothing of the value."""
_PERSONAL = stem_set("""
full first last middle family maiden real current present new old former previous own favourite
favorite preferred main actual legal official birth home private personal work working daily
weekly usual native mother foreign parents email mobile phone street postal future long term
life career biggest top dream permanent winter summer day night marital exact medical physical
mental general chronic
""")
"""Stems of what stands before such a word when a person's own is meant."""


def _subject_aspects(tokens: Sequence[str], predicate: Sequence[str]) -> frozenset[str]:
    """Return the attributes that a question with `I` as its subject asks for."""
    found = set(find_aspects(ASKED_PHRASES, predicate))
    stems = set(map(stem, predicate))
    if not stems & (_TASTE | {"want"}):
        found.discard("style")
    if "called" in predicate and "am" in tokens:
        found.add("name")
    if "born" in tokens:
        found = (found - {"birthday", "origin"}) | (
            {"origin"}
            if tokens[0] == "where" or {"city", "country", "town", "place"} & {*tokens}
            else {"birthday"}
        )
        found.discard("home")
    if "home" in found and _lives_otherwise(tokens):
        found.discard("home")
    if "home" in found and stems & _TASTE and not {"live", "stay", "city", "town"} & {*tokens}:
        found.discard("home")  # which smart home system do I prefer
    if "health" in found and _ALL_HEALTH & {*tokens}:
        found.add("allergy")
    if "job" in found and tokens[0] == "when" and "work" in stems:
        found = (found - {"job"}) | {"hours"}
    if "from" in predicate and "origin" in found:
        if not ({"come", "be", "am", "is"} & {*tokens} or predicate[-1] == "from"):
            found.discard("origin")
        else:
            found.discard("home")
    if "language" in found and "spoken" in found:  # which language: of people, or of programs
        programs = {stem(each) for each in ("programming", "code", "coding")} & stems
        found -= {"spoken"} if programs else {"language"}
    return frozenset(found)


def _lives_otherwise(tokens: Sequence[str]) -> bool:
    """Whether `live` says how something is done: `where do I live reload the page`."""
    return any(
        one == "live" and other not in _NP_END | _ADVERBS | _WH and bool(content_stems([other]))
        for one, other in pairwise(tokens)
    )


def _general_stems(tokens: Sequence[str]) -> frozenset[str]:
    """Return the stems of words that ask for an attribute and say nothing more: `live`. A `dog`
    asks for a pet, and for no cat."""
    stems = phrase_stems(tokens)
    return frozenset(
        each
        for start, end, aspects in find_phrases(ASKED_PHRASES, stems)
        if aspects and aspects <= _GENERAL
        for each in stems[start:end]
    )


def _asks_for_taste(tokens: Sequence[str], words: set[str]) -> bool:
    """Whether all preferences are asked for, and not which of some things is better."""
    if "my" in tokens and _TASTES & set(tokens):
        return words <= {stem(each) for each in _TASTES}
    tastes = _TASTE & set(map(stem, tokens))
    return bool(tastes) and "i" in tokens and not words and not _DEICTIC & set(tokens)


def names_code(prompt: str) -> bool:
    """Whether a prompt names a part of a program, a format or a tool: `the birthday picker`. A
    table at a restaurant is none."""
    tokens = read_tokens(prompt[:PROMPT_CHARS])
    if any(one == "i" and other in _ACTIONS for one, other in pairwise(tokens)):
        return _EVERYDAY.isdisjoint(tokens)  # where do I register the handler
    return _EVERYDAY.isdisjoint(tokens) and any(
        each in _CODE
        or any(
            FAMILIES_BY_KIND.get(kind, NOTHING) & TOOL_FAMILIES
            for kind in KINDS_BY_STEM.get(stem(each), ())
        )
        for each in tokens
    )


def read_owned_attributes(prompt: str) -> frozenset[str]:
    """Return the attributes of the person that a prompt calls theirs: `send it to my address`."""
    tokens = read_tokens(prompt[:PROMPT_CHARS])
    places = (place for place, each in enumerate(tokens) if each == "my")
    owned = NOTHING.union(
        *(_read_owned(tokens[place + 1 :])[0] for place in islice(places, SENTENCES_MOST))
    )
    return owned.union(*(WIDER_ATTRIBUTES.get(each, NOTHING) for each in owned))


_CODE = word_set("""
field fields form forms picker pickers page pages column columns component components input inputs
table tables validator validators validation button widget widgets dropdown mask template templates
selector flag schema class function method endpoint api database migration model enum json yaml xml
csv sql html css regex test tests fixture mock mocks parser route router handler module struct
constant variable parameter param checkbox textbox placeholder modal dialog tooltip navbar footer
header layout row rows query queries serializer interface hook plugin code bug refactor boolean
string integer null frontend backend mockup
""")
"""Words for parts of programs and what they are written in."""
_EVERYDAY = word_set("""
book reserve restaurant dinner lunch breakfast recipe recipes cook kitchen doctor hotel trip flight
party gift present holiday dish meal
""")
"""Words that say that no program is meant."""


def count_content_words(prompt: str) -> int:
    """Return how many words of a prompt name something, each once."""
    return len(content_stems(read_tokens(prompt[:PROMPT_CHARS])))
