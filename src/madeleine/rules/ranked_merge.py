"""Answers from several memories made one list."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def merge_ranked(lists: Sequence[Iterable[T]], rank: Callable[[T], float], most: int) -> list[T]:
    """Return the first of several lists, each in its own order, the highest rank first.

    Scores are absolute (I10), so that those of two memories can be compared as they are. Of two
    that are alike the one from the earlier list comes first, and no list's own order changes.
    """
    merged = heapq.merge(*lists, key=lambda each: -rank(each))
    return list(islice(merged, most))
