"""One server among several on one database: its connections, its name, and what it hears.

All that a home needs whose truth is in the database is made here, so that bootstrap loads one
module by its name when a database is asked for.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from typing import NamedTuple

import psycopg

from madeleine.database import tenants
from madeleine.database.connection import MAX_CONNECTIONS, ConnectionPool
from madeleine.database.leases import DatabaseLeases, claim_due_job
from madeleine.database.row_security import find_bypassing_role
from madeleine.database.transactions import DatabaseTenant, DatabaseWriteLock

CHANNEL = "madeleine"  # on which servers tell each other what happens
LISTEN_SECONDS = 0.5  # between two looks whether the server ends
CLAIM_SECONDS = 60.0  # after which work that somebody claimed and did not do is claimed again

NotificationHandler = Callable[[str, str], None]
"""Is told whose memory it is, and what happened."""


class ClaimedJob(NamedTuple):
    """A job of a tenant that is due, which this server may run if it still is by then."""

    tenant: str
    job: str
    still_due: Callable[[], bool]


class SharedDatabase:
    """The connections of one server, shared by all the tenants that it answers for."""

    def __init__(self, url: str, lease_seconds: float, connections: int = MAX_CONNECTIONS) -> None:
        self.connections = ConnectionPool(url, connections)
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._lease_seconds = lease_seconds

    def tenant(self, name: str) -> DatabaseTenant:
        """Return a tenant's view, with a number of its own from now on."""
        with self.connections.borrow() as connection:
            tenants.register_tenant(connection, name)
        return DatabaseTenant(self.connections, name)

    def warnings(self) -> list[str]:
        """Return what is not as it should be where several people share the database."""
        with self.connections.borrow() as connection:
            role = find_bypassing_role(connection)
        told = "row-level security does not hold back; give the server an ordinary role"
        return [] if role is None else [f"the database's role `{role}` is one that {told}"]

    def writing(self, rows: DatabaseTenant) -> DatabaseWriteLock:
        return DatabaseWriteLock(rows)

    def leases(self, rows: DatabaseTenant) -> DatabaseLeases:
        return DatabaseLeases(rows, self.name, self._lease_seconds)

    def claim(self) -> ClaimedJob | None:
        """Return some work that is due; the others leave it to us for a while."""
        found = claim_due_job(self.connections, CLAIM_SECONDS)
        if found is None:
            return None
        tenant, job, until = found
        leases = self.leases(DatabaseTenant(self.connections, tenant))
        return ClaimedJob(tenant, job, lambda: leases.due_at(job) == until)

    def tell(self, rows: DatabaseTenant) -> Callable[[str], None]:
        """Return what tells all servers, ours too, that something happened to this memory."""
        return lambda text: rows.tell(CHANNEL, f"{rows.name}\n{text}")

    def listen(self, hear: NotificationHandler, ending: Callable[[], bool]) -> None:
        """Pass on what servers tell, until this one ends."""
        with self.connections.borrow_exclusive() as connection:
            connection.execute(f"LISTEN {CHANNEL}")
            while not ending():
                for each in connection.notifies(timeout=LISTEN_SECONDS, stop_after=100):
                    _forward_notification(each, hear)

    def close(self) -> None:
        self.connections.close()


def _forward_notification(told: psycopg.Notify, hear: NotificationHandler) -> None:
    tenant, _, text = told.payload.partition("\n")
    hear(tenant, text)
