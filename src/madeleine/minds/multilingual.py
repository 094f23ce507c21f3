"""Two sentence models that give vectors of one space: one reads English, the other all else.

The second comes with the package `madeleine-multilingual`. It was taught to give a text of another
language the vector that the English model gives its translation, so what was kept in one language
is found in another. The language is told of each text by itself; where it does not show, the
English model reads. Each model has its own place in the cache: what is English keeps the vectors
that it had before the second model came, and keeps them when it goes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

from madeleine.language.english import may_be_english
from madeleine.minds.loading import MODEL_FILE, TOKENIZER_FILE
from madeleine.minds.local import LocalEmbedder
from madeleine.minds.port import CachingEmbedder
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding, TokenKeeper

PACKAGE = "madeleine_multilingual"


class MultilingualEmbedder:
    """Has each text read by the model of its language (`CachingEmbedder`). Both models keep what
    they make in the same file."""

    def __init__(self, english: CachingEmbedder, others: CachingEmbedder) -> None:
        self._english = english
        self._others = others
        self.name = f"{english.name}+{others.name}"

    @property
    def english_name(self) -> str:
        """The model that reads English."""
        return self._english.name

    @property
    def others_name(self) -> str:
        """The model that reads every other language."""
        return self._others.name

    @property
    def dimension(self) -> int:
        return self._english.dimension

    @property
    def token_dimension(self) -> int:
        return self._english.token_dimension

    @property
    def problem(self) -> str:
        return self._english.problem

    @property
    def keeper(self) -> TokenKeeper:
        return self._english.keeper

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        english = [may_be_english(each.text[each.unspoken :]) for each in passages]
        by_english = iter(self._english.read(_select(passages, english, True)))
        by_others = iter(self._others.read(_select(passages, english, False)))
        return [next(by_english if each else by_others) for each in english]

    def ask(self, text: str) -> QueryEmbedding:
        return (self._english if may_be_english(text) else self._others).ask(text)

    def forget(self, keys: Sequence[str]) -> int:
        return self._english.forget(keys)  # of every model: they share the file

    def flush(self) -> None:
        self._english.flush()

    def close(self) -> None:
        self._english.close()


def load_multilingual(english: LocalEmbedder, threads: int) -> LocalEmbedder | None:
    """Return the model of all other languages, or None when `why_not_multilingual`."""
    if why_not_multilingual(english.name):
        return None
    import madeleine_multilingual as package

    return LocalEmbedder(
        package.folder(),
        package.MODEL,
        threads,
        package.DIMENSION,
        english.projection,
        english.token_dimension,
        reads_every_script=True,
    )


def why_not_multilingual(english_name: str) -> str:
    """Say in a sentence why there is no model of other languages; empty when there is one.

    It only looks; none of the heavy packages is imported.
    """
    if importlib.util.find_spec(PACKAGE) is None:
        return f"not installed: {PACKAGE}"
    import madeleine_multilingual as package

    if english_name != package.ENGLISH_MODEL:
        return f"{package.MODEL} was taught the vectors of {package.ENGLISH_MODEL}"
    if not all((package.folder() / file).is_file() for file in (MODEL_FILE, TOKENIZER_FILE)):
        return f"{PACKAGE} is installed without its weights"
    return ""


def _select(passages: Sequence[Passage], english: Sequence[bool], wanted: bool) -> list[Passage]:
    return [
        each for each, is_english in zip(passages, english, strict=True) if is_english is wanted
    ]
