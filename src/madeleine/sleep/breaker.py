"""The circuit breaker: a run that would change too much of the store asks about all of it.

Moving to the trash is measured by what is offered: of the memories that are not archived. More
than half of those are never moved there unasked, however few they are.
"""

from __future__ import annotations

from madeleine.model.cause import Cause
from madeleine.model.query import Filter
from madeleine.model.words import Tier
from madeleine.sleep.values import JobContext, StopKind

TINY = 5  # memories; whoever has fewer is trying it out and sees what happens

ALL = Filter(outdated=True)
NOT_ARCHIVED = Filter(
    tiers=tuple(each for each in Tier if each is not Tier.ARCHIVAL), outdated=True
)


def breaker_reason(
    context: JobContext, patches: int, changed: int, trashed: int = 0, asked: int = 0
) -> Cause | None:
    """Return why so many patches about so many memories, of which so many go to the trash, are
    not simply carried out; nothing if they are. `asked` is how many others people were asked about
    lately instead: they count as if they were changed too."""
    if not patches and not trashed:
        return None
    too_much = _changes_too_much(context, patches + asked, changed, asked)
    return too_much or _trashes_too_much(context, patches, trashed)


def _changes_too_much(context: JobContext, patches: int, changed: int, asked: int) -> Cause | None:
    config = context.config
    if patches < config.breaker_least:
        return None
    total = max(context.stores.search.count(ALL, context.now), 1)
    if changed + asked <= config.breaker_share * total:
        return None
    whole = max(total, changed)  # what an earlier round merged is no longer there
    parts = {"changed": changed, "of": whole, "asked_lately": asked, "share": config.breaker_share}
    return Cause(StopKind.TOO_MUCH_CHANGED, parts)


def _trashes_too_much(context: JobContext, patches: int, trashed: int) -> Cause | None:
    if not trashed:
        return None
    config, there = context.config, context.stores.search.count(NOT_ARCHIVED, context.now)
    many = patches >= config.breaker_least or (2 * trashed > there >= TINY)
    if not many or trashed <= config.breaker_share * there:
        return None
    parts = {"trashed": trashed, "of": there, "share": config.breaker_share}
    return Cause(StopKind.TOO_MUCH_TRASHED, parts)
