"""Use: a memory helped. Written to the journal, never to a file (I3)."""

from __future__ import annotations

from collections.abc import Iterable

from madeleine.errors import Unavailable
from madeleine.model.event import Kind
from madeleine.write.record import event, record
from madeleine.write.stores import Stores


def used(
    stores: Stores, ids: Iterable[str], how: str, session: str | None = None
) -> tuple[str, ...]:
    """Note that these memories were used; return what to say when that was not possible.

    At most once per memory, session and day, so that an agent that asks in a loop does not
    make a memory look important. A full disk must not keep anybody from reading.
    """
    now = stores.clock.now()
    try:
        wanted = list(ids)
        known = stores.index.used_today(wanted, session, now)
        fresh = [each for each in wanted if each not in known]
        bodies = [{"memory": each, "how": how, "session": session} for each in fresh]
        if bodies:
            record(stores, [event(stores, Kind.USED, body) for body in bodies], durable=False)
    except Unavailable as error:
        return (f"this use was not noted: {error.message}",)
    return ()
