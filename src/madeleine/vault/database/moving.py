"""A tenant's files and journal under one list of names, to be brought in or taken out.

Names are those of a home: `vault/…` for a memory's file, `journal/…` for a file of the journal.
Checksums are made by the database itself, of what it really keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from madeleine.database.access import Tenant
from madeleine.vault.database.journal import DatabaseJournal
from madeleine.vault.database.vault import DatabaseVault

VAULT, JOURNAL = "vault/", "journal/"

_FILES = f"""
    SELECT '{VAULT}' || path, encode(sha256(data), 'hex') FROM files WHERE truth = :truth
"""
_LINES = f"""
    SELECT '{JOURNAL}' || name, encode(sha256(string_agg(line, ''::bytea ORDER BY number)), 'hex')
    FROM journal WHERE truth = :truth GROUP BY name
"""
_READ = "SELECT path, data FROM files WHERE truth = :truth AND path = ANY(%s::text[])"
_DROP = "DELETE FROM files WHERE truth = :truth AND path = ANY(%s::text[])"
_DROP_LINES = "DELETE FROM journal WHERE truth = :truth AND name = ANY(%s::text[])"


class DatabaseSide:
    """What a tenant has in a database."""

    def __init__(self, rows: Tenant, device: str) -> None:
        self._rows = rows
        self._vault = DatabaseVault(rows)
        self._journal = DatabaseJournal(rows, device)

    @property
    def place(self) -> str:
        return self._rows.called

    def listed(self) -> dict[str, str]:
        """Return the SHA-256 of everything by its name."""
        with self._rows.reading() as access:
            return dict([*access.rows(_FILES), *access.rows(_LINES)])

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        with self._rows.reading() as access:
            for path, data in access.rows(_READ, _under(VAULT, names)):
                yield VAULT + path, bytes(data)
        for name in _under(JOURNAL, names):
            yield JOURNAL + name, b"".join(self._journal.lines(name))

    def write(self, given: Mapping[str, bytes]) -> None:
        """Put bytes under names, all of them or none."""
        files = [(path, given[VAULT + path]) for path in _under(VAULT, list(given))]
        with self._rows.writing() as access:
            self._vault.bring_in(files)
            for name in _under(JOURNAL, list(given)):
                access.run(_DROP_LINES, [name])
                self._journal.bring_in(name, _lines_of(given[JOURNAL + name]))

    def writing(self) -> AbstractContextManager[object]:
        """Keep everybody else from writing meanwhile."""
        return self._rows.together()

    def remove(self, names: Sequence[str]) -> None:
        with self._rows.writing() as access:
            access.run(_DROP, _under(VAULT, names))
            access.run(_DROP_LINES, _under(JOURNAL, names))


def _under(prefix: str, names: Sequence[str]) -> list[str]:
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def _lines_of(data: bytes) -> list[bytes]:
    """Return the lines with their ends; the last may have none."""
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])
