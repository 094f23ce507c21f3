"""What stands beside a passage in a conversation lends it some of its meaning.

«Yes, last Friday!» answers nothing by itself. The context of a passage is the sum of its own
vector and its neighbours', the nearest counting half, the ones behind them a quarter. Its
cosine with a question follows from the neighbours' own cosines, so nothing more is embedded.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Places = NDArray[np.int64]

BESIDE, FURTHER = 0.5, 0.25
ALIKE = 0.35  # the usual cosine of two things said one after the other


def at(values: NDArray[np.generic], places: Places) -> Values:
    """Return the values at these places, 0 where there is none."""
    if not len(values):
        return np.zeros(len(places))
    return np.where(places >= 0, values[places], 0).astype(np.float64)


class Surroundings:
    """The two places before and the two after each place."""

    def __init__(self, before: Places, after: Places) -> None:
        self.before, self.after = before, after
        self._further = _over(before, before), _over(after, after)
        present = [
            (weight, (places >= 0).astype(np.float64))
            for weight, places in ((BESIDE, before), (BESIDE, after), *self._behind())
        ]
        total = 1 + sum(weight * there for weight, there in present)
        squares = 1 + sum(weight * weight * there for weight, there in present)
        self._length: Values = np.sqrt((1 - ALIKE) * squares + ALIKE * total * total)

    def _behind(self) -> tuple[tuple[float, Places], ...]:
        return (FURTHER, self._further[0]), (FURTHER, self._further[1])

    def summed(self, values: NDArray[np.generic]) -> Values:
        """Return each value with its share of those around it."""
        near = at(values, self.before) + at(values, self.after)
        far = sum(at(values, places) for _, places in self._behind())
        total: Values = values.astype(np.float64) + BESIDE * near + FURTHER * far
        return total

    def cosine(self, cosines: NDArray[np.generic]) -> Values:
        """Return the cosine of each place's context, given those of the places alone."""
        return self.summed(cosines) / self._length

    def greatest(self, values: NDArray[np.generic]) -> Values:
        """Return the greater of the values before and after."""
        return np.maximum(at(values, self.before), at(values, self.after))


def _over(one: Places, two: Places) -> Places:
    if not len(one):
        return one
    return np.where(one >= 0, two[one], -1)


def sessionwise(values: Values, session: Places, combine: np.ufunc) -> Values:
    """Return for each place what its session's places come to together."""
    if not len(values):
        return values
    order = np.argsort(session, kind="stable")
    ordered = session[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    together = combine.reduceat(values[order], first, axis=0)
    spread: Values = np.empty_like(values)
    spread[order] = np.repeat(together, np.diff(np.append(first, len(values))), axis=0)
    return spread


def drawing_score(
    text: Values,
    near: Values,
    focus: Values,
    around: Surroundings,
    talk: NDArray[np.bool_],
    session: Places,
) -> Values:
    """Return by which of all candidates the ones to be compared closely are chosen.

    Weights by hand: they only have to keep what is good among the best hundred or two.
    """
    most = text.max(initial=0.0)
    words = text / most if most > 0 else text
    score = words + 1.5 * focus + 0.3 * near
    if not talk.any():
        return score + words / 3 + 1.2 * focus
    beside = np.minimum(around.summed(words), 1.5) / 3
    together = 0.25 * sessionwise(words, session, np.maximum)
    together += 0.5 * sessionwise(focus, session, np.maximum)
    context = beside + 1.2 * around.cosine(focus) + together
    return score + np.where(talk, context, words / 3 + 1.2 * focus)


def subject_score(columns: Mapping[str, Values]) -> Values:
    """Return what the right speaker and the right day add to the drawing score."""
    fitting = columns["speaker"] + columns["date"] + columns["date_near"]
    score: Values = 0.25 * fitting - 0.1 * columns["other_speaker"]
    return score
