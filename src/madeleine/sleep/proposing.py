"""Patches that somebody has to decide: written down as proposals, each question once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.rules.question_value import question_value
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
from madeleine.write.questions import (
    DISPLACED,
    DISPLACED_REASON,
    asked_keys,
    decision_event,
    displaced_ids,
)
from madeleine.write.record import new_event, record_events

WAITING = "sleep.waiting"  # how the names begin under which the journal keeps what waits
WAITING_AT_MOST = 2_000  # more questions than a person answers in a year
NIGHT_HOURS = timedelta(hours=12)  # in which runs of the timetable ask no more than a night may
FADINGS_AT_ONCE = 10  # memories that one question lists: a person still looks at each of them


def propose_patches(context: JobContext, patches: Sequence[Patch]) -> int:
    """Propose as many of the patches as may be asked tonight, the most valuable first; return how
    many found no room.

    A question that was asked before about the same texts is not asked again, whatever became
    of it. Those that found no room are planned anew when there is some. One that is worth more
    than what another job asked earlier in the night takes its place.
    """
    new = select_new_questions(context, patches)
    free = proposal_slots(context)
    chosen, left = new[:free], new[free:]
    if left and not context.report.dry_run:
        taken = _displace(context, left[: _job_slots(context) - len(chosen)])
        chosen, left = [*chosen, *left[:taken]], left[taken:]
    for patch in left:
        context.waiting.update(dict.fromkeys(concerned_ids(patch.action)))
    made = [_build_proposal(context, each, action_question_key(each.action)) for each in chosen]
    if not context.report.dry_run:
        record_proposals(context.stores, made)
    context.report.proposed += len(made)
    return len(left)


def _patch_value(patch: Patch) -> float:
    """Return what a question is worth, by the memory that matters most of those it is about."""
    memories = _memories_of(patch)
    importance = max((each.usage.importance for each in memories), default=0.0)
    uses = max((each.usage.access_count for each in memories), default=0)
    return question_value(patch.sure, importance, uses)


def _displace(context: JobContext, patches: Sequence[Patch]) -> int:
    """Withdraw questions that other jobs asked tonight and that are worth less than these, the
    most valuable first; return for how many of these there is room then. What is withdrawn waits
    for another night."""
    asked = [each for each in _asked_tonight(context) if each.status is ProposalStatus.PENDING]
    others = [each for each in asked if dict(each.action).get("by") != context.report.job]
    cheapest = sorted(others, key=_proposal_value)
    over = [
        each
        for each, patch in zip(cheapest, patches, strict=False)
        if _proposal_value(each) < _patch_value(patch)
    ]
    events = [
        decision_event(
            context.stores,
            each,
            ProposalStatus.EXPIRED,
            "sleep",
            None,
            DISPLACED_REASON,
            cause=DISPLACED,
        )
        for each in over
    ]
    if over:
        waiting = _waiting_events(context, over)
        record_events(context.stores, [*events, *waiting], durable=True)
    return len(over)


def _proposal_value(proposal: Proposal) -> float:
    return float(dict(proposal.action).get("value", "1"))


def waiting_key(job: str, judge: str) -> str:
    """Return under which name the journal keeps what waits for a question of this job."""
    return f"{WAITING}.{job}.{judge}"


def _waiting_events(context: JobContext, proposals: Sequence[Proposal]) -> list[Event]:
    """Return the events that let the jobs of these questions look at their memories again."""
    events = []
    for job in dict.fromkeys(str(dict(each.action).get("by")) for each in proposals):
        key = waiting_key(job, context.judge.name)
        kept = context.stores.log.state(key)
        before = [str(each) for each in kept] if isinstance(kept, list) else []
        own = [each for each in proposals if dict(each.action).get("by") == job]
        more = [node for each in own for node in each.source_nodes]
        body = {"key": key, "value": list(dict.fromkeys([*more, *before]))[:WAITING_AT_MOST]}
        events.append(new_event(context.stores, EventKind.STATE, body))
    return events


def select_new_questions(context: JobContext, patches: Sequence[Patch]) -> list[Patch]:
    """Return those that ask something new, each question once, the most valuable first."""
    known = asked_keys(context.stores)
    new = {action_question_key(each.action): each for each in reversed(patches)}
    kept = {id(each) for key, each in new.items() if key not in known}
    new_ones = [each for each in patches if id(each) in kept]
    return sorted(new_ones, key=_patch_value, reverse=True)


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
        {**encode_action(action), **_origin_fields(context, patch)},
        _memories_of(patch),
        key,
    )
    nodes, reason = concerned_ids(action), patch.reason or None
    return new_proposal(
        context.stores, proposal_type(action), nodes, render_action(action), named, reason
    )


def _origin_fields(context: JobContext, patch: Patch) -> dict[str, str]:
    """Return who asks, in which run of which night, and what the question is worth."""
    report = context.report
    value = f"{_patch_value(patch):.4f}"
    return {"by": report.job, "run": report.run, "night": _night_id(context), "value": value}


def _night_id(context: JobContext) -> str:
    return context.report.request or context.report.run


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
    tonight = context.config.questions_most - len(_asked_tonight(context))
    return max(0, min(_job_slots(context), tonight))


def _job_slots(context: JobContext) -> int:
    pending = context.stores.log.proposals(ProposalStatus.PENDING)
    waiting = Counter(dict(each.action).get("by") for each in pending)
    return max(0, context.config.proposals_per_run - waiting[context.report.job])


def _asked_tonight(context: JobContext) -> list[Proposal]:
    """Return the questions of this night, but for those that made room for others. Some jobs come
    every hour: what nobody asked for counts with all that was asked in the last half day."""
    since, night = context.now - NIGHT_HOURS, _night_id(context)
    displaced = displaced_ids(context.stores)
    return [
        each
        for each in context.stores.log.proposals()
        if "verb" in dict(each.action) and each.id not in displaced
        if each.type is not ProposalType.REMEMBER
        if dict(each.action).get("night") == night or (context.due and each.created > since)
    ]
