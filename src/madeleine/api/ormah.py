"""Ormah's own clients: the few answers that they read in another shape than ours.

Its command line, hooks and MCP adapter show no token. `server.trust_loopback` lets them in, and
whoever came in on that trust alone is a *guest*, who is answered as Ormah's server would answer.
Most routes need nothing for it, since they have `text` and `node_id`; the others stand here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from madeleine.errors import MadeleineError, Unavailable
from madeleine.model.codec import Json
from madeleine.whisper.log import entry_ids, is_delivered
from madeleine.write.resolve import resolve_id

if TYPE_CHECKING:
    from madeleine.api.call import Call
    from madeleine.bootstrap import HomeContext

# What its MCP adapter shows of a text that is one of two, or one of a cluster. An agent must not
# decide about what it was not shown.
PAIR_CHARS = 300
CLUSTER_CHARS = 200
WHISPERS_LOOKED_AT = 200  # newest first, for the one that a feedback is about

_VERBS = {"delete": "forget", "update": "revise", "mark_outdated": "retire"}
_PAIRS = ("link_candidates", "conflict_candidates", "merge_candidates")

Told = Json | list[Json]


class NotAllTakenIn(Unavailable):
    """Of a conversation only a part was kept; sent again, the rest is taken in."""

    kind = "not_all_taken_in"

    def __init__(self, why: str) -> None:
        super().__init__(f"not all of it was taken in: {why}", hint="send it again later", why=why)


def detail(error: MadeleineError) -> str:
    """Return an error as the text that its clients show."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


def asked(context: HomeContext, name: str, call: Call) -> Call:
    """Return a guest's request in our words."""
    if name == "feedback":
        return replace(call, body=_with_whisper(context, call.body))
    if name == "audit" and "operation" in call.query:
        said = str(call.query["operation"])
        return replace(call, query={**call.query, "operation": _VERBS.get(said, said)})
    return call


def _with_whisper(context: HomeContext, body: Mapping[str, object]) -> Mapping[str, object]:
    """Return a feedback with the whisper it is about: its clients number whispers, and are told
    no number of ours. The newest delivered whisper of that memory is meant, if there is one."""
    given = {key: value for key, value in body.items() if key != "whisper_log_id"}
    if isinstance(body.get("whisper_log_id"), str) or not isinstance(body.get("node_id"), str):
        return body
    stores = context.stores
    memory = resolve_id(stores, str(body["node_id"]))
    newest = stores.log.whispers(WHISPERS_LOOKED_AT)
    entries = [each for each in newest if is_delivered(each.body)]
    about = next((each.id for each in entries if memory in entry_ids(each, "injected")), None)
    return given if about is None else {**given, "whisper_log_id": about}


def told(name: str, answer: Json) -> Told:
    """Return an answer as a guest reads it."""
    shape = _SHAPES.get(name)
    return answer if shape is None else shape(answer)


# -- lists, which stand there without anything around them ---------------------------------------


def _proposals(answer: Json) -> Told:
    return list(_items(answer, "proposals"))


def _decided(answer: Json) -> Told:
    proposal: Any = answer["proposal"]
    merged = proposal["type"] == "merge" and answer["change"]
    return {
        **answer,
        "status": proposal["status"],
        "proposal_id": proposal["id"],
        "merge_result": answer["text"] if merged else None,
        "conflict_result": None,
    }


def _merges(answer: Json) -> Told:
    return [
        {
            **each,
            "kept_node_id": each["kept"] or "",
            "removed_node_id": each["removed"] or "",
            "merged_at": each["at"],
            "undone_at": None if each["outcome"] in (None, "done") else each["outcome"],
        }
        for each in _items(answer, "merges")
    ]


def _audit(answer: Json) -> Told:
    words = {ours: theirs for theirs, ours in _VERBS.items()}
    return [
        {
            **each,
            "operation": words.get(verb := str(each["body"].get("verb") or each["kind"]), verb),
            "node_id": _memory_of(each["body"]),
            "detail": each["body"].get("reason"),
            "performed_at": each["at"],
        }
        for each in _items(answer, "events")
    ]


def _memory_of(body: Mapping[str, Any]) -> str:
    """Return the memory that an event is about: the one it names, or the first it changed."""
    edits = body.get("edits") or [{}]
    return str(body.get("memory") or edits[0].get("memory") or body.get("proposal") or "")


def _items(answer: Json, name: str) -> Sequence[Any]:
    listed = answer[name]
    return listed if isinstance(listed, list) else []


# -- taking in -----------------------------------------------------------------------------------


def _ingested(answer: Json) -> Told:
    """Refuse where something was left out: its hook moves its cursor after any other answer, and
    what it sends again is known by then."""
    if answer["held_back"] and answer["status"] != "dry_run":
        raise NotAllTakenIn("; ".join(str(each) for each in _items(answer, "notes")))
    return answer


# -- maintenance ---------------------------------------------------------------------------------


def _maintenance(answer: Json) -> Told:
    """Return a batch, what became of one, or that there is none. `busy` is its word for: stop."""
    status = answer["status"]
    if status == "ready":
        return {**answer, "status": "awaiting_results", "batches": _batches(answer)}
    if status == "done":
        return {**answer, "status": "completed", "apply_summary": _summary(answer)}
    return {**answer, "status": "busy"}


def _batches(answer: Json) -> Json:
    memories: Any = answer["memories"]
    batches: Json = {name: _pairs(_items(answer, name), memories) for name in _PAIRS}
    clusters = [
        [_node(each, memories) for each in cluster["node_ids"]]
        for cluster in _items(answer, "consolidation_clusters")
        if memories.keys() >= set(cluster["node_ids"])
    ]
    batches["consolidation_clusters"] = [each for each in clusters if _whole(each, CLUSTER_CHARS)]
    counts = [f"{len(_items(batches, name))} {name.replace('_', ' ')}" for name in batches]
    summary = ", ".join(each for each in counts if not each.startswith("0 "))
    return {**batches, "summary": summary or "nothing to process"}


def _pairs(asked_about: Sequence[Any], memories: Mapping[str, Any]) -> list[Json]:
    pairs = [
        {
            **each,
            "node_a": _node(each["node_a_id"], memories),
            "node_b": _node(each["node_b_id"], memories),
        }
        for each in asked_about
        if memories.keys() >= {each["node_a_id"], each["node_b_id"]}
    ]
    return [each for each in pairs if _whole((each["node_a"], each["node_b"]), PAIR_CHARS)]


def _node(memory_id: str, memories: Mapping[str, Any]) -> Json:
    known = memories[memory_id]
    return {"space": None, **known, "id": memory_id, "title": known.get("title") or ""}


def _whole(nodes: Sequence[Json], chars: int) -> bool:
    """Whether a client shows all that these say."""
    return all(len(str(each["content"])) <= chars for each in nodes)


def _summary(answer: Json) -> Json:
    """Return what was done: a line for each job."""
    reports = _items(answer, "reports")
    counts = {each["job"]: each.get("applied", 0) for each in reports}
    return {**counts, "text": answer["text"]}


_SHAPES: Mapping[str, Callable[[Json], Told]] = {
    "proposals": _proposals,
    "decide": _decided,
    "merges": _merges,
    "audit": _audit,
    "maintenance": _maintenance,
    "hand_in": _maintenance,
    "ingest_conversation": _ingested,
}
