"""The sections that no other room declares: the daemon, and where the memory is kept."""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.model.setting import advanced, setting


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """The daemon."""

    host: str = setting("127.0.0.1", "address the daemon listens on")
    port: int = setting(8787, "TCP port; 0 takes any free one")
    trust_loopback: bool = setting(
        False, "let clients on this machine in without a token (Host and Origin still checked)"
    )
    admin_token: str = setting(
        "",
        "a token of its own for what tends the whole memory; without it the usual one will do",
        is_secret=True,
    )
    names: str = setting(
        "", "host names, separated by commas, under which a proxy with TLS makes the server known"
    )
    max_body_bytes: int = advanced(67_108_864, "largest request body")
    max_requests: int = advanced(64, "requests worked on at once; more are answered 429")


@dataclass(frozen=True, slots=True)
class VaultConfig:
    """The folder of markdown files."""

    path: str = setting("", "another folder than vault/ in the home")
    watch: bool = setting(True, "follow edits made by hand while the daemon runs")
    poll: bool = advanced(False, "look for edits by polling, for network file systems")


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """The derived index."""

    exact_up_to: int = advanced(200_000, "vectors searched exactly up to this many memories")


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """Where the memory is kept. A bare `store`, `graph` or `vectors = "…"` at the top of the file
    (`MADELEINE_STORE` …) is short for `url`, `graph` and `vectors` here."""

    url: str = setting("", "postgresql://… of a database; empty keeps the index in the home")
    tenant: str = setting("home", "whose memory this is, where several share one database")
    truth: str = setting(
        "files",
        "where memories and journal stand: files (in the home), or database (that of `url`)",
        among=("files", "database"),
    )
    connections: int = advanced(16, "most connections to the database of one server", 2, 10_000)
    lease_seconds: float = advanced(
        30.0, "after which another server takes over the job of one that is gone", 0.5, 3_600
    )
    graph: str = setting("", "falkordb://… that keeps the index, graph and words, instead")
    vectors: str = setting("", "qdrant://… that keeps the vectors, beside `graph`")


@dataclass(frozen=True, slots=True)
class BackupConfig:
    """Backups of vault, journal and settings."""

    enabled: bool = setting(True, "let the daemon make backups by itself; by hand it works always")
    interval_hours: float = setting(24.0, "between two backups that nobody asked for", 0.01, 8_760)
    keep: int = setting(10, "how many are kept in the folder; 0 for all", 0, 100_000)
    folder: str = setting("", "another folder than backups/ in the home")


@dataclass(frozen=True, slots=True)
class SyncConfig:
    """Several machines of one person."""

    place: str = setting(
        "",
        "where machines meet: a folder that a sync program carries, a git remote (git+URL or ….git)"
        " or ssh://host/folder",
    )
    every: int = setting(0, "minutes between two syncs of the daemon; 0: only by hand", 0, 100_000)
    private_spaces: str = advanced("", "spaces, separated by commas, that never leave this machine")
    timeout_seconds: float = advanced(120.0, "how long git or ssh may take", 1, 86_400)
