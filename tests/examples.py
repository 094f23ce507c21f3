"""How many examples a property is tried on: a share of them in `make test`, all in `make soak`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Example = TypeVar("Example")

IN_SOAK = os.environ.get("TEST_EXAMPLES") == "all"
SHARE = 3


def some_of(every: int) -> int:
    """Return how many of so many examples are tried here."""
    return every if IN_SOAK else -(-every // SHARE)


def a_share_of(every: Sequence[Example]) -> Sequence[Example]:
    """Return those of a list of examples that are tried here."""
    return every if IN_SOAK else every[::SHARE]
