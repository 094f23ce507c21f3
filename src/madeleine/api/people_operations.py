"""People, tokens and shared spaces: what these operations do.

An admin does all of it. A person sees their own tokens and can revoke them, and sees the spaces
that they share; who owns a space says who else may share it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from madeleine.api import answer_texts
from madeleine.api.contract.requests import (
    AddPersonBody,
    CreateTokenBody,
    RemovePersonQuery,
    ShareSpaceBody,
    TokensQuery,
    UnshareSpaceBody,
)
from madeleine.api.contract.responses import (
    AddedPerson,
    CreatedToken,
    JoinedSpace,
    LeftSpace,
    PeopleList,
    PersonEntry,
    RemovedPerson,
    RevokedToken,
    SharedSpace,
    SharedSpaceList,
    TokenEntry,
    TokenList,
)
from madeleine.api.operation import Answer, Operation, operation
from madeleine.errors import InvalidValue, NoPeople, NoSuchSpace, NotAllowed, StillKept
from madeleine.model.draft import read_one_line
from madeleine.model.people import (
    AccessToken,
    Person,
    Role,
    SpaceMember,
    read_person_name,
    read_shared_space,
    tenant_of_space,
)
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time
from madeleine.model.words import read_word

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.contract.shape import RequestShape
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext
    from madeleine.database.people import PeopleDirectory
    from madeleine.model.people import Caller

MAX_NAME_CHARS = 100

PeopleFunction = Callable[["CallerReach", "OperationCall"], Answer]


def _people_operation(
    name: str,
    method: str,
    path: str,
    summary: str,
    *,
    role: Role,
    answer: type[Answer],
    body: type[RequestShape] | None = None,
    query: type[RequestShape] | None = None,
    admin: bool = False,
) -> Callable[[PeopleFunction[Answer]], Operation[Answer]]:
    """Declare the function below as an operation that is not about one memory, and so is given
    what the caller reaches. In one context, as in a home of one person, there are no people."""

    def declare(act: PeopleFunction[Answer]) -> Operation[Answer]:
        @operation(
            name,
            method,
            path,
            summary,
            role=role,
            answer=answer,
            body=body,
            query=query,
            admin=admin,
            about_people=True,
            shared=lambda _, reached, call: act(reached, call),
            for_every_caller=True,
        )
        def refuse_in_context(context: HomeContext, call: OperationCall) -> Answer:
            raise NoPeople

        return refuse_in_context

    return declare


# -- people ----------------------------------------------------------------------------------


@_people_operation(
    "people",
    "GET",
    "/admin/people",
    "the people who have a memory of their own in this database",
    role=Role.ADMIN,
    answer=PeopleList,
    admin=True,
)
def list_people(reach: CallerReach, call: OperationCall) -> PeopleList:
    """Return everybody, with what they share."""
    known, _ = _require_people(reach)
    found = [_build_person(each, known.memberships(each.name)) for each in known.people()]
    lines = [f"  {each.name}" for each in found]
    text = "\n".join([answer_texts.render_count(len(found), "person", "people"), *lines])
    return PeopleList(text=text, people=found, server=known.home)


@_people_operation(
    "add_person",
    "POST",
    "/admin/people",
    "give a person a memory of their own",
    role=Role.ADMIN,
    body=AddPersonBody,
    answer=AddedPerson,
    admin=True,
)
def add_person(reach: CallerReach, call: OperationCall) -> AddedPerson:
    known, _ = _require_people(reach)
    reader = RequestReader(call.body)
    name, keep = read_person_name(reader.required_text("name")), reader.flag("keep")
    reader.done()
    kept = known.kept(name)
    if kept and not keep and name not in {each.name for each in known.people()}:
        raise StillKept(name, kept, f"person add {name}", f"person remove {name}")
    made = known.add(name)
    return AddedPerson(
        text=f"Added {name}{_render_kept(kept)}", person=_build_person(made, ()), kept=kept
    )


@_people_operation(
    "remove_person",
    "DELETE",
    "/admin/people/{id}",
    "let a person in no more; `{id}` is their name",
    role=Role.ADMIN,
    query=RemovePersonQuery,
    answer=RemovedPerson,
    admin=True,
)
def remove_person(reach: CallerReach, call: OperationCall) -> RemovedPerson:
    known, _ = _require_people(reach)
    name, reader = read_person_name(call.path_id), RequestReader(call.query)
    erase = reader.flag("erase")
    reader.done()
    if erase and known.has_tenant(name):
        _clear_index(reach, name)
    known.remove(name, erase)
    kept = "their memory is erased" if erase else "their memory is kept"
    return RemovedPerson(text=f"Removed {name}: {kept}", name=name, erased=erase)


# -- tokens ----------------------------------------------------------------------------------


@_people_operation(
    "tokens",
    "GET",
    "/admin/tokens",
    "your tokens; to an admin everybody's",
    role=Role.READER,
    query=TokensQuery,
    answer=TokenList,
)
def list_tokens(reach: CallerReach, call: OperationCall) -> TokenList:
    """Return the caller's tokens; to an admin everybody's."""
    known, caller = _require_people(reach)
    reader = RequestReader(call.query)
    person = reader.text("person")
    reader.done()
    whose = person if caller.role is Role.ADMIN else caller.person
    found = known.tokens(whose) if person in (None, whose) else []
    lines = [f"  {each.id[:8]}  {each.person}  {each.role.value}  {each.name}" for each in found]
    text = "\n".join([answer_texts.render_count(len(found), "token"), *lines])
    return TokenList(text=text, tokens=[TokenEntry(**_token_fields(each)) for each in found])


@_people_operation(
    "create_token",
    "POST",
    "/admin/tokens",
    "make a token for a client; its secret is told this once",
    role=Role.ADMIN,
    body=CreateTokenBody,
    answer=CreatedToken,
    admin=True,
)
def create_token(reach: CallerReach, call: OperationCall) -> CreatedToken:
    known, _ = _require_people(reach)
    reader = RequestReader(call.body)
    name = read_one_line("name", reader.required_text("name"), MAX_NAME_CHARS)
    person = reader.text("person")
    role = reader.choice(Role, "role", Role.WRITER)
    reader.done()
    if not name:
        raise InvalidValue("name", "is empty", hint="such as the client that will show it")
    made, secret = known.create_token(name, person or known.home, role)
    text = f"Made the token {made.id[:8]} of {made.person}. It is shown this once:\n{secret}"
    return CreatedToken(text=text, token=secret, **_token_fields(made))


@_people_operation(
    "revoke_token",
    "DELETE",
    "/admin/tokens/{id}",
    "let a token in no more; `{id}` is its id, at least 8 characters of it, or its name",
    role=Role.OWNER,
    answer=RevokedToken,
)
def revoke_token(reach: CallerReach, call: OperationCall) -> RevokedToken:
    known, caller = _require_people(reach)
    whose = None if caller.role is Role.ADMIN else caller.person
    found = known.find_token(call.path_id, whose)
    known.revoke(found)
    text = f"Revoked {found.id[:8]} of {found.person}: {found.name}"
    return RevokedToken(text=text, **_token_fields(found))


# -- shared spaces ---------------------------------------------------------------------------


@_people_operation(
    "spaces",
    "GET",
    "/agent/spaces",
    "the spaces that you share with others; to an admin all of them",
    role=Role.READER,
    answer=SharedSpaceList,
)
def list_spaces(reach: CallerReach, call: OperationCall) -> SharedSpaceList:
    """Return the shared spaces that the caller sees, with those who share them."""
    known, caller = _require_people(reach)
    mine = {each.space: each.role for each in caller.spaces}
    names = known.spaces() if caller.role is Role.ADMIN else sorted(mine)
    found = [_build_space(name, mine.get(name), known.members(name)) for name in names]
    lines = [f"  {each.name}  {each.role or 'no member'}" for each in found]
    text = "\n".join([answer_texts.render_count(len(found), "shared space"), *lines])
    return SharedSpaceList(text=text, spaces=found)


@_people_operation(
    "share_space",
    "POST",
    "/admin/spaces",
    "let a person share a space; an admin makes it by that, an owner adds others",
    role=Role.WRITER,
    body=ShareSpaceBody,
    answer=JoinedSpace,
)
def share_space(reach: CallerReach, call: OperationCall) -> JoinedSpace:
    """Give a person a role in a shared space; an admin makes the space by that."""
    known, caller = _require_people(reach)
    reader = RequestReader(call.body)
    space = read_shared_space(reader.required_text("name"))
    person = read_person_name(reader.required_text("person"))
    role, keep = _read_space_role(reader.raw("role")), reader.flag("keep")
    reader.done()
    _check_owner(caller, space, "share_space")
    kept = 0 if space in known.spaces() else known.kept(tenant_of_space(space))
    if kept and not keep:
        named = shlex.quote(space)
        raise StillKept(space, kept, f"space share {named} --with {person}", f"space leave {named}")
    made = known.share(space, person, role, may_make=caller.role is Role.ADMIN)
    text = f"{made.person} is {made.role.value} of the shared space {space}{_render_kept(kept)}"
    return JoinedSpace(text=text, space=space, person=person, role=role.value, kept=kept)


@_people_operation(
    "unshare_space",
    "POST",
    "/admin/spaces/leave",
    "take a person out of a shared space; without one, let nobody share it any more",
    role=Role.WRITER,
    body=UnshareSpaceBody,
    answer=LeftSpace,
)
def unshare_space(reach: CallerReach, call: OperationCall) -> LeftSpace:
    """Take a person out of a shared space; without one, let nobody share it any more."""
    known, caller = _require_people(reach)
    reader = RequestReader(call.body)
    space = read_shared_space(reader.required_text("name"))
    person, erase = reader.text("person"), reader.flag("erase")
    reader.done()
    if person != caller.person:  # whoever wants to go may go
        _check_owner(caller, space, "unshare_space")
    if person is not None:
        known.leave(space, person)
        return LeftSpace(text=f"{person} no longer shares {space}", space=space, person=person)
    if caller.role is not Role.ADMIN:
        raise NotAllowed("`unshare_space` of everybody", Role.ADMIN.value, caller.role.value)
    if erase and known.has_tenant(tenant_of_space(space)):
        _clear_index(reach, tenant_of_space(space))
    known.remove_space(space, erase)
    kept = "what was in it is erased" if erase else "what is in it is kept"
    return LeftSpace(text=f"Nobody shares {space} any more: {kept}", space=space, erased=erase)


def _clear_index(reach: CallerReach, tenant: str) -> None:
    """Empty an index, which may be kept elsewhere than what is true."""
    if reach.contexts is not None:
        reach.contexts.of(tenant).stores.index.clear()


def _render_kept(kept: int) -> str:
    """Say that somebody is given what another may have written."""
    return (
        f", with {answer_texts.render_count(kept, 'memory')} kept under that name" if kept else ""
    )


def _read_space_role(given: object) -> Role:
    role = Role.WRITER if given is None else read_word(Role, "role", given)
    if role is Role.ADMIN:
        raise InvalidValue("role", "is 'admin'", hint="in a space one is reader, writer or owner")
    return role


def _check_owner(caller: Caller, space: str, what: str) -> None:
    """Let owners and admins pass. For a caller who cannot see the space it does not exist."""
    if caller.role is Role.ADMIN:
        return
    role = next((each.role for each in caller.spaces if each.space == space), None)
    if role is None:
        raise NoSuchSpace(space)
    if not role.covers(Role.OWNER):
        raise NotAllowed(f"`{what}`", Role.OWNER.value, role.value, space)


# -- pieces ----------------------------------------------------------------------------------


def _require_people(reach: CallerReach) -> tuple[PeopleDirectory, Caller]:
    if reach.people is None or reach.caller is None:
        raise NoPeople
    return reach.people, reach.caller


def _build_person(person: Person, shares: Sequence[SpaceMember]) -> PersonEntry:
    return PersonEntry(
        name=person.name,
        created=format_time(person.created),
        spaces={each.space: each.role.value for each in shares},
    )


def _token_fields(token: AccessToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "person": token.person,
        "role": token.role.value,
        "created": format_time(token.created),
        "last_used": format_time(token.last_used) if token.last_used else None,
    }


def _build_space(name: str, role: Role | None, members: Sequence[SpaceMember]) -> SharedSpace:
    return SharedSpace(
        name=name,
        role=None if role is None else role.value,
        members={each.person: each.role.value for each in members},
    )
