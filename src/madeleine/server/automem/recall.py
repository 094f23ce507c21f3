"""GET /recall: a question as our recall answers it, or a listing where nothing is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any

from madeleine.api.contract.responses import RecallHit
from madeleine.api.page.search import count_facets
from madeleine.api.recall_operations import recall_memories
from madeleine.language.text_keys import same_text_key
from madeleine.language.times import read_times
from madeleine.model.codec import Json
from madeleine.model.memory import Memory
from madeleine.model.query import MAX_HITS
from madeleine.server.automem.call import (
    AutomemCall,
    AutomemRefusal,
    AutomemReply,
    format_moment,
    read_moment,
)
from madeleine.server.automem.memories import (
    find_memories,
    list_all,
    milliseconds,
    sort_by_importance,
)
from madeleine.server.automem.relations import RelationsFound, find_relations
from madeleine.server.automem.shapes import (
    importance_of,
    is_not_yet_valid,
    is_outdated,
    memory_to_automem,
    name_type,
    tag_prefixes,
    tags_of,
)

DEFAULT_LIMIT = 5
MOST_LISTED = 1_000  # among so many of the newest the most important are looked for
MOST_TAGS = 64  # that a tag may be the beginning of
MOST_QUERIES = 10
PRIORITY = 0.05  # what a hint raises a score by
COMPONENTS = (
    *("vector", "keyword", "metadata", "relation", "tag", "importance"),
    *("confidence", "recency", "exact", "relevance", "context", "evidence"),
)
_WORD = re.compile(r"\w{3,}")
SORTS = ("score", "time_desc", "time_asc", "updated_desc", "updated_asc")


@dataclass(frozen=True, slots=True)
class RecallRow:
    """One memory in the answer."""

    memory: Memory
    score: float
    match_type: str
    query: str | None = None
    parts: Json = field(default_factory=dict)
    summary: str | None = None
    deduped_from: tuple[str, ...] = ()
    more: Json = field(default_factory=dict)
    """What only rows of its kind have."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What a client asks."""

    texts: tuple[str, ...]
    limit: int
    start: datetime | None
    end: datetime | None
    tags: tuple[str, ...]
    tag_mode: str
    tag_match: str
    excluded: tuple[str, ...]
    sort: str
    history: bool
    min_score: float | None
    floor: bool

    @property
    def filters_after(self) -> bool:
        """Whether some of what is found is left out afterwards: then more is looked for."""
        every = self.tag_mode == "all" and len(self.tags) > 1
        return bool(self.excluded) or every or self.sort != "score"


def answer_recall(call: AutomemCall) -> AutomemReply:
    began = perf_counter()
    asked = _read_request(call)
    chosen = _build_filter(call, asked)
    if chosen is None:
        found: list[RecallRow] = []
    elif asked.texts:
        found = _ask_all(call, asked, chosen)
    else:
        found = _list_rows(call, asked, chosen)
    found = _add_priorities(call, found)
    now = call.now()
    current = [each for each in found if asked.history or not is_not_yet_valid(each.memory, now)]
    kept = [each for each in current if _passes(each.memory, asked)]
    distinct = _merge_alike(kept)
    above = [each for each in distinct if asked.min_score is None or each.score >= asked.min_score]
    rows = _sort_rows(above, asked.sort)[: asked.limit]
    relations = find_relations(call, [each.memory.id for each in rows]) if rows else None
    expanded = _expand(call, asked, rows, relations) if relations is not None else []
    results = [_row_to_json(each, relations) for each in (*rows, *expanded)]
    answer = _build_answer(call, asked, results)
    answer["dedup_removed"] = len(kept) - len(distinct)
    if not asked.history:
        answer["state_filter"] = {
            "current_only": True,
            "suppressed_count": len(found) - len(current),
            "replacement_count": 0,
        }
    if asked.min_score is not None:
        answer["score_filter"] = {
            "min_score": asked.min_score,
            "adaptive_floor": None,
            "filtered_count": len(distinct) - len(above),
        }
    if call.flag("expand_relations", "expand_associations", "expand"):
        answer["expansion"] = _describe_expansion(call, rows, expanded)
    answer["query_time_ms"] = milliseconds(began)
    return AutomemReply(answer)


# -- what is asked -------------------------------------------------------------------------


def _read_request(call: AutomemCall) -> RecallRequest:
    query = call.text("query")
    texts = [each for each in (query, *call.texts("queries", split=True)) if each and each != "*"]
    start, end = _read_window(call)
    sort = call.choice(("sort", "order_by"), SORTS)
    if not texts and (start or end) and not call.text("sort", "order_by"):
        sort = "time_desc"
    return RecallRequest(
        texts=tuple(dict.fromkeys(texts))[:MOST_QUERIES],
        limit=call.whole("limit", DEFAULT_LIMIT, 1, MAX_HITS),
        start=start,
        end=end,
        tags=tuple(call.texts("tags")),
        tag_mode=call.choice(("tag_mode",), ("any", "all")),
        tag_match=call.choice(("tag_match",), ("prefix", "exact")),
        excluded=tuple(each.lower() for each in call.texts("exclude_tags", split=True)),
        sort=sort,
        history=_wants_history(call),
        min_score=call.unit("min_score"),
        floor=call.flag("adaptive_floor", default=True),
    )


def _wants_history(call: AutomemCall) -> bool:
    said = call.text("current_only").lower()
    if said:
        return not call.flag("current_only", default=True)
    mode = call.text("state_mode").lower() or "current"
    if mode not in ("current", "history"):
        raise AutomemRefusal("'state_mode' must be 'current' or 'history'")
    return mode == "history"


def _read_window(call: AutomemCall) -> tuple[datetime | None, datetime | None]:
    """Return the first moment that is asked for and the last."""
    phrase = call.text("time_query", "time").lower().replace("this day", "today")
    span = next(iter(read_times(phrase, call.now())), None) if phrase else None
    start = read_moment(call.text("start"), "Invalid start time")
    end = read_moment(call.text("end"), "Invalid end time")
    if span is not None:
        start = start or span.start
        end = end or (span.end and span.end - timedelta(microseconds=1))
    return start, end


def _build_filter(call: AutomemCall, asked: RecallRequest) -> dict[str, Any] | None:
    """Return which memories are meant, as a filter of ours; None if there can be none."""
    chosen: dict[str, Any] = {"outdated": asked.history}
    if asked.start is not None:
        chosen["created_after"] = format_moment(asked.start)
    if asked.end is not None:
        chosen["created_before"] = format_moment(asked.end + timedelta(microseconds=1))
    if not asked.tags:
        return chosen
    tags = [found for each in asked.tags for found in _find_tags(call, each, asked.tag_match)]
    chosen["tags"] = list(dict.fromkeys(tags))[:MOST_TAGS]
    return chosen if chosen["tags"] else None


def _find_tags(call: AutomemCall, wanted: str, match: str) -> list[str]:
    """Return the tags that a tag of a filter stands for: itself, and with `prefix` those that it
    is the beginning of."""
    if match == "exact":
        return [wanted]
    key = ":".join(tag_prefixes([wanted])[-1:])
    first = key.partition(":")[0]
    known = _list_tags(call, first)
    return [each for each in known if key in tag_prefixes([each])] if key else []


def _list_tags(call: AutomemCall, beginning: str) -> list[str]:
    """Return the tags that begin so, the most frequent first."""
    query = {"tag": beginning, "tags": MOST_LISTED}
    return list(call.perform(count_facets, query=query).tags) if beginning else []


def _passes(memory: Memory, asked: RecallRequest) -> bool:
    """Whether a memory passes what our filter cannot say."""
    tags = [each.lower() for each in tags_of(memory)]
    if any(each.startswith(gone) for each in tags for gone in asked.excluded):
        return False
    if asked.tag_mode == "any" or not asked.tags:
        return True
    prefixes = set(tag_prefixes(tags))
    whole = asked.tag_match == "exact"
    return all(
        (each.lower() in tags) if whole else (":".join(tag_prefixes([each])[-1:]) in prefixes)
        for each in asked.tags
    )


# -- finding -------------------------------------------------------------------------------


def _ask_all(call: AutomemCall, asked: RecallRequest, chosen: dict[str, Any]) -> list[RecallRow]:
    """Ask each question, and keep the best row of each memory."""
    per_query = call.whole("per_query_limit", asked.limit, 1, MAX_HITS)
    many = MAX_HITS if asked.filters_after else max(per_query, asked.limit)
    best: dict[str, RecallRow] = {}
    for text in asked.texts:
        body = {"query": text, "limit": many, "all": not asked.floor, **chosen}
        for hit in call.perform(recall_memories, body).results:
            row = _build_hit(hit, text)
            if row.score > best.get(row.memory.id, replace(row, score=-1.0)).score:
                best[row.memory.id] = row
    return list(best.values())


def _build_hit(hit: RecallHit, text: str) -> RecallRow:
    words, meaning = hit.match.get("text", 0.0), hit.match.get("meaning", 0.0)
    parts: Json = {"vector": meaning, "keyword": words}
    summary = hit.passage.text if hit.passage is not None else None
    kind = "keyword" if words > meaning else "vector"
    return RecallRow(hit.memory, round(hit.score, 4), kind, text, parts, summary)


def _list_rows(call: AutomemCall, asked: RecallRequest, chosen: dict[str, Any]) -> list[RecallRow]:
    """Return memories where nothing is asked: the most important of the newest."""
    found = list_all(call, MOST_LISTED, **chosen)
    kind = "tag" if asked.tags else "trending"
    return [RecallRow(each, importance_of(each), kind) for each in sort_by_importance(found)]


def _add_priorities(call: AutomemCall, found: list[RecallRow]) -> list[RecallRow]:
    """Raise what a client's hints name, and bring in memories that they name by id."""
    tags = {each.lower() for each in call.texts("context_tags", split=True)}
    types = {each.lower() for each in call.texts("context_types", split=True)}
    ids = call.texts("priority_ids", split=True)[:MAX_HITS]
    if not (tags or types or ids):
        return found
    here = {each.memory.id for each in found}
    missing = [each for each in dict.fromkeys(ids) if each not in here]
    brought = find_memories(call, missing).values() if missing else ()
    rows = [*found, *(RecallRow(each, importance_of(each), "metadata") for each in brought)]

    def is_meant(row: RecallRow) -> bool:
        named = {each.lower() for each in tags_of(row.memory)} & tags
        return bool(named) or name_type(row.memory).lower() in types or row.memory.id in ids

    return [_raise(each) if is_meant(each) else each for each in rows]


def _raise(row: RecallRow) -> RecallRow:
    parts = {**row.parts, "context": PRIORITY}
    return replace(row, score=round(row.score + PRIORITY, 4), parts=parts)


def _merge_alike(found: Iterable[RecallRow]) -> list[RecallRow]:
    """Return the best row of each text, with the ids of all that say the same."""
    by_text: dict[str, list[RecallRow]] = {}
    for each in found:
        by_text.setdefault(same_text_key(each.memory.content), []).append(each)
    merged = []
    for alike in by_text.values():
        best = max(alike, key=lambda each: each.score)
        ids = tuple(each.memory.id for each in alike) if len(alike) > 1 else ()
        merged.append(replace(best, deduped_from=ids))
    return merged


def _sort_rows(found: Sequence[RecallRow], sort: str) -> list[RecallRow]:
    newest = sorted(found, key=lambda each: each.memory.created, reverse=True)
    if sort == "score":
        return sorted(newest, key=lambda each: -each.score)
    by, _, way = sort.partition("_")
    return sorted(
        newest,
        key=lambda each: each.memory.updated if by == "updated" else each.memory.created,
        reverse=way == "desc",
    )


# -- relations -----------------------------------------------------------------------------


def _expand(
    call: AutomemCall, asked: RecallRequest, rows: Sequence[RecallRow], found: RelationsFound
) -> list[RecallRow]:
    """Return memories that those in the answer are related with."""
    if not call.flag("expand_relations", "expand_associations", "expand"):
        return []
    most = call.whole("expansion_limit", 25, 1, 500)
    each_most = call.whole("relation_limit", 5, 1, 200)
    least, weakest = call.unit("expand_min_importance"), call.unit("expand_min_strength")
    within_tags, now = call.flag("expand_respect_tags") and bool(asked.tags), call.now()
    seen = {each.memory.id for each in rows}
    expanded: list[RecallRow] = []
    for rank, seed in enumerate(rows, 1):
        taken = 0
        for relation, other in found.around(seed.memory.id):
            if other.id in seen or not relation.is_authored or taken == each_most:
                continue
            if relation.strength < (weakest or 0) or importance_of(other) < (least or 0):
                continue
            if not asked.history and (is_outdated(other, now) or is_not_yet_valid(other, now)):
                continue
            if within_tags and not _has_tag(other, asked):
                continue
            seen.add(other.id)
            taken += 1
            told = {
                **relation.to_json(),
                "from": seed.memory.id,
                "seed_rank": rank,
                "seed_score": seed.score,
            }
            score = round(seed.score * relation.strength, 4)
            more = {"relations": [told], "related_to": [told], "relation_score": score}
            row = RecallRow(other, score, "relation", parts={"relation": score}, more=more)
            expanded.append(row)
    return sorted(expanded, key=lambda each: -each.score)[:most]


def _has_tag(memory: Memory, asked: RecallRequest) -> bool:
    prefixes = set(tag_prefixes(tags_of(memory)))
    wanted = {":".join(tag_prefixes([each])[-1:]) for each in asked.tags}
    return not prefixes.isdisjoint(wanted)


def _describe_expansion(
    call: AutomemCall, rows: Sequence[RecallRow], expanded: Sequence[RecallRow]
) -> Json:
    return {
        "enabled": True,
        "seed_count": len(rows),
        "expanded_count": len(expanded),
        "relation_limit": call.whole("relation_limit", 5, 1, 200),
        "expansion_limit": call.whole("expansion_limit", 25, 1, 500),
        "respect_tags": call.flag("expand_respect_tags"),
    }


# -- the answer ----------------------------------------------------------------------------


def _row_to_json(row: RecallRow, relations: RelationsFound | None) -> Json:
    memory = memory_to_automem(row.memory)
    if row.summary is not None:
        memory["summary"] = row.summary
    parts: Json = dict.fromkeys(COMPONENTS, 0.0)
    parts.update(importance=importance_of(row.memory), confidence=row.memory.confidence)
    parts.update(row.parts)
    given: Json = {
        "id": row.memory.id,
        "memory": memory,
        "final_score": row.score,
        "score": row.score,
        "original_score": row.score,
        "match_score": row.score,
        "match_type": row.match_type,
        "source": "graph" if row.query is None else "qdrant",
        "score_components": parts,
        "relations": [] if relations is None else relations.outgoing(row.memory.id),
        **row.more,
    }
    if row.more:
        del given["original_score"]
    if row.query is not None:
        given["_query"] = row.query
    if row.deduped_from:
        given["deduped_from"] = list(row.deduped_from)
    return given


def _build_answer(call: AutomemCall, asked: RecallRequest, results: list[Json]) -> Json:
    matched = any(each["match_type"] == "vector" for each in results)
    answer: Json = {
        "status": "success",
        "query": call.text("query"),
        "results": results,
        "count": len(results),
        "sort": asked.sort,
        "state_mode": "history" if asked.history else "current",
        "vector_search": {"enabled": bool(asked.texts), "matched": matched},
        "tag_mode": asked.tag_mode,
        "tag_match": asked.tag_match,
    }
    if len(asked.texts) == 1:
        answer["keywords"] = _WORD.findall(asked.texts[0].lower())
    elif asked.texts:
        answer["queries"] = list(asked.texts)
    if asked.start or asked.end:
        answer["time_window"] = {
            "start": format_moment(asked.start) if asked.start else None,
            "end": format_moment(asked.end) if asked.end else None,
        }
    if asked.tags:
        answer["tags"] = list(asked.tags)
        answer["tag_scope"] = {"filtered": True, "pool_size_hint": None, "gated_low_evidence": 0}
    if asked.excluded:
        answer["exclude_tags"] = call.texts("exclude_tags", split=True)
    return answer
