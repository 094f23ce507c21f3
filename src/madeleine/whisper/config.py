"""The settings of whispering, `[whisper]`, and of the brief when a session starts, `[brief]`."""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.model.setting import advanced, setting


@dataclass(frozen=True, slots=True)
class WhisperConfig:
    """The unasked recall."""

    max_nodes: int = setting(6, "most memories in one whisper", 0, 100)
    min_relevance_score: float = setting(0.45, "candidates below this are passed over", 0, 1)
    temporal_min_score: float = advanced(0.30, "the same, for prompts about a time", 0, 1)
    injection_gate: float = setting(0.50, "nothing below this is whispered", 0, 1)
    topic_shift_threshold: float = advanced(
        0.75, "similarity above which a prompt is on topic still", 0, 1
    )
    intent_threshold: float = advanced(
        0.65, "similarity from which a prompt has an example's intent", 0, 1
    )
    context_buffer_size: int = advanced(5, "prompts of a session that are remembered", 1, 100)
    session_gap_minutes: int = advanced(
        10, "a prompt older than this is no longer the context", 0, 10_080
    )
    full_nodes: int = advanced(2, "best memories that are shown in full", 0, 100)
    full_chars: int = advanced(1200, "most characters of one memory in a whisper", 0, 10_000)
    token_budget: int = setting(
        2000, "most tokens of one whisper, at four characters each", 0, 1_000_000
    )
    affinity_max_boost: float = advanced(0.15, "most that feedback adds or takes away", 0, 1)
    affinity_similarity: float = advanced(
        0.70, "similarity from which a prompt's feedback counts", 0, 1
    )
    affinity_half_life_days: float = advanced(
        30.0, "after which feedback counts half", 0.01, 36_500
    )
    affinity_implicit_weight: float = advanced(0.8, "what implicit feedback counts", 0, 1)
    exploration: bool = advanced(False, "let in one memory below the gate, to learn from it")
    review: bool = advanced(
        True, "ask about what is told and waits for a decision, or was held back before"
    )
    maintenance: bool = advanced(False, "say `maintenance_due` when the memory wants tending")
    maintenance_hours: int = advanced(24, "how often that is", 0, 8_760)
    holdout: float = advanced(0.0, "share of whispers held back to measure whether they help", 0, 1)
    log_days: int = advanced(
        30, "how long whispers and silences are kept for `whisper why`", 1, 3_650
    )
    deadline_ms: int = setting(300, "a hook that would take longer stays silent", 1, 60_000)
    nudge_interval: int = setting(
        10, "prompts between reminders to remember; 0 for never", 0, 1_000_000
    )
    out_interval: int = advanced(10, "prompts between background stores; 0 for never", 0, 1_000_000)
    guard: str = advanced(
        "whisper",
        "what a decision or preference tagged `guard` does before a deed that it is about: "
        "`ask` lets the host ask you",
        among=("whisper", "ask"),
    )
    dedupe_seconds: int = advanced(
        10, "the same prompt again within this is whispered once", 0, 86_400
    )


@dataclass(frozen=True, slots=True)
class BriefConfig:
    """What a session is told when it starts."""

    token_budget: int = setting(
        400, "most tokens of a brief, at four characters each; 0 for none", 0, 10_000
    )
