"""Vault and journal in PostgreSQL: the same bytes as in files, for servers without a disk."""
