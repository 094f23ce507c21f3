"""How many examples a property is tried on: a share of them in `make test`, all in `make soak`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

Example = TypeVar("Example")

IN_SOAK = os.environ.get("TEST_EXAMPLES") == "all"
SHARE = 5


def some_of(every: int) -> int:
    """Return how many of so many examples are tried here."""
    return every if IN_SOAK else -(-every // SHARE)


def a_share_of(every: Sequence[Example]) -> Sequence[Example]:
    """Return those of a list of examples that are tried here."""
    return every if IN_SOAK else every[::SHARE]


def others_in_soak(first: object, *others: object) -> list[Any]:
    """Return the values of a parameter of a slow test: the first for `make test`, the others for
    `make soak`. Several parameters are a tuple."""
    late = (each if isinstance(each, tuple) else (each,) for each in others)
    return [first, *(pytest.param(*each, marks=pytest.mark.soak) for each in late)]


def spread_evenly(count: int, length: int) -> set[int]:
    """Return so many places of a list of this length, as far apart as they can be."""
    return {turn * length // count for turn in range(count)}
