"""Moves working memories that nobody uses to the archive: they are offered less readily there, and
asking finds them.

Which way retrievability is reckoned is a setting; the rule is the same (`rules.lifecycle`). What
protects a memory from being forgotten protects it here (`rules.forgetting`): core, the self and
what describes the asker, the tag `protected`, importance, its type, and its youth. What is still to
come does not fade either (`language.upcoming`). No memory is ever deleted.

By the documented numbers a memory that nobody used has faded after 29 hours, a weekend. So nothing
fades in its first month, counted from when it was written or came into this home, nor unless it was
idle for a week. A run that somebody asks for keeps these waits too, unless they ask not to wait.

A store that was brought here may have faded as a whole. Then people are asked: one question with
ten memories, and while it is not answered there is no other.

What was said in sessions, kept word for word beside the memories, goes to the trash when its time
is over (`sleep.exchange_days`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from madeleine.index.search import MemoryColumns
from madeleine.language.upcoming import is_upcoming
from madeleine.model.cause import Cause
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.query import Filter
from madeleine.model.words import EXCHANGE_TAG, Edge, Tier
from madeleine.rules.forgetting import (
    ForgettingThresholds,
    Protection,
    ProtectionColumns,
    find_protections,
    member_code,
)
from madeleine.rules.lifecycle import ExponentialLifecycle, Lifecycle, LifecycleState, has_faded
from madeleine.rules.strength_history import use_days
from madeleine.sleep.actions import action_question_key
from madeleine.sleep.breaker import breaker_reason
from madeleine.sleep.fading import build_lifecycle, least_chance, protected_codes
from madeleine.sleep.proposing import fading_slots
from madeleine.sleep.standings import CORE, WORKING, days_before, iterate_pages
from madeleine.sleep.values import (
    AskedInstead,
    JobContext,
    MoveToTrash,
    Patch,
    PutAway,
    SetTier,
)
from madeleine.write.questions import rejected_keys

READ_AT_ONCE = 500  # memories whose texts are read: of a store that faded as a whole a few matter


def make_decay_manager() -> DecayManager:
    """Return the job."""
    return DecayManager()


class DecayManager:
    """The job."""

    name = "decay_manager"

    def __init__(self) -> None:
        self._lifecycle: Lifecycle = ExponentialLifecycle()

    def plan(self, context: JobContext) -> Sequence[Patch]:
        self._lifecycle = build_lifecycle(context.config)
        faded = {
            memory_id: chance
            for page in iterate_pages(context)
            for memory_id, chance in self._find_faded(context, page)
        }
        faded = _drop_self_defined(context, faded)
        faded = _drop_new(context, faded) if context.waits else faded
        faded = _drop_decided(context, faded)
        ranked = sorted(faded, key=lambda each: (faded[each], each))
        return [*self._plan_fading(context, ranked, faded), *_plan_expired_exchanges(context)]

    def _plan_fading(
        self, context: JobContext, ranked: Sequence[str], faded: dict[str, float]
    ) -> list[Patch]:
        if not ranked:
            return []
        asked = _asked_lately(context) - faded.keys()
        why = breaker_reason(context, len(ranked), len(ranked), asked=len(asked))
        if why is None:
            return [
                _build_patch(each, faded[each.id])
                for each in _iterate_still_fading(context, ranked)
            ]
        return _ask_about(context, ranked, faded, why)

    def done(self, context: JobContext) -> None:
        """Nothing to note: every memory is looked at each time."""

    def _find_faded(self, context: JobContext, page: MemoryColumns) -> Iterator[tuple[str, float]]:
        config = context.config
        least = config.decay_least_days if context.waits else 0.0
        idle = days_before(context, page.last_accessed) >= least
        may = (page.tiers == WORKING) & (
            _find_protections(context, page) == member_code(Protection.NONE)
        )
        places = np.flatnonzero(may & idle)
        chances = self._compute_chances(context, page, places).tolist()
        weights = page.importance[places].tolist()
        for place, chance, weight in zip(places.tolist(), chances, weights, strict=True):
            if has_faded(chance, weight, least_chance(config), config.decay_importance):
                yield page.ids[place], chance

    def _compute_chances(
        self, context: JobContext, page: MemoryColumns, places: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return retrievabilities, all in one go where single uses do not matter."""
        if isinstance(self._lifecycle, ExponentialLifecycle):
            idle = days_before(context, page.last_accessed)[places]
            return self._lifecycle.chances(page.stability[places], idle)
        lives = self._read_lives(context, page, places.tolist())
        return np.array([self._lifecycle.retrievability(each) for each in lives], np.float64)

    def _read_lives(
        self, context: JobContext, page: MemoryColumns, places: Sequence[int]
    ) -> Iterator[LifecycleState]:
        ids = [page.ids[each] for each in places]
        uses = context.stores.log.uses(ids)
        ages = days_before(context, page.created)
        idle = days_before(context, page.last_accessed)
        for place, memory_id in zip(places, ids, strict=True):
            born = context.now - timedelta(days=float(ages[place]))
            after, whispers = use_days(born, uses.get(memory_id, ()))
            stability = float(page.stability[place])
            yield LifecycleState(float(ages[place]), float(idle[place]), stability, after, whispers)


def _find_protections(context: JobContext, page: MemoryColumns) -> NDArray[np.uint8]:
    """Return what protects the memories of a page, by the rule that forgetting goes by."""
    config = context.config
    found = ProtectionColumns(
        importance=page.importance,
        age=days_before(context, page.created),
        tagged=page.protected,
        core=(page.tiers == CORE) | page.about_self,
        of_protected_type=np.isin(page.types, list(protected_codes(config))),
    )
    grace = config.decay_grace_days if context.waits else 0.0
    return find_protections(
        found, ForgettingThresholds(keep_importance=config.decay_importance, grace_days=grace)
    )


def _build_patch(memory: Memory, chance: float) -> Patch:
    why = (
        f"not used for long: it is unlikely to come to mind ({chance:.0%}) "
        f"and matters little ({memory.importance:.0%})"
    )
    return Patch(SetTier(memory, Tier.ARCHIVAL), why)


def _plan_expired_exchanges(context: JobContext) -> list[Patch]:
    """Return exchanges whose time is over, some at a time."""
    days = context.config.exchange_days
    expired = Filter(
        tags=(EXCHANGE_TAG,),
        tiers=(Tier.ARCHIVAL,),
        created_before=context.now - timedelta(days=days),
        outdated=True,
    )
    listed = context.stores.search.listing(expired, context.now, READ_AT_ONCE)
    return [Patch(MoveToTrash(each), f"said more than {days:g} days ago") for each in listed]


def _iterate_still_fading(context: JobContext, ids: Sequence[str]) -> Iterator[Memory]:
    """Yield those that are still at hand and about no time to come, in the order given."""
    for start in range(0, len(ids), READ_AT_ONCE):
        some = ids[start : start + READ_AT_ONCE]
        known = context.stores.search.memories(some)
        for memory in (known[each] for each in some if each in known):
            if memory.tier is Tier.WORKING and not is_upcoming(memory, context.now):
                yield memory


def _ask_about(
    context: JobContext, ranked: Sequence[str], faded: dict[str, float], why: Cause
) -> list[Patch]:
    """Return the one question about those that are least likely to come to mind."""
    some = tuple(islice(_iterate_still_fading(context, ranked), fading_slots(context)))
    if not some:
        context.report.stopped = why.extended(instead=AskedInstead.BEFORE)
        return []
    context.report.stopped = why.extended(instead=AskedInstead.SOME, asked=len(some))
    reason = (
        "not used for long: each is unlikely to come to mind "
        f"(at most {max(faded[each.id] for each in some):.0%}) and matters little"
    )
    return [Patch(PutAway(archive=some), reason, ask=True)]


# -- what is left alone ----------------------------------------------------------------------


def _drop_self_defined(context: JobContext, faded: dict[str, float]) -> dict[str, float]:
    """Leave out what the self is connected to as being about it, tagged so or not."""
    self_id = context.stores.graph.self_id()
    if self_id is None or not faded:
        return faded
    rows = context.stores.graph.edges([self_id])
    defined = {row.connection.target for row in rows if row.connection.edge is Edge.DEFINES}
    return {each: chance for each, chance in faded.items() if each not in defined}


def _drop_decided(context: JobContext, faded: dict[str, float]) -> dict[str, float]:
    """Leave out what a person wants to keep where it is, what they are being asked about, since
    a question about a memory that was archived meanwhile could not be answered any more, and what
    they were asked about in vain."""
    index = context.stores.index
    pending = index.log.proposals(ProposalStatus.PENDING)
    asked = {node for each in pending for node in each.source_nodes}
    expired = index.log.proposals(ProposalStatus.EXPIRED)
    in_vain = {
        node for each in expired if _had_its_time(context, each) for node in each.source_nodes
    }
    rejected = index.log.proposals(ProposalStatus.REJECTED)
    named = {
        node for each in rejected if each.type is ProposalType.DECAY for node in each.source_nodes
    }
    said_no = rejected_keys(context.stores)
    moves = [
        SetTier(each, Tier.ARCHIVAL)
        for each in index.search.memories(named & faded.keys()).values()
    ]
    refused = {each.memory.id for each in moves if action_question_key(each) in said_no}
    left_out = asked | in_vain | refused
    return {each: chance for each, chance in faded.items() if each not in left_out}


def _had_its_time(context: JobContext, proposal: Proposal) -> bool:
    """Whether a question about fadings expired because nobody answered it, and not because one
    of its memories changed."""
    least = timedelta(days=context.config.proposal_days)
    resolved, is_fading = proposal.resolved, proposal.type is ProposalType.DECAY
    return is_fading and resolved is not None and resolved - proposal.created >= least


def _asked_lately(context: JobContext) -> set[str]:
    """Return which memories people were asked about in the last weeks. They faded together
    with those that are left, so these are asked about too, and not archived for being fewer."""
    since = context.now - timedelta(days=context.config.proposal_days)
    lists = [each for each in context.stores.log.proposals() if dict(each.action).get("keys")]
    return {node for each in lists if each.created > since for node in each.source_nodes}


def _drop_new(context: JobContext, faded: dict[str, float]) -> dict[str, float]:
    """Leave out what came into this home only lately, however old it says it is."""
    since = context.now - timedelta(days=context.config.decay_grace_days)
    return {
        memory_id: chance
        for memory_id, chance in faded.items()
        if not any(each.at > since for each in _find_remembered_events(context, memory_id))
    }


def _find_remembered_events(context: JobContext, memory_id: str) -> list[Event]:
    history = context.stores.log.history(memory_id)
    return [each for each in history if each.kind is EventKind.REMEMBERED]
