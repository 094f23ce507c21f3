"""Relations: what a client draws between two memories, as connections of ours.

`INVALIDATED_BY` and `EVOLVED_INTO` lead from the old memory to the new one and say that the old
one is no longer true: it is retired, and our arrow leads back from the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from madeleine.api.memory_operations import link_memories, retire_memory
from madeleine.api.request_fields import MAX_REASON_CHARS
from madeleine.errors import MadeleineError, Missing
from madeleine.ingest.importing.automem_words import AUTHORABLE, RELATIONS
from madeleine.model.codec import Json
from madeleine.server.automem.call import (
    AutomemCall,
    AutomemMissing,
    AutomemRefusal,
    AutomemReply,
    is_uuid,
    read_score,
)
from madeleine.server.automem.memories import find_memories

BATCH_LIMIT = 500
NOT_BOTH = "One or both memories do not exist"
PROPERTIES: Mapping[str, tuple[str, ...]] = {
    "PREFERS_OVER": ("context", "reason"),
    "EXEMPLIFIES": ("pattern_type", "confidence"),
    "CONTRADICTS": ("resolution", "reason"),
    "REINFORCES": ("observations",),
    "INVALIDATED_BY": ("reason", "timestamp"),
    "EVOLVED_INTO": ("confidence", "reason"),
    "DERIVED_FROM": ("transformation", "confidence"),
    "PART_OF": ("role", "context"),
}
"""What a relation may say beside its strength, and is answered with."""


class WantedAssociation(NamedTuple):
    """What a client wants drawn."""

    one: str
    other: str
    name: str
    strength: float
    said: Json


def associate(call: AutomemCall) -> AutomemReply:
    """Draw one relation, or many."""
    body = call.required_body()
    if isinstance(body.get("associations"), list):
        return _associate_many(call, body["associations"])
    strength = read_score(body.get("strength"))
    wanted = _read_association(body, strength, "memory_id must be a valid UUID")
    _draw(call, wanted)
    return AutomemReply(
        {
            "status": "success",
            "message": f"Association created between {wanted.one} and {wanted.other}",
            "relation_type": wanted.name,
            "strength": wanted.strength,
            **wanted.said,
        },
        201,
    )


def _associate_many(call: AutomemCall, items: object) -> AutomemReply:
    """Draw each that can be drawn, and say of the others why not."""
    if not isinstance(items, list) or not items:
        raise AutomemRefusal("'associations' must be a non-empty array")
    if len(items) > BATCH_LIMIT:
        raise AutomemRefusal(f"Batch size limit is {BATCH_LIMIT} associations per request")
    strengths = [
        read_score(each.get("strength")) if isinstance(each, Mapping) else 0.0 for each in items
    ]
    drawn: list[Json] = []
    failed: list[Json] = []
    for place, (item, strength) in enumerate(zip(items, strengths, strict=True)):
        try:
            wanted = _read_item(item, strength)
            _draw(call, wanted)
        except MadeleineError as refused:
            failed.append({"index": place, "reason": refused.message})
            continue
        drawn.append(
            {
                "index": place,
                "memory1_id": wanted.one,
                "memory2_id": wanted.other,
                "relation_type": wanted.name,
                "strength": wanted.strength,
            }
        )
    said: Json = {
        "status": "partial_success" if failed else "success",
        "created_count": len(drawn),
        "failed_count": len(failed),
        "succeeded": drawn,
        "failed": failed,
        "summary": f"{len(drawn)}/{len(items)} associations created successfully",
    }
    return AutomemReply(said, 207 if failed else 201)


def _read_item(item: object, strength: float) -> WantedAssociation:
    if not isinstance(item, Mapping):
        raise AutomemRefusal("Association item must be an object")
    for name in ("memory1_id", "memory2_id"):
        given = str(item.get(name) or "").strip()
        if given and not is_uuid(given):
            raise AutomemRefusal(f"'{name}' must be a valid UUID")
    return _read_association(item, strength, "")


def _read_association(
    body: Mapping[str, object], strength: float, no_uuid: str
) -> WantedAssociation:
    one, other = (str(body.get(each) or "").strip() for each in ("memory1_id", "memory2_id"))
    if not one or not other:
        raise AutomemRefusal("'memory1_id' and 'memory2_id' are required")
    if not (is_uuid(one) and is_uuid(other)):
        raise AutomemRefusal(no_uuid)
    if one == other:
        raise AutomemRefusal("Cannot associate a memory with itself")
    name = str(body.get("type") or "RELATES_TO").strip().upper()
    if name not in AUTHORABLE:
        raise AutomemRefusal(f"Relation type must be one of {list(AUTHORABLE)}")
    said = {each: body[each] for each in PROPERTIES.get(name, ()) if body.get(each) is not None}
    return WantedAssociation(one, other, name, strength, said)


def _draw(call: AutomemCall, wanted: WantedAssociation) -> None:
    if len(find_memories(call, [wanted.one, wanted.other])) < 2:
        raise AutomemMissing(NOT_BOTH)
    relation, reason = RELATIONS[wanted.name], _word_properties(wanted.said)
    start, end = wanted.one, wanted.other
    try:
        if relation.turned:
            start, end = end, start
            body = {"superseded_by": wanted.other, "reason": reason}
            call.perform(retire_memory, body, wanted.one)
        link = {
            "source_id": start,
            "target_id": end,
            "edge": relation.edge.value,
            "weight": wanted.strength,
            "kind": relation.kind,
            "reason": reason,
        }
        call.perform(link_memories, link)
    except Missing as missing:
        raise AutomemMissing(NOT_BOTH) from missing


def _word_properties(said: Mapping[str, object]) -> str | None:
    """Return what a relation says beside its strength, as the reason that people read."""
    parts = [str(value) if name == "reason" else f"{name}: {value}" for name, value in said.items()]
    return "; ".join(parts)[:MAX_REASON_CHARS] or None
