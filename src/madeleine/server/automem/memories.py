"""Memories: store, look at, change, delete, one or many."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from madeleine.api.memory_operations import (
    forget_memory,
    gather_connected,
    list_memories,
    revise_memory,
    show_memory,
)
from madeleine.api.remember_operations import remember_memories, remember_memory
from madeleine.errors import NoSuchMemory
from madeleine.ingest.importing.automem_words import keep_tags, keep_type
from madeleine.ingest.importing.words import map_type
from madeleine.model.codec import Json
from madeleine.model.draft import normalize_tag, read_draft
from madeleine.model.memory import Memory
from madeleine.server.automem.call import (
    AutomemCall,
    AutomemMissing,
    AutomemRefusal,
    AutomemReply,
    format_moment,
    read_moment,
    read_object,
    read_score,
    read_tags,
)
from madeleine.server.automem.shapes import (
    importance_of,
    join_metadata,
    kept_fields,
    memory_to_automem,
    name_type,
    own_metadata,
)

BATCH_LIMIT = 500
PAGE_SIZE = 1_000  # of our own listing
MAX_LISTED = 20_000
TYPED_CONFIDENCE = 0.9  # of a memory whose type was sent without a confidence


# -- storing -------------------------------------------------------------------------------


def store(call: AutomemCall) -> AutomemReply:
    """Write a memory; that the same text is known already does not matter to AutoMem."""
    began, body = perf_counter(), call.required_body()
    draft = build_draft(call, body)
    answer = call.perform(remember_memory, {**draft, "id": str(uuid.uuid4())})
    memory = answer.memory
    given = memory_to_automem(memory)
    embedding = "provided" if body.get("embedding") else "queued"
    said: Json = {
        "status": "success",
        "memory_id": memory.id,
        "stored_at": given["timestamp"],
        "embedding_status": embedding,
        "qdrant": "stored",
        "enrichment": "queued",
        "query_time_ms": milliseconds(began),
    }
    named = ("timestamp", "updated_at", "last_accessed", "type", "confidence", "metadata")
    return AutomemReply({**said, **{name: given[name] for name in named}}, 201)


def build_draft(call: AutomemCall, body: Mapping[str, object]) -> dict[str, Any]:
    """Return what a client sends as a draft of ours."""
    content = _read_content(body)
    if not content:
        raise AutomemRefusal("'content' is required")
    tags, metadata = read_tags(body.get("tags")), read_object(body.get("metadata"))
    _check_embedding(body.get("embedding"))
    named = {each: f"Invalid {each}" for each in ("updated_at", "last_accessed")}
    for name, problem in named.items():
        read_moment(body.get(name), problem)
    created = read_moment(body.get("timestamp"))
    since = read_moment(body.get("t_valid"), "Invalid t_valid")
    until = read_moment(body.get("t_invalid"), "Invalid t_invalid")
    sent, importance = body.get("type"), body.get("importance")
    typed = isinstance(sent, str) and bool(sent.strip())
    score = read_score(importance)
    kept = {
        "type": keep_type(str(sent)) if typed else None,
        "tags": keep_tags(tags),
        "importance": None if importance is None else score,
        "t_valid": format_moment(since) if since else None,
    }
    draft: dict[str, Any] = {
        "content": content,
        "tags": tags,
        "metadata": join_metadata(metadata, kept),
        "created": format_moment(created) if created else None,
        "valid_until": format_moment(until) if until else None,
    }
    if typed:
        draft["type"] = map_type(sent)
        draft["confidence"] = read_score(body.get("confidence"), TYPED_CONFIDENCE)
    return draft


def _read_content(body: Mapping[str, object]) -> str:
    content = body.get("content")
    if content is not None and not isinstance(content, str):
        raise AutomemRefusal("'content' must be a string")
    return (content or "").strip()


def _check_embedding(given: object) -> None:
    """Refuse what is no vector. We make our own, so any number of numbers will do."""
    if given in (None, ""):
        return
    values: Sequence[object] = given.split(",") if isinstance(given, str) else []
    if isinstance(given, list):
        values = given
    elif not isinstance(given, str):
        raise AutomemRefusal("Embedding must be a list of floats or a comma-separated string")
    if not all(_is_number(each) for each in values):
        raise AutomemRefusal("Embedding must contain numeric values")


def _is_number(value: object) -> bool:
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type]  # what is none is refused
    except (TypeError, ValueError):
        return False


def store_batch(call: AutomemCall) -> AutomemReply:
    """Write many memories, or none if one of them is wrong."""
    began = perf_counter()
    items = (call.body or {}).get("memories")
    if call.body is None or "memories" not in call.body:
        raise AutomemRefusal("JSON body with 'memories' array required")
    if not isinstance(items, list) or not items:
        raise AutomemRefusal("'memories' must be a non-empty array")
    if len(items) > BATCH_LIMIT:
        raise AutomemRefusal(f"Batch size limit is {BATCH_LIMIT} memories per request")
    drafts = [_build_batch_draft(call, place, item) for place, item in enumerate(items)]
    limits = call.reach.context.stores.config.limits
    for draft in drafts:
        read_draft(draft, limits)
    answer = call.perform(remember_memories, {"items": drafts})
    ids = [each.node_id for each in answer.results if each.node_id is not None]
    for each in answer.results:
        if each.error is not None and not ids:
            raise each.error
    said: Json = {
        "status": "success",
        "stored": len(ids),
        "memory_ids": ids,
        "qdrant": f"stored ({len(ids)})",
        "enrichment": "queued",
        "query_time_ms": milliseconds(began),
    }
    return AutomemReply(said, 201)


def _build_batch_draft(call: AutomemCall, place: int, item: object) -> dict[str, Any]:
    """Return the draft of one of many, which is read with more patience than a single one."""
    if not isinstance(item, Mapping):
        raise AutomemRefusal(f"Memory at index {place} must be an object")
    if not _read_content(item):
        raise AutomemRefusal(f"Memory at index {place} missing 'content'")
    taken = ("content", "tags", "importance", "type", "confidence")
    given = {name: item.get(name) for name in taken}
    metadata, timestamp = item.get("metadata"), item.get("timestamp")
    try:
        read_moment(timestamp)
    except AutomemRefusal:
        timestamp = None
    given["metadata"] = metadata if isinstance(metadata, dict) else None
    return {**build_draft(call, {**given, "timestamp": timestamp}), "id": str(uuid.uuid4())}


# -- one memory ----------------------------------------------------------------------------


def look_at(call: AutomemCall) -> AutomemReply:
    memory = _find(call)
    call.perform(show_memory, id=memory.id)  # which notes that it was used
    return AutomemReply({"status": "success", "memory": memory_to_automem(memory)})


def _find(call: AutomemCall) -> Memory:
    """Return the memory in the path, without noting a use."""
    found = find_memories(call, [call.valid_id()]).get(call.id)
    if found is None:
        raise AutomemMissing
    return found


def find_memories(call: AutomemCall, ids: Sequence[str]) -> dict[str, Memory]:
    """Return those of these memories that are there."""
    told = call.perform(gather_connected, {"ids": list(ids), "limit": 1})
    return {each.id: each for each in told.memories if each.id in ids}


def change(call: AutomemCall) -> AutomemReply:
    """Change what a memory says. What is not named stays."""
    call.valid_id()
    body = call.required_body()
    memory = _find(call)
    revision = _build_revision(memory, body)
    if revision:
        call.perform(revise_memory, revision, memory.id)
    return AutomemReply({"status": "success", "memory_id": memory.id})


def _build_revision(memory: Memory, body: Mapping[str, object]) -> dict[str, Any]:
    """Return what a client wants changed as a revision of ours."""
    revision: dict[str, Any] = {}
    kept = dict(kept_fields(memory))
    own = read_object(body["metadata"]) if "metadata" in body else own_metadata(memory)
    if "content" in body:
        revision["content"] = _required_content(body)
    if "tags" in body:
        tags = _read_patched_tags(body["tags"])
        revision["tags"], kept["tags"] = tags, keep_tags(tags)
    sent = body.get("type")
    if isinstance(sent, str) and sent.strip() and sent != name_type(memory):
        revision["type"], kept["type"] = map_type(sent), keep_type(sent)
    if body.get("confidence") is not None:
        revision["confidence"] = read_score(body["confidence"])
    if body.get("importance") is not None and body["importance"] != importance_of(memory):
        kept["importance"] = read_score(body["importance"])
    _change_times(memory, body, revision, kept)
    metadata = join_metadata(own, kept)
    if metadata != dict(memory.metadata or {}):
        revision["metadata"] = metadata or None
    return revision


def _change_times(
    memory: Memory, body: Mapping[str, object], revision: dict[str, Any], kept: dict[str, Any]
) -> None:
    """Add what a client says of times. When a memory was changed or used is what happened, and
    when it was first known stays; so these are read, and not taken over."""
    for name in ("updated_at", "last_accessed"):
        read_moment(body.get(name), f"Invalid {name}")
    created = read_moment(body.get("timestamp"), "Invalid timestamp")
    if created is not None and created != memory.created:
        raise AutomemRefusal("'timestamp' stays what it was when the memory was stored")
    if "t_valid" in body:
        since = read_moment(body["t_valid"], "Invalid t_valid")
        kept["t_valid"] = format_moment(since) if since else None
    if "t_invalid" in body:
        until = read_moment(body["t_invalid"], "Invalid t_invalid")
        revision["valid_until"] = format_moment(until) if until else None
        if until is None and memory.superseded_by is not None:
            revision["superseded_by"] = None


def _required_content(body: Mapping[str, object]) -> str:
    content = _read_content(body)
    if not content:
        raise AutomemRefusal("'content' is required")
    return content


def _read_patched_tags(value: object) -> list[str]:
    if isinstance(value, str):
        value = value.split(",")
    given = value if isinstance(value, list) else []
    return [each.strip() for each in given if isinstance(each, str) and each.strip()]


def delete(call: AutomemCall) -> AutomemReply:
    """Move a memory to the trash."""
    memory = _find(call)
    call.perform(forget_memory, id=memory.id)
    return AutomemReply({"status": "success", "memory_id": memory.id})


# -- by tag --------------------------------------------------------------------------------


def list_by_tag(call: AutomemCall) -> AutomemReply:
    tags = _read_wanted_tags(call)
    limit, offset = call.whole("limit", 20, 1, 200), max(call.whole("offset", 0, 0, 2**31), 0)
    found = sort_by_importance(list_tagged(call, tags))
    page = found[offset : offset + limit]
    said: Json = {
        "status": "success",
        "tags": tags,
        "count": len(page),
        "limit": limit,
        "offset": offset,
        "has_more": offset + limit < len(found),
        "memories": [memory_to_automem(each) for each in page],
    }
    return AutomemReply(said)


def delete_by_tag(call: AutomemCall) -> AutomemReply:
    """Move every memory with one of these tags to the trash, each as a change of its own."""
    tags = _read_wanted_tags(call)
    deleted = 0
    for each in list_tagged(call, tags):
        try:
            call.perform(forget_memory, id=each.id)
        except NoSuchMemory:
            continue  # somebody else was quicker
        deleted += 1
    return AutomemReply({"status": "success", "tags": tags, "deleted_count": deleted})


def _read_wanted_tags(call: AutomemCall) -> list[str]:
    tags = call.texts("tags")
    if not tags:
        raise AutomemRefusal("'tags' query parameter is required")
    return tags


def list_tagged(call: AutomemCall, tags: Sequence[str]) -> list[Memory]:
    """Return all memories with one of these tags, also those that are no longer true."""
    limits = call.reach.context.stores.config.limits
    wanted = {normalize_tag(each, limits) for each in tags} - {""}
    return list_all(call, MAX_LISTED, tags=sorted(wanted), outdated=True) if wanted else []


def list_all(call: AutomemCall, most: int, **chosen: object) -> list[Memory]:
    """Return memories, newest first, as our listing gives them page by page."""
    found: list[Memory] = []
    while len(found) < most:
        size = min(PAGE_SIZE, most - len(found))
        query = {**chosen, "limit": size, "offset": len(found)}
        page = call.perform(list_memories, query=query)
        found.extend(page.memories)
        if len(page.memories) < size:
            break
    return found


def sort_by_importance(found: Sequence[Memory]) -> list[Memory]:
    """Return the most important first, then the newest."""
    return sorted(
        found, key=lambda each: (-importance_of(each), -each.created.timestamp(), each.id)
    )


def milliseconds(began: float) -> float:
    return round((perf_counter() - began) * 1_000, 2)
