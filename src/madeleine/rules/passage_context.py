"""What stands beside a passage in a conversation lends it some of its meaning.

«Yes, last Friday!» answers nothing by itself. The context of a passage is the sum of its own
vector and its neighbours', the nearest counting half, the ones behind them a quarter. Its
cosine with a question follows from the neighbours' own cosines, so nothing more is embedded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Places = NDArray[np.int64]

BESIDE_WEIGHT, FURTHER_WEIGHT = 0.5, 0.25
USUAL_COSINE = 0.35  # the usual cosine of two things said one after the other


def values_at(values: NDArray[np.generic], places: Places) -> Values:
    """Return the values at these places, 0 where there is none."""
    if not len(values):
        return np.zeros(len(places))
    return np.where(places >= 0, values[places], 0).astype(np.float64)


class PassageNeighbours:
    """The two places before and the two after each place. What follows from them is worked out
    when it is asked for: where nobody talks, nobody asks."""

    def __init__(self, before: Places, after: Places) -> None:
        self.before, self.after = before, after

    @cached_property
    def _places_beyond(self) -> tuple[Places, Places]:
        return _compose_places(self.before, self.before), _compose_places(self.after, self.after)

    @cached_property
    def _length_of_sums(self) -> Values:
        present = [
            (weight, (places >= 0).astype(np.float64))
            for weight, places in (
                (BESIDE_WEIGHT, self.before),
                (BESIDE_WEIGHT, self.after),
                *self._further_places(),
            )
        ]
        total = 1 + sum(weight * there for weight, there in present)
        squares = 1 + sum(weight * weight * there for weight, there in present)
        length: Values = np.sqrt((1 - USUAL_COSINE) * squares + USUAL_COSINE * total * total)
        return length

    def _further_places(self) -> tuple[tuple[float, Places], ...]:
        return (FURTHER_WEIGHT, self._places_beyond[0]), (FURTHER_WEIGHT, self._places_beyond[1])

    def sum_with_neighbours(self, values: NDArray[np.generic]) -> Values:
        """Return each value with its share of those around it."""
        near = values_at(values, self.before) + values_at(values, self.after)
        far = sum(values_at(values, places) for _, places in self._further_places())
        total: Values = values.astype(np.float64) + BESIDE_WEIGHT * near + FURTHER_WEIGHT * far
        return total

    def cosine(self, cosines: NDArray[np.generic]) -> Values:
        """Return the cosine of each place's context, given those of the places alone."""
        return self.sum_with_neighbours(cosines) / self._length_of_sums

    def greatest_beside(self, values: NDArray[np.generic]) -> Values:
        """Return the greater of the values before and after."""
        return np.maximum(values_at(values, self.before), values_at(values, self.after))


def _compose_places(one: Places, two: Places) -> Places:
    if not len(one):
        return one
    return np.where(one >= 0, two[one], -1)


def join_places(size: int, parts: Iterable[Places]) -> Places:
    """Return the places of all parts in order, each once; all are below `size`. Marking them takes
    a fraction of what sorting them does."""
    marked = np.zeros(size, np.bool_)
    for places in parts:
        marked[places] = True
    return np.flatnonzero(marked)


def combine_by_session(values: Values, session: Places, combine: np.ufunc) -> Values:
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
    around: PassageNeighbours,
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
    beside = np.minimum(around.sum_with_neighbours(words), 1.5) / 3
    together = 0.25 * combine_by_session(words, session, np.maximum)
    together += 0.5 * combine_by_session(focus, session, np.maximum)
    context = beside + 1.2 * around.cosine(focus) + together
    return score + np.where(talk, context, words / 3 + 1.2 * focus)


def subject_score(columns: Mapping[str, Values]) -> Values:
    """Return what the right speaker and the right day add to the drawing score."""
    fitting = columns["speaker"] + columns["date"] + columns["date_near"]
    score: Values = 0.25 * fitting - 0.1 * columns["other_speaker"]
    return score
