"""FSRS-6, by the package of its authors; an extra, loaded when it is set.

Remembering counts as the first review of a card and each recall as a review with the grade
*good*; a delivered whisper is a review with the grade *hard*. There are no learning steps and no
fuzz, so the same uses always give the same answer.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from madeleine.errors import MindDown
from madeleine.rules.lifecycle import LifecycleState

FIRST_REVIEW_AT = datetime(2000, 1, 1, tzinfo=UTC)  # any will do: only the time between uses counts


class FsrsLifecycle:
    """A `Lifecycle`."""

    def __init__(self, scheduler: Any, card: Any, good: Any, hard: Any) -> None:
        self._scheduler, self._card = scheduler, card
        self._good, self._hard = good, hard

    @classmethod
    def load(cls) -> FsrsLifecycle:
        """Return it; `MindDown` without the package."""
        try:
            from fsrs import Card, Rating, Scheduler
        except ImportError as error:
            fix = "`pip install 'madeleine-memory[fsrs]'`"
            raise MindDown("fsrs", f"is not installed; {fix}") from error
        scheduler = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
        return cls(scheduler, Card, Rating.Good, Rating.Hard)

    def retrievability(self, life: LifecycleState) -> float:
        card = self._card(card_id=1, due=FIRST_REVIEW_AT)
        for day in (0.0, *life.uses):
            grade = self._hard if day in life.whispers else self._good
            card, _ = self._scheduler.review_card(
                card, grade, FIRST_REVIEW_AT + timedelta(days=day)
            )
        now = FIRST_REVIEW_AT + timedelta(days=max(life.age, 0.0))
        return float(self._scheduler.get_card_retrievability(card, now))
