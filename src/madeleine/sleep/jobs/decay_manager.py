"""Moves working memories that nobody uses to the archive, where asking still finds them.

Which way retrievability is reckoned is a setting; the rule is the same (`rules.lifecycle`).
Core and the self are exempt, and so is whatever is important. Nothing is ever deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from madeleine.errors import BadSetting
from madeleine.index.port import Standings
from madeleine.minds.fsrs import Fsrs
from madeleine.model.words import Tier
from madeleine.rules.lifecycle import Exponential, Life, Lifecycle, fades
from madeleine.sleep.standings import MICROS_A_DAY, WORKING, days_before, pages
from madeleine.sleep.values import Night, Patch, SetTier


def decay_manager() -> DecayManager:
    """Return the job."""
    return DecayManager()


class DecayManager:
    """The job."""

    name = "decay_manager"

    def __init__(self) -> None:
        self._lifecycle: Lifecycle = Exponential()

    def plan(self, night: Night) -> Sequence[Patch]:
        self._lifecycle = _lifecycle(night.habits.lifecycle)
        faded = {
            memory_id: chance
            for page in pages(night)
            for memory_id, chance in self._faded(night, page)
        }
        known = night.stores.index.memories(faded)
        return [
            Patch(
                SetTier(memory, Tier.ARCHIVAL),
                f"not used for long: chance {faded[memory.id]:.2f} to come to mind, "
                f"importance {memory.importance:.2f}",
            )
            for memory in known.values()
            if memory.tier is Tier.WORKING
        ]

    def done(self, night: Night) -> None:
        """Nothing to note: every memory is looked at each time."""

    def _faded(self, night: Night, page: Standings) -> Iterator[tuple[str, float]]:
        habits = night.habits
        light = page.importance < habits.decay_importance
        places = np.flatnonzero((page.tiers == WORKING) & ~page.is_self & light)
        lives = self._lives(night, page, places.tolist())
        for place, life in zip(places.tolist(), lives, strict=True):
            chance = self._lifecycle.retrievability(life)
            weight = float(page.importance[place])
            if fades(chance, weight, habits.decay_retrievability, habits.decay_importance):
                yield page.ids[place], chance

    def _lives(self, night: Night, page: Standings, places: Sequence[int]) -> Iterator[Life]:
        ids = [page.ids[each] for each in places]
        uses = night.stores.index.uses(ids) if self._lifecycle.needs_uses else {}
        ages = days_before(night, page.created)
        idle = days_before(night, page.last_accessed)
        for place, memory_id in zip(places, ids, strict=True):
            born = int(page.created[place])
            used = (int(each.timestamp() * 1_000_000) for each in uses.get(memory_id, ()))
            after = tuple((each - born) / MICROS_A_DAY for each in used if each >= born)
            stability = float(page.stability[place])
            yield Life(float(ages[place]), float(idle[place]), stability, after)


def _lifecycle(name: str) -> Lifecycle:
    match name:
        case "exponential":
            return Exponential()
        case "fsrs":
            return Fsrs.load()
        case _:
            raise BadSetting("sleep.lifecycle", f"is {name!r}; exponential or fsrs")
