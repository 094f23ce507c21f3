"""What the actions of a patch are in words, in plain values, and whom they concern."""

from __future__ import annotations

from madeleine.model.memory import Memory
from madeleine.model.proposal import ProposalType
from madeleine.model.words import Edge
from madeleine.sleep.values import (
    Action,
    Link,
    Merge,
    Patch,
    Score,
    SetSpace,
    SetTier,
    Supersede,
    Synthesise,
)
from madeleine.write.actions import (
    as_link,
    as_merge,
    as_space,
    as_supersede,
    as_synthesis,
    as_tier,
)

Deed = Action
REASON_CHARS = 300  # of a patch's reason that is kept in a report


def plain(action: Deed) -> dict[str, str]:
    """Return the action as `write.actions` takes it; scores have no files and no such form."""
    match action:
        case Link():
            return as_link(action.source.id, action.connections)
        case Merge():
            return as_merge(action.keep.id, action.drop.id, action.title, action.content)
        case Supersede():
            return as_supersede(action.older.id, action.newer.id, action.connection)
        case SetTier():
            return as_tier(action.memory.id, action.tier)
        case SetSpace():
            return as_space(action.memory.id, action.space)
        case Synthesise():
            return as_synthesis(action.memory, [each.id for each in action.members])
        case Score():
            return {"verb": "score"}


def touched(action: Deed) -> tuple[Memory, ...]:
    """Return the memories whose files an action changes, as they were when it was planned."""
    match action:
        case Link():
            return (action.source,)
        case Merge():
            return action.keep, action.drop
        case Supersede():
            return action.older, action.newer
        case SetTier() | SetSpace():
            return (action.memory,)
        case Synthesise():
            return action.members
        case Score():
            return ()


def looked_at(action: Deed) -> tuple[Memory, ...]:
    """Return the memories that an action depends on without changing them."""
    return action.targets if isinstance(action, Link) else ()


def concerned(action: Deed) -> tuple[str, ...]:
    """Return the ids of all memories that an action is about."""
    ends = [each.target for each in action.connections] if isinstance(action, Link) else []
    return tuple(dict.fromkeys([*(each.id for each in touched(action)), *ends]))


def question(action: Deed) -> str:
    """Return what is asked beside which memories it is about; the same question about the
    same texts is asked once."""
    match action:
        case Link():
            ends = sorted(f"{each.edge} {each.target}" for each in action.connections)
            return " ".join(("link", *ends))
        case SetSpace():
            return f"space {action.space}"
        case SetTier():
            return f"tier {action.tier.value}"
        case Supersede():
            return f"supersede {action.newer.id}"
        case _:
            return type(action).__name__.lower()


def proposal_type(action: Deed) -> ProposalType:
    """Return under which heading an action is proposed."""
    match action:
        case Merge():
            return ProposalType.MERGE
        case Supersede():
            return ProposalType.CONFLICT
        case Link() if any(each.edge is Edge.CONTRADICTS for each in action.connections):
            return ProposalType.CONFLICT
        case SetTier():
            return ProposalType.DECAY
        case SetSpace():
            return ProposalType.SPACE
        case Synthesise():
            return ProposalType.CONSOLIDATE
        case Link() | Score():
            return ProposalType.LINK


def wording(action: Deed) -> str:
    """Return what an action would do, in a sentence for people."""
    match action:
        case Link():
            return f"connect {_name(action.source)} to {_ends(action)}"
        case Merge():
            text = " and rewrite it to say both" if action.content is not None else ""
            return f"merge {_name(action.drop)} into {_name(action.keep)}{text}"
        case Supersede():
            return f"let {_name(action.newer)} replace {_name(action.older)}"
        case SetTier():
            return f"move {_name(action.memory)} to {action.tier.value}"
        case SetSpace():
            return f"move {_name(action.memory)} to the space `{action.space}`"
        case Synthesise():
            names = ", ".join(_name(each) for each in action.members)
            return f"write “{action.memory.headline}” for {names}, and archive those"
        case Score():
            return f"give {len(action.scores)} memories new scores"


def to_json(patch: Patch) -> dict[str, object]:
    """Return a patch as plain values, for reports and dry runs."""
    values: dict[str, object] = {
        "action": plain(patch.action)["verb"],
        "what": wording(patch.action),
        "why": patch.reason[:REASON_CHARS],
        "sure": round(patch.sure, 4),
        "memories": list(concerned(patch.action)),
    }
    return values


def _name(memory: Memory) -> str:
    return f"`{memory.short_id}` ({memory.headline})"


def _ends(action: Link) -> str:
    known = {each.id: _name(each) for each in action.targets}
    ends = (
        f"{known.get(each.target, f'`{each.target[:8]}`')} ({each.edge.value})"
        for each in action.connections
    )
    return ", ".join(ends)
