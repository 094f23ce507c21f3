"""Moves working memories that nobody uses to the archive, where asking still finds them.

Which way retrievability is reckoned is a setting; the rule is the same (`rules.lifecycle`).
Core, the self and what describes the asker are exempt, and so is whatever is important. Nothing
is ever deleted.

By the documented numbers a memory that nobody used has faded after 29 hours, a weekend. So in
a night that nobody asked for it also has to be idle for a week, and what was brought here with an
old date gets a week to be useful; whoever runs the job gets what they ask for.

A store that was brought here may have faded as a whole. Then people are asked, a page of
questions at a time, and while they have not answered there is nothing to be done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from madeleine.index.port import Standings
from madeleine.model.event import Event, Kind
from madeleine.model.proposal import ProposalStatus, ProposalType
from madeleine.model.words import Tier
from madeleine.rules.lifecycle import Exponential, Life, Lifecycle, fades
from madeleine.sleep.asking import room
from madeleine.sleep.breaker import tripped
from madeleine.sleep.deeds import question_of
from madeleine.sleep.fading import least_chance, lifecycle
from madeleine.sleep.standings import MICROS_A_DAY, WORKING, days_before, pages
from madeleine.sleep.values import Night, Patch, SetTier
from madeleine.write.questions import rejected_keys


def decay_manager() -> DecayManager:
    """Return the job."""
    return DecayManager()


class DecayManager:
    """The job."""

    name = "decay_manager"

    def __init__(self) -> None:
        self._lifecycle: Lifecycle = Exponential()

    def plan(self, night: Night) -> Sequence[Patch]:
        self._lifecycle = lifecycle(night.habits)
        faded = {
            memory_id: chance
            for page in pages(night)
            for memory_id, chance in self._faded(night, page)
        }
        faded = _not_new(night, faded) if night.due else faded
        faded = _not_spoken_for(night, faded)
        why = tripped(night, len(faded), len(faded))
        if why is not None and not room(night):
            night.report.stopped = f"{why}: the proposals about some of them wait for you"
            return []
        known = night.stores.index.memories(faded)
        return [
            Patch(
                SetTier(memory, Tier.ARCHIVAL),
                "not used for long: it is unlikely to come to mind "
                f"({faded[memory.id]:.0%}) and matters little ({memory.importance:.0%})",
            )
            for memory in known.values()
            if memory.tier is Tier.WORKING
        ]

    def done(self, night: Night) -> None:
        """Nothing to note: every memory is looked at each time."""

    def _faded(self, night: Night, page: Standings) -> Iterator[tuple[str, float]]:
        habits = night.habits
        light = page.importance < habits.decay_importance
        least = habits.decay_least_days if night.due else 0.0
        idle = days_before(night, page.last_accessed) >= least
        may = (page.tiers == WORKING) & ~page.is_self & ~page.about_self
        places = np.flatnonzero(may & light & idle)
        chances = self._chances(night, page, places).tolist()
        weights = page.importance[places].tolist()
        for place, chance, weight in zip(places.tolist(), chances, weights, strict=True):
            if fades(chance, weight, least_chance(habits), habits.decay_importance):
                yield page.ids[place], chance

    def _chances(
        self, night: Night, page: Standings, places: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return retrievabilities, all in one go where single uses do not matter."""
        if isinstance(self._lifecycle, Exponential):
            idle = days_before(night, page.last_accessed)[places]
            return self._lifecycle.chances(page.stability[places], idle)
        lives = self._lives(night, page, places.tolist())
        return np.array([self._lifecycle.retrievability(each) for each in lives], np.float64)

    def _lives(self, night: Night, page: Standings, places: Sequence[int]) -> Iterator[Life]:
        ids = [page.ids[each] for each in places]
        uses = night.stores.index.uses(ids)
        ages = days_before(night, page.created)
        idle = days_before(night, page.last_accessed)
        for place, memory_id in zip(places, ids, strict=True):
            born = int(page.created[place])
            used = (int(each.timestamp() * 1_000_000) for each in uses.get(memory_id, ()))
            after = tuple((each - born) / MICROS_A_DAY for each in used if each >= born)
            stability = float(page.stability[place])
            yield Life(float(ages[place]), float(idle[place]), stability, after)


def _not_spoken_for(night: Night, faded: dict[str, float]) -> dict[str, float]:
    """Leave out what a person wants to keep where it is, and what they are being asked about:
    a question about a memory that was archived meanwhile could not be answered any more."""
    index = night.stores.index
    pending = index.proposals(ProposalStatus.PENDING)
    asked = {node for each in pending for node in each.source_nodes}
    rejected = index.proposals(ProposalStatus.REJECTED)
    named = {
        node for each in rejected if each.type is ProposalType.DECAY for node in each.source_nodes
    }
    said_no = rejected_keys(night.stores)
    moves = [SetTier(each, Tier.ARCHIVAL) for each in index.memories(named & faded.keys()).values()]
    refused = {each.memory.id for each in moves if question_of(each) in said_no}
    return {each: chance for each, chance in faded.items() if each not in asked | refused}


def _not_new(night: Night, faded: dict[str, float]) -> dict[str, float]:
    """Leave out what came into this home only lately, however old it says it is."""
    since = night.now - timedelta(days=night.habits.decay_grace_days)
    return {
        memory_id: chance
        for memory_id, chance in faded.items()
        if not any(each.at > since for each in _written(night, memory_id))
    }


def _written(night: Night, memory_id: str) -> list[Event]:
    history = night.stores.index.history(memory_id)
    return [each for each in history if each.kind is Kind.REMEMBERED]
