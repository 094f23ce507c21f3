"""Gives memories without a space the space of those they are connected with.

The vote decides by itself where it is clear: at least three neighbours have the space, and four of
five of those that have one. A lesser majority is a proposal: a memory without a space is global,
and mostly somebody meant it so, since an agent that remembers in a project names the project. Of
what somebody stored only connections that somebody drew count: everything is like something in some
project. Where the source says that no space could be known, because a program brought the text
from elsewhere (`BROUGHT`) and left the space open, a job's own connections count too, and any
majority decides. What is about the user, and the self, belongs nowhere else and is never asked
about.

It is a vote of neighbours, not a clustering, whatever its name says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from madeleine.model.memory import Memory
from madeleine.model.words import ABOUT_SELF, MACHINE_AUTHORS, SELF_SOURCE, Edge
from madeleine.rules.spaces import clear_space, majority_space
from madeleine.sleep.values import JobContext, Patch, SetSpace

BROUGHT = ("import:", "ingest:")  # how sources begin that could not know a space
ASKING_VOTES = 2  # neighbours that must agree before anybody is asked
ACTING_VOTES = 1
SAYS_NOTHING = frozenset({Edge.DEFINES, Edge.CONTRADICTS})
"""Connections that do not mean belonging together."""


def make_auto_cluster() -> AutoCluster:
    """Return the job."""
    return AutoCluster()


class AutoCluster:
    """The job."""

    name = "auto_cluster"

    def plan(self, context: JobContext) -> Sequence[Patch]:
        votes = _collect_votes(context)
        context.report.looked += len(votes)
        known = context.stores.search.memories(votes)
        return list(_build_patches(known, votes))

    def done(self, context: JobContext) -> None:
        """Nothing to note: a question is asked once anyway."""


def _collect_votes(context: JobContext) -> dict[str, list[str]]:
    """Return the spaces of the neighbours of each that has neighbours with a space."""
    votes: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for row in context.stores.graph.across_spaces():
        counts = row.by not in MACHINE_AUTHORS or row.source.startswith(BROUGHT)
        if counts and row.edge not in SAYS_NOTHING:
            votes[row.memory][row.other] = row.space
    return {each: list(found.values()) for each, found in votes.items()}


def _build_patches(known: dict[str, Memory], votes: dict[str, list[str]]) -> Iterator[Patch]:
    for memory in known.values():
        if memory.source == SELF_SOURCE or ABOUT_SELF in memory.tags:
            continue
        brought = memory.source.startswith(BROUGHT)
        least = ACTING_VOTES if brought else ASKING_VOTES
        space = majority_space(votes[memory.id], least)
        if space is None or memory.space is not None:
            continue
        ask = not brought and clear_space(votes[memory.id]) is None
        said = votes[memory.id].count(space)
        reason = f"{said} of {len(votes[memory.id])} neighbours with a space are in `{space}`"
        yield Patch(SetSpace(memory, space), reason, ask=ask)
