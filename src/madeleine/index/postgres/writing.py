"""What one transaction that writes memories needs beside them."""

from __future__ import annotations

from dataclasses import dataclass, field

from madeleine.database.transactions import TenantAccess
from madeleine.index.common.postings import TermTokenizer


@dataclass(frozen=True, slots=True)
class PostgresWrite:
    """A transaction, with the conversations in which it changed something."""

    access: TenantAccess
    cutter: TermTokenizer
    sessions: set[int] = field(default_factory=set)
