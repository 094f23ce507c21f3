"""Prompts that name nothing: acknowledgements, thinking aloud, `tell me more`, `what do i do?`.

A prompt that consists of nothing but words for talking itself has no subject of its own. If it
asks (`why?`, `explain more`), it goes on with what was spoken of before; otherwise it is talk.
The words stand in `small_talk_words.py`, because a list of whole phrases would never end.
"""

from __future__ import annotations

import re

from madeleine.language.identification import guess_languages
from madeleine.language.language_files import LanguageFile, load_language
from madeleine.language.late_pattern import compile_late
from madeleine.language.question_words import UNSPACED_LANGUAGES, split_unspaced
from madeleine.language.small_talk_words import ANY_EMPTY

MOST_WORDS = 16  # a longer prompt of such words alone is hardly ever typed
PROMPT_CHARS = 400

_IDIOMS = compile_late(
    r"\b(?:(?:need|want|get|grab|take|having|time for) (?:a|an|some|my|another)(?: quick| short"
    r"| little)?"
    r" (?:coffee|cup|tea|snack|nap|drink|walk|lunch|shower|smoke|breather|rest|beer|pause)"
    r"|like i(?:'| a)?m (?:five|5|a child|a kid|ten|stupid|new)|to the best of my knowledge"
    r"|in my opinion"
    r"|on my (?:own|way|side|end|machine|mind|list|phone|screen)|my (?:bad|fault|mistake"
    r"|apologies|god|goodness"
    r"|word|pleasure|turn|guess|point|question|questions|message|messages|last|previous|request"
    r"|answer|thoughts?"
    r"|favou?rite|mind|part|hands?|day|life|dear|friend|man|way|opinion|place|shoes|head|brain)"
    r"|chang(?:e|ed|ing) my mind|change (?:it|that|this)"
    r"|driv(?:e|es|ing) me (?:crazy|mad|nuts|insane)|good (?:morning|afternoon|evening|night)"
    r"|for the life of me|beats me|suit yourself|sleep on it|speak(?:s|ing)? my language"
    r"|live with (?:it|that)|i(?:'| a)?m (?:home|here|back|in|out|off|away|at work|at home"
    r"|at my desk|all ears))\b"
)
"""Turns of phrase whose words name something elsewhere."""
_NAME = compile_late(r"(?<=[a-z,] )[A-Z][a-z]{2,}")
"""A capitalised word inside a sentence."""
_TOKEN = compile_late(r"[^\W_]+(?:['’-][^\W_]+)*")
_GOES_ON = compile_late(
    r"\?|؟|？"
    r"|^\W*(?:(?:so|and|but|ok(?:ay)?|please|well|hm+|can you|could you|would you|will you"
    r"|kindly|just|now"
    r"|yes|yeah|sure|great|thanks)\W+)*"
    r"(?:why|how|what|which|who|when|where|explain|elaborate|expand|clarify|describe|continue"
    r"|go on|go deeper|go into|go over"
    r"|more|tell (?:me|us)|say (?:more|that|it)|show (?:me|us)|give (?:me|us)(?! (?:a|one|some"
    r"|another|five|ten)"
    r" (?:min|minute|minutes|sec|second|seconds|moment|break|hand|sign|shout|ping|heads|bit))"
    r"|walk (?:me|us)"
    r"|break (?:it|that|this) down|sum (?:it|that|this|up)|summari[sz]e|recap|repeat|rephrase"
    r"|simplify"
    r"|help (?:me|us)|keep going|carry on|in other words|for example|such as|like what|meaning"
    r"|proceed"
    r"|be more (?:specific|precise)|in (?:what|which) (?:way|sense)|by (?:what|which)"
    r"|since when|anything else"
    r"|something else|let me (?:hear|see|know) (?:more|it|that|why|how)|in short|tl ?;? ?dr"
    r"|warum|wieso|weshalb|erzähl|erklär|mehr|weiter|mach weiter|pourquoi|comment|explique|dis"
    r"|raconte|quoi"
    r"|continue|por qué|cuéntame|explica|dime|más|sigue|perché|dimmi|spiega|vai avanti|continua"
    r"|conta|waarom"
    r"|vertel|leg|hoezo|meer|ga door)\b",
    re.IGNORECASE,
)
_HOLDING_ON = compile_late(
    r"\b(?:when|once|after|as soon as|if) (?:you|it|that|this|you're|it's|he|she|they"
    r"|everything|all)\b"
)


def names_nothing(prompt: str) -> bool:
    """Whether a prompt consists of words for talking alone, so that there is nothing to look for:
    `i think so`, `tell me more about that`, `what do i do?`."""
    if len(prompt) > PROMPT_CHARS:
        return False
    text = _IDIOMS.sub(" ", prompt.lower().replace("’", "'"))
    found = _TOKEN.findall(text)
    if len(found) > MOST_WORDS or not _TOKEN.search(prompt) or _NAME.search(prompt):
        return False
    return all(_is_empty_word(each) for each in found) or any(
        all(_is_talk_in(each, known) for each in found) for known in _likely_languages(prompt)
    )


def _likely_languages(prompt: str) -> list[LanguageFile]:
    """Return what is known of the languages that a prompt may be in. A few words of talk show a
    language less surely than a sentence does."""
    known = (load_language(each.code) for each in guess_languages(prompt))
    found = [each for each in known if each is not None and each.small_talk]
    if any(each.code == "zh" for each in found):  # a Japanese word may be of Han signs alone
        found += [each for each in (load_language("ja"),) if each is not None]
    return found


def _is_talk_in(word: str, known: LanguageFile) -> bool:
    """Whether a word, or a run of words without spaces, names nothing in a language."""
    talk = known.small_talk | known.stop_words
    if word in talk or word.isascii():
        return word in talk or word in ANY_EMPTY
    return all(part in talk for part in split_unspaced(word, talk))


def _is_empty_word(word: str) -> bool:
    if word in ANY_EMPTY or (word.isascii() and word.isalpha() and len(word) == 1):
        return True
    parts = re.split(r"['-]", word)
    return len(parts) > 1 and all(part in ANY_EMPTY or len(part) <= 1 for part in parts)


def asks_to_go_on(prompt: str) -> bool:
    """Whether a prompt that names nothing asks for more of what was spoken of: `why?`. Others
    are talk: `i think so`, `let me know when done`."""
    text = prompt[:PROMPT_CHARS]
    if _GOES_ON.search(text) is not None:
        return _HOLDING_ON.search(text.lower()) is None
    return any(_asks_for_more(text, each) for each in _likely_languages(text))


def _asks_for_more(text: str, known: LanguageFile) -> bool:
    words = _TOKEN.findall(text.lower())
    if known.code in UNSPACED_LANGUAGES:
        return any(each in word for each in known.goes_on for word in words)
    return not known.goes_on.isdisjoint(words)
