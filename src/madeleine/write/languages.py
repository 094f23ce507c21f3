"""The languages that memories are written in, as their texts show."""

from __future__ import annotations

from collections import Counter

from madeleine.language.english import may_be_english
from madeleine.language.identification import guess_languages
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.write.stores import Stores

NEWEST_READ = 60  # memories; a tenth of a millisecond each
LEAST_OF_A_LANGUAGE = 2  # one short text may be taken for another language


def find_other_languages(stores: Stores) -> list[str]:
    """Return the languages of the newest memories beside English, the most frequent first."""
    found = Counter(language for _, language in _newest_in_other_languages(stores))
    return [each for each, count in found.most_common() if count >= LEAST_OF_A_LANGUAGE]


def find_text_to_warm_with(stores: Stores) -> str | None:
    """Return a text in another language than English, if there are memories in one: whoever reads
    it has loaded what it takes."""
    if not find_other_languages(stores):
        return None
    return next(memory.title for memory, _ in _newest_in_other_languages(stores))


def _newest_in_other_languages(stores: Stores) -> list[tuple[Memory, str]]:
    newest = stores.search.listing(Filter(), stores.clock.now(), NEWEST_READ)
    told = ((memory, f"{memory.title} {memory.content}") for memory in newest)
    foreign = (
        (memory, guess_languages(text, 1)) for memory, text in told if not may_be_english(text)
    )
    return [(memory, guesses[0].code) for memory, guesses in foreign if guesses]
