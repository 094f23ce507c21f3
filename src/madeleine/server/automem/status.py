"""How things stand, and what AutoMem calls administration."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from madeleine.api.home_operations import rebuild_index, reconcile_index, report_status
from madeleine.api.sleep_operations import run_task
from madeleine.ingest.importing.automem_words import META_PATTERN
from madeleine.model.codec import Json
from madeleine.model.memory import Memory
from madeleine.server.automem.call import AutomemCall, AutomemRefusal, AutomemReply, format_moment
from madeleine.server.automem.memories import list_all, list_tagged, sort_by_importance
from madeleine.server.automem.relations import build_row
from madeleine.server.automem.shapes import importance_of, name_type, own_metadata, tags_of

ANALYZED = 2_000  # newest memories
PATTERNS = 20
LESSONS, RULES = 10, 5
LESSON_TAGS = ("critical", "lesson", "ai-assistant")
RULE_TAGS = ("system", "memory-recall")
CRITICAL = 0.9
LOW, HIGH = 0.4, 0.7  # where confidences are cut
ENTITY_TAG = "entity:"
LINKING_JOB = "auto_linker"


def report_health(call: AutomemCall) -> AutomemReply:
    """Say that we answer. How much there is, is told to who may ask."""
    counts = None if call.is_stranger else call.perform(report_status).counts
    unread = counts.unembedded if counts else 0
    said: Json = {
        "status": "healthy",
        "falkordb": "connected",
        "qdrant": "connected",
        "graph": "memories",
        "memory_count": counts.memories if counts else None,
        "vector_count": counts.memories - unread if counts else None,
        "sync_status": ("drift_detected" if unread else "synced") if counts else "unknown",
        "vector_dimensions": {
            "configured": 0,
            "effective": None,
            "collection": None,
            "mismatch": False,
        },
        "enrichment": {
            "status": "running",
            "queue_depth": unread,
            "pending": unread,
            "inflight": 0,
            "processed": counts.memories - unread if counts else 0,
            "failed": 0,
        },
        "timestamp": format_moment(call.now()),
    }
    return AutomemReply(said)


def report_enrichment(call: AutomemCall) -> AutomemReply:
    """Return what waits to be read by the model; the rest is done when a memory is written."""
    counts = call.perform(report_status).counts
    done = counts.memories - counts.unembedded
    said: Json = {
        "status": "running",
        "queue_size": counts.unembedded,
        "pending": counts.unembedded,
        "inflight": 0,
        "max_attempts": 3,
        "stats": {
            "processed_total": done,
            "successes": done,
            "failures": 0,
            "last_success_id": None,
            "last_success_at": None,
            "last_error": None,
            "last_error_at": None,
        },
        "classification": {
            "llm_attempts": 0,
            "llm_successes": 0,
            "fallbacks": 0,
            "pattern_classifications": 0,
            "last_error": None,
            "last_error_at": None,
        },
    }
    return AutomemReply(said)


def reprocess(call: AutomemCall) -> AutomemReply:
    """Have memories looked at again: the job that links them runs."""
    given = (call.body or {}).get("ids")
    named = given if isinstance(given, list) else str(given or "").split(",")
    ids = {str(each).strip() for each in named} | set(call.texts("ids", split=True))
    wanted = sorted(ids - {""})
    if not wanted:
        raise AutomemRefusal("No memory ids provided for reprocessing")
    call.perform(run_task, {}, LINKING_JOB, {"wait": False})
    return AutomemReply({"status": "queued", "count": len(wanted), "ids": wanted}, 202)


def reembed(call: AutomemCall) -> AutomemReply:
    """Have read what the model has not read yet; with `force` make the index anew."""
    body = call.body or {}
    before = call.perform(report_status).counts
    if body.get("force") is True:
        call.perform(rebuild_index)
    else:
        call.perform(reconcile_index)
    left = call.perform(report_status).counts.unembedded
    done = before.memories if body.get("force") is True else before.unembedded - left
    said: Json = {
        "status": "complete",
        "processed": max(done, 0),
        "failed": left,
        "total": max(done, 0) + left,
        "batch_size": body.get("batch_size") or 32,
        "metadata_preserved": True,
    }
    return AutomemReply(said)


def sync(call: AutomemCall) -> AutomemReply:
    """Make the index say what the files say."""
    counts = call.perform(report_status).counts
    both: Json = {
        "falkordb_count": counts.memories,
        "qdrant_count": counts.memories - counts.unembedded,
        "orphaned_count": 0,
    }
    if (call.body or {}).get("dry_run") is True:
        lists: Json = {"missing_sample": [], "orphaned_sample": []}
        said = {"status": "dry_run", **both, "missing_count": counts.unembedded, **lists}
        return AutomemReply(said)
    report = call.perform(reconcile_index)
    status = "complete" if report.written or report.dropped else "already_synced"
    return AutomemReply({"status": status, **both, "synced": report.written, "failed": 0})


def recall_at_start(call: AutomemCall) -> AutomemReply:
    """Return lessons and rules, by their tags."""
    lessons = sort_by_importance(_list_current(call, LESSON_TAGS))[:LESSONS]
    rules = sort_by_importance(_list_current(call, RULE_TAGS))[:RULES]
    said: Json = {
        "status": "success",
        "critical_lessons": [
            {
                "id": each.id,
                "content": each.content,
                "tags": tags_of(each),
                "importance": importance_of(each),
                "type": name_type(each),
                "metadata": own_metadata(each),
            }
            for each in lessons
        ],
        "system_rules": [
            {"id": each.id, "content": each.content, "tags": tags_of(each)} for each in rules
        ],
        "lesson_count": len(lessons),
        "has_critical": any(importance_of(each) >= CRITICAL for each in lessons),
        "summary": f"Recalled {len(lessons)} lesson(s) and {len(rules)} system rule(s)",
    }
    return AutomemReply(said)


def _list_current(call: AutomemCall, tags: Sequence[str]) -> list[Memory]:
    """Return memories with one of these tags that are still true."""
    now = call.now()
    found = list_tagged(call, tags)
    return [each for each in found if each.valid_until is None or each.valid_until > now]


def analyze(call: AutomemCall) -> AutomemReply:
    """Return what there is, in numbers."""
    found = list_all(call, ANALYZED)
    by_type: dict[str, list[Memory]] = defaultdict(list)
    by_hour: dict[str, list[Memory]] = defaultdict(list)
    for each in found:
        by_type[name_type(each)].append(each)
        by_hour[f"hour_{each.created.hour:02d}"].append(each)
    entities = Counter(
        tag.rpartition(":")[2] for each in found for tag in each.tags if tag.startswith(ENTITY_TAG)
    )
    analytics: Json = {
        "memory_types": {
            name: {
                "count": len(some),
                "average_confidence": _mean(each.confidence for each in some),
            }
            for name, some in by_type.items()
        },
        "patterns": [_describe_pattern(each) for each in by_type[META_PATTERN][:PATTERNS]],
        "preferences": _list_preferences(found),
        "temporal_insights": {
            hour: {
                "count": len(some),
                "avg_importance": _mean(importance_of(each) for each in some),
            }
            for hour, some in sorted(by_hour.items())
        },
        "entity_frequency": dict(entities),
        "confidence_distribution": {
            "low": sum(each.confidence < LOW for each in found),
            "medium": sum(LOW <= each.confidence < HIGH for each in found),
            "high": sum(each.confidence >= HIGH for each in found),
        },
    }
    return AutomemReply({"status": "success", "analytics": analytics, "elapsed_ms": 0})


def _describe_pattern(summary: Memory) -> Json:
    return {
        "type": META_PATTERN,
        "description": summary.title or summary.content,
        "confidence": summary.confidence,
        "observations": len(summary.connections),
    }


def _list_preferences(found: Sequence[Memory]) -> list[Json]:
    known: Mapping[str, Memory] = {each.id: each for each in found}
    rows = [build_row(each.id, drawn) for each in found for drawn in each.connections]
    return [
        {
            "prefers": known[each.start].content,
            "over": known[each.end].content,
            "context": each.reason,
            "strength": each.strength,
        }
        for each in rows
        if each.name == "PREFERS_OVER" and each.start in known and each.end in known
    ]


def _mean(values: Iterable[float]) -> float:
    """Return the mean as AutoMem writes it; there is at least one value."""
    listed = list(values)
    return round(sum(listed) / len(listed), 4)
