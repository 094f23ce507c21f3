"""Which space a memory belongs to, by those it is connected with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

CLEAR_VOTES = 3  # neighbours that make a vote clear
CLEAR_SHARE = 0.8  # of those with a space


def clear_space(spaces: Iterable[str | None]) -> str | None:
    """Return the space that at least three neighbours have, and four of five of those that have
    one."""
    votes = [space for space in spaces if space is not None]
    space = majority_space(votes, CLEAR_VOTES)
    return space if space is not None and votes.count(space) >= CLEAR_SHARE * len(votes) else None


def majority_space(spaces: Iterable[str | None], least: int = 1) -> str | None:
    """Return the space of more than half of the neighbours that have one, if at least so many
    agree. Neighbours without a space abstain; a tie decides nothing."""
    votes = Counter(space for space in spaces if space is not None)
    if not votes:
        return None
    ((space, count),) = votes.most_common(1)
    return space if count >= least and 2 * count > votes.total() else None
