"""What is known of each language but English: one file a language, in `by_language/`.

A file is named by the two letters of its language (`de.toml`), and says in words what it holds;
whoever adds one needs to write no program. It is read when a text in its language comes along.
English has its tables in the modules that read it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_QUOTES = '"' * 3


@dataclass(frozen=True, slots=True)
class LanguageFile:
    """What a file says of its language. All words are in lower case."""

    code: str
    name: str
    stemmer: str
    """What `snowballstemmer` calls the rules that join the forms of a word; empty for none."""
    stop_words: frozenset[str]
    """Words that stand in every text and tell none from another, question words among them."""
    articles: frozenset[str]
    """What is written as one with the word after it: `ال`."""
    small_talk: frozenset[str]
    """Words by which one talks without naming anything; stop words need not be repeated."""
    goes_on: frozenset[str]
    """Those of them by which one asks for more of what was spoken of: `why`, `explain`."""
    parts: frozenset[str]
    """Words that compounds are made of, where the language writes them as one word."""
    joints: frozenset[str]
    """What may stand between two of them."""
    part_endings: frozenset[str]
    """What a form of such a word may end in, beside the word itself."""
    denials: frozenset[str]
    """Words that turn a sentence into its contrary: `not`, `never`, `no`."""
    states: frozenset[str]
    """Words by which one says no more than that something has or uses a value: `use`, `runs`."""
    keeping: frozenset[str]
    """Words for what leaves a memory when it is done: `decided`, `noted`."""
    asks: frozenset[str]
    """Words by which one asks for things: `what`, `show`, `list`."""
    months: tuple[tuple[str, ...], ...]
    """The names of the twelve months, each in its forms."""
    weekdays: tuple[tuple[str, ...], ...]
    """The names of the days, from Monday on, each in its forms."""
    phrases: Mapping[str, Mapping[str, str]]
    """By the name of a rule, phrases with what they say in English (`phrases.py`)."""


@cache
def list_languages() -> tuple[str, ...]:
    """Return the languages that have a file, by their two letters."""
    names = (each.name for each in files("madeleine.language").joinpath("by_language").iterdir())
    return tuple(sorted(each.removesuffix(".toml") for each in names if each.endswith(".toml")))


@cache
def load_stop_words() -> frozenset[str]:
    """Return the stop words of all languages, without reading the rest of their files: all of
    them are needed as soon as a first text comes along, and the rest of most files never."""
    found: set[str] = set()
    for code in list_languages():
        _, _, after = _read_file(code).partition(f"\nstop_words = {_QUOTES}")
        found.update(after.partition(_QUOTES)[0].split())
    return frozenset(found)


@cache
def load_language(code: str) -> LanguageFile | None:
    """Return what is known of a language; nothing for English and where no file is."""
    if code not in list_languages():
        return None
    said = tomllib.loads(_read_file(code))
    return LanguageFile(
        code=code,
        name=said["name"],
        stemmer=said.get("stemmer", ""),
        stop_words=_read_words(said, "stop_words"),
        articles=_read_words(said, "articles"),
        small_talk=_read_words(said, "small_talk"),
        goes_on=_read_words(said, "goes_on"),
        parts=_read_words(said, "parts"),
        joints=_read_words(said, "joints"),
        part_endings=_read_words(said, "part_endings"),
        denials=_read_words(said, "denials"),
        states=_read_words(said, "states"),
        keeping=_read_words(said, "keeping"),
        asks=_read_words(said, "asks"),
        months=_read_names(said, "months"),
        weekdays=_read_names(said, "weekdays"),
        phrases={rule: table for rule, table in said.items() if isinstance(table, dict)},
    )


def _read_file(code: str) -> str:
    return files("madeleine.language").joinpath("by_language", f"{code}.toml").read_text("utf-8")


def _read_names(said: Mapping[str, Any], key: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(each.split("/")) for each in said.get(key, "").split())


def _read_words(said: Mapping[str, Any], key: str) -> frozenset[str]:
    return frozenset(said.get(key, "").split())
