"""The variables of the environment that mean something, and those that look as if they did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from madeleine.settings.values import (
    BARE_PREFIX,
    ENVIRONMENT_PREFIX,
    known_settings,
    setting_variables,
)

OTHER_VARIABLES = ("HOME", "PASSWORD", "PICTURES")
"""Variables with our prefix that are no settings: the home, and what compose.yaml and the pictures
of the page read."""
TEST_PREFIX = "MADELEINE_TEST_"  # what single tests ask for, such as a model to run with
MIN_WORD_SIMILARITY = (
    0.8  # how alike two words of a variable's name are when one is the other misspelt
)
MIN_NAME_SIMILARITY = 0.5  # how alike a name is, at least, when no word of it is right


def find_store_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the variables of an environment that say where the memory is."""
    names = ("STORE", "STORE_URL", "STORE_TENANT", "STORE_TRUTH")
    return [ENVIRONMENT_PREFIX + each for each in names if ENVIRONMENT_PREFIX + each in environment]


def known_variables() -> frozenset[str]:
    """Return every variable of the environment that means something."""
    ours = [each for name, _, _ in known_settings() for each in setting_variables(name)]
    return frozenset([*ours, *(ENVIRONMENT_PREFIX + each for each in OTHER_VARIABLES)])


def describe_unknown_variables(
    environment: Iterable[str], also_known: Iterable[str] = ()
) -> list[str]:
    """Return a sentence about each variable that looks like one of ours and means nothing, with
    the nearest name that does. `also_known` are names that settings themselves give, as those of
    the variables that hold a key."""
    known = known_variables()
    prefixes = (ENVIRONMENT_PREFIX, BARE_PREFIX)
    unknown = sorted(
        {each for each in environment if each.startswith(prefixes)} - known - set(also_known)
    )
    return [
        f"`{each}` in the environment means nothing; {_suggest_variable(each, known)}"
        for each in unknown
        if not each.startswith(TEST_PREFIX)
    ]


def _suggest_variable(name: str, known: Iterable[str]) -> str:
    """Say which variable was likely meant."""
    prefix = BARE_PREFIX if name.startswith(BARE_PREFIX) else ENVIRONMENT_PREFIX
    ranked = sorted(
        (_name_similarity(name, each, prefix), each) for each in known if each.startswith(prefix)
    )
    (shared, alike), nearest = ranked[-1]
    if not shared and alike < MIN_NAME_SIMILARITY:
        return "docs/reference/settings.md lists those that do"
    return f"did you mean `{nearest}`?"


def _name_similarity(name: str, other: str, prefix: str) -> tuple[float, float]:
    """Return which share of a name's words the other has too, misspelt or not, and how alike the
    two are as a whole. What all names begin with says nothing."""
    given, meant = name.removeprefix(prefix), other.removeprefix(prefix)
    words, others = given.split("_"), meant.split("_")
    shared = [
        any(_text_similarity(word, each) >= MIN_WORD_SIMILARITY for each in others)
        for word in words
    ]
    return sum(shared) / len(words), _text_similarity(given, meant)


def _text_similarity(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
