"""A home in which agents have asked and a night has passed: something to look at and to decide."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from madeleine.api.local import LocalDoor, open_local
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalType
from madeleine.model.words import Tier
from madeleine.write.actions import space_action, tier_action
from madeleine.write.proposals import add_states, new_proposal, record_proposals
from madeleine.write.resolve import get_stored
from tests.page.world import furnish
from tests.server.running import Daemon

TWINS = (
    (
        "Ferry at nine",
        "The ferry to the island leaves at nine from pier four.",
        "The ferry leaves at nine",
        "The ferry to the island leaves at nine, from pier four.",
    ),
    (
        "Rate limit",
        "The elevation service allows 100 requests per minute.",
        "Rate limit of the elevation service",
        "The elevation service allows 250 requests per minute.",
    ),
    (
        "Shifts of the lighthouse",
        "The lighthouse crew works in shifts of 8 hours.",
        "How long a lighthouse shift is",
        "The lighthouse crew works in shifts of 12 hours.",
    ),
)
PROMPTS = (
    ("s-1", "ledger", "which database did we choose for the ledger, and why?"),
    ("s-1", "ledger", "thanks!"),
    ("s-1", "ledger", "how should amounts be rounded?"),
    ("s-2", "atlas", "what port does the tile server listen on?"),
    ("s-2", "atlas", "write a haiku about rain"),
    ("s-3", "atlas", "on which day do we deploy?"),
)


def ask(daemon: Daemon, session: str, space: str, prompt: str) -> str:
    """Ask for a whisper and return its id."""
    body = {"prompt": prompt, "session_id": session, "space": space}
    return str(daemon.ok("POST", "/agent/whisper", body)["whisper_id"])


def shown(page: Page) -> Locator:
    """Return the proposal that stands there, once it can be decided."""
    found = page.get_by_label("The proposal")
    expect(found.locator("article[aria-busy='false']")).to_be_visible()
    return found


def remember_twins(daemon: Daemon) -> None:
    """Remember pairs that a job will ask about."""
    for one, text, other, again in TWINS:
        daemon.remember(text, title=one, space="atlas")
        daemon.remember(again, title=other, space="atlas")


def run(daemon: Daemon, *jobs: str) -> None:
    for job in jobs:
        daemon.ok("POST", f"/admin/tasks/{job}/run", {}, wait="true")


def live(daemon: Daemon) -> dict[str, str]:
    """Let a few days pass: memories, prompts, a night. Return the ids by title."""
    ids = furnish(daemon)
    for session, space, prompt in PROMPTS:
        ask(daemon, session, space, prompt)
    remember_twins(daemon)
    run(daemon, "importance_scorer", "duplicate_merger", "conflict_detector", "decay")
    return ids


def wonder(home: Path, archive: int, spaces: int) -> None:
    """Let so much be asked in a home that no daemon keeps open: first about spaces."""
    with closing(open_local(home)) as door:
        kept = [_remembered(door, number) for number in range(max(archive, spaces))]
        asked = [_asked(door, each, ProposalType.SPACE) for each in kept[:spaces]]
        asked += [_asked(door, each, ProposalType.DECAY) for each in kept[:archive]]
        record_proposals(door.context.stores, asked)


def _remembered(door: LocalDoor, number: int) -> Memory:
    words = {"content": f"Shelf {number} holds the lamps.", "title": f"Shelf {number}"}
    made = door.call("remember", body=words)
    return get_stored(door.context.stores, str(made["node_id"])).memory


def _asked(door: LocalDoor, memory: Memory, kind: ProposalType) -> Proposal:
    decay = kind is ProposalType.DECAY
    action = tier_action(memory.id, Tier.ARCHIVAL) if decay else space_action(memory.id, "attic")
    wording = f"move `{memory.short_id}` ({memory.title}) to {'archival' if decay else 'attic'}"
    given = add_states(action, [memory], f"{kind.value} {memory.id}")
    return new_proposal(door.context.stores, kind, (memory.id,), wording, given, "unused for long")
