"""Actions: what a proposal or a job would do, as plain texts, and the change that it means.

An action is a verb with its values, all of them texts, so that it can wait in the journal for
somebody's decision. A job that need not ask goes the same way, so what was shown is what
happens, whoever decides and whenever.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from madeleine.errors import Rejected
from madeleine.model.change import Change, FileEdit
from madeleine.model.codec import connection_from_json, connection_to_json
from madeleine.model.fields import FIELDS
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import Edge, Tier
from madeleine.vault.front_matter_values import is_id
from madeleine.vault.markdown import read_memory, render_memory
from madeleine.vault.redaction import TAKE_VERSION
from madeleine.write.change_file import ChangeContext
from madeleine.write.claims import settle_claim
from madeleine.write.connections import plan_links, plan_unlink
from madeleine.write.forget import plan_forget
from madeleine.write.merge import plan_merge
from madeleine.write.questions import REFUSE
from madeleine.write.replacing import settle_replaced
from madeleine.write.resolve import resolve_id
from madeleine.write.revise import (
    plan_retire,
    plan_revision,
    plan_space,
    plan_supersede,
    plan_tier,
)
from madeleine.write.synthesis import plan_summary, plan_synthesis

ActionFields = Mapping[str, str]

_FIELDS_OF_VERSIONS = frozenset(row.name for row in FIELDS) - {"id", "created", "updated"}
REMEMBER = "remember"  # the verb of the action by which an agent's memory is written
REVISE = "revise"  # and by which it is made to say something else
SUPERSEDE = "supersede"  # the verb of the action by which a newer memory replaces an older one
_NEW_FILE = "new.md"  # where a memory that has no file yet is said to stand


def plan_action(hand: ChangeContext, action: ActionFields) -> Change:
    """Return the change that an action means, as things stand now."""
    return PLANNER_BY_VERB[check_verb(action)](hand, action)


def check_verb(action: ActionFields) -> str:
    """Return the verb of an action; one that nobody knows is refused."""
    verb = action.get("verb", "")
    if verb not in PLANNER_BY_VERB:
        raise Rejected(f"no action {verb!r}", hint=f"one of: {', '.join(PLANNER_BY_VERB)}")
    return verb


# -- as texts ------------------------------------------------------------------------------


def merge_action(keep: str, drop: str, title: str | None, content: str | None) -> dict[str, str]:
    return _drop_none(verb="merge", keep=keep, drop=drop, title=title, content=content)


def link_action(source: str, connections: Sequence[Connection]) -> dict[str, str]:
    listed = json.dumps([connection_to_json(each) for each in connections])
    return {"verb": "link", "source": source, "connections": listed}


def supersede_action(older: str, newer: str, connection: Connection) -> dict[str, str]:
    link = json.dumps(connection_to_json(connection))
    return {"verb": SUPERSEDE, "older": older, "newer": newer, "connection": link}


def tier_action(memory: str, tier: Tier) -> dict[str, str]:
    return {"verb": "tier", "memory": memory, "tier": tier.value}


def space_action(memory: str, space: str) -> dict[str, str]:
    return {"verb": "space", "memory": memory, "space": space}


def forget_action(memory: str) -> dict[str, str]:
    return {"verb": "forget", "memory": memory}


def put_away_action(
    archive: Sequence[str], trash: Sequence[str], keys: Sequence[str]
) -> dict[str, str]:
    """Return the action; `keys` are those of the questions about the single memories."""
    listed = {"archive": archive, "trash": trash, "keys": keys}
    return {"verb": "put_away", **{name: json.dumps(list(each)) for name, each in listed.items()}}


def unlink_action(source: str, connection: Connection) -> dict[str, str]:
    return {
        "verb": "unlink",
        "source": source,
        "target": connection.target,
        "edge": connection.edge.value,
    }


def summary_action(memory: Memory) -> dict[str, str]:
    return {"verb": "summarise", "memory": render_memory(memory).decode("utf-8")}


def synthesis_action(memory: Memory, members: Sequence[str]) -> dict[str, str]:
    text = render_memory(memory).decode("utf-8")
    return {"verb": "synthesise", "memory": text, "members": json.dumps(list(members))}


def remember_action(memory: Memory, replaced: Sequence[str]) -> dict[str, str]:
    text = render_memory(memory).decode("utf-8")
    return {"verb": REMEMBER, "memory": text, "replaced": json.dumps(list(replaced))}


def revise_action(memory: Memory) -> dict[str, str]:
    return {"verb": REVISE, "memory": render_memory(memory).decode("utf-8")}


def take_version_action(memory: str, text: str, fields: Sequence[str]) -> dict[str, str]:
    """Return the action; `text` is the whole file of the other version."""
    listed = json.dumps(list(fields))
    return {"verb": TAKE_VERSION, "memory": memory, "text": text, "fields": listed}


def _drop_none(**values: str | None) -> dict[str, str]:
    return {key: value for key, value in values.items() if value is not None}


# -- as changes ----------------------------------------------------------------------------


def _plan_merge(hand: ChangeContext, action: ActionFields) -> Change:
    keep, drop = _resolve_named(hand, action, "keep"), _resolve_named(hand, action, "drop")
    return plan_merge(hand, keep, drop, action.get("title"), action.get("content"))


def _plan_link(hand: ChangeContext, action: ActionFields) -> Change:
    source = _resolve_named(hand, action, "source")
    if "connections" in action:
        listed = json.loads(action["connections"])
        return plan_links(hand, source, [connection_from_json(each) for each in listed])
    connection = Connection(
        target=resolve_id(hand.stores, action["target"]),
        edge=Edge(action["edge"]),
        weight=float(action.get("weight", "0.5")),
        reason=action.get("reason"),
        by=action.get("by"),
    )
    return plan_links(hand, source, [connection])


def _plan_supersede(hand: ChangeContext, action: ActionFields) -> Change:
    older, newer = _resolve_named(hand, action, "older"), _resolve_named(hand, action, "newer")
    return plan_supersede(
        hand, older, newer, connection_from_json(json.loads(action["connection"]))
    )


def _plan_retire(hand: ChangeContext, action: ActionFields) -> Change:
    named = action.get("superseded_by")
    successor = resolve_id(hand.stores, named) if named is not None else None
    return plan_retire(hand, _resolve_named(hand, action, "memory"), successor)


def _plan_forget(hand: ChangeContext, action: ActionFields) -> Change:
    return plan_forget(hand, _resolve_named(hand, action, "memory"))


def _plan_tier(hand: ChangeContext, action: ActionFields) -> Change:
    return plan_tier(hand, _resolve_named(hand, action, "memory"), Tier(action["tier"]))


def _plan_space(hand: ChangeContext, action: ActionFields) -> Change:
    return plan_space(hand, _resolve_named(hand, action, "memory"), action["space"])


def _plan_synthesis(hand: ChangeContext, action: ActionFields) -> Change:
    return plan_synthesis(hand, _read_new_memory(action), json.loads(action["members"]))


def _plan_put_away(hand: ChangeContext, action: ActionFields) -> Change:
    archived = [plan_tier(hand, each, Tier.ARCHIVAL) for each in json.loads(action["archive"])]
    trashed = [plan_forget(hand, each) for each in json.loads(action["trash"])]
    edits = [edit for change in (*archived, *trashed) for edit in change.edits]
    return hand.change("put_away", edits)


def _plan_unlink(hand: ChangeContext, action: ActionFields) -> Change:
    source = _resolve_named(hand, action, "source")
    return plan_unlink(hand, source, action["target"], Edge(action["edge"]))


def _plan_remember(hand: ChangeContext, action: ActionFields) -> Change:
    """Return the change that writes a memory that waited, and ends what it replaces. One that
    is there by now, since somebody brought it back, is left as it is."""
    memory = _read_new_memory(action)
    if hand.stores.search.get(memory.id) is not None:
        return hand.change(REMEMBER, [])
    named: list[str] = json.loads(action["replaced"])
    replaced = [each for each in named if hand.stores.search.get(each) is not None]
    settled = settle_replaced(hand.stores, settle_claim(hand.stores, memory), replaced)
    path, text = hand.stores.vault.path_for(memory), render_memory(settled.memory)
    return hand.change(REMEMBER, [FileEdit(memory.id, None, None, path, text), *settled.edits])


def _plan_revise(hand: ChangeContext, action: ActionFields) -> Change:
    return plan_revision(hand, _read_new_memory(action))


def plan_refusal(hand: ChangeContext, action: ActionFields) -> Change | None:
    """Return the change by which a no to an action is carried out, if it needs any: what an agent
    wanted to remember goes to the trash."""
    if action.get("verb") != REMEMBER:
        return None
    memory, vault = _read_new_memory(action), hand.stores.vault
    if hand.stores.search.get(memory.id) is not None or any(vault.find_trashed(memory.id)):
        return None
    path = vault.trash_path(vault.path_for(memory))
    edit = FileEdit(memory.id, None, None, path, render_memory(memory))
    return hand.change(REFUSE, [edit])


def _read_new_memory(action: ActionFields) -> Memory:
    return read_memory(_NEW_FILE, action["memory"].encode("utf-8"), NO_FINGERPRINT).memory


def _plan_summary(hand: ChangeContext, action: ActionFields) -> Change:
    return plan_summary(hand, _read_new_memory(action))


def _plan_take_version(hand: ChangeContext, action: ActionFields) -> Change:
    """Return the change that puts the named fields of another version into a memory's file: the
    answer when two machines changed the same."""
    current = hand.read(_resolve_named(hand, action, "memory"))
    other = read_memory(current.path, action["text"].encode("utf-8"), NO_FINGERPRINT).memory
    names = _FIELDS_OF_VERSIONS.intersection(json.loads(action["fields"]))
    taken = {name: getattr(other, name) for name in sorted(names)}
    wanted = replace(current.memory, **taken)
    if wanted != current.memory:
        wanted = replace(wanted, updated=max(hand.at, current.memory.updated))
    return hand.change(TAKE_VERSION, [current.edit(wanted)])


def _resolve_named(hand: ChangeContext, action: ActionFields, key: str) -> str:
    """Return whom an action names; of a whole id, reading its file tells whether it is there."""
    named = action[key]
    return named if is_id(named) else resolve_id(hand.stores, named)


PLANNER_BY_VERB: Mapping[str, Callable[[ChangeContext, ActionFields], Change]] = {
    "merge": _plan_merge,
    "link": _plan_link,
    SUPERSEDE: _plan_supersede,
    "retire": _plan_retire,
    "forget": _plan_forget,
    "tier": _plan_tier,
    "space": _plan_space,
    "put_away": _plan_put_away,
    "synthesise": _plan_synthesis,
    "unlink": _plan_unlink,
    "summarise": _plan_summary,
    REMEMBER: _plan_remember,
    REVISE: _plan_revise,
    TAKE_VERSION: _plan_take_version,
}
