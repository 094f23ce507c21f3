"""Patches that somebody has to decide: written down as proposals, each question once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.sleep.deeds import (
    concerned,
    looked_at,
    plain,
    proposal_type,
    question_of,
    touched,
    wording,
)
from madeleine.sleep.values import Night, Patch, Score
from madeleine.write.proposals import (
    add_states,
    expire_proposals,
    new_proposal,
    record_proposals,
)
from madeleine.write.questions import asked_keys

FADINGS_AT_ONCE = 10  # memories that one question lists: a person still looks at each of them


def propose_patches(night: Night, patches: Sequence[Patch]) -> int:
    """Propose as many of the patches as may wait at a time; return how many found no room.

    A question that was asked before about the same texts is not asked again, whatever became
    of it. Those that found no room are planned anew when there is some.
    """
    free = room(night)
    made: list[Proposal] = []
    left = 0
    for patch in not_asked_before(night, patches):
        if len(made) < free:
            made.append(_proposal(night, patch, question_of(patch.action)))
        else:
            left += 1
            night.waiting.update(dict.fromkeys(concerned(patch.action)))
    if not night.report.dry_run:
        record_proposals(night.stores, made)
    night.report.proposed += len(made)
    return left


def not_asked_before(night: Night, patches: Sequence[Patch]) -> list[Patch]:
    """Return those that ask something new, each question once."""
    known = asked_keys(night.stores)
    new = {question_of(each.action): each for each in reversed(patches)}
    kept = {id(each) for key, each in new.items() if key not in known}
    return [each for each in patches if id(each) in kept]


def expire_old(night: Night) -> None:
    """Let go of proposals that waited too long."""
    before = night.now - timedelta(days=night.habits.proposal_days)
    expire_proposals(night.stores, before, by="sleep")


def may_be_asked(patch: Patch) -> bool:
    """Whether somebody can decide a patch; scores are nobody's decision."""
    return not isinstance(patch.action, Score)


def _proposal(night: Night, patch: Patch, key: str) -> Proposal:
    action = patch.action
    named = add_states({**plain(action), "by": night.report.job}, _memories(patch), key)
    nodes, reason = concerned(action), patch.reason or None
    return new_proposal(night.stores, proposal_type(action), nodes, wording(action), named, reason)


def _memories(patch: Patch) -> tuple[Memory, ...]:
    return (*touched(patch.action), *looked_at(patch.action))


def fadings_room(night: Night) -> int:
    """Return about how many memories a person may be asked whether they are to be put away: ten
    at a time, whichever job asks, and as one question."""
    pending = night.stores.log.proposals(ProposalStatus.PENDING)
    waiting = sum(len(each.source_nodes) for each in pending if each.type is ProposalType.DECAY)
    return 0 if waiting or not room(night) else FADINGS_AT_ONCE


def room(night: Night) -> int:
    """Return how many proposals of this job may be made: people look at a page, not at heaps."""
    pending = night.stores.log.proposals(ProposalStatus.PENDING)
    waiting = Counter(dict(each.action).get("by") for each in pending)
    return max(0, night.habits.proposals_per_run - waiting[night.report.job])
