"""Asking every question of a store, by the recall that everybody calls."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from _recall_homes import bar
from _recall_sets import Question

from madeleine import Madeleine

DEPTH = 60  # as many as are scored in full


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the ids that came back, best first, and how long it took."""

    question: Question
    ranked: tuple[str, ...]
    seconds: float


def ask_all(
    opened: Madeleine, questions: Sequence[Question], what: str, limit: int = DEPTH
) -> list[Asked]:
    """Ask the questions in order."""
    asked = []
    with bar(what) as advance:
        for question in questions:
            asked.append(ask(opened, question, limit))
            advance(len(asked), len(questions))
    return asked


def ask(opened: Madeleine, question: Question, limit: int = DEPTH) -> Asked:
    options: dict[str, Any] = dict(question.options)
    began = time.perf_counter()
    hits = opened.recall(question.text, limit=limit, **options)
    seconds = time.perf_counter() - began
    return Asked(question, tuple(hit.memory.id for hit in hits), seconds)
