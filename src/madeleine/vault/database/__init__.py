"""Vault and journal in PostgreSQL: the same bytes as in files, for servers without a disk.

Whoever changes something does so inside of the transaction that `Stores.writing` is, or in one
of its own; so nothing is ever half done, and nobody else can come in between.
"""

from madeleine.vault.database.journal import DatabaseJournal
from madeleine.vault.database.vault import DatabaseVault

__all__ = ["DatabaseJournal", "DatabaseVault"]
