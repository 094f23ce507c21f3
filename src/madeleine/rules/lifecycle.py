"""When a memory that nobody uses leaves the working tier.

One rule over two ways to reckon how likely a memory still comes to mind: the documented
exponential one, and true FSRS-6, which `minds.fsrs` brings from its own package.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from madeleine.rules.strength import retrievability


@dataclass(frozen=True, slots=True)
class LifecycleState:
    """What is known of a memory's use. All in days; `uses` are those after its birth, oldest
    first."""

    age: float
    idle: float
    """Since the last use, or since its birth."""
    stability: float
    uses: tuple[float, ...] = ()
    whispers: frozenset[float] = frozenset()
    """Those of the uses that nobody asked for: reviews of a weaker grade."""


class Lifecycle(Protocol):
    """A way to reckon retrievability."""

    def retrievability(self, life: LifecycleState) -> float:
        """Return the chance that a memory still comes to mind, between 0 and 1."""
        ...


class ExponentialLifecycle:
    """The documented one: exp(-days since the last use / stability)."""

    def retrievability(self, life: LifecycleState) -> float:
        return float(retrievability(life.stability, life.idle))

    def chances(
        self, stability: NDArray[np.float64], idle: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the same of many memories: single uses do not matter here."""
        return retrievability(stability, idle)


def has_faded(
    chance: float, importance: float, least_chance: float, least_importance: float
) -> bool:
    """Whether a working memory goes to the archive: it hardly comes to mind any more, and it
    does not matter enough to be kept at hand all the same."""
    return chance < least_chance and importance < least_importance
