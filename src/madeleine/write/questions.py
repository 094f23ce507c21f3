"""Questions that people are asked, and what they said: each once, by its key.

The same question about the same texts has the same key, however its answer would be worded. Who
rejects a proposal, takes back what a job did, or puts a memory where they want it has said no to
such a question, and it holds as long as the texts are the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from madeleine.model.codec import CREATIVE
from madeleine.model.digest import text_digest
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.times import format_time
from madeleine.model.words import Edge, Tier
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores

KEY_BYTES = 16
DISPLACED = "displaced"  # the cause of withdrawing a question that made room for another
DISPLACED_REASON = "more valuable questions came the same night; it may be asked another time"
TAKEN_BACK = "taken_back"  # the cause of withdrawing what a run or night asked that was undone
TAKEN_BACK_REASON = "the run that asked it was taken back"
UNANSWERED_REASON = "nobody answered it in time"
MAX_DECISIONS_READ = 1_000  # newest ones among which questions are looked for that made room
WITHDRAWN_REASON = "that two decisions have little in common is no question any more"
REFUSE = "refuse"  # the verb of a change that carries out a no
CORE_CAP = "core_cap"  # who moves memories out of a core tier that is full
MEMBER_MARK = "member"  # of a summary that was refused: each of them is a key of the action


def question_key(question: str, memories: Sequence[Memory]) -> str:
    """Return what tells one question from another: the same question about the same texts has
    the same key, however its answer would be worded."""
    texts = sorted(f"{each.id} {text_digest(each)}" for each in memories)
    asked = "\n".join((question, *texts)).encode("utf-8")
    return hashlib.blake2b(asked, digest_size=KEY_BYTES).hexdigest()


def tier_question(tier: Tier) -> str:
    """Return the question whether a memory is to go to a tier."""
    return f"tier {tier.value}"


def archiving_refusals(stores: Stores, memory: Memory, by: str) -> list[Event]:
    """Return the events that say that somebody brought a memory back from the archive: no night
    puts it there again as long as it says the same."""
    key = question_key(tier_question(Tier.ARCHIVAL), [memory])
    wording = f"move `{memory.short_id}` ({memory.headline}) to {Tier.ARCHIVAL.value}"
    deed = {"type": ProposalType.DECAY.value, "nodes": [memory.id], "wording": wording, "key": key}
    return refusal_events(stores, [deed], by)


def core_demotion_deed(memory: Memory) -> dict[str, object]:
    """Return what a demotion out of the core tier has to remember, so that taking it back is a
    no to it: the cap leaves the memory in core as long as it says the same."""
    wording = f"move `{memory.short_id}` ({memory.headline}) to {Tier.WORKING.value}"
    key = question_key(tier_question(Tier.WORKING), [memory])
    kind = ProposalType.DECAY.value
    return {"type": kind, "nodes": [memory.id], "wording": wording, "key": key}


def asked_keys(stores: Stores) -> set[str]:
    """Return the keys of all questions that were ever asked: they are not asked again. One about
    a contrast that was withdrawn is none: the same two may contradict each other after all. Nor
    is one that made room for another before anybody saw it."""
    displaced = displaced_ids(stores)
    return {
        key
        for each in stores.log.proposals()
        if each.status is not ProposalStatus.EXPIRED
        or not (is_about_contrast(each) or each.id in displaced)
        for key in _question_keys(each)
    }


def displaced_ids(stores: Stores) -> set[str]:
    """Return the questions that made room for more valuable ones of the same night."""
    newest = stores.log.recent_events([EventKind.DECIDED.value], MAX_DECISIONS_READ)
    return {
        str(each.body.get("proposal")) for each in newest if each.body.get("cause") == DISPLACED
    }


def withdraw_contrasts(stores: Stores, by: str) -> int:
    """Withdraw the questions about contrasts that an earlier release asked; return how many."""
    pending = stores.log.proposals(ProposalStatus.PENDING)
    over = [each for each in pending if is_about_contrast(each)]
    if over:
        status = ProposalStatus.EXPIRED
        events = [decision_event(stores, each, status, by, None, WITHDRAWN_REASON) for each in over]
        record_events(stores, events, durable=True)
    return len(over)


def is_about_contrast(proposal: Proposal) -> bool:
    """Whether `creative` proposed two unlike decisions as a contradiction, as it did in earlier
    releases."""
    action = dict(proposal.action)
    if action.get("verb") != "link" or action.get("by") != CREATIVE:
        return False
    drawn = json.loads(action.get("connections", "[]"))
    return any(each["edge"] == Edge.CONTRADICTS and each.get("by") == CREATIVE for each in drawn)


FORGET_QUESTION = "forget"  # the question whether a memory is to go to the trash


def rejected_keys(stores: Stores) -> set[str]:
    """Return the keys of all questions that were answered with no."""
    rejected = stores.log.proposals(ProposalStatus.REJECTED)
    return {key for each in rejected for key in _question_keys(each)}


def pending_keys(stores: Stores) -> set[str]:
    """Return the keys of all questions that wait for an answer."""
    waiting = stores.log.proposals(ProposalStatus.PENDING)
    return {key for each in waiting for key in _question_keys(each)}


def _question_keys(proposal: Proposal) -> set[str]:
    """Return the key of a question; of one with a list, those of its single questions too."""
    action = dict(proposal.action)
    single: list[str] = json.loads(action.get("keys", "[]"))
    return {*single, *([action["key"]] if "key" in action else [])}


def refusal_events(stores: Stores, deeds: Sequence[Mapping[str, object]], by: str) -> list[Event]:
    """Return the events that say no to what a job did, or might do, as if it had asked."""
    events = []
    for deed in deeds:
        nodes = deed.get("nodes")
        members = None if deed.get("rewritten") else deed.get("members")
        named = [(str(each), MEMBER_MARK) for each in members] if isinstance(members, list) else []
        proposal = Proposal(
            id=stores.new_id(),
            type=ProposalType(str(deed["type"])),
            source_nodes=tuple(nodes) if isinstance(nodes, list | tuple) else (),
            proposed_action=str(deed["wording"]),
            created=stores.clock.now(),
            action=(("key", str(deed["key"])), *named),
        )
        events.append(new_event(stores, EventKind.PROPOSED, proposal_body(proposal)))
        events.append(decision_event(stores, proposal, ProposalStatus.REJECTED, by, None))
    return events


def proposal_body(proposal: Proposal) -> dict[str, object]:
    """Return a proposal as the journal has it."""
    return {
        "proposal": proposal.id,
        "type": proposal.type.value,
        "nodes": list(proposal.source_nodes),
        "wording": proposal.proposed_action,
        "reason": proposal.reason,
        "created": format_time(proposal.created),
        "action": dict(proposal.action),
    }


def decision_event(
    stores: Stores,
    proposal: Proposal,
    status: ProposalStatus,
    by: str,
    change: str | None,
    reason: str | None = None,
    run: str | None = None,
    cause: str | None = None,
) -> Event:
    """Return the event that decides a proposal; `run` is common to those decided at once, and
    `cause` tells why in a word for programs."""
    body: dict[str, object] = {"proposal": proposal.id, "status": status.value, "by": by}
    body |= {"change": change, "nodes": list(proposal.source_nodes)}
    body |= {
        name: value for name, value in (("reason", reason), ("run", run), ("cause", cause)) if value
    }
    return new_event(stores, EventKind.DECIDED, body)
