"""Every setting: its default, its unit and one line of help.

Settings come from `config.toml` in the home folder, one table per section, and from the
environment as `MADELEINE_<SECTION>_<NAME>`, which wins. Only bootstrap reads this module;
docs/reference/settings.md is generated from it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import SequenceMatcher
from typing import Any

from madeleine.errors import BadSetting

CENTURY = 3_155_760_000  # seconds: as good as never, and a date can still hold it
ENVIRONMENT_PREFIX = "MADELEINE_"
BARE_PREFIX = "CONSOLIDATION_"  # settings that are documented under this name, without ours
OTHERS = ("HOME", "PASSWORD", "RELEASE", "PICTURES")
"""Variables with our prefix that are no settings: the home, and what compose.yaml, a build and the
pictures of the page read."""
FOR_TESTS = "MADELEINE_TEST_"  # what single tests ask for, such as a model to run with
SAME_WORD = 0.8  # how alike two words of a variable's name are when one is the other misspelt
SIMILAR_NAME = 0.5  # how alike a name is, at least, when no word of it is right
SHORT = {"store": "url", "graph": "graph", "vectors": "vectors"}  # for settings of [store]


def setting(
    default: Any,
    help_text: str,
    least: float | None = None,
    most: float | None = None,
    among: tuple[str, ...] = (),
) -> Any:
    """A field with its line of help, and the least and the most that it takes, or the words."""
    told = {"help": help_text, "range": (least, most), "among": among}
    return field(default=default, metadata=told)


@dataclass(frozen=True, slots=True)
class Server:
    """The daemon."""

    host: str = setting("127.0.0.1", "address the daemon listens on")
    port: int = setting(8787, "TCP port; 0 takes any free one")
    trust_loopback: bool = setting(
        False, "let clients on this machine in without a token (Host and Origin still checked)"
    )
    admin_token: str = setting(
        "", "a token of its own for what tends the whole memory; without it the usual one will do"
    )
    names: str = setting(
        "", "host names, separated by commas, under which a proxy with TLS makes the server known"
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

    kind: str = setting(
        "local",
        "local, openai, fake (for tests) or none (text search only)",
        among=("local", "openai", "fake", "none"),
    )
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
    core_cap: int = setting(50, "most memories in the core tier, the self among them")


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
    relevance_weight: float = setting(
        0.0, "how much of a score goes with a relevance of 0; 0 leaves relevance out", 0, 1
    )
    activation_seeds: int = setting(5, "best hits that pass on some of their score")
    activation_per_seed: int = setting(3, "neighbours each of them passes it on to")
    activation_decay: float = setting(0.5, "share that is passed on over a connection")


@dataclass(frozen=True, slots=True)
class Whisper:
    """The unasked recall."""

    max_nodes: int = setting(6, "most memories in one whisper", 0, 100)
    min_relevance_score: float = setting(0.45, "candidates below this are passed over", 0, 1)
    temporal_min_score: float = setting(0.30, "the same, for prompts about a time", 0, 1)
    injection_gate: float = setting(0.50, "nothing below this is whispered", 0, 1)
    topic_shift_threshold: float = setting(
        0.75, "likeness above which a prompt is on topic still", 0, 1
    )
    intent_threshold: float = setting(
        0.65, "likeness from which a prompt has an example's intent", 0, 1
    )
    context_buffer_size: int = setting(5, "prompts of a session that are remembered", 1, 100)
    session_gap_minutes: int = setting(
        10, "a prompt older than this is no longer the context", 0, 10_080
    )
    full_nodes: int = setting(2, "best memories that are shown in full", 0, 100)
    full_chars: int = setting(1200, "most characters of one memory in a whisper", 0, 10_000)
    token_budget: int = setting(
        2000, "most tokens of one whisper, at four characters each", 0, 1_000_000
    )
    affinity_max_boost: float = setting(0.15, "most that feedback adds or takes away", 0, 1)
    affinity_similarity: float = setting(
        0.70, "likeness from which a prompt's feedback counts", 0, 1
    )
    affinity_half_life_days: float = setting(30.0, "after which feedback counts half", 0.01, 36_500)
    affinity_implicit_weight: float = setting(0.8, "what implicit feedback counts", 0, 1)
    exploration: bool = setting(False, "let in one memory below the gate, to learn from it")
    review: bool = setting(True, "on a session's first prompt, ask about a memory held back before")
    maintenance: bool = setting(False, "say `maintenance_due` when the memory wants tending")
    maintenance_hours: int = setting(24, "how often that is", 0, 8_760)
    holdout: float = setting(0.0, "share of whispers held back to measure whether they help", 0, 1)
    log_days: int = setting(
        30, "how long whispers and silences are kept for `whisper why`", 1, 3_650
    )
    deadline_ms: int = setting(300, "a hook that would take longer stays silent", 1, 60_000)
    nudge_interval: int = setting(
        10, "prompts between reminders to remember; 0 for never", 0, 1_000_000
    )
    out_interval: int = setting(10, "prompts between background stores; 0 for never", 0, 1_000_000)
    dedupe_seconds: int = setting(
        10, "the same prompt again within this is whispered once", 0, 86_400
    )


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
class Store:
    """Where the memory is kept. A bare `store`, `graph` or `vectors = "…"` at the top of the file
    (`MADELEINE_STORE` …) is short for `url`, `graph` and `vectors` here."""

    url: str = setting("", "postgresql://… of a database; empty keeps the index in the home")
    tenant: str = setting("home", "whose memory this is, where several share one database")
    truth: str = setting(
        "files",
        "where memories and journal stand: files (in the home), or database (that of `url`)",
        among=("files", "database"),
    )
    connections: int = setting(16, "most connections to the database of one server", 2, 10_000)
    lease_seconds: float = setting(
        30.0, "after which another server takes over the job of one that is gone", 0.5, 3_600
    )
    graph: str = setting("", "falkordb://… that keeps the index, graph and words, instead")
    vectors: str = setting("", "qdrant://… that keeps the vectors, beside `graph`")


@dataclass(frozen=True, slots=True)
class Sleep:
    """The jobs that tend the memory while nobody looks, and how often the daemon runs them."""

    enabled: bool = setting(True, "run the jobs by the timetable; by hand they run always")
    auto_linker_hours: float = setting(24.0, "between two runs of auto_linker", 0.01, 8_760)
    decay_manager_hours: float = setting(24.0, "between two runs of decay_manager", 0.01, 8_760)
    conflict_detector_hours: float = setting(
        24.0, "between two runs of conflict_detector", 0.01, 8_760
    )
    duplicate_merger_hours: float = setting(
        24.0, "between two runs of duplicate_merger", 0.01, 8_760
    )
    consolidator_hours: float = setting(24.0, "between two runs of consolidator", 0.01, 8_760)
    auto_cluster_minutes: float = setting(60.0, "between two runs of auto_cluster", 0.01, 525_600)
    importance_scorer_minutes: float = setting(
        120.0, "between two runs of importance_scorer", 0.01, 525_600
    )
    index_updater_minutes: float = setting(1.0, "between two runs of index_updater", 0.01, 525_600)
    first_seconds: float = setting(
        60.0, "how long after its start the daemon leaves jobs alone that are due", 0, 86_400
    )
    retry_minutes: float = setting(
        15.0, "after a run that failed it is tried again; twice as late each time", 0.01, 10_080
    )
    link_threshold: float = setting(0.65, "likeness from which two memories may be linked", 0, 1)
    cross_space_penalty: float = setting(0.1, "taken off the likeness when spaces differ", 0, 1)
    link_neighbours: int = setting(6, "neighbours that auto_linker looks at", 1, 100)
    link_edges: int = setting(500, "most connections that one run of auto_linker draws", 0, 100_000)
    link_edges_each: int = setting(6, "most of them that start at one memory", 1, 1_000)
    conflict_similarity: float = setting(0.40, "likeness from which two may conflict", 0, 1)
    conflict_neighbours: int = setting(15, "neighbours that conflict_detector looks at", 1, 100)
    conflict_weight: float = setting(0.9, "weight of evolved_from and contradicts", 0.01, 1)
    conflict_all_spaces: bool = setting(True, "look for conflicts between spaces too")
    duplicate_similarity: float = setting(0.25, "likeness from which two may be duplicates", 0, 1)
    duplicate_neighbours: int = setting(6, "neighbours that duplicate_merger looks at", 1, 100)
    duplicate_score: float = setting(0.60, "composite score from which the judge is asked", 0, 1)
    merge_at: float = setting(0.97, "sureness from which duplicates are merged unasked", 0, 1)
    conflict_at: float = setting(0.85, "sureness from which a conflict is settled unasked", 0, 1)
    link_at: float = setting(0.80, "sureness from which a connection is drawn unasked", 0, 1)
    propose_at: float = setting(0.60, "sureness from which the rest is proposed", 0, 1)
    consolidate_similarity: float = setting(0.60, "likeness within a cluster", 0, 1)
    consolidate_least: int = setting(2, "least memories in a cluster", 2, 100)
    consolidate_most: int = setting(5, "most memories in a cluster", 2, 100)
    consolidate_clusters: int = setting(10, "most clusters that one run consolidates", 0, 1_000)
    consolidate_near: float = setting(
        0.75, "likeness from which texts are joined without a language model", 0, 1
    )
    pairs_per_run: int = setting(200_000, "most pairs a cheap judge is asked about in a run", 0)
    costly_pairs_per_run: int = setting(500, "the same, for a judge that costs", 0)
    maintenance_pairs: int = setting(25, "pairs of each kind that an agent is given", 0, 1_000)
    maintenance_clusters: int = setting(4, "clusters that it is given", 0, 100)
    maintenance_chars: int = setting(45_000, "most characters of what it is given", 1_000)
    maintenance_minutes: int = setting(30, "how long what it was given is kept for it", 1, 10_080)
    importance_step: float = setting(0.01, "a score that moves less is not written", 0, 1)
    decay_retrievability: float = setting(0.3, "below this a memory may go to the archive", 0, 1)
    decay_retrievability_fsrs: float = setting(
        0.6, "the same for lifecycle = fsrs, whose curve falls more slowly", 0, 1
    )
    decay_importance: float = setting(0.5, "importance from which it stays all the same", 0, 1)
    decay_least_days: float = setting(7.0, "days without use before anything moves there", 0)
    decay_grace_days: float = setting(
        30.0, "days after it was written, or came into this home, in which nothing fades", 0
    )
    protected_types: str = setting(
        "decision, preference, procedure, goal, person, project", "types that never fade"
    )
    lifecycle: str = setting(
        "exponential",
        "how retrievability is reckoned: exponential, or fsrs (an extra)",
        among=("exponential", "fsrs"),
    )
    breaker_share: float = setting(
        0.25, "a run that would change more of the store than this asks instead", 0, 1
    )
    breaker_least: int = setting(
        20, "but not one of fewer patches, unless over half would go to the trash", 1, 1_000_000
    )
    proposals_per_run: int = setting(
        100, "most proposals of one job that wait at a time", 0, 10_000
    )
    proposal_days: int = setting(
        30, "after which a proposal that nobody decided expires", 1, 36_500
    )
    patches_shown: int = setting(20, "patches that the report of a run names", 0, 40)


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The consolidation engine: decay, creative, cluster and forget. Its settings are also read
    from the environment as `CONSOLIDATION_<NAME>`, without our prefix."""

    enabled: bool = setting(True, "run the tasks by the timetable; by hand they run always")
    tick_seconds: float = setting(60.0, "between two looks whether a task is due", 0.01, 86_400)
    decay_interval_seconds: float = setting(
        86_400.0, "between two runs of decay; 0 for never", 0, CENTURY
    )
    creative_interval_seconds: float = setting(
        604_800.0, "between two runs of creative; 0 for never", 0, CENTURY
    )
    cluster_interval_seconds: float = setting(
        2_592_000.0, "between two runs of cluster; 0 for never", 0, CENTURY
    )
    forget_interval_seconds: float = setting(
        0.0, "between two runs of forget; 0 for never", 0, CENTURY
    )
    history_limit: int = setting(20, "runs that /consolidate/status tells of", 0, 1_000)
    formula: str = setting(
        "document",
        "how relevance is reckoned: document or floored",
        among=("document", "floored"),
    )
    base_decay_rate: float = setting(0.01, "share by which relevance fades in a day of age", 0, 10)
    access_decay_rate: float = setting(0.05, "the same, for a day without use", 0, 10)
    relationship_preservation: float = setting(0.3, "what connections add to relevance", 0, 10)
    decay_importance_threshold: float = setting(
        0.3, "what is less important is scored once a week only; a run asked for scores all", 0, 1
    )
    relevance_step: float = setting(0.05, "a score that moves less is not written", 0, 1)
    sample_size: int = setting(20, "memories that creative compares with each other", 0, 1_000)
    sample_relevance: float = setting(
        0.3, "relevance above which a memory takes part in creative and cluster", 0, 1
    )
    contrast_rule: bool = setting(
        True, "draw unlike decisions as contrasts in runs that somebody asked for"
    )
    parallel_context: bool = setting(
        False, "draw `parallel_context` in runs that nobody asked for too"
    )
    associations_each: int = setting(3, "most associations of one memory", 0, 100)
    association_days: float = setting(
        90.0, "after which an association whose ends were not used together is taken away", 0
    )
    similarity_threshold: float = setting(0.75, "likeness within a cluster", 0, 1)
    min_cluster_size: int = setting(5, "least memories in a cluster", 2, 1_000)
    archive_threshold: float = setting(
        0.0, "forget archives what is less relevant than this; 0 for nothing", 0, 1
    )
    delete_threshold: float = setting(
        0.0, "forget moves what is less relevant than this to the trash; 0 for nothing", 0, 1
    )
    grace_period_days: float = setting(90.0, "age below which nothing is forgotten", 0)
    protected_importance: float = setting(0.7, "importance from which nothing is forgotten", 0, 1)
    protected_types: str = setting("Decision,Insight", "types that are never forgotten")


@dataclass(frozen=True, slots=True)
class Judge:
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
    weights: str = setting("", "file with other weights than the shipped ones, for kind = local")
    provider: str = setting(
        "openai",
        "how the server is spoken to: openai or anthropic",
        among=("openai", "anthropic"),
    )
    url: str = setting("http://127.0.0.1:11434/v1", "server of the language model, for kind = llm")
    model: str = setting("", "name of the language model")
    key_env: str = setting("OPENAI_API_KEY", "environment variable that holds the server's key")
    timeout_seconds: float = setting(60.0, "how long one request may take", 0.1, 3_600)
    tokens_per_run: int = setting(200_000, "most tokens of one run; 0 for no bound", 0)
    cost_per_run: float = setting(
        0.0, "most that one run may cost, in the currency of the prices; 0 for no bound", 0
    )
    price_in: float = setting(0.0, "price of a million tokens that the model reads", 0)
    price_out: float = setting(0.0, "price of a million tokens that the model writes", 0)


@dataclass(frozen=True, slots=True)
class Ingest:
    """Taking in: transcripts of sessions, folders of notes, files."""

    exchanges: str = setting(
        "fallback",
        "keep exchanges word for word in the archive: fallback (where no language model looks "
        "through them), always or never",
        among=("fallback", "always", "never"),
    )
    extractor: str = setting(
        "none",
        "who finds memories in a text: none, or llm (the language model that [judge] names)",
        among=("none", "llm"),
    )
    tokens_per_day: int = setting(
        500_000, "most tokens that finding memories uses in a day; 0 for no bound", 0
    )
    duplicate_similarity: float = setting(
        0.92, "likeness from which what the model found may only restate a memory", 0, 1
    )
    memories_per_session: int = setting(100, "most memories that one transcript adds", 0, 100_000)
    memories_per_day: int = setting(
        500, "most memories that transcripts add in a day", 0, 1_000_000
    )
    memories_per_file: int = setting(200, "most memories that come from one file", 1, 10_000)
    content_bytes: int = setting(10_485_760, "largest text that is taken in at once", 1_024)
    watch_sessions: bool = setting(
        False, "let the daemon follow the sessions of Claude Code and Codex, without any hook"
    )
    session_folders: str = setting(
        "", "folders of transcripts, separated by `:`; empty for those of Claude Code and Codex"
    )
    session_min_turns: int = setting(
        5, "prompts that a session has before the watcher keeps its exchanges", 0, 10_000
    )
    session_lookback_hours: float = setting(
        72.0, "sessions untouched for longer are left alone by the watcher", 0.01, 87_600
    )
    session_debounce_seconds: float = setting(
        60.0, "how long a session is quiet before the watcher reads on in it", 0.01, 86_400
    )
    folders: str = setting("", "folders of notes that the daemon follows, separated by `:`")
    folder_debounce_seconds: float = setting(
        2.0, "how long a note is quiet before it is taken in", 0.01, 3_600
    )
    deleted_files: str = setting(
        "keep",
        "what becomes of memories whose note is deleted: keep or retire",
        among=("keep", "retire"),
    )


@dataclass(frozen=True, slots=True)
class Backup:
    """Backups of vault, journal and settings."""

    enabled: bool = setting(True, "let the daemon make backups by itself; by hand it works always")
    interval_hours: float = setting(24.0, "between two backups that nobody asked for", 0.01, 8_760)
    keep: int = setting(10, "how many are kept in the folder; 0 for all", 0, 100_000)
    folder: str = setting("", "another folder than backups/ in the home")


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
    store: Store = field(default_factory=Store)
    whisper: Whisper = field(default_factory=Whisper)
    sleep: Sleep = field(default_factory=Sleep)
    judge: Judge = field(default_factory=Judge)
    ingest: Ingest = field(default_factory=Ingest)
    consolidation: Consolidation = field(default_factory=Consolidation)
    backup: Backup = field(default_factory=Backup)


def read_settings(table: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Return the settings that a parsed config.toml and an environment give."""
    table = _spelled_out(table, environment)
    known = {section.name for section in fields(Settings)}
    for name in table:
        if name not in known:
            raise BadSetting(name, f"is not a section; there are {', '.join(sorted(known))}")
    sections = {
        section.name: _read_section(section.name, section.default_factory, table, environment)
        for section in fields(Settings)
    }
    return Settings(**sections)


def store_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the variables of an environment that say where the memory is."""
    names = ("STORE", "STORE_URL", "STORE_TENANT", "STORE_TRUTH")
    return [ENVIRONMENT_PREFIX + each for each in names if ENVIRONMENT_PREFIX + each in environment]


def known_variables() -> frozenset[str]:
    """Return every variable of the environment that means something."""
    plain = [
        f"{section.name}_{each.name}".upper()
        for section in fields(Settings)
        for each in fields(section.default_factory)  # type: ignore[arg-type]  # a dataclass
    ]
    bare = [each for each in plain if each.startswith(BARE_PREFIX)]
    ours = [*plain, *(each.upper() for each in SHORT), *OTHERS]
    return frozenset([*bare, *(ENVIRONMENT_PREFIX + each for each in ours)])


def unknown_variables(environment: Iterable[str], also_known: Iterable[str] = ()) -> list[str]:
    """Return a sentence about each variable that looks like one of ours and means nothing, with
    the nearest name that does. `also_known` are names that settings themselves give, as those of
    the variables that hold a key."""
    known = known_variables()
    prefixes = (ENVIRONMENT_PREFIX, BARE_PREFIX)
    unknown = sorted(
        {each for each in environment if each.startswith(prefixes)} - known - set(also_known)
    )
    return [
        f"`{each}` in the environment means nothing; {_suggestion(each, known)}"
        for each in unknown
        if not each.startswith(FOR_TESTS)
    ]


def _suggestion(name: str, known: Iterable[str]) -> str:
    """Say which variable was likely meant."""
    prefix = BARE_PREFIX if name.startswith(BARE_PREFIX) else ENVIRONMENT_PREFIX
    ranked = sorted(
        (_nearness(name, each, prefix), each) for each in known if each.startswith(prefix)
    )
    (shared, alike), nearest = ranked[-1]
    if not shared and alike < SIMILAR_NAME:
        return "docs/reference/settings.md lists those that do"
    return f"did you mean `{nearest}`?"


def _nearness(name: str, other: str, prefix: str) -> tuple[float, float]:
    """Return which share of a name's words the other has too, misspelt or not, and how alike the
    two are as a whole. What all names begin with says nothing."""
    given, meant = name.removeprefix(prefix), other.removeprefix(prefix)
    words, others = given.split("_"), meant.split("_")
    shared = [any(_alike(word, each) >= SAME_WORD for each in others) for word in words]
    return sum(shared) / len(words), _alike(given, meant)


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _spelled_out(
    table: Mapping[str, object], environment: Mapping[str, str]
) -> Mapping[str, object]:
    """Return the table with the short names in their section; the environment's win."""
    given = {
        setting: environment.get(ENVIRONMENT_PREFIX + short.upper(), table.get(short))
        for short, setting in SHORT.items()
    }
    short = {name: value for name, value in given.items() if isinstance(value, str)}
    if not short:
        return table
    store = table.get("store", {})
    rest = {name: value for name, value in table.items() if not _is_short(name, value)}
    return {**rest, "store": {**(store if isinstance(store, Mapping) else {}), **short}}


def _is_short(name: str, value: object) -> bool:
    return name in SHORT and isinstance(value, str)


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
    for each in fields(section):
        _check_range(f"{name}.{each.name}", values[each.name], *each.metadata["range"])
        _check_among(f"{name}.{each.name}", values[each.name], each.metadata["among"])
    return dataclasses.replace(section, **values)


def _check_range(name: str, value: object, least: float | None, most: float | None) -> None:
    """Refuse a number outside of what its setting takes; no number is refused everywhere."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    low, high = -math.inf if least is None else least, math.inf if most is None else most
    if not low <= value <= high or not math.isfinite(value):
        raise BadSetting(name, f"is {value!r}; it takes {_range(least, most)}")


def _check_among(name: str, value: object, among: tuple[str, ...]) -> None:
    if among and value not in among:
        known = " or ".join((", ".join(among[:-1]), among[-1]))
        raise BadSetting(name, f"is {value!r}; it takes {known}")


def _range(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"a number from {least:g} to {most:,.10g}"
    return "a number" if least is None else f"a number from {least:g} on"


def _value(
    name: str, default: object, given: Mapping[str, object], environment: Mapping[str, str]
) -> object:
    plain = name.replace(".", "_").upper()
    variables = [ENVIRONMENT_PREFIX + plain, *([plain] if plain.startswith(BARE_PREFIX) else [])]
    for variable in variables:
        if variable in environment:
            return _from_text(name, default, environment[variable])
    value = given.get(name.partition(".")[2], default)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not type(default):
        raise BadSetting(name, f"is {_told(value)}; it takes a {type(default).__name__}")
    return value


def _told(value: object) -> str:
    """Return a value as a message has it: of a list only that it is one, for an address in it
    may hold a password."""
    return f"a {type(value).__name__}" if isinstance(value, list | dict) else repr(value)


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
