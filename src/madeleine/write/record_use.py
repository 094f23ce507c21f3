"""Use: a memory helped. Written to the journal, never to a file (I3).

A memory that was asked for is recalled, opened or useful; one that nobody asked for was whispered,
which is a review of a weaker grade (`rules.usage`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from madeleine.errors import Unavailable
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.event import EventKind
from madeleine.rules.usage import WHISPER_COUNT, WHISPER_USE
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores


def record_use(
    stores: Stores,
    ids: Iterable[str],
    how: str,
    session: str | None = None,
    wait: bool = False,
) -> tuple[Cause, ...]:
    """Note that these memories were used; return what to say when that was not possible.

    Whoever asked need not `wait` for the note: it is written behind the answer, and what went
    wrong with it is said the next time.
    """
    work = partial(_record_use_now, stores, list(ids), how, session, stores.clock.now())
    stores.executor.submit(work)
    if wait:
        stores.executor.wait()
    problem = stores.executor.take_problem()
    return (Cause(NoteKind.USE_NOT_NOTED, {"why": problem}),) if problem else ()


def _record_use_now(
    stores: Stores, ids: Sequence[str], how: str, session: str | None, at: datetime
) -> str | None:
    """Note it, at most once per memory, session and day, so that an agent that asks in a loop
    does not make a memory look important. A full disk must not keep anybody from reading."""
    grade = {"n": WHISPER_COUNT} if how == WHISPER_USE else {}
    try:
        known = stores.log.used_today(ids, session, at, whispers=how == WHISPER_USE)
        bodies = [
            {"memory": each, "how": how, "session": session, **grade}
            for each in ids
            if each not in known
        ]
        events = [replace(new_event(stores, EventKind.USED, body), at=at) for body in bodies]
        if events:
            record_events(stores, events, durable=False)
    except Unavailable as error:
        return error.message
    return None
