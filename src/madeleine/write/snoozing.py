"""Putting a question off: until its time it is not among those that wait."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from madeleine.model.event import EventKind
from madeleine.model.proposal import Proposal, ProposalStatus
from madeleine.model.times import format_time, parse_time
from madeleine.write.proposals import find_proposal
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores

SNOOZED_KEY = "snoozed proposals"  # of a state: each proposal's id, and until when


def snooze_proposal(stores: Stores, wanted: str, until: datetime | None) -> Proposal:
    """Put a question off until then, or with None ask it again at once."""
    proposal = find_proposal(stores, wanted)
    with stores.writing:
        waiting = {each.id for each in stores.log.proposals(ProposalStatus.PENDING)}
        left = {each: at for each, at in read_snoozed(stores).items() if each in waiting}
        left.pop(proposal.id, None)
        if until is not None:
            left[proposal.id] = until
        value = {each: format_time(at) for each, at in sorted(left.items())}
        body = {"key": SNOOZED_KEY, "value": value}
        record_events(stores, [new_event(stores, EventKind.STATE, body)], durable=True)
    return proposal


def read_snoozed(stores: Stores) -> dict[str, datetime]:
    """Return which questions are put off, and until when."""
    value, now = stores.log.state(SNOOZED_KEY), stores.clock.now()
    known = value if isinstance(value, Mapping) else {}
    ends = {str(each): parse_time("until", str(at)) for each, at in known.items()}
    return {each: at for each, at in ends.items() if at > now}


def count_waiting(stores: Stores) -> int:
    """Return how many questions wait that nobody put off."""
    snoozed = read_snoozed(stores)
    pending = stores.log.proposals(ProposalStatus.PENDING)
    return sum(1 for each in pending if each.id not in snoozed)
