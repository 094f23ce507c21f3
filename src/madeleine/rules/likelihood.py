"""How likely it is that a memory answers, in a word.

A score is a calibrated chance, and hardly anybody reads chances. The words stand for the chance
alone (I10): they mean the same in every store and for every question. What is below the floor of
recall is unlikely, whatever its score is.
"""

from __future__ import annotations

import enum

SURE_CHANCE = 0.8
LIKELY_CHANCE = 0.4
MAYBE_CHANCE = 0.05  # the floor may be a share of the best only, and that next to nothing


class Likelihood(enum.StrEnum):
    """A chance in a word."""

    SURE = "sure"
    LIKELY = "likely"
    MAYBE = "maybe"
    UNLIKELY = "unlikely"


def name_likelihood(chance: float, is_above_floor: bool) -> Likelihood:
    """Return the word for the chance that a memory answers."""
    if not is_above_floor or chance < MAYBE_CHANCE:
        return Likelihood.UNLIKELY
    if chance >= SURE_CHANCE:
        return Likelihood.SURE
    return Likelihood.LIKELY if chance >= LIKELY_CHANCE else Likelihood.MAYBE
