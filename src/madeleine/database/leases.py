"""Leases: of all servers on one database, one does a piece of work at a time.

Whoever takes a lease renews it while it works. A server that is killed does not, and once the
lease has run out the next one takes it. The times are the database's, so that it does not matter
what the servers' clocks say. A lease has a number that counts who took it. Whatever a thread
writes while it works under a lease first sees that the lease is still its own, and keeps others
from taking it until the transaction ends: a server that was only asleep for a while can write
nothing any more once another has taken over.

`due` says when a job of a tenant is to run next, for all servers together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic

from madeleine.database.connection import ConnectionPool
from madeleine.database.transactions import DatabaseTenant, TenantAccess
from madeleine.errors import LeaseLost, MadeleineError, UnderWay

LEASE_SECONDS = 30.0  # how long a lease lasts that nobody renews
RENEWALS_PER_LEASE = 4  # in that time: one that fails costs nothing yet

_TAKE_LEASE = """
    INSERT INTO leases (name, job, number, holder, doing, until)
    VALUES (%s, %s, 1, %s, %s, clock_timestamp() + make_interval(secs => %s))
    ON CONFLICT (name, job) DO UPDATE
    SET number = leases.number + 1, holder = excluded.holder, until = excluded.until,
        doing = excluded.doing, stop = FALSE
    WHERE leases.holder IS NULL OR leases.until < clock_timestamp()
    RETURNING number
"""
_RENEW_LEASE = """
    UPDATE leases SET until = clock_timestamp() + make_interval(secs => %s)
    WHERE name = %s AND job = %s AND number = %s AND holder IS NOT NULL RETURNING stop
"""
_RELEASE_LEASE = """
    UPDATE leases SET holder = NULL, until = NULL WHERE name = %s AND job = %s AND number = %s
"""
_SELECT_OWN_LEASE = """
    SELECT 1 FROM leases WHERE name = %s AND job = %s AND number = %s AND holder IS NOT NULL
    FOR KEY SHARE
"""
_SELECT_DOING = """
    SELECT doing FROM leases
    WHERE name = %s AND job = %s AND holder IS NOT NULL AND until >= clock_timestamp()
"""
_REQUEST_STOP = """
    UPDATE leases SET stop = TRUE WHERE name = %s AND job = %s AND doing = %s
    AND holder IS NOT NULL AND until >= clock_timestamp() RETURNING number
"""
_SET_DUE = """
    INSERT INTO leases (name, job, due)
    VALUES (%s, %s, clock_timestamp() + make_interval(secs => %s))
    ON CONFLICT (name, job) DO UPDATE SET due = {}
"""
_SET_DUE_ANEW = _SET_DUE.format("excluded.due")
_SET_DUE_SOONER = _SET_DUE.format("least(leases.due, excluded.due)")
_CLEAR_DUE = "UPDATE leases SET due = NULL WHERE name = %s AND job = %s"
_SELECT_DUE = "SELECT due FROM leases WHERE name = %s AND job = %s"
_CLAIM_DUE_JOB = """
    UPDATE leases SET due = clock_timestamp() + make_interval(secs => %s)
    WHERE (name, job) IN (
        SELECT name, job FROM leases WHERE due <= clock_timestamp()
        ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING name, job, due
"""


@dataclass(slots=True)
class _Lease:
    """The right to do a piece of work, as long as it is renewed."""

    work: str
    number: int
    ends: float
    """When it runs out, as far as this process knows; by its own monotonic clock."""
    lost: bool = False
    stop: bool = False
    """Whether somebody asked another server to have it stopped."""
    over: threading.Event = field(default_factory=threading.Event)

    def is_over(self) -> bool:
        return self.lost or self.stop or monotonic() > self.ends


class DatabaseLeases:
    """What a tenant's servers take turns in."""

    shared = True

    def __init__(self, rows: DatabaseTenant, holder: str, seconds: float = LEASE_SECONDS) -> None:
        self._rows = rows
        self._holder = holder
        self._seconds = seconds

    @contextmanager
    def held(self, work: str, doing: str = "") -> Iterator[Callable[[], bool]]:
        """Do this work alone; `UnderWay` if somebody does it. Gives a function that says whether
        to end it: somebody asked for that, or the lease was lost, and then nothing that this
        thread writes is kept."""
        lease = self._take(work, doing)
        renewing = threading.Thread(target=self._renew_until_over, args=(lease,), daemon=True)
        renewing.start()
        try:
            with self._rows.fenced(lambda access: self._check(access, lease)):
                yield lease.is_over
        finally:
            lease.over.set()
            renewing.join()
            self._release_lease(lease)

    def doing(self, work: str) -> str | None:
        """Return what whoever does this work says about it; nothing if nobody does."""
        with self._rows.raw_connection() as connection:
            row = connection.execute(_SELECT_DOING, (self._rows.name, work)).fetchone()
        return None if row is None else row[0]

    def stop(self, work: str, doing: str) -> bool:
        """Ask whoever does this work to end it, if they still do just that; whether so."""
        with self._rows.raw_connection() as connection:
            row = connection.execute(_REQUEST_STOP, (self._rows.name, work, doing)).fetchone()
        return row is not None

    def _take(self, work: str, doing: str) -> _Lease:
        began = monotonic()
        with self._rows.raw_connection() as connection:
            bindings = (self._rows.name, work, self._holder, doing, self._seconds)
            row = connection.execute(_TAKE_LEASE, bindings).fetchone()
        if row is None:
            raise UnderWay(f"`{work}`")
        return _Lease(work, row[0], began + self._seconds)

    def _renew_until_over(self, lease: _Lease) -> None:
        """Renew a lease until its work is over. A database that is away is tried again."""
        while not lease.over.wait(self._seconds / RENEWALS_PER_LEASE) and not lease.lost:
            began = monotonic()
            try:
                lease.lost = not self._renew_once(lease)
            except MadeleineError:
                continue  # `is_over` says so once it has run out
            lease.ends = began + self._seconds

    def _renew_once(self, lease: _Lease) -> bool:
        with self._rows.raw_connection() as connection:
            bindings = (self._seconds, self._rows.name, lease.work, lease.number)
            row = connection.execute(_RENEW_LEASE, bindings).fetchone()
        lease.stop = row is not None and row[0]
        return row is not None

    def _release_lease(self, lease: _Lease) -> None:
        try:
            with self._rows.raw_connection() as connection:
                connection.execute(_RELEASE_LEASE, (self._rows.name, lease.work, lease.number))
        except MadeleineError:
            return  # the database is away; the lease runs out by itself

    def _check(self, access: TenantAccess, lease: _Lease) -> None:
        row = access.row(_SELECT_OWN_LEASE, self._rows.name, lease.work, lease.number)
        if row is None:
            lease.lost = True
            raise LeaseLost(lease.work)

    # -- when --------------------------------------------------------------------------------

    def plan(self, job: str, wait: timedelta | None, sooner: bool = False) -> None:
        """Say when a job is due: after so long, or never; with `sooner`, unless it is before."""
        with self._rows.raw_connection() as connection:
            if wait is None:
                connection.execute(_CLEAR_DUE, (self._rows.name, job))
                return
            sql = _SET_DUE_SOONER if sooner else _SET_DUE_ANEW
            connection.execute(sql, (self._rows.name, job, max(wait.total_seconds(), 0.0)))

    def due_at(self, job: str) -> datetime | None:
        """Return when a job is due."""
        with self._rows.raw_connection() as connection:
            row = connection.execute(_SELECT_DUE, (self._rows.name, job)).fetchone()
        return None if row is None else row[0]


def claim_due_job(connections: ConnectionPool, seconds: float) -> tuple[str, str, datetime] | None:
    """Return a tenant and a job of theirs that is due, for this server to run. To the others it
    is due again only at the time that comes with it, so many seconds later: unless it is planned
    anew by then, it was not run."""
    with connections.borrow() as connection:
        row = connection.execute(_CLAIM_DUE_JOB, (seconds,)).fetchone()
    return None if row is None else (row[0], row[1], row[2])
