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
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

# How much its MCP adapter shows of a text in a pair, or in a cluster. An agent must not decide
# about text that it was not shown.
MAX_PAIR_CHARS = 300
MAX_CLUSTER_CHARS = 200
MAX_WHISPERS_READ = 200  # newest first, for the one that a feedback is about

_VERB_BY_ORMAH_OPERATION = {"delete": "forget", "update": "revise", "mark_outdated": "retire"}
_PAIR_LISTS = ("link_candidates", "conflict_candidates", "merge_candidates")

OrmahAnswer = Json | list[Json]


class NotAllTakenIn(Unavailable):
    """Of a conversation only a part was kept; sent again, the rest is taken in."""

    kind = "not_all_taken_in"

    def __init__(self, why: str) -> None:
        super().__init__(f"not all of it was taken in: {why}", hint="send it again later", why=why)


def render_detail(error: MadeleineError) -> str:
    """Return an error as the text that its clients show."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


def translate_request(context: HomeContext, name: str, call: OperationCall) -> OperationCall:
    """Return a guest's request in our words."""
    if name == "feedback":
        return replace(call, body=_add_whisper(context, call.body))
    if name == "audit" and "operation" in call.query:
        said = str(call.query["operation"])
        return replace(
            call, query={**call.query, "operation": _VERB_BY_ORMAH_OPERATION.get(said, said)}
        )
    return call


def _add_whisper(context: HomeContext, body: Mapping[str, object]) -> Mapping[str, object]:
    """Return a feedback with the whisper it is about: its clients number whispers, and are told
    no number of ours. The newest delivered whisper of that memory is meant, if there is one."""
    given = {key: value for key, value in body.items() if key != "whisper_log_id"}
    if isinstance(body.get("whisper_log_id"), str) or not isinstance(body.get("node_id"), str):
        return body
    stores = context.stores
    memory = resolve_id(stores, str(body["node_id"]))
    newest = stores.log.whispers(MAX_WHISPERS_READ)
    entries = [each for each in newest if is_delivered(each.body)]
    about = next((each.id for each in entries if memory in entry_ids(each, "injected")), None)
    return given if about is None else {**given, "whisper_log_id": about}


def translate_answer(name: str, answer: Json) -> OrmahAnswer:
    """Return an answer as a guest reads it."""
    shape = _TRANSLATOR_BY_OPERATION.get(name)
    return answer if shape is None else shape(answer)


# -- lists, which stand there without anything around them ---------------------------------------


def _translate_proposals(answer: Json) -> OrmahAnswer:
    return list(_read_items(answer, "proposals"))


def _translate_decision(answer: Json) -> OrmahAnswer:
    proposal: Any = answer["proposal"]
    merged = proposal["type"] == "merge" and answer["change"]
    return {
        **answer,
        "status": proposal["status"],
        "proposal_id": proposal["id"],
        "merge_result": answer["text"] if merged else None,
        "conflict_result": None,
    }


def _translate_merges(answer: Json) -> OrmahAnswer:
    return [
        {
            **each,
            "kept_node_id": each["kept"] or "",
            "removed_node_id": each["removed"] or "",
            "merged_at": each["at"],
            "undone_at": None if each["outcome"] in (None, "done") else each["outcome"],
        }
        for each in _read_items(answer, "merges")
    ]


def _translate_events(answer: Json) -> OrmahAnswer:
    words = {ours: theirs for theirs, ours in _VERB_BY_ORMAH_OPERATION.items()}
    return [
        {
            **each,
            "operation": words.get(verb := str(each["body"].get("verb") or each["kind"]), verb),
            "node_id": _event_memory(each["body"]),
            "detail": each["body"].get("reason"),
            "performed_at": each["at"],
        }
        for each in _read_items(answer, "events")
    ]


def _event_memory(body: Mapping[str, Any]) -> str:
    """Return the memory that an event is about: the one it names, or the first it changed."""
    edits = body.get("edits") or [{}]
    return str(body.get("memory") or edits[0].get("memory") or body.get("proposal") or "")


def _read_items(answer: Json, name: str) -> Sequence[Any]:
    listed = answer[name]
    return listed if isinstance(listed, list) else []


# -- taking in -----------------------------------------------------------------------------------


def _refuse_incomplete_ingest(answer: Json) -> OrmahAnswer:
    """Refuse where something was left out: its hook moves its cursor after any other answer, and
    what it sends again is known by then."""
    if answer["held_back"] and answer["status"] != "dry_run":
        raise NotAllTakenIn("; ".join(str(each) for each in _read_items(answer, "notes")))
    return answer


# -- maintenance ---------------------------------------------------------------------------------


def _translate_maintenance(answer: Json) -> OrmahAnswer:
    """Return a batch, what became of one, or that there is none. `busy` is its word for: stop."""
    status = answer["status"]
    if status == "ready":
        return {**answer, "status": "awaiting_results", "batches": _build_batches(answer)}
    if status == "done":
        return {**answer, "status": "completed", "apply_summary": _build_summary(answer)}
    return {**answer, "status": "busy"}


def _build_batches(answer: Json) -> Json:
    memories: Any = answer["memories"]
    batches: Json = {
        name: _build_pairs(_read_items(answer, name), memories) for name in _PAIR_LISTS
    }
    clusters = [
        [_build_node(each, memories) for each in cluster["node_ids"]]
        for cluster in _read_items(answer, "consolidation_clusters")
        if memories.keys() >= set(cluster["node_ids"])
    ]
    batches["consolidation_clusters"] = [
        each for each in clusters if _is_shown_whole(each, MAX_CLUSTER_CHARS)
    ]
    counts = [f"{len(_read_items(batches, name))} {name.replace('_', ' ')}" for name in batches]
    summary = ", ".join(each for each in counts if not each.startswith("0 "))
    return {**batches, "summary": summary or "nothing to process"}


def _build_pairs(asked_about: Sequence[Any], memories: Mapping[str, Any]) -> list[Json]:
    pairs = [
        {
            **each,
            "node_a": _build_node(each["node_a_id"], memories),
            "node_b": _build_node(each["node_b_id"], memories),
        }
        for each in asked_about
        if memories.keys() >= {each["node_a_id"], each["node_b_id"]}
    ]
    return [
        each for each in pairs if _is_shown_whole((each["node_a"], each["node_b"]), MAX_PAIR_CHARS)
    ]


def _build_node(memory_id: str, memories: Mapping[str, Any]) -> Json:
    known = memories[memory_id]
    return {"space": None, **known, "id": memory_id, "title": known.get("title") or ""}


def _is_shown_whole(nodes: Sequence[Json], chars: int) -> bool:
    """Whether a client shows all that these say."""
    return all(len(str(each["content"])) <= chars for each in nodes)


def _build_summary(answer: Json) -> Json:
    """Return what was done: a line for each job."""
    reports = _read_items(answer, "reports")
    counts = {each["job"]: each.get("applied", 0) for each in reports}
    return {**counts, "text": answer["text"]}


_TRANSLATOR_BY_OPERATION: Mapping[str, Callable[[Json], OrmahAnswer]] = {
    "proposals": _translate_proposals,
    "decide": _translate_decision,
    "merges": _translate_merges,
    "audit": _translate_events,
    "maintenance": _translate_maintenance,
    "hand_in": _translate_maintenance,
    "ingest_conversation": _refuse_incomplete_ingest,
}
