"""The settings of taking in: `[ingest]`."""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.model.setting import advanced, setting


@dataclass(frozen=True, slots=True)
class IngestConfig:
    """Taking in: transcripts of sessions, folders of notes, files."""

    exchanges: str = setting(
        "fallback",
        "keep exchanges word for word in the archive: fallback (where no language model looks "
        "through them), always or never",
        among=("fallback", "always", "never"),
    )
    extractor: str = setting(
        "local",
        "who finds memories in what is said: local (a small learnt head), llm (the language model "
        "that [judge] names), agent (the agent itself, asked when a turn ends) or none",
        among=("local", "llm", "agent", "none"),
    )
    tokens_per_day: int = advanced(
        500_000, "most tokens that finding memories uses in a day; 0 for no bound", 0
    )
    duplicate_similarity: float = advanced(
        0.92, "similarity from which what the model found may only restate a memory", 0, 1
    )
    memories_per_session: int = advanced(100, "most memories that one transcript adds", 0, 100_000)
    memories_per_day: int = advanced(
        500, "most memories that transcripts add in a day", 0, 1_000_000
    )
    memories_per_file: int = advanced(200, "most memories that come from one file", 1, 10_000)
    content_bytes: int = advanced(10_485_760, "largest text that is taken in at once", 1_024)
    watch_sessions: bool = setting(
        False, "let the daemon follow the sessions of Claude Code and Codex, without any hook"
    )
    session_folders: str = advanced(
        "", "folders of transcripts, separated by `:`; empty for those of Claude Code and Codex"
    )
    session_min_turns: int = advanced(
        5, "prompts that a session has before the watcher keeps its exchanges", 0, 10_000
    )
    session_lookback_hours: float = advanced(
        72.0, "sessions untouched for longer are left alone by the watcher", 0.01, 87_600
    )
    session_debounce_seconds: float = advanced(
        60.0, "how long a session is quiet before the watcher reads on in it", 0.01, 86_400
    )
    folders: str = setting("", "folders of notes that the daemon follows, separated by `:`")
    folder_debounce_seconds: float = advanced(
        2.0, "how long a note is quiet before it is taken in", 0.01, 3_600
    )
    deleted_files: str = advanced(
        "keep",
        "what becomes of memories whose note is deleted: keep or retire",
        among=("keep", "retire"),
    )
