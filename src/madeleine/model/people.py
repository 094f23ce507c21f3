"""People, the spaces they share, and the tokens that their clients show.

A person is a tenant: a memory of their own. A shared space is one too, and its members find it
among their spaces under its name. What somebody may do there says their role; a client may do
no more than its token's role, wherever it is.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from datetime import datetime

from madeleine.errors import InvalidValue
from madeleine.model.draft import read_space

NAME_CHARS = 64
SPACE_PREFIX = "space:"  # of a shared space's tenant; no person's name holds a colon
_NAME = re.compile(rf"[a-z0-9][a-z0-9._-]{{0,{NAME_CHARS - 1}}}\Z")


class Role(enum.StrEnum):
    """What somebody may do, each also what those before it may."""

    READER = "reader"
    """Find and read."""
    WRITER = "writer"
    """Remember, change, forget; always with a way back."""
    OWNER = "owner"
    """What concerns a memory as a whole: import, export, purge, jobs; a space's members."""
    ADMIN = "admin"
    """People, tokens, shared spaces, and the server itself."""

    def covers(self, needed: Role) -> bool:
        """Whether this role suffices where another is needed."""
        return _ROLE_RANK[self] >= _ROLE_RANK[needed]


_ROLE_RANK = {role: place for place, role in enumerate(Role)}


def lesser_role(one: Role, other: Role) -> Role:
    """Return the one of two roles that may do less."""
    return other if one.covers(other) else one


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a memory of their own."""

    name: str
    created: datetime


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What a client shows, without the part that lets it in."""

    id: str
    name: str
    person: str
    role: Role
    created: datetime
    last_used: datetime | None


@dataclass(frozen=True, slots=True)
class SpaceMember:
    """What a person may do in a shared space."""

    space: str
    person: str
    role: Role


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose request it is, what it may do, and which shared spaces are theirs."""

    person: str
    role: Role
    token: str = ""
    """The id of the token that was shown; None for a caller at the server itself."""
    spaces: tuple[SpaceMember, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether they are at the server itself, whose files they can read anyway."""
        return not self.token


def read_person_name(name: str, field: str = "person") -> str:
    """Return a person's name; it names a tenant, so that it is plain and short."""
    if not _NAME.match(name):
        hint = f"up to {NAME_CHARS} of a-z, 0-9, `.`, `_` and `-`, such as ada"
        raise InvalidValue(field, f"is {name!r}", hint=hint)
    return name


def read_shared_space(name: str) -> str:
    """Return a shared space's name: any that a space may have, but the one of no space."""
    space = read_space(name)
    if space is None:
        raise InvalidValue("space", f"is {name!r}, which is everybody's own", hint="name a project")
    return space


def tenant_of_space(space: str) -> str:
    """Return the tenant that holds a shared space."""
    return f"{SPACE_PREFIX}{space}"
