"""Which hits of an answer are shown, and which are folded below the floor.

A question has one answer, or a few; the rest of a ranked list is what is left over. A hit is shown
if its score is worth something by itself (`absolute`) and beside the best one (`relative`). If not
even the best one is likely enough to be an answer (`best`), nothing is. Scores are absolute (I10),
so the floor is the same in every store.

What the question names by its id, quotes, or asks for by its time is shown whatever its score
is. So is what was said in a conversation: an answer is spread over several turns there, and the
floor would take 2.7 of 80 points of LoCoMo's recall@5.
Where no model has read a memory, or one without token vectors, less is known: scores are low by
nature, so only the relative part applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

UNREAD_SHARE = 0.8  # of what the best hit needs that was not read again: less is known of it
OVERVIEW_SHARE = 1 / 3  # of the relative floor, where many things are to be told and not one


class FloorStanding(Enum):
    """How the floor applies to a hit."""

    COMPARED = "compared"
    """All parts apply."""
    ROUGH = "rough"
    """No model has read it closely: the relative part applies."""
    ASKED_FOR = "asked for"
    """It is named, quoted or listed: it is shown."""
    SAID = "said"
    """It was said in a conversation: it is shown."""


@dataclass(frozen=True, slots=True)
class AnswerFloor:
    """The least score that is shown: by itself, as a share of the best one, and what the best one
    needs for anything to be shown."""

    absolute: float
    relative: float
    best: float = 0.0

    def for_overview(self) -> AnswerFloor:
        """Return the floor of a question for an overview, which has many answers."""
        return AnswerFloor(self.absolute, self.relative * OVERVIEW_SHARE, self.best)

    def for_unread(self) -> AnswerFloor:
        """Return the floor where the best hit was not read once more: its chance tells less well
        whether anything answers."""
        return AnswerFloor(self.absolute, self.relative, self.best * UNREAD_SHARE)

    def needed(self, best: float) -> float:
        """Return the score that a compared hit needs beside the best one."""
        least = max(self.absolute, self.relative * min(best, 1.0))
        return least if best >= self.best else max(least, self.best)


def mark_above_floor(
    scores: Sequence[float], standings: Sequence[FloorStanding], floor: AnswerFloor
) -> list[bool]:
    """Return for each hit whether it is shown."""
    best = max(scores, default=0.0)
    least = {
        FloorStanding.COMPARED: floor.needed(best),
        FloorStanding.ROUGH: floor.relative * min(best, 1.0),
        FloorStanding.ASKED_FOR: float("-inf"),
        FloorStanding.SAID: float("-inf"),
    }
    return [score >= least[standing] for score, standing in zip(scores, standings, strict=True)]
