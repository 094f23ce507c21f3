"""What tests bring of their own: a clock that stands still, and whole stores in a folder.

Everything else is real: files, journal, SQLite. The embedder is the deterministic one that
ships for this purpose, so that no test waits for a model.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from madeleine.index.sqlite.index import SqliteIndex
from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.port import Minds
from madeleine.model.draft import Draft
from madeleine.model.memory import Memory
from madeleine.vault.journal import FileJournal
from madeleine.vault.vault import FolderVault
from madeleine.write.reconcile import reconcile
from madeleine.write.record import replay_journal
from madeleine.write.remember import remember
from madeleine.write.stores import Stores, VerbConfig
from tests import postgres

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@dataclass(slots=True)
class FakeClock:
    """A clock that moves only when told to, but a millisecond on each look."""

    at: datetime = NOON
    step: timedelta = field(default=timedelta(milliseconds=1))

    def now(self) -> datetime:
        self.at += self.step
        return self.at

    def pass_by(self, **length: float) -> None:
        self.at += timedelta(**length)


def make_stores(
    home: Path,
    clock: FakeClock | None = None,
    config: VerbConfig | None = None,
    device: str = "laptop",
    with_model: bool = True,
    truth: str = "files",
) -> Stores:
    """Open stores on `home` as bootstrap would, with a fake clock and embedder. With the truth in
    a database, a home is the name of a tenant."""
    embedder = FakeEmbedder()
    home.mkdir(parents=True, exist_ok=True)
    minds = Minds(None, "none in this test")
    if with_model:
        minds = Minds(CachedEmbedder(embedder, EmbeddingCache.open(home / "embeddings.db")))
    if truth == "database":
        return postgres.stores(home, minds, clock or FakeClock(), config or VerbConfig(), device)
    index = SqliteIndex.open(
        home / "index.db",
        model=embedder.name if with_model else None,
        dimension=embedder.dimension if with_model else None,
        token_dimension=embedder.token_dimension if with_model else 0,
        exact_up_to=200_000,
        keeper=minds.embedder.keeper if minds.embedder else None,
    )
    vault = FolderVault(home / "vault")
    journal = FileJournal(home / "journal", device)
    return Stores(vault, journal, index, minds, clock or FakeClock(), config or VerbConfig())


def reopened(stores: Stores, home: Path, *, without_index: bool = False) -> Stores:
    """Close and open again, as after a restart; perhaps with the derived files gone."""
    close(stores)
    if without_index:
        for name in ("index.db", "index.db-wal", "index.db-shm", "embeddings.db"):
            (home / name).unlink(missing_ok=True)
    truth = "files" if stores.vault.is_folder else "database"
    device, clock = stores.journal.device, FakeClock(stores.clock.now())
    fresh = make_stores(home, clock, stores.config, device, truth=truth)
    if without_index and truth == "database":
        fresh.index.clear()
    replay_journal(fresh.journal, fresh.index)
    reconcile(fresh)
    return fresh


def close(stores: Stores) -> None:
    stores.journal.flush()
    stores.index.close()
    if stores.minds.embedder is not None:
        stores.minds.embedder.close()


def keep(stores: Stores, content: str, **fields: object) -> Memory:
    """Remember a text and return its memory."""
    draft = replace(Draft(content), **fields)  # type: ignore[arg-type]  # tests name real fields
    return remember(stores, draft).memory


def vault_bytes(stores: Stores) -> dict[str, bytes]:
    """Every file of the vault, trash included, by its path."""
    paths = [*(each.path for each in stores.vault.scan()), *stores.vault.trashed_paths()]
    return {path: stores.vault.read_bytes(path) for path in sorted(paths)}
