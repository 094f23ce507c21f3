"""The index that the settings ask for: in the home, in PostgreSQL or in FalkorDB.

The engines other than SQLite are extras, so each is imported where it is opened.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.bootstrap.home import device_name, is_moving_to
from madeleine.errors import BadSetting, IndexCorrupt, IndexOfAnother, IndexOfFiles, TruthInDatabase
from madeleine.index.port import Index
from madeleine.index.sqlite.files import remove_index, set_aside
from madeleine.index.sqlite.index import SqliteIndex
from madeleine.minds.port import Minds
from madeleine.settings import Settings
from madeleine.vault.journal import FileJournal

if TYPE_CHECKING:
    from madeleine.database.transactions import DatabaseTenant

EVENTS_COMPARED = 20  # events of each part of a journal that are looked for in an index


def open_index(
    path: Path, minds: Minds, settings: Settings, fresh: bool = False
) -> tuple[Index, list[str]]:
    """Open the index; one that cannot be read is set aside and made anew (I2)."""
    if settings.store.graph or settings.store.vectors:
        return _open_packaged_index(minds, settings, fresh), []
    if settings.store.url:
        return _open_postgres_index(path.parent, minds, settings, fresh), []
    notes = []
    if fresh:
        remove_index(path)
    try:
        index = _open_sqlite_index(path, minds, settings)
    except IndexCorrupt as corrupt:
        moved = set_aside(path)
        notes.append(f"{corrupt.message}; made the index anew (the old one is {moved.name})")
        index = _open_sqlite_index(path, minds, settings)
    return index, notes


def check_store(settings: Settings) -> None:
    """Refuse a database that cannot be spoken to. Its packages are an extra."""
    if not settings.store.url:
        hint = "name the database in `store.url`, or leave `store.truth` at files"
        raise BadSetting("store.url", 'is empty, while `store.truth` is "database"', hint)
    if not settings.store.url.startswith(("postgresql://", "postgres://")):
        raise BadSetting("store.url", "does not begin with postgresql://")
    if importlib.util.find_spec("psycopg") is None:
        raise BadSetting("store.url", "needs `pip install 'madeleine-memory[postgres]'`")
    from madeleine.database.address import public_address

    public_address(settings.store.url)


def _open_postgres_index(home: Path, minds: Minds, settings: Settings, fresh: bool) -> Index:
    """Open the index in a database, while files and journal stay in the home."""
    check_store(settings)
    from madeleine.index.postgres import PostgresIndex

    index = PostgresIndex.open(
        settings.store.url,
        *_embedding_model(minds),
        tenant=settings.store.tenant,
        admit=partial(_refuse_other_index, home, fresh),
    )
    if fresh:
        index.clear()
    return index


def _refuse_other_index(home: Path, fresh: bool, rows: DatabaseTenant, index: Index) -> None:
    """Refuse to fill, from this home's files, an index that follows something else."""
    from madeleine.database.tenants import holds_truth

    with rows.reading() as access:
        holds = holds_truth(access)
    if holds and not is_moving_to(home, rows.called):
        raise TruthInDatabase(rows.called)
    if not fresh and not _follows_journal(index, FileJournal(home / "journal", device_name())):
        raise IndexOfAnother(rows.called)


def open_shared_index(rows: DatabaseTenant, minds: Minds, fresh: bool) -> Index:
    """Open the index of a tenant whose memory is in the same database."""
    from madeleine.database.tenants import has_index_of_files
    from madeleine.index.postgres import PostgresIndex

    if not fresh:
        with rows.reading() as access:
            if has_index_of_files(access):
                raise IndexOfFiles(rows.called)
    index = PostgresIndex.of(rows, *_embedding_model(minds))
    if fresh:
        index.clear()
    return index


def public_index_address(settings: Settings) -> str | None:
    """Return where the index is, without credentials; nothing if it is a file of the home."""
    if settings.store.graph:
        from madeleine.index.engines import find_engine

        return find_engine(settings.store.graph).place_of(settings.store.graph)
    if settings.store.url:
        from madeleine.database.address import public_address

        return public_address(settings.store.url)
    return None


def _follows_journal(index: Index, journal: FileJournal) -> bool:
    """Whether an index has read this journal, or none. One that was restored from a backup, or
    lost lines, still begins with events that the index knows; another home's does not."""
    read = {name: each for name, each in index.log.positions().items() if each.offset}
    if len(journal.shrunk_files(read)) < len(read) or not read:
        return True
    begun = (each for chunk in journal.read({}) for each in chunk.events[:EVENTS_COMPARED])
    return any(index.log.event(each.id) is not None for each in begun)


def _open_packaged_index(minds: Minds, settings: Settings, fresh: bool) -> Index:
    """Open the index with an engine that is a package of its own, as the address says."""
    from madeleine.index.engines import IndexOpening, find_engine

    store = settings.store
    if not store.graph:
        raise BadSetting("store.vectors", "needs `store.graph`, for all that is no vector")
    opening = IndexOpening(store.graph, store.vectors, store.tenant, *_embedding_model(minds))
    index = find_engine(store.graph).open_index(opening)
    if fresh:
        index.clear()
    return index


def _embedding_model(minds: Minds) -> tuple[str | None, int | None, int]:
    """Return whose traces an index keeps, and how wide they are."""
    embedder = minds.embedder
    if embedder is None:
        return None, None, 0
    return embedder.name, embedder.dimension, embedder.token_dimension


def _open_sqlite_index(path: Path, minds: Minds, settings: Settings) -> SqliteIndex:
    embedder = minds.embedder
    return SqliteIndex.open(
        path,
        model=embedder.name if embedder else None,
        dimension=embedder.dimension if embedder else None,
        token_dimension=embedder.token_dimension if embedder else 0,
        exact_up_to=settings.index.exact_up_to,
        keeper=embedder.keeper if embedder else None,
    )
