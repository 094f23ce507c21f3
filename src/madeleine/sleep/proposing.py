"""Patches that somebody has to decide: written down as proposals, each question once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.sleep.actions import (
    action_question_key,
    concerned_ids,
    consulted_memories,
    encode_action,
    proposal_type,
    render_action,
    touched_memories,
)
from madeleine.sleep.values import JobContext, Patch, Score
from madeleine.write.proposals import (
    add_states,
    expire_proposals,
    new_proposal,
    record_proposals,
)
from madeleine.write.questions import asked_keys

FADINGS_AT_ONCE = 10  # memories that one question lists: a person still looks at each of them


def propose_patches(context: JobContext, patches: Sequence[Patch]) -> int:
    """Propose as many of the patches as may wait at a time; return how many found no room.

    A question that was asked before about the same texts is not asked again, whatever became
    of it. Those that found no room are planned anew when there is some.
    """
    free = proposal_slots(context)
    made: list[Proposal] = []
    left = 0
    for patch in select_new_questions(context, patches):
        if len(made) < free:
            made.append(_build_proposal(context, patch, action_question_key(patch.action)))
        else:
            left += 1
            context.waiting.update(dict.fromkeys(concerned_ids(patch.action)))
    if not context.report.dry_run:
        record_proposals(context.stores, made)
    context.report.proposed += len(made)
    return left


def select_new_questions(context: JobContext, patches: Sequence[Patch]) -> list[Patch]:
    """Return those that ask something new, each question once."""
    known = asked_keys(context.stores)
    new = {action_question_key(each.action): each for each in reversed(patches)}
    kept = {id(each) for key, each in new.items() if key not in known}
    return [each for each in patches if id(each) in kept]


def expire_old(context: JobContext) -> None:
    """Let go of proposals that waited too long."""
    before = context.now - timedelta(days=context.config.proposal_days)
    expire_proposals(context.stores, before, by="sleep")


def may_be_asked(patch: Patch) -> bool:
    """Whether somebody can decide a patch; scores are nobody's decision."""
    return not isinstance(patch.action, Score)


def _build_proposal(context: JobContext, patch: Patch, key: str) -> Proposal:
    action = patch.action
    named = add_states(
        {**encode_action(action), "by": context.report.job, "run": context.report.run},
        _memories_of(patch),
        key,
    )
    nodes, reason = concerned_ids(action), patch.reason or None
    return new_proposal(
        context.stores, proposal_type(action), nodes, render_action(action), named, reason
    )


def _memories_of(patch: Patch) -> tuple[Memory, ...]:
    return (*touched_memories(patch.action), *consulted_memories(patch.action))


def fading_slots(context: JobContext) -> int:
    """Return about how many memories a person may be asked whether they are to be put away: ten
    at a time, whichever job asks, and as one question."""
    pending = context.stores.log.proposals(ProposalStatus.PENDING)
    waiting = sum(len(each.source_nodes) for each in pending if each.type is ProposalType.DECAY)
    return 0 if waiting or not proposal_slots(context) else FADINGS_AT_ONCE


def proposal_slots(context: JobContext) -> int:
    """Return how many proposals of this job may be made: people look at a page, not at heaps."""
    pending = context.stores.log.proposals(ProposalStatus.PENDING)
    waiting = Counter(dict(each.action).get("by") for each in pending)
    return max(0, context.config.proposals_per_run - waiting[context.report.job])
