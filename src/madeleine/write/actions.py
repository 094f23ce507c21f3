"""Actions: what a proposal or a job would do, as plain texts, and the change that it means.

An action is a verb with its values, all of them texts, so that it can wait in the journal for
somebody's decision. A job that need not ask goes the same way, so what was shown is what
happens, whoever decides and whenever.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from madeleine.errors import Rejected
from madeleine.model.change import Change
from madeleine.model.codec import connection_from_json, connection_to_json
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import Edge, Tier
from madeleine.vault.markdown import read_memory, render_memory
from madeleine.vault.values import is_id
from madeleine.write.change_file import Hand
from madeleine.write.connections import plan_links, plan_unlink
from madeleine.write.forget import plan_forget
from madeleine.write.merge import plan_merge
from madeleine.write.resolve import resolve
from madeleine.write.revise import plan_retire, plan_space, plan_supersede, plan_tier
from madeleine.write.synthesis import plan_summary, plan_synthesis

Action = Mapping[str, str]

_NEW_FILE = "new.md"  # where a memory that has no file yet is said to stand
_NO_LOOKS = Fingerprint(0, 0)


def plan_action(hand: Hand, action: Action) -> Change:
    """Return the change that an action means, as things stand now."""
    return PLANS[checked(action)](hand, action)


def checked(action: Action) -> str:
    """Return the verb of an action; one that nobody knows is refused."""
    verb = action.get("verb", "")
    if verb not in PLANS:
        raise Rejected(f"no action {verb!r}", hint=f"one of: {', '.join(PLANS)}")
    return verb


# -- as texts ------------------------------------------------------------------------------


def as_merge(keep: str, drop: str, title: str | None, content: str | None) -> dict[str, str]:
    return _given(verb="merge", keep=keep, drop=drop, title=title, content=content)


def as_link(source: str, connections: Sequence[Connection]) -> dict[str, str]:
    listed = json.dumps([connection_to_json(each) for each in connections])
    return {"verb": "link", "source": source, "connections": listed}


def as_supersede(older: str, newer: str, connection: Connection) -> dict[str, str]:
    link = json.dumps(connection_to_json(connection))
    return {"verb": "supersede", "older": older, "newer": newer, "connection": link}


def as_tier(memory: str, tier: Tier) -> dict[str, str]:
    return {"verb": "tier", "memory": memory, "tier": tier.value}


def as_space(memory: str, space: str) -> dict[str, str]:
    return {"verb": "space", "memory": memory, "space": space}


def as_forget(memory: str) -> dict[str, str]:
    return {"verb": "forget", "memory": memory}


def as_put_away(
    archive: Sequence[str], trash: Sequence[str], keys: Sequence[str]
) -> dict[str, str]:
    """Return the action; `keys` are those of the questions about the single memories."""
    listed = {"archive": archive, "trash": trash, "keys": keys}
    return {"verb": "put_away", **{name: json.dumps(list(each)) for name, each in listed.items()}}


def as_unlink(source: str, connection: Connection) -> dict[str, str]:
    return {
        "verb": "unlink",
        "source": source,
        "target": connection.target,
        "edge": connection.edge.value,
    }


def as_summary(memory: Memory) -> dict[str, str]:
    return {"verb": "summarise", "memory": render_memory(memory).decode("utf-8")}


def as_synthesis(memory: Memory, members: Sequence[str]) -> dict[str, str]:
    text = render_memory(memory).decode("utf-8")
    return {"verb": "synthesise", "memory": text, "members": json.dumps(list(members))}


def _given(**values: str | None) -> dict[str, str]:
    return {key: value for key, value in values.items() if value is not None}


# -- as changes ----------------------------------------------------------------------------


def _merge(hand: Hand, action: Action) -> Change:
    keep, drop = _id(hand, action, "keep"), _id(hand, action, "drop")
    return plan_merge(hand, keep, drop, action.get("title"), action.get("content"))


def _link(hand: Hand, action: Action) -> Change:
    source = _id(hand, action, "source")
    if "connections" in action:
        listed = json.loads(action["connections"])
        return plan_links(hand, source, [connection_from_json(each) for each in listed])
    connection = Connection(
        target=resolve(hand.stores, action["target"]),
        edge=Edge(action["edge"]),
        weight=float(action.get("weight", "0.5")),
        reason=action.get("reason"),
        by=action.get("by"),
    )
    return plan_links(hand, source, [connection])


def _supersede(hand: Hand, action: Action) -> Change:
    older, newer = _id(hand, action, "older"), _id(hand, action, "newer")
    return plan_supersede(
        hand, older, newer, connection_from_json(json.loads(action["connection"]))
    )


def _retire(hand: Hand, action: Action) -> Change:
    named = action.get("superseded_by")
    successor = resolve(hand.stores, named) if named is not None else None
    return plan_retire(hand, _id(hand, action, "memory"), successor)


def _forget(hand: Hand, action: Action) -> Change:
    return plan_forget(hand, _id(hand, action, "memory"))


def _tier(hand: Hand, action: Action) -> Change:
    return plan_tier(hand, _id(hand, action, "memory"), Tier(action["tier"]))


def _space(hand: Hand, action: Action) -> Change:
    return plan_space(hand, _id(hand, action, "memory"), action["space"])


def _synthesise(hand: Hand, action: Action) -> Change:
    memory = read_memory(_NEW_FILE, action["memory"].encode("utf-8"), _NO_LOOKS).memory
    return plan_synthesis(hand, memory, json.loads(action["members"]))


def _put_away(hand: Hand, action: Action) -> Change:
    archived = [plan_tier(hand, each, Tier.ARCHIVAL) for each in json.loads(action["archive"])]
    trashed = [plan_forget(hand, each) for each in json.loads(action["trash"])]
    edits = [edit for change in (*archived, *trashed) for edit in change.edits]
    return hand.change("put_away", edits)


def _unlink(hand: Hand, action: Action) -> Change:
    source = _id(hand, action, "source")
    return plan_unlink(hand, source, action["target"], Edge(action["edge"]))


def _summarise(hand: Hand, action: Action) -> Change:
    memory = read_memory(_NEW_FILE, action["memory"].encode("utf-8"), _NO_LOOKS).memory
    return plan_summary(hand, memory)


def _id(hand: Hand, action: Action, key: str) -> str:
    """Return whom an action names; of a whole id, reading its file tells whether it is there."""
    named = action[key]
    return named if is_id(named) else resolve(hand.stores, named)


PLANS: Mapping[str, Callable[[Hand, Action], Change]] = {
    "merge": _merge,
    "link": _link,
    "supersede": _supersede,
    "retire": _retire,
    "forget": _forget,
    "tier": _tier,
    "space": _space,
    "put_away": _put_away,
    "synthesise": _synthesise,
    "unlink": _unlink,
    "summarise": _summarise,
}
