"""Archives, or moves to the trash, what is no longer relevant.

Both thresholds are 0 unless somebody sets them, and then nothing is forgotten. What is archived
already is left alone. Relevance is reckoned anew, and what moved is written down, as decay does.
What is moved to the trash stays there until `madeleine purge`; undoing the run brings all of it
back.

A run that would take away too much of the store asks instead (`breaker`): one question about the
ten that are least relevant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from madeleine.index.search import MemoryColumns
from madeleine.language.upcoming import is_upcoming
from madeleine.model.memory import Memory
from madeleine.model.words import MemoryType, Tier
from madeleine.rules.forgetting import (
    Codes,
    ForgettingAction,
    ForgettingColumns,
    ForgettingThresholds,
    Protection,
    find_protections,
    select_actions,
)
from madeleine.rules.relevance import RelevanceCurve
from madeleine.sleep.actions import action_question_key, touched_memories
from madeleine.sleep.breaker import breaker_reason
from madeleine.sleep.config import ConsolidationConfig, protected_types
from madeleine.sleep.proposing import fading_slots
from madeleine.sleep.standings import ARCHIVAL, CORE, days_before, iterate_pages
from madeleine.sleep.tasks.decay import DecayStatistics, build_score_patch, curve_of, relevance_of
from madeleine.sleep.values import STOPPED, AskedInstead, JobContext, Patch, PutAway, SetTier
from madeleine.sleep.values import MoveToTrash as ToTrash
from madeleine.write.questions import rejected_keys

LISTED = 20  # memories of each kind that a report names; their number is told beside
PREVIEW_CHARS = 50
READ_AT_ONCE = 500  # memories whose texts are read


def make_forget_task() -> ForgetTask:
    """Return the task."""
    return ForgetTask()


@dataclass(frozen=True, slots=True)
class ForgettableMemory:
    """A memory whose relevance is below a threshold, and what keeps it, if anything does."""

    id: str
    relevance: float
    fate: ForgettingAction
    kept_by: Protection


@dataclass(slots=True)
class ForgettingSurvey:
    """What a run came across."""

    rules: ForgettingThresholds
    curve: RelevanceCurve
    types: frozenset[int]
    """The protected ones, by their place in the list of types."""
    examined: int = 0
    doomed: list[ForgettableMemory] = field(default_factory=list)
    protected: list[ForgettableMemory] = field(default_factory=list)


class ForgetTask:
    """The task."""

    name = "forget"

    def plan(self, context: JobContext) -> Sequence[Patch]:
        config = context.config.consolidation
        look = ForgettingSurvey(_build_rules(config), curve_of(config), _protected_codes(config))
        patches = [
            each for page in iterate_pages(context) for each in _survey_page(context, page, look)
        ]
        if context.stop():
            context.report.stopped = STOPPED
            return []
        look.doomed.sort(key=_least_relevant)
        look.protected.sort(key=_least_relevant)
        return [*patches, *_build_forgetting_patches(context, look)]

    def done(self, context: JobContext) -> None:
        """Nothing to note: every memory is looked at each time."""


def _protected_codes(config: ConsolidationConfig) -> frozenset[int]:
    """Return the places of the types that are never forgotten."""
    return frozenset(map(list(MemoryType).index, protected_types(config.protected_types)))


def _build_rules(config: ConsolidationConfig) -> ForgettingThresholds:
    return ForgettingThresholds(
        archive_below=config.archive_threshold,
        delete_below=config.delete_threshold,
        keep_importance=config.protected_importance,
        grace_days=config.grace_period_days,
    )


def _least_relevant(each: ForgettableMemory) -> tuple[float, str]:
    return each.relevance, each.id


# -- looking -------------------------------------------------------------------------------


def _survey_page(
    context: JobContext, page: MemoryColumns, look: ForgettingSurvey
) -> Iterator[Patch]:
    """Note which memories of a page are below a threshold; yield their scores as decay would."""
    there = page.tiers != ARCHIVAL
    found = _build_candidates(context, page, look)
    fate, kept_by = select_actions(found, look.rules) * there, find_protections(found, look.rules)
    look.examined += int(there.sum())
    for place in np.flatnonzero(fate).tolist():
        each = _build_forgettable(page, found, (fate, kept_by), place)
        (look.doomed if each.kept_by is Protection.NONE else look.protected).append(each)
    patch = build_score_patch(context, page, there, DecayStatistics(), found.relevance)
    if patch is not None:
        yield patch


def _build_candidates(
    context: JobContext, page: MemoryColumns, look: ForgettingSurvey
) -> ForgettingColumns:
    return ForgettingColumns(
        relevance=relevance_of(context, page, look.curve),
        importance=page.importance,
        age=days_before(context, page.created),
        tagged=page.protected,
        core=(page.tiers == CORE) | page.about_self,
        of_protected_type=np.isin(page.types, list(look.types)),
    )


def _build_forgettable(
    page: MemoryColumns, found: ForgettingColumns, codes: tuple[Codes, Codes], place: int
) -> ForgettableMemory:
    fate, kept_by = (int(each[place]) for each in codes)
    score = float(found.relevance[place])
    return ForgettableMemory(
        page.ids[place], score, list(ForgettingAction)[fate], list(Protection)[kept_by]
    )


# -- forgetting ----------------------------------------------------------------------------


def _build_forgetting_patches(context: JobContext, look: ForgettingSurvey) -> list[Patch]:
    """Return the patches that put memories away, and have what becomes of them told."""
    context.tell = lambda: _report_outcome(context, look)
    count, trashed = (
        len(look.doomed),
        sum(each.fate is ForgettingAction.DELETE for each in look.doomed),
    )
    why = breaker_reason(context, count, count, trashed)
    if why is None:
        return [
            _build_patch(look, each, memory) for each, memory in _iterate_unprotected(context, look)
        ]
    context.report.stopped = why.extended(instead=AskedInstead.LEAST_RELEVANT)
    refused = rejected_keys(context.stores)  # a list with one of these would not be asked about
    free = (
        pair
        for pair in _iterate_unprotected(context, look)
        if action_question_key(_choose_action(*pair)) not in refused
    )
    some = list(islice(free, fading_slots(context)))
    return [_build_question(look, some)] if some else []


def _iterate_unprotected(
    context: JobContext, look: ForgettingSurvey
) -> Iterator[tuple[ForgettableMemory, Memory]]:
    """Yield what nothing protects, with its text, least relevant first; note as protected what
    turns out to be about a time to come."""
    doomed = list(look.doomed)
    for start in range(0, len(doomed), READ_AT_ONCE):
        some = doomed[start : start + READ_AT_ONCE]
        known = context.stores.search.memories([each.id for each in some])
        for each in some:
            memory = known.get(each.id)
            if memory is None or memory.tier is Tier.ARCHIVAL:
                continue
            if is_upcoming(memory, context.now):
                look.doomed.remove(each)
                look.protected.append(replace(each, kept_by=Protection.UPCOMING))
            else:
                yield each, memory


def _choose_action(each: ForgettableMemory, memory: Memory) -> SetTier | ToTrash:
    return (
        ToTrash(memory) if each.fate is ForgettingAction.DELETE else SetTier(memory, Tier.ARCHIVAL)
    )


def _build_patch(look: ForgettingSurvey, each: ForgettableMemory, memory: Memory) -> Patch:
    below = (
        look.rules.delete_below
        if each.fate is ForgettingAction.DELETE
        else look.rules.archive_below
    )
    return Patch(_choose_action(each, memory), f"relevance {each.relevance:.4f}, below {below}")


def _build_question(
    look: ForgettingSurvey, some: Sequence[tuple[ForgettableMemory, Memory]]
) -> Patch:
    archive = tuple(memory for each, memory in some if each.fate is not ForgettingAction.DELETE)
    trash = tuple(memory for each, memory in some if each.fate is ForgettingAction.DELETE)
    most = max(each.relevance for each, _ in some)
    below = max(look.rules.archive_below, look.rules.delete_below)
    reason = f"relevance of {most:.4f} at most, below {below}"
    return Patch(PutAway(archive, trash), reason, ask=True)


# -- the report ----------------------------------------------------------------------------


def _report_outcome(context: JobContext, look: ForgettingSurvey) -> None:
    """Put the documented figures into the report: what was put away, not what was planned. Lists
    name some of the memories only, those first that are least relevant; the numbers beside them
    count all."""
    archived = [each for each in context.carried_out if isinstance(each.action, SetTier)]
    deleted = [each for each in context.carried_out if isinstance(each.action, ToTrash)]
    context.report.counts.update(
        {
            "examined": look.examined,
            "preserved": look.examined - len(archived) - len(deleted),
            "archived_count": len(archived),
            "deleted_count": len(deleted),
            "protected_count": len(look.protected),
            "archived": _list_put_away(look, archived),
            "deleted": _list_put_away(look, deleted),
            "protected": _list_protected(context, look),
        }
    )


def _list_put_away(look: ForgettingSurvey, patches: Sequence[Patch]) -> list[dict[str, object]]:
    doomed = {each.id: each for each in look.doomed}
    memories = [touched_memories(each.action)[0] for each in patches[:LISTED]]
    return [_item_to_json(doomed[each.id], each) for each in memories]


def _list_protected(context: JobContext, look: ForgettingSurvey) -> list[dict[str, object]]:
    kept = look.protected[:LISTED]
    known = context.stores.search.memories([each.id for each in kept])
    return [
        {
            **_item_to_json(each, known.get(each.id)),
            "protection_reason": each.kept_by.value,
            "action": each.fate.value,
        }
        for each in kept
    ]


def _item_to_json(each: ForgettableMemory, memory: Memory | None) -> dict[str, object]:
    return {
        "id": each.id,
        "content_preview": memory.content[:PREVIEW_CHARS] if memory else "",
        "relevance": round(each.relevance, 6),
        "type": memory.type.value if memory else None,
    }
