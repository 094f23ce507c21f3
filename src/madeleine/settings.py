"""Every setting: its default, its unit and one line of help.

Settings come from `config.toml` in the home folder, one table per section, and from the
environment as `MADELEINE_<SECTION>_<NAME>`, which wins. Only bootstrap reads this module;
docs/reference/settings.md is generated from it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from madeleine.errors import BadSetting

ENVIRONMENT_PREFIX = "MADELEINE_"


def setting(default: Any, help_text: str) -> Any:
    """A field with its line of help."""
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True, slots=True)
class Server:
    """The daemon."""

    host: str = setting("127.0.0.1", "address the daemon listens on")
    port: int = setting(8787, "TCP port; 0 takes any free one")
    trust_loopback: bool = setting(
        False, "let clients on this machine in without a token (Host and Origin still checked)"
    )
    max_body_bytes: int = setting(67_108_864, "largest request body")
    max_requests: int = setting(64, "requests worked on at once; more are answered 429")


@dataclass(frozen=True, slots=True)
class Vault:
    """The folder of markdown files."""

    path: str = setting("", "another folder than vault/ in the home")
    watch: bool = setting(True, "follow edits made by hand while the daemon runs")
    poll: bool = setting(False, "look for edits by polling, for network file systems")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one memory may hold."""

    content_bytes: int = setting(1_048_576, "largest text of one memory, in bytes of UTF-8")
    title_chars: int = setting(300, "longest title")
    tags: int = setting(64, "most tags on one memory")
    tag_chars: int = setting(80, "longest tag")
    connections: int = setting(500, "most connections in one draft")


@dataclass(frozen=True, slots=True)
class Embedder:
    """The model that turns texts into vectors."""

    kind: str = setting("local", "local, openai, fake (for tests) or none (text search only)")
    folder: str = setting("", "folder with model.onnx and tokenizer.json, instead of the built-in")
    url: str = setting("http://127.0.0.1:11434/v1", "OpenAI-compatible server, for kind = openai")
    model: str = setting("", "name of the remote model")
    key_env: str = setting("OPENAI_API_KEY", "environment variable that holds the server's key")
    timeout_seconds: float = setting(30.0, "how long a remote model may take")
    threads: int = setting(0, "texts embedded at once in bulk work; 0 = one per core")


@dataclass(frozen=True, slots=True)
class Write:
    """What happens when something is remembered."""

    link_threshold: float = setting(0.65, "similarity from which a new memory is linked")
    cross_space_penalty: float = setting(0.1, "taken off the similarity when spaces differ")
    link_neighbours: int = setting(6, "how many neighbours are looked at")
    core_cap: int = setting(50, "most memories in the core tier")


@dataclass(frozen=True, slots=True)
class Recall:
    """Asked recall."""

    pool: int = setting(300, "candidates taken from each source")
    compared: int = setting(100, "candidates that are compared closely, at least")
    least_score: float = setting(0.005, "hits below this that share no word are not shown")
    least_best: float = setting(
        0.02, "nothing is shown if even the best hit is below this and shares no word"
    )
    weights: str = setting("", "file with other weights than the shipped ones")
    activation_seeds: int = setting(5, "best hits that pass on some of their score")
    activation_per_seed: int = setting(3, "neighbours each of them passes it on to")
    activation_decay: float = setting(0.5, "share that is passed on over a connection")


@dataclass(frozen=True, slots=True)
class Whisper:
    """The unasked recall."""

    max_nodes: int = setting(6, "most memories in one whisper")
    min_relevance_score: float = setting(0.45, "candidates below this are passed over")
    temporal_min_score: float = setting(0.30, "the same, for prompts about a time")
    injection_gate: float = setting(0.50, "nothing below this is whispered")
    topic_shift_threshold: float = setting(0.75, "likeness above which a prompt is on topic still")
    intent_threshold: float = setting(0.65, "likeness from which a prompt has an example's intent")
    context_buffer_size: int = setting(5, "prompts of a session that are remembered")
    session_gap_minutes: int = setting(10, "a prompt older than this is no longer the context")
    full_nodes: int = setting(2, "best memories that are shown in full")
    full_chars: int = setting(1200, "most characters of one memory in a whisper")
    token_budget: int = setting(2000, "most tokens of one whisper, at four characters each")
    affinity_max_boost: float = setting(0.15, "most that feedback adds or takes away")
    affinity_similarity: float = setting(0.70, "likeness from which a prompt's feedback counts")
    affinity_half_life_days: float = setting(30.0, "after which feedback counts half")
    affinity_implicit_weight: float = setting(0.8, "what implicit feedback counts")
    exploration: bool = setting(False, "let in one memory below the gate, to learn from it")
    review: bool = setting(True, "on a session's first prompt, ask about a memory held back before")
    maintenance: bool = setting(False, "say `maintenance_due` when the memory wants tending")
    maintenance_hours: int = setting(24, "how often that is")
    holdout: float = setting(0.0, "share of whispers held back to measure whether they help")
    log_days: int = setting(30, "how long whispers and silences are kept for `whisper why`")
    deadline_ms: int = setting(300, "a hook that would take longer stays silent")
    nudge_interval: int = setting(10, "prompts between reminders to remember; 0 for never")
    out_interval: int = setting(10, "prompts between background stores; 0 for never")
    dedupe_seconds: int = setting(10, "the same prompt again within this is whispered once")


@dataclass(frozen=True, slots=True)
class Reranker:
    """A cross-encoder that looks a second time at the best hits; off without its weights."""

    folder: str = setting("", "folder with model.onnx and tokenizer.json of a cross-encoder")
    model: str = setting(
        "Xenova/ms-marco-MiniLM-L-6-v2", "its name; also looked for under models/ in the home"
    )
    deadline_ms: int = setting(150, "how long a second look may take")
    blend: float = setting(0.6, "share of the cross-encoder in the score")
    candidates: int = setting(20, "best hits that it looks at")


@dataclass(frozen=True, slots=True)
class Index:
    """The derived index."""

    exact_up_to: int = setting(200_000, "vectors searched exactly up to this many memories")


@dataclass(frozen=True, slots=True)
class Settings:
    """All sections."""

    server: Server = field(default_factory=Server)
    vault: Vault = field(default_factory=Vault)
    limits: Limits = field(default_factory=Limits)
    embedder: Embedder = field(default_factory=Embedder)
    write: Write = field(default_factory=Write)
    recall: Recall = field(default_factory=Recall)
    reranker: Reranker = field(default_factory=Reranker)
    index: Index = field(default_factory=Index)
    whisper: Whisper = field(default_factory=Whisper)


def read_settings(table: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Return the settings that a parsed config.toml and an environment give."""
    known = {section.name for section in fields(Settings)}
    for name in table:
        if name not in known:
            raise BadSetting(name, f"is not a section; there are {', '.join(sorted(known))}")
    sections = {
        section.name: _read_section(section.name, section.default_factory, table, environment)
        for section in fields(Settings)
    }
    return Settings(**sections)


def _read_section(
    name: str, make: Any, table: Mapping[str, object], environment: Mapping[str, str]
) -> Any:
    given = table.get(name, {})
    if not isinstance(given, Mapping):
        raise BadSetting(name, "is not a table")
    section = make()
    known = {each.name for each in fields(section)}
    for key in given:
        if key not in known:
            raise BadSetting(
                f"{name}.{key}", f"is not known; {name} has {', '.join(sorted(known))}"
            )
    values = {
        each.name: _value(f"{name}.{each.name}", getattr(section, each.name), given, environment)
        for each in fields(section)
    }
    return dataclasses.replace(section, **values)


def _value(
    name: str, default: object, given: Mapping[str, object], environment: Mapping[str, str]
) -> object:
    variable = ENVIRONMENT_PREFIX + name.replace(".", "_").upper()
    if variable in environment:
        return _from_text(name, default, environment[variable])
    value = given.get(name.partition(".")[2], default)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not type(default):
        raise BadSetting(name, f"is {value!r}; it takes a {type(default).__name__}")
    return value


def _from_text(name: str, default: object, text: str) -> object:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false", "1", "0"):
            raise BadSetting(name, f"is {text!r}; it takes true or false")
        return text.lower() in ("true", "1")
    if isinstance(default, str):
        return text
    try:
        return type(default)(text)  # type: ignore[call-arg]  # int and float take a text
    except ValueError as error:
        raise BadSetting(name, f"is {text!r}; it takes a number") from error
