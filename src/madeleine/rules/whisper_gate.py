"""Whether a memory is worth saying unasked: absolute, so that .50 means the same everywhere.

An asked recall may show what is likely; a whisper interrupts, so it has to be surer. The gate
looks at the chance that recall gives a memory, which was calibrated for questions, and turns
it so that one half is the point where whispering does more good than harm: it was set on
prompts with and without an answer, see bench/RESULTS.md. In a store of conversations between
people, a prompt that names none of them is hardly about them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from madeleine.rules.chances import log_odds


@dataclass(frozen=True, slots=True)
class WhisperGate:
    """The chance at which a whisper is worth it, how steeply it gets surer, how much a prompt
    counts for that names nobody, and how much the log odds that it wants a memory at all."""

    even: float
    slope: float = 1.0
    unnamed: float = 0.0
    need: float = 0.0


GATES = {
    "dialogue": WhisperGate(even=0.165, slope=0.75, unnamed=-3.6),
    "note": WhisperGate(even=0.43),
    "kept": WhisperGate(even=0.575, slope=1.2, need=0.18),
    "meaning": WhisperGate(even=0.30),
    "words": WhisperGate(even=0.30),
    "other_kept": WhisperGate(even=0.65, slope=0.943, need=0.45),
    "other_meaning": WhisperGate(even=0.85, slope=0.758),
    "other_words": WhisperGate(even=0.70, slope=0.949),
}
"""For each head of recall. What somebody wrote down to be kept (`kept`) is worth saying sooner
than what was only said along the way in a session."""


def whisper_worth(head: str, chance: float, named: bool, need: float = 0.0) -> float:
    """Return how sure it is that a memory should be whispered; .50 is even. `need` is the log odds
    that the prompt wants anything from a memory."""
    gate = GATES[head]
    surer = gate.slope * (log_odds(chance) - log_odds(gate.even)) + gate.need * need
    return 1 / (1 + math.exp(-(surer + (0.0 if named else gate.unnamed))))


def affinity_boost(
    signals: list[tuple[float, float, float, float]], most: float, half_life_days: float
) -> float:
    """Return what feedback on similar prompts adds to a score or takes away: the weighted mean
    of signals, each given as signal, similarity of the prompts, age in days, and weight."""
    weights = [
        similarity * weight * 2.0 ** (-max(days, 0.0) / half_life_days)
        for _, similarity, days, weight in signals
    ]
    total = sum(weights)
    if total <= 0:
        return 0.0
    told = sum(row[0] * weight for row, weight in zip(signals, weights, strict=True))
    return float(most * told / total)
