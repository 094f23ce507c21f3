"""People, shared spaces and tokens, as rows of a database.

A token is 256 random bits, told once; what is kept is their SHA-256, under which it is found.
Nobody can make one from the other, and a random value of that length needs no slow hash.

These tables belong to no tenant. They have a wall of their own (`row_security`): a statement that
does not come from here finds them empty.
"""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg

from madeleine.database.connection import ConnectionPool
from madeleine.database.tenants import erase_tenant, register_tenant
from madeleine.database.transactions import DatabaseTenant
from madeleine.errors import (
    NameTaken,
    NoSuchPerson,
    NoSuchSpace,
    NoSuchToken,
    Rejected,
)
from madeleine.model.people import (
    AccessToken,
    Caller,
    Person,
    Role,
    SpaceMember,
    lesser_role,
    tenant_of_space,
)

SECRET_BYTES = 32
TOKEN_PREFIX = "mad_"  # what a scanner for lost secrets can know a token by
LAST_USED_SECONDS = 60  # how old the last use that is known of a token may be
SHORT_TOKEN_ID_CHARS = 8  # characters by which a token may be named

_TOKEN_COLUMNS = "id, name, person, role, created, last_used"
_SELECT_CALLER = """
    SELECT t.id, t.person, t.role,
           coalesce(t.last_used < now() - make_interval(secs => %s), TRUE)
               AND NOT pg_is_in_recovery(),
           ARRAY(SELECT ARRAY[m.space, m.role] FROM members m WHERE m.person = t.person
                 ORDER BY m.space)
    FROM tokens t WHERE """


class PeopleDirectory:
    """Who there is. Any thread may ask; `home` is the person at the server itself."""

    def __init__(self, connections: ConnectionPool, home: str) -> None:
        self._connections = connections
        self.home = home

    # -- who asks ----------------------------------------------------------------------------

    def caller(self, secret: str) -> Caller | None:
        """Return whose token this is, and note that it was used; nothing if it is nobody's."""
        return self._find_caller("t.hash = %s", _hash_secret(secret))

    def page_caller(self, token: str) -> Caller | None:
        """Return who was signed in to the page with the token of this id, and note that it was
        used; nothing if it was revoked since."""
        return self._find_caller("t.id = %s", token)

    def _find_caller(self, which: str, value: object) -> Caller | None:
        with self._people_transaction() as connection:
            asking = f"{_SELECT_CALLER}{which}".encode()
            row = connection.execute(asking, (LAST_USED_SECONDS, value)).fetchone()
            if row is None:
                return None
            identity, person, role, is_due, spaces = row
            if is_due:
                noting = "UPDATE tokens SET last_used = now() WHERE id = %s"
                connection.execute(noting, (identity,))
        return Caller(person, Role(role), identity, _build_memberships(person, Role(role), spaces))

    def local(self) -> Caller:
        """Return who sits at the server."""
        found = self.memberships(self.home)
        return Caller(self.home, Role.ADMIN, spaces=tuple(found))

    # -- people ------------------------------------------------------------------------------

    def people(self) -> list[Person]:
        """Return everybody but who sits at the server, by name."""
        rows = self._read_rows("SELECT name, created FROM people ORDER BY name")
        return [Person(name, _to_utc(created)) for name, created in rows]

    def add(self, name: str) -> Person:
        """Add a person; a memory that is kept under their name is theirs."""
        if name == self.home:
            raise NameTaken("person", name)
        sql = "INSERT INTO people (name) VALUES (%s) ON CONFLICT DO NOTHING RETURNING created"
        rows = self._read_rows(sql, name)
        if not rows:
            raise NameTaken("person", name)
        return Person(name, _to_utc(rows[0][0]))

    def remove(self, name: str, erase: bool = False) -> None:
        """Let a person in no more. Their memory stays in the database, unless it is erased, which
        can also be done later."""
        left = erase and self.has_tenant(name)
        with self._people_transaction() as connection:
            gone = connection.execute("DELETE FROM people WHERE name = %s", (name,)).rowcount
            if not gone and not left:
                raise NoSuchPerson(name)
            for table in ("tokens", "members"):
                connection.execute(f"DELETE FROM {table} WHERE person = %s".encode(), (name,))
        if erase:
            self._erase_tenant(name)

    # -- tokens ------------------------------------------------------------------------------

    def tokens(self, person: str | None = None) -> list[AccessToken]:
        """Return the tokens of one person, or of all."""
        sql = f"""SELECT {_TOKEN_COLUMNS} FROM tokens WHERE %s::text IS NULL OR person = %s
                  ORDER BY person, created, id"""
        return [_build_token(row) for row in self._read_rows(sql, person, person)]

    def create_token(self, name: str, person: str, role: Role) -> tuple[AccessToken, str]:
        """Make a token; return it with its secret, which nobody can be told again."""
        self._check(person)
        if role is Role.ADMIN and person != self.home:
            raise Rejected("an admin's token is the server's own", hint="leave `person` out")
        secret = f"{TOKEN_PREFIX}{secrets.token_urlsafe(SECRET_BYTES)}"
        sql = f"""INSERT INTO tokens (hash, id, name, person, role) VALUES (%s, %s, %s, %s, %s)
                  RETURNING {_TOKEN_COLUMNS}"""
        made = (_hash_secret(secret), str(uuid.uuid4()), name, person, role.value)
        return _build_token(self._read_rows(sql, *made)[0]), secret

    def find_token(self, wanted: str, person: str | None = None) -> AccessToken:
        """Return the token with this id, or so much of its beginning that it is the only one."""
        every = self.tokens(person)
        found = [
            each
            for each in every
            if len(wanted) >= SHORT_TOKEN_ID_CHARS and each.id.startswith(wanted)
        ]
        named = [each for each in every if each.name == wanted]
        if len(found or named) != 1:
            raise NoSuchToken(wanted)
        return (found or named)[0]

    def revoke(self, token: AccessToken) -> None:
        """Let a token in no more."""
        self._read_rows("DELETE FROM tokens WHERE id = %s RETURNING id", token.id)

    # -- shared spaces -----------------------------------------------------------------------

    def spaces(self) -> list[str]:
        """Return the shared spaces, by name."""
        return [row[0] for row in self._read_rows("SELECT name FROM shared_spaces ORDER BY name")]

    def members(self, space: str) -> list[SpaceMember]:
        """Return who shares a space, by name."""
        sql = "SELECT space, person, role FROM members WHERE space = %s ORDER BY person"
        return [
            SpaceMember(space, person, Role(role))
            for space, person, role in self._read_rows(sql, space)
        ]

    def memberships(self, person: str) -> list[SpaceMember]:
        """Return what a person shares, by the space's name."""
        sql = "SELECT space, person, role FROM members WHERE person = %s ORDER BY space"
        return [
            SpaceMember(space, name, Role(role))
            for space, name, role in self._read_rows(sql, person)
        ]

    def share(self, space: str, person: str, role: Role, may_make: bool = False) -> SpaceMember:
        """Give a person a role in a space, another one than before if they had one; the space
        is made, if that may be."""
        self._check(person)
        if may_make:
            self._read_rows(
                "INSERT INTO shared_spaces (name) VALUES (%s) ON CONFLICT DO NOTHING", space
            )
        sql = """INSERT INTO members (person, space, role)
                 SELECT %s, s.name, %s FROM shared_spaces s WHERE s.name = %s
                 ON CONFLICT (person, space) DO UPDATE SET role = excluded.role
                 RETURNING space"""
        if not self._read_rows(sql, person, role.value, space):
            raise NoSuchSpace(space)
        return SpaceMember(space, person, role)

    def leave(self, space: str, person: str) -> None:
        """Take a person out of a space."""
        sql = "DELETE FROM members WHERE space = %s AND person = %s RETURNING space"
        if not self._read_rows(sql, space, person):
            raise NoSuchPerson(person)

    def remove_space(self, space: str, erase: bool = False) -> None:
        """Let nobody share a space any more. What is in it stays, unless it is erased, which can
        also be done later."""
        left = erase and self.has_tenant(tenant_of_space(space))
        with self._people_transaction() as connection:
            sql = "DELETE FROM shared_spaces WHERE name = %s"
            if not connection.execute(sql, (space,)).rowcount and not left:
                raise NoSuchSpace(space)
            connection.execute("DELETE FROM members WHERE space = %s", (space,))
        if erase:
            self._erase_tenant(tenant_of_space(space))

    # -- what they leave ---------------------------------------------------------------------

    def has_tenant(self, tenant: str) -> bool:
        """Whether there is a memory of this name, be it somebody's now or not; that of who sits
        at the server is none of theirs."""
        known = self._read_rows("SELECT 1 FROM tenants WHERE name = %s", tenant)
        return bool(known) and tenant != self.home

    def kept(self, tenant: str) -> int:
        """Return how many memories are in it, forgotten ones included."""
        if not self.has_tenant(tenant):
            return 0
        sql = "SELECT count(DISTINCT memory) FROM files WHERE truth = :truth AND memory IS NOT NULL"
        with DatabaseTenant(self._connections, tenant).reading() as access:
            return int(access.value(sql))

    # -- pieces ------------------------------------------------------------------------------

    def _check(self, person: str) -> None:
        known = self._read_rows("SELECT 1 FROM people WHERE name = %s", person)
        if not known and person != self.home:
            raise NoSuchPerson(person)

    def _erase_tenant(self, tenant: str) -> None:
        with self._connections.borrow() as connection:
            register_tenant(connection, tenant)
        with DatabaseTenant(self._connections, tenant).writing() as access:
            erase_tenant(access)
            access.run("DELETE FROM leases WHERE name = %s", tenant)  # no job has work there

    def _read_rows(self, sql: str, *bindings: object) -> Sequence[tuple[Any, ...]]:
        with self._people_transaction() as connection:
            cursor = connection.execute(sql.encode(), bindings or None)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def _people_transaction(self) -> Iterator[psycopg.Connection]:
        """Begin a transaction to which these tables are not empty."""
        with self._connections.borrow() as connection, connection.transaction():
            connection.execute("SET LOCAL madeleine.door = 'people'")
            yield connection


def _hash_secret(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _build_memberships(
    person: str, role: Role, spaces: Sequence[Sequence[str]]
) -> tuple[SpaceMember, ...]:
    """Return the shared spaces of a caller: a client may do no more there than its token."""
    return tuple(
        SpaceMember(name, person, lesser_role(role, Role(given))) for name, given in spaces
    )


def _build_token(row: tuple[Any, ...]) -> AccessToken:
    identity, name, person, role, created, last_used = row
    used = None if last_used is None else _to_utc(last_used)
    return AccessToken(identity, name, person, Role(role), _to_utc(created), used)


def _to_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
