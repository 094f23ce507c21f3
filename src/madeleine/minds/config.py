"""The settings of models and of what they may cost: `[embedder]`, `[judge]` and `[cost]`."""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.model.setting import advanced, setting


@dataclass(frozen=True, slots=True)
class EmbedderConfig:
    """The model that turns texts into vectors."""

    kind: str = setting(
        "local",
        "local (the built-in model, and that of madeleine-multilingual for other languages if it is"
        " installed), english (the built-in model alone), openai, fake (for tests) or none (text"
        " search only)",
        among=("local", "english", "openai", "fake", "none"),
    )
    folder: str = setting("", "folder with model.onnx and tokenizer.json, instead of the built-in")
    url: str = setting("http://127.0.0.1:11434/v1", "OpenAI-compatible server, for kind = openai")
    model: str = setting("", "name of the remote model")
    key_env: str = setting("OPENAI_API_KEY", "environment variable that holds the server's key")
    timeout_seconds: float = advanced(
        30.0, "how long a remote model may take; a question waits for 2 s at most"
    )
    price: float = advanced(0.0, "price of a million tokens that a remote model reads", 0)
    threads: int = advanced(0, "texts embedded at once in bulk work; 0 = one per core")


@dataclass(frozen=True, slots=True)
class CostConfig:
    """What remote models may cost in a day (UTC); beyond it the local way answers."""

    daily_cap: float = setting(
        0.0, "most that a day may cost, in the currency of the prices; 0 for no bound", 0
    )
    daily_tokens: int = advanced(0, "most tokens of a day, also without prices; 0 for no bound", 0)


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """Who says what memories are to each other."""

    kind: str = setting(
        "local",
        "local, llm (a language model) or agent (run_maintenance)",
        among=("local", "llm", "agent"),
    )
    unasked: str = setting(
        "told",
        "what the local judge retires unasked: never (nothing), told (what a newer memory says is"
        " over) or sure (whatever sleep.conflict_at allows)",
        among=("never", "told", "sure"),
    )
    relations: str = advanced(
        "built-in",
        "what reads two memories together, for kind = local: built-in, or none (signs in the texts"
        " only)",
        among=("built-in", "none"),
    )
    reads_per_run: int = advanced(
        4_000, "most pairs that it reads in one run of a job, 200 a second; the rest waits", 0
    )
    weights: str = advanced("", "file with other weights than the shipped ones, for kind = local")
    provider: str = setting(
        "openai",
        "how the server is spoken to: openai or anthropic",
        among=("openai", "anthropic"),
    )
    url: str = setting("http://127.0.0.1:11434/v1", "server of the language model, for kind = llm")
    model: str = setting("", "name of the language model")
    key_env: str = setting("OPENAI_API_KEY", "environment variable that holds the server's key")
    timeout_seconds: float = advanced(60.0, "how long one request may take", 0.1, 3_600)
    tokens_per_run: int = setting(200_000, "most tokens of one run; 0 for no bound", 0)
    cost_per_run: float = advanced(
        0.0, "most that one run may cost, in the currency of the prices; 0 for no bound", 0
    )
    price_in: float = advanced(0.0, "price of a million tokens that the model reads", 0)
    price_out: float = advanced(0.0, "price of a million tokens that the model writes", 0)
