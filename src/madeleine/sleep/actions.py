"""What the actions of a patch are in words, in plain values, and whom they concern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from madeleine.model.memory import Connection, Memory
from madeleine.model.meta_pattern import read_meta_pattern
from madeleine.model.proposal import ProposalType
from madeleine.model.words import Edge, Tier
from madeleine.rules.associations import edge_name
from madeleine.sleep.values import (
    Action,
    AddConnections,
    Merge,
    MoveToTrash,
    Patch,
    PutAway,
    RemoveConnection,
    Score,
    SetSpace,
    SetTier,
    Summarise,
    Supersede,
    Synthesise,
)
from madeleine.write.actions import (
    forget_action,
    link_action,
    merge_action,
    put_away_action,
    space_action,
    summary_action,
    supersede_action,
    synthesis_action,
    tier_action,
    unlink_action,
)
from madeleine.write.questions import FORGET_QUESTION, question_key, tier_question
from madeleine.write.summaries import linked_members, summary_deed

Deed = Action
NODES_KEPT = 50  # memories that a deed names
REASON_CHARS = 300  # of a patch's reason that is kept in a report


def encode_action(action: Deed) -> dict[str, str]:
    """Return the action as `write.actions` takes it; scores have no files and no such form."""
    match action:
        case AddConnections():
            return link_action(action.source.id, action.connections)
        case Merge():
            return merge_action(action.keep.id, action.drop.id, action.title, action.content)
        case Supersede():
            return supersede_action(action.older.id, action.newer.id, action.connection)
        case SetTier():
            return tier_action(action.memory.id, action.tier)
        case SetSpace():
            return space_action(action.memory.id, action.space)
        case Synthesise():
            return synthesis_action(action.memory, [each.id for each in action.members])
        case MoveToTrash():
            return forget_action(action.memory.id)
        case PutAway():
            archive, trash = ([each.id for each in some] for some in (action.archive, action.trash))
            return put_away_action(archive, trash, _single_keys(action))
        case RemoveConnection():
            return unlink_action(action.source.id, action.connection)
        case Summarise():
            return summary_action(action.memory)
        case Score():
            return {"verb": "score"}


def touched_memories(action: Deed) -> tuple[Memory, ...]:
    """Return the memories whose files an action changes, as they were when it was planned."""
    match action:
        case AddConnections():
            return (action.source,)
        case Merge():
            return action.keep, action.drop
        case Supersede():
            return action.older, action.newer
        case SetTier() | SetSpace() | MoveToTrash():
            return (action.memory,)
        case Synthesise():
            return action.members
        case PutAway():
            return *action.archive, *action.trash
        case RemoveConnection():
            return (action.source,)
        case Summarise():
            return () if action.was is None else (action.was,)
        case Score():
            return ()


def consulted_memories(action: Deed) -> tuple[Memory, ...]:
    """Return the memories that an action depends on without changing them."""
    match action:
        case AddConnections():
            return action.targets
        case Summarise():
            return action.read
        case _:
            return ()


def concerned_ids(action: Deed) -> tuple[str, ...]:
    """Return the ids of all memories that an action is about."""
    ends: list[str] = []
    if isinstance(action, AddConnections):
        ends = [each.target for each in action.connections]
    elif isinstance(action, RemoveConnection):
        ends = [action.connection.target]
    elif isinstance(action, Summarise):
        ends = [action.memory.id, *(each.target for each in action.memory.connections)]
    return tuple(dict.fromkeys([*(each.id for each in touched_memories(action)), *ends]))


def changed_file_id(action: Deed) -> str:
    """Return the id of the memory whose file an action changes, of one that changes one."""
    return action.memory.id if isinstance(action, Summarise) else touched_memories(action)[0].id


def question_text(action: Deed) -> str:
    """Return what is asked beside which memories it is about; the same question about the
    same texts is asked once."""
    match action:
        case AddConnections():
            ends = sorted(f"{edge_name(each)} {each.target}" for each in action.connections)
            return " ".join(("link", *ends))
        case RemoveConnection():
            return f"unlink {action.connection.edge} {action.connection.target}"
        case SetSpace():
            return f"space {action.space}"
        case SetTier():
            return tier_question(action.tier)
        case MoveToTrash():
            return FORGET_QUESTION
        case Supersede():
            return f"supersede {action.newer.id}"
        case _:
            return type(action).__name__.lower()


def action_question_key(action: Deed) -> str:
    """Return the key of the question that an action is: the same for the same texts."""
    return question_key(
        question_text(action), (*touched_memories(action), *consulted_memories(action))
    )


def contradiction_key(source: Memory, target: Memory) -> str:
    """Return the key of the question whether the first memory contradicts the second."""
    link = AddConnections(source, (Connection(target.id, Edge.CONTRADICTS),), (target,))
    return action_question_key(link)


def build_deeds(action: Deed) -> list[dict[str, object]]:
    """Return what a change by this action has to remember, so that taking it back is a no to
    it: one deed, or one for each connection, or for each memory that is put away."""
    parts: list[Deed] = [action]
    if isinstance(action, AddConnections):
        parts = [
            replace(action, connections=(each,), targets=_target_of(action, each))
            for each in action.connections
        ]
    elif isinstance(action, PutAway):
        parts = _single_actions(action)
    return [_build_deed(each) for each in parts]


def _single_actions(action: PutAway) -> list[Deed]:
    """Return what is done to each memory, as if it were put away by itself."""
    archived: list[Deed] = [SetTier(each, Tier.ARCHIVAL) for each in action.archive]
    return [*archived, *(MoveToTrash(each) for each in action.trash)]


def _single_keys(action: PutAway) -> list[str]:
    """Return the keys of the questions about each memory: who says no to all of them says no to
    each."""
    return [action_question_key(each) for each in _single_actions(action)]


def _build_deed(action: Deed) -> dict[str, object]:
    if isinstance(action, Summarise):
        members, key = linked_members(action.memory), action_question_key(action)
        deed = summary_deed(members, key, action.memory.id)
        # Who takes a rewriting back says no to that text, and not to the summary.
        return deed if action.was is None else {**deed, "rewritten": True}
    return {
        "type": proposal_type(action).value,
        "nodes": list(concerned_ids(action))[:NODES_KEPT],
        "wording": render_action(action)[:REASON_CHARS],
        "key": action_question_key(action),
    }


def _target_of(action: AddConnections, connection: Connection) -> tuple[Memory, ...]:
    return tuple(each for each in action.targets if each.id == connection.target)


def proposal_type(action: Deed) -> ProposalType:
    """Return under which heading an action is proposed."""
    match action:
        case Merge():
            return ProposalType.MERGE
        case Supersede():
            return ProposalType.CONFLICT
        case AddConnections() if any(
            edge_name(each) == Edge.CONTRADICTS for each in action.connections
        ):
            return ProposalType.CONFLICT
        case SetTier() | MoveToTrash() | PutAway():
            return ProposalType.DECAY
        case SetSpace():
            return ProposalType.SPACE
        case Synthesise() | Summarise():
            return ProposalType.CONSOLIDATE
        case AddConnections() | RemoveConnection() | Score():
            return ProposalType.LINK


def render_action(action: Deed) -> str:
    """Return what an action would do, in a sentence for people."""
    match action:
        case AddConnections():
            return f"connect {_render_name(action.source)} to {_render_ends(action)}"
        case Merge():
            text = " and rewrite it to say both" if action.content is not None else ""
            return f"merge {_render_name(action.drop)} into {_render_name(action.keep)}{text}"
        case Supersede():
            return f"let {_render_name(action.newer)} replace {_render_name(action.older)}"
        case SetTier():
            return f"move {_render_name(action.memory)} to {action.tier.value}"
        case SetSpace():
            return f"move {_render_name(action.memory)} to the space `{action.space}`"
        case Synthesise():
            names = ", ".join(_render_name(each) for each in action.members)
            return f"write “{action.memory.headline}” for {names}, and archive those"
        case MoveToTrash():
            return f"move {_render_name(action.memory)} to the trash"
        case PutAway():
            places = (("the archive", action.archive), ("the trash", action.trash))
            return " and ".join(
                f"move {_render_names(some)} to {place}" for place, some in places if some
            )
        case RemoveConnection():
            end = f"`{action.connection.target[:8]}` ({edge_name(action.connection)})"
            return f"no longer connect {_render_name(action.source)} to {end}"
        case Summarise():
            verb = "write" if action.was is None else "rewrite"
            return f"{verb} “{action.memory.headline}”, a summary of {_render_size(action.memory)}"
        case Score():
            count = len(action.scores)
            return f"give {count} {'memory' if count == 1 else 'memories'} a new {action.name}"


def patch_to_json(patch: Patch) -> dict[str, object]:
    """Return a patch as plain values, for reports and dry runs."""
    values: dict[str, object] = {
        "action": encode_action(patch.action)["verb"],
        "what": render_action(patch.action),
        "why": patch.reason[:REASON_CHARS],
        "sure": round(patch.sure, 4),
        "memories": list(concerned_ids(patch.action)),
    }
    return values


def _render_name(memory: Memory) -> str:
    return f"`{memory.short_id}` ({memory.headline})"


def _render_names(memories: Sequence[Memory]) -> str:
    count = "" if len(memories) == 1 else f"{len(memories)} memories: "
    return count + ", ".join(_render_name(each) for each in memories)


def _render_ends(action: AddConnections) -> str:
    known = {each.id: _render_name(each) for each in action.targets}
    ends = (
        f"{known.get(each.target, f'`{each.target[:8]}`')} ({edge_name(each)})"
        for each in action.connections
    )
    return ", ".join(ends)


def _render_size(summary: Memory) -> str:
    pattern = read_meta_pattern(summary)
    return f"{pattern.cluster_size} memories" if pattern else "several memories"
