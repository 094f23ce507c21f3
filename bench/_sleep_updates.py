"""Facts that change: stated once, then weeks later in other words with another value.

The facts are those of the made-up world. A third of the old ones was stated twice, because a
value that is replaced must be replaced in every copy. What is asked afterwards are the world's
own questions, in the words of the first statement and in others. An answer is stale when the
first memory that comes back states the old value.

The night retires unasked only what the newer memory says is over, by name; half of the changes name
only the new value. So it is asked twice: after the night, and after a yes to its proposals.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from _measure import progress
from _recall_homes import Homes, Notes, digest, remember_all
from _recall_metrics import mean
from _recall_report import Figure, Target, share
from _recall_sets import Draft, memory_id
from _recall_world import Fact, another, facts
from _sleep_homes import lent

from madeleine import Madeleine
from madeleine.model.proposal import ProposalType

SEED = 11
SAID = datetime(2026, 2, 2, 9, tzinfo=UTC)
LATER = timedelta(weeks=6)
STALE_AT_MOST = 0.02
EVERY_THIRD = 3
OF_WHICH_ONE = 20  # facts, of which one changes
ASKED = ("lex", "para")

# How a change is told: none of these uses the words that the fact was stated in first.
CHANGED: Mapping[str, tuple[str, ...]] = {
    "database": ("Last week we migrated {s} to {v}.", "{s} was moved from {o} over to {v}."),
    "port": ("Since the upgrade {s} answers on {v} instead.", "We changed {s} over to port {v}."),
    "deployment": ("We moved the hosting of {s} to {v}.", "{s} left {o} and now runs on {v}."),
    "owner": ("{v} took over {s}.", "{v} is now in charge of {s}, not {o} any more."),
    "language": ("{s} was rewritten in {v}.", "The team ported {s} from {o} to {v}."),
    "tests": ("{s} is now checked by running `{v}`.", "We switched {s} from `{o}` to `{v}`."),
    "formatter": ("We switched {s} over to {v}.", "{s} dropped {o} in favour of {v}."),
    "drink": ("{s} has switched to {v} lately.", "{s} went off {o} and now has {v} at breakfast."),
    "pet": (
        "{s} gave the {o} away and keeps a {v} now.",
        "At {s}'s there lives a {v} now, no {o}.",
    ),
    "allergy": (
        "The test says that {s} reacts to {v}, not to {o}.",
        "It is {v} that {s} cannot stand; {o} turned out to be fine.",
    ),
    "city": ("{s} has relocated to {v}.", "{s} left {o} for {v}."),
    "hobby": ("{s} gave up {o} and took up {v}.", "These days {s} is all about {v}, not {o}."),
}


@dataclass(frozen=True, slots=True)
class Change:
    """A fact, what it became, and the ids of all memories that state the old value."""

    fact: Fact
    olds: frozenset[str]
    new: str


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that was said, oldest first, and what changed."""

    drafts: tuple[Draft, ...]
    changes: tuple[Change, ...]


def story(count: int, seed: int = SEED) -> Story:
    """Return a world of which `count` facts change, of different subjects: one in twenty, since
    a night that would change most of a store asks first."""
    dice = random.Random(seed)
    world = _by_subject(list(islice(facts(seed), count * OF_WHICH_ONE)))
    drafts = [_draft(fact) for each in world for fact in each]
    changes = []
    for place, known in enumerate(world[:count]):
        fact = known[place % len(known)]
        copies = [_copy(fact)] if place % EVERY_THIRD == 0 else []
        new = _new(dice, fact)
        olds = frozenset([fact_id(fact), *(str(each["id"]) for each in copies)])
        drafts += [*copies, new]
        changes.append(Change(fact, olds, str(new["id"])))
    return Story(tuple(drafts), tuple(changes))


def _by_subject(given: Sequence[Fact]) -> list[list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for fact in given:
        found.setdefault(fact.subject, []).append(fact)
    return list(found.values())


def fact_id(fact: Fact) -> str:
    return memory_id("updates", SEED, fact.number)


def _draft(fact: Fact) -> Draft:
    return {"id": fact_id(fact), "content": fact.text, "created": SAID}


def _copy(fact: Fact) -> Draft:
    """Return the fact stated a second time, a day later."""
    at = SAID + timedelta(days=1)
    known_as = memory_id("updates", SEED, fact.number, "copy")
    return {"id": known_as, "content": fact.restated, "created": at}


def _new(dice: random.Random, fact: Fact) -> Draft:
    value = another(dice, fact)
    form = dice.choice(CHANGED[fact.relation.name])
    text = form.format(s=fact.subject, v=value, o=fact.value)
    known_as = memory_id("updates", SEED, fact.number, "new")
    return {"id": known_as, "content": text[:1].upper() + text[1:], "created": SAID + LATER}


# -- measuring -----------------------------------------------------------------------------


def stale(homes: Homes, count: int) -> list[Figure]:
    """Return how often an old value comes first, before a night and after it."""
    told = story(count)
    home, _ = homes.made("updates", digest([told.drafts]), lambda at: _filled(at, told.drafts))
    with lent(homes, home) as work, Madeleine.open(work, in_process=True) as opened:
        before = _firsts(opened, told)
        progress("a night over the changes")
        proposed = sum(report.proposed for report in opened.sleep())
        unasked = _firsts(opened, told)
        gone = _replaced(opened, told)
        _agree_to_conflicts(opened)
        after = _firsts(opened, told)
    bound = Target(STALE_AT_MOST, at_most=True)
    note = f"{proposed} proposals were made"
    return [
        share("stale", "an old value at rank 1, before sleep", mean(_stale(before))),
        share("stale", "an old value at rank 1, after sleep", mean(_stale(unasked)), bound, note),
        share("stale", "an old value at rank 1, proposals agreed to", mean(_stale(after))),
        share("stale", "the new value at rank 1, proposals agreed to", mean(_fresh(after))),
        Figure(
            "stale",
            "facts replaced unasked that had not changed",
            gone,
            len(told.drafts),
            unit="facts",
        ),
    ]


def _agree_to_conflicts(opened: Madeleine) -> None:
    """Say yes to what the night proposed to replace, as a person would who knows of the changes."""
    for proposal in opened.proposals():
        if proposal.type is ProposalType.CONFLICT and not opened.proposal(proposal.id).problem:
            opened.decide(proposal.id, "approved")


def _filled(home: Path, drafts: Sequence[Draft]) -> Notes:
    with Madeleine.open(home, in_process=True) as opened:
        remember_all(opened, drafts, "remembering what changes")
    return {}


Firsts = list[tuple[Change, str]]


def _firsts(opened: Madeleine, told: Story) -> Firsts:
    """Return what comes back first for each question about a fact that changed."""
    found = []
    for change in told.changes:
        for kind in ASKED:
            hits = opened.recall(change.fact.question(kind), limit=1)
            found.append((change, hits[0].memory.id if hits else ""))
    return found


def _stale(firsts: Firsts) -> list[float]:
    return [float(first in change.olds) for change, first in firsts]


def _fresh(firsts: Firsts) -> list[float]:
    return [float(first == change.new) for change, first in firsts]


def _replaced(opened: Madeleine, told: Story) -> int:
    """Return how many memories are outdated that state what is still so."""
    changed = {each for change in told.changes for each in change.olds}
    others = [str(draft["id"]) for draft in told.drafts if str(draft["id"]) not in changed]
    return sum(_outdated(opened, each) for each in others)


def _outdated(opened: Madeleine, memory: str) -> bool:
    return opened.get(memory).valid_until is not None
