"""Why a run stopped, in words: as its report says it in the journal and at every door."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from madeleine.model.cause import Cause
from madeleine.sleep.values import AskedInstead, StopKind


def render_stop(stop: Cause) -> str:
    """Return the sentence about why a run did not do all that it planned."""
    match stop.kind:
        case StopKind.ASKED_TO_STOP:
            return f"asked to stop{_render_room(stop.parts)}"
        case StopKind.NO_ROOM_FOR_PROPOSALS:
            return f"{stop.parts['without_room']} proposals found no room"
        case StopKind.PAIRS_WAIT:
            waiting = f"{stop.parts['memories']} memories are compared in a later run"
            return f"{waiting}{_render_room(stop.parts)}"
        case _:
            return _render_breaker(stop.kind, stop.parts)


def _render_breaker(kind: str, parts: Mapping[str, Any]) -> str:
    if kind == StopKind.TOO_MUCH_TRASHED:
        those = f"{parts['trashed']} of {parts['of']} memories that are not archived"
        would = f"{those} would go to the trash"
    else:
        asked = parts.get("asked_lately")
        lately = f" and {asked} others were asked about lately" if asked else ""
        would = f"{parts['changed']} of {parts['of']} memories would change{lately}"
    instead = _INSTEAD[parts["instead"]].format(**parts)
    return f"{would}, more than {parts['share']:.0%}: {instead}{_render_room(parts)}"


def _render_room(parts: Mapping[str, Any]) -> str:
    left = parts.get("without_room")
    return f"; {left} of them found no room" if left else ""


_INSTEAD: Mapping[str, str] = {
    AskedInstead.ALL: "you are asked instead",
    AskedInstead.SOME: "you are asked about {asked} of them",
    AskedInstead.LEAST_RELEVANT: "you are asked about those that are least relevant",
    AskedInstead.BEFORE: "a proposal about some of them waits for you",
}
