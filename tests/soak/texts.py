"""Made-up texts. Each is the only one of its kind, so that it can be found again by its words."""

from __future__ import annotations

import itertools
import random

SYLLABLES = tuple(consonant + vowel for consonant in "bdfgklmnprstvwz" for vowel in "aeiou")
TAGS = ("work", "home", "travel", "food", "code", "health", "ünïcode")
ODD = ("", "", "", "", "---\nnot: front matter\n---", "über 🎉 עברית", "[[a link]] #tag", "a\r\nb")


class Texts:
    """The texts of one client."""

    def __init__(self, name: str, dice: random.Random) -> None:
        self._name = name
        self._dice = dice
        self._numbers = itertools.count(1)

    def word(self) -> str:
        return "".join(self._dice.choices(SYLLABLES, k=self._dice.randint(2, 4)))

    def new(self) -> str:
        """Return a text of words that nothing else has."""
        return self._unique(" ".join(self.word() for _ in range(self._dice.randint(4, 30))))

    def near(self, text: str) -> str:
        """Return a text close to another, which is what gets two memories linked."""
        words = text.split()[2:] or [self.word()]
        words[self._dice.randrange(len(words))] = self.word()
        return self._unique(" ".join(words))

    def title(self) -> str:
        return " ".join(self.word() for _ in range(self._dice.randint(1, 5))).capitalize()

    def _unique(self, words: str) -> str:
        odd = self._dice.choice(ODD)
        text = f"{self._name} {next(self._numbers)} {words}"
        return f"{text}\n{odd}\n{self.word()}" if odd else text
