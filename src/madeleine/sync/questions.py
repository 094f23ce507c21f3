"""What machines ask when they changed the same: proposals like all others, shown and answered at
every door.

Each has an id that follows from the version that was merged, so two machines that merge the same
ask once. Approving a clash puts the other text in the place of the one that holds; rejecting it
leaves everything as it is. Both texts stay in the journal.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

from madeleine.model.digest import state_digest
from madeleine.model.event import Event, EventKind
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalType
from madeleine.sync.merging import Clash, Resolution
from madeleine.sync.versions import Version, VersionState, time_of
from madeleine.vault.markdown import read_memory
from madeleine.write.actions import forget_action, take_version_action
from madeleine.write.questions import proposal_body

QUESTIONS = uuid.UUID("0e7b8f4e-52cb-5b7e-9d41-5f5a4f2a9c0d")  # where their ids are made
EXCERPT_CHARS = 120


def question_events(resolution: Resolution, device: str) -> Iterator[Event]:
    """Give the events that ask what a merge left open."""
    version = resolution.version
    if version.content is None:
        return
    memory = read_memory(version.path, version.content, NO_FINGERPRINT).memory
    for number, clash in enumerate(resolution.clashes):
        yield _ask(version, f"clash {number}", _clash_proposal(memory, clash), device)
    if resolution.forgotten is not None:
        yield _ask(version, "forgotten", _forget_proposal(memory, resolution.forgotten), device)


def _ask(version: Version, about: str, proposal: Proposal, device: str) -> Event:
    made = uuid.uuid5(QUESTIONS, f"{version.id} {about}")
    body = {**proposal_body(proposal), "proposal": str(made)}
    event_id = str(uuid.uuid5(QUESTIONS, f"{version.id} {about} event"))
    return Event(event_id, time_of(version.at), EventKind.PROPOSED, device, body)


def _clash_proposal(memory: Memory, clash: Clash) -> Proposal:
    other = clash.other
    text = (other.content or b"").decode("utf-8", "replace")
    told = read_memory(other.path, other.content or b"", NO_FINGERPRINT).memory
    names = ", ".join(clash.names)
    place = f" on {other.device}" if other.device else ""
    wording = (
        f"two machines changed `{memory.short_id}` ({memory.headline}): "
        f"take what was written{place} instead: “{_excerpt(told)}”"
    )
    reason = f"both changed its {names}; the later one holds until you decide"
    action = take_version_action(memory.id, text, clash.names)
    return _proposal(memory, clash.held, wording, action, reason)


def _forget_proposal(memory: Memory, ended: Version) -> Proposal:
    said = "purged" if ended.state is VersionState.PURGED else "forgotten"
    place = f" on {ended.device}" if ended.device else " on another machine"
    wording = f"move `{memory.short_id}` ({memory.headline}) to the trash"
    reason = f"it was {said}{place} while it was changed elsewhere; the change holds"
    action = {**forget_action(memory.id), "states": json.dumps({memory.id: state_digest(memory)})}
    return _proposal(memory, ended, wording, action, reason)


def _proposal(
    memory: Memory, version: Version, wording: str, action: dict[str, str], reason: str
) -> Proposal:
    return Proposal(
        id="",
        type=ProposalType.CONFLICT,
        source_nodes=(memory.id,),
        proposed_action=wording,
        created=time_of(version.at),
        reason=reason,
        action=tuple(sorted(action.items())),
    )


def _excerpt(memory: Memory) -> str:
    words = " ".join(memory.content.split())
    return words if len(words) <= EXCERPT_CHARS else f"{words[: EXCERPT_CHARS - 1]}…"
