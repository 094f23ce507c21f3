"""How far a request reaches: whose memory it is about, and which shared spaces come with it.

In a home of one person that is the one context and everything in it. Where several people share a
database, a request reaches the caller's own memory and the shared spaces that they are a member
of. Each is a context of its own: what is in another one does not exist for the caller (404), and
what they may see there but not do is refused (403).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from madeleine.errors import AmbiguousId, MemoryChoice, NotAllowed
from madeleine.model.people import Role, tenant_of_space
from madeleine.write.stores import Stores
from madeleine.write.undo import find_undoable_ids

if TYPE_CHECKING:
    from madeleine.bootstrap import HomeContext, HomeContexts
    from madeleine.database.people import PeopleDirectory
    from madeleine.model.people import Caller

SHOWN_ID_CHARS = 8  # characters of an id

IdLookup = Callable[[Stores, str], list[str]]
"""Returns what a context holds that an id, or the beginning of one, names."""


@dataclass(frozen=True, slots=True)
class ReachablePlace:
    """A context within reach, and what the caller may do there. `space` names a shared one."""

    role: Role
    open: Callable[[], HomeContext]
    space: str | None = None

    @property
    def context(self) -> HomeContext:
        return self.open()

    @property
    def label(self) -> str:
        """How the place is named to the caller."""
        return "your own memory" if self.space is None else f"the shared space `{self.space}`"

    def check(self, what: str, needed: Role) -> None:
        """Refuse what the caller may not do here."""
        if not self.role.covers(needed):
            raise NotAllowed(f"`{what}`", needed.value, self.role.value, self.space or "")


@dataclass(frozen=True, slots=True)
class CallerReach:
    """The caller's own context, and the shared ones."""

    own: ReachablePlace
    shared: tuple[ReachablePlace, ...] = ()
    caller: Caller | None = None
    """Nobody in particular in a home of one person."""
    contexts: HomeContexts | None = None
    """Everybody's, where several share a database."""

    @property
    def people(self) -> PeopleDirectory | None:
        """Who else there is."""
        return None if self.contexts is None else self.contexts.people

    @property
    def context(self) -> HomeContext:
        return self.own.context

    @property
    def is_local(self) -> bool:
        """Whether the caller may name files of this machine."""
        return self.caller is None or self.caller.is_local

    def places(self) -> Iterator[ReachablePlace]:
        """Give every place, the caller's own first."""
        yield self.own
        yield from self.shared

    def places_for_spaces(self, spaces: tuple[str | None, ...]) -> list[ReachablePlace]:
        """Return the places in which memories of these spaces may be; no space means any. The
        caller may have memories of a shared space's name of their own."""
        return [
            self.own,
            *(each for each in self.shared if not spaces or each.space in spaces),
        ]

    def at(self, space: str | None) -> ReachablePlace:
        """Return where a memory of this space is kept."""
        return next((each for each in self.shared if each.space == space), self.own)

    def find_similar_space(self, space: str | None) -> str | None:
        """Return the shared space that is called like this one but for capitals and blanks, when
        none is called just so: whoever writes there may have meant it."""
        if space is None or self.at(space) is not self.own:
            return None
        names = [each.space for each in self.shared if each.space is not None]
        return next((name for name in names if _fold_name(name) == _fold_name(space)), None)

    def find_holder(self, wanted: str, held: IdLookup) -> ReachablePlace:
        """Return the place that holds what an id names, or the caller's own if none does: it
        says then that there is no such thing. An id that fits in several places is refused,
        unless one of them has exactly this one."""
        if not self.shared:
            return self.own
        fitting: list[tuple[ReachablePlace, list[str]]] = []
        for place in self.places():
            found = held(place.context.stores, wanted)
            if wanted.lower() in found:
                return place
            if found:
                fitting.append((place, found))
        if len(fitting) > 1:
            raise AmbiguousId(
                wanted,
                [
                    MemoryChoice(found[0], place=place.label, chars=SHOWN_ID_CHARS)
                    for place, found in fitting
                ],
            )
        return fitting[0][0] if fitting else self.own


def single_home_reach(context: HomeContext) -> CallerReach:
    """Return the reach of who has a home to themselves."""
    return CallerReach(ReachablePlace(Role.ADMIN, lambda: context))


def caller_reach(contexts: HomeContexts, caller: Caller) -> CallerReach:
    """Return how far a caller reaches where several people share a database."""
    own = ReachablePlace(caller.role, partial(contexts.of, caller.person))
    shared = tuple(
        ReachablePlace(each.role, partial(contexts.of, tenant_of_space(each.space)), each.space)
        for each in caller.spaces
    )
    return CallerReach(own, shared, caller, contexts)


def local_reach(context: HomeContext) -> CallerReach:
    """Return the reach of who opens a home themselves."""
    contexts = context.contexts
    if contexts is None or contexts.people is None:
        return single_home_reach(context)
    return caller_reach(contexts, contexts.people.local())


def _fold_name(space: str) -> str:
    return "".join(unicodedata.normalize("NFKC", space).casefold().split())


# --- what a context holds ---------------------------------------------------------------------


def find_memories(stores: Stores, wanted: str) -> list[str]:
    """Return the memories that an id names."""
    prefix = wanted.strip().strip("`").lower()
    return stores.search.ids_with_prefix(prefix, 2) if prefix else []


def find_memories_or_trash(stores: Stores, wanted: str) -> list[str]:
    """The same, with those that are forgotten."""
    found = find_memories(stores, wanted)
    return found or sorted({each.memory.id for each in stores.vault.find_trashed(wanted.strip())})


def find_changes(stores: Stores, wanted: str) -> list[str]:
    """Return the changes that an id names, or of the run that it names."""
    events = stores.log.changes(wanted.strip())
    named = {str(each.body.get(key)) for each in events for key in ("change", "run")}
    return sorted(each for each in named if each.startswith(wanted.strip()))


def find_undoable(stores: Stores, wanted: str) -> list[str]:
    """Return what an id names that can be taken back."""
    return sorted(find_undoable_ids(stores, wanted))


def find_proposals(stores: Stores, wanted: str) -> list[str]:
    """Return the proposals that an id names."""
    prefix = wanted.strip().lower()
    every = stores.log.proposals() if prefix else []
    return [each.id for each in every if each.id.startswith(prefix)]
