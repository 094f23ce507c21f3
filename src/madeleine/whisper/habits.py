"""The numbers that whispering goes by; set in config.toml. The defaults are the documented."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WhisperHabits:
    """See the section `whisper` of the settings for what each means."""

    max_nodes: int = 6
    min_relevance_score: float = 0.45
    temporal_min_score: float = 0.30
    injection_gate: float = 0.50
    topic_shift_threshold: float = 0.75
    intent_threshold: float = 0.65
    context_buffer_size: int = 5
    session_gap_minutes: int = 10
    full_nodes: int = 2
    full_chars: int = 1200
    token_budget: int = 2000
    affinity_max_boost: float = 0.15
    affinity_similarity: float = 0.70
    affinity_half_life_days: float = 30.0
    affinity_implicit_weight: float = 0.8
    exploration: bool = False
    review: bool = True
    maintenance: bool = False
    maintenance_hours: int = 24
    holdout: float = 0.0
    log_days: int = 30
