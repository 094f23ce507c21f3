"""What was kept of sessions and somebody took back since: the corrected value takes its place.

"No, sorry, 90" may come when the sentence with the 60 is a memory already: the hook reads on every
ten prompts, and a session may be resumed on another day. Then the memory of what was meant in the
end replaces the first one, in one change with its undo.

In the session of the memory a person may correct themselves in few words. In another session only a
message counts that says itself what is wrong, and speaks of the same (I12).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from madeleine.language.late_pattern import compile_late
from madeleine.language.replacements import find_replacement
from madeleine.language.spoken_corrections import (
    correct_earlier,
    ends_earlier_value,
    is_about_value,
    takes_value_back,
)
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.words import EXCHANGE_TAG
from madeleine.write.stores import Stores

READ_MOST = 60  # memories of a space that came from sessions, the newest
NEAR_MOST = 8  # of those that are nearest to what is said, from whichever session
LEAST_SIMILARITY = 0.35
TURNS_BACK = 12  # in which somebody may take back what they said in the same session
BARE_TURNS_BACK = 1  # in which "no, 90" is about what was said before

_QUOTED = compile_late(r"\s\(“[^”]*”\)$")


def list_kept(
    stores: Stores, text: str, space: str | None, tag: str, before: datetime
) -> list[Memory]:
    """Return the memories of sessions that a text may correct, those of the nearest words first."""
    chosen = Filter(spaces=tuple(dict.fromkeys((space, None))), tags=(tag,))
    now, embedder = stores.clock.now(), stores.minds.embedder
    found: dict[str, Memory] = {}
    if embedder is not None:
        vector = embedder.ask(text).vector
        near = stores.search.search_vector(vector, chosen, now, NEAR_MOST, LEAST_SIMILARITY)
        found |= stores.search.memories(each.id for each in near)
    found |= {each.id: each for each in stores.search.listing(chosen, now, READ_MOST)}
    return [
        each
        for each in found.values()
        if EXCHANGE_TAG not in each.tags and each.created <= before and each.origin is not None
    ]


def is_taken_back(memory: Memory, message: str, session: str, turn: int, space: str | None) -> bool:
    """Whether a message takes back what a memory of a session says."""
    said = plain_text(memory, space)
    if ends_earlier_value(message, said) or find_replacement(said, message) is not None:
        return True
    return _is_of_session(memory, session, turn, TURNS_BACK) and takes_value_back(message, said)


def correct_kept(
    memories: Sequence[Memory], message: str, lead: str, session: str, turn: int, space: str | None
) -> tuple[Memory, str] | None:
    """Return the memory whose value a message only gives anew ("no, sorry, 90"), and what it says
    with that value."""
    for memory in memories:
        said = plain_text(memory, space)
        if _is_of_session(memory, session, turn, BARE_TURNS_BACK) and is_about_value(lead, said):
            meant = correct_earlier(said, message)
            if meant is not None:
                return memory, meant
    return None


def plain_text(memory: Memory, space: str | None) -> str:
    """Return what was said, without the name of the space and what was quoted beside it."""
    return _QUOTED.sub("", re.sub(rf"^{re.escape(space or '')}:\s", "", memory.content))


def _is_of_session(memory: Memory, session: str, turn: int, turns: int) -> bool:
    origin = memory.origin
    if origin is None or origin.session != session or origin.turn is None:
        return False
    return 0 < turn - origin.turn <= turns
