"""A tenant's files and journal under one list of names, to be brought in or taken out.

Names are those of a home: `vault/…` for a memory's file, `journal/…` for a file of the journal.
Checksums are made by the database itself, of what it really keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from madeleine.database.transactions import DatabaseTenant
from madeleine.vault.database.journal import DatabaseJournal
from madeleine.vault.database.vault import DatabaseVault

VAULT, JOURNAL = "vault/", "journal/"

_SELECT_FILE_HASHES = f"""
    SELECT '{VAULT}' || path, encode(sha256(data), 'hex') FROM files WHERE truth = :truth
"""
_SELECT_JOURNAL_HASHES = f"""
    SELECT '{JOURNAL}' || name, encode(sha256(string_agg(line, ''::bytea ORDER BY number)), 'hex')
    FROM journal WHERE truth = :truth GROUP BY name
"""
_SELECT_FILES = "SELECT path, data FROM files WHERE truth = :truth AND path = ANY(%s::text[])"
_DELETE_FILES = "DELETE FROM files WHERE truth = :truth AND path = ANY(%s::text[])"
_DELETE_JOURNALS = "DELETE FROM journal WHERE truth = :truth AND name = ANY(%s::text[])"


class DatabaseEndpoint:
    """What a tenant has in a database."""

    def __init__(self, rows: DatabaseTenant, device: str) -> None:
        self._rows = rows
        self._vault = DatabaseVault(rows)
        self._journal = DatabaseJournal(rows, device)

    @property
    def place(self) -> str:
        return self._rows.called

    def listed(self) -> dict[str, str]:
        """Return the SHA-256 of everything by its name."""
        with self._rows.reading() as access:
            return dict([*access.rows(_SELECT_FILE_HASHES), *access.rows(_SELECT_JOURNAL_HASHES)])

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        with self._rows.reading() as access:
            for path, data in access.rows(_SELECT_FILES, _names_under(VAULT, names)):
                yield VAULT + path, bytes(data)
        for name in _names_under(JOURNAL, names):
            yield JOURNAL + name, b"".join(self._journal.lines(name))

    def write(self, given: Mapping[str, bytes]) -> None:
        """Put bytes under names, all of them or none."""
        files = [(path, given[VAULT + path]) for path in _names_under(VAULT, list(given))]
        with self._rows.writing() as access:
            self._vault.bring_in(files)
            for name in _names_under(JOURNAL, list(given)):
                access.run(_DELETE_JOURNALS, [name])
                self._journal.bring_in(name, _split_lines(given[JOURNAL + name]))

    def writing(self) -> AbstractContextManager[object]:
        """Keep everybody else from writing meanwhile."""
        return self._rows.single_transaction()

    def remove(self, names: Sequence[str]) -> None:
        with self._rows.writing() as access:
            access.run(_DELETE_FILES, _names_under(VAULT, names))
            access.run(_DELETE_JOURNALS, _names_under(JOURNAL, names))


def _names_under(prefix: str, names: Sequence[str]) -> list[str]:
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def _split_lines(data: bytes) -> list[bytes]:
    """Return the lines with their ends; the last may have none."""
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])
