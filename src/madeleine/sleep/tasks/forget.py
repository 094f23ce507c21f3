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
from madeleine.sleep.asking import fadings_room
from madeleine.sleep.breaker import tripped
from madeleine.sleep.deeds import question_of, touched
from madeleine.sleep.habits import ConsolidationHabits, protected_types
from madeleine.sleep.standings import ARCHIVAL, CORE, days_before, pages
from madeleine.sleep.tasks.decay import Seen, curve_of, relevance_of, scored
from madeleine.sleep.values import STOPPED, AskedInstead, Night, Patch, PutAway, SetTier
from madeleine.sleep.values import Forget as ToTrash
from madeleine.write.questions import rejected_keys

LISTED = 20  # memories of each kind that a report names; their number is told beside
PREVIEW_CHARS = 50
READ_AT_ONCE = 500  # memories whose texts are read


def forget() -> Forget:
    """Return the task."""
    return Forget()


@dataclass(frozen=True, slots=True)
class Doomed:
    """A memory whose relevance is below a threshold, and what keeps it, if anything does."""

    id: str
    relevance: float
    fate: ForgettingAction
    kept_by: Protection


@dataclass(slots=True)
class Look:
    """What a run came across."""

    rules: ForgettingThresholds
    curve: RelevanceCurve
    types: frozenset[int]
    """The protected ones, by their place in the list of types."""
    examined: int = 0
    doomed: list[Doomed] = field(default_factory=list)
    protected: list[Doomed] = field(default_factory=list)


class Forget:
    """The task."""

    name = "forget"

    def plan(self, night: Night) -> Sequence[Patch]:
        habits = night.habits.consolidation
        look = Look(_rules(habits), curve_of(habits), _protected_codes(habits))
        patches = [each for page in pages(night) for each in _looked(night, page, look)]
        if night.stop():
            night.report.stopped = STOPPED
            return []
        look.doomed.sort(key=_least_relevant)
        look.protected.sort(key=_least_relevant)
        return [*patches, *_forgetting(night, look)]

    def done(self, night: Night) -> None:
        """Nothing to note: every memory is looked at each time."""


def _protected_codes(habits: ConsolidationHabits) -> frozenset[int]:
    """Return the places of the types that are never forgotten."""
    return frozenset(map(list(MemoryType).index, protected_types(habits.protected_types)))


def _rules(habits: ConsolidationHabits) -> ForgettingThresholds:
    return ForgettingThresholds(
        archive_below=habits.archive_threshold,
        delete_below=habits.delete_threshold,
        keep_importance=habits.protected_importance,
        grace_days=habits.grace_period_days,
    )


def _least_relevant(each: Doomed) -> tuple[float, str]:
    return each.relevance, each.id


# -- looking -------------------------------------------------------------------------------


def _looked(night: Night, page: MemoryColumns, look: Look) -> Iterator[Patch]:
    """Note which memories of a page are below a threshold; yield their scores as decay would."""
    there = page.tiers != ARCHIVAL
    found = _candidates(night, page, look)
    fate, kept_by = select_actions(found, look.rules) * there, find_protections(found, look.rules)
    look.examined += int(there.sum())
    for place in np.flatnonzero(fate).tolist():
        each = _doomed(page, found, (fate, kept_by), place)
        (look.doomed if each.kept_by is Protection.NONE else look.protected).append(each)
    patch = scored(night, page, there, Seen(), found.relevance)
    if patch is not None:
        yield patch


def _candidates(night: Night, page: MemoryColumns, look: Look) -> ForgettingColumns:
    return ForgettingColumns(
        relevance=relevance_of(night, page, look.curve),
        importance=page.importance,
        age=days_before(night, page.created),
        tagged=page.protected,
        core=(page.tiers == CORE) | page.about_self,
        of_protected_type=np.isin(page.types, list(look.types)),
    )


def _doomed(
    page: MemoryColumns, found: ForgettingColumns, codes: tuple[Codes, Codes], place: int
) -> Doomed:
    fate, kept_by = (int(each[place]) for each in codes)
    score = float(found.relevance[place])
    return Doomed(page.ids[place], score, list(ForgettingAction)[fate], list(Protection)[kept_by])


# -- forgetting ----------------------------------------------------------------------------


def _forgetting(night: Night, look: Look) -> list[Patch]:
    """Return the patches that put memories away, and have what becomes of them told."""
    night.tell = lambda: _tell(night, look)
    count, trashed = (
        len(look.doomed),
        sum(each.fate is ForgettingAction.DELETE for each in look.doomed),
    )
    why = tripped(night, count, count, trashed)
    if why is None:
        return [_patch(look, each, memory) for each, memory in _going(night, look)]
    night.report.stopped = why.extended(instead=AskedInstead.LEAST_RELEVANT)
    refused = rejected_keys(night.stores)  # a list with one of these would not be asked about
    free = (pair for pair in _going(night, look) if question_of(_action(*pair)) not in refused)
    some = list(islice(free, fadings_room(night)))
    return [_question(look, some)] if some else []


def _going(night: Night, look: Look) -> Iterator[tuple[Doomed, Memory]]:
    """Yield what nothing protects, with its text, least relevant first; note as protected what
    turns out to be about a time to come."""
    doomed = list(look.doomed)
    for start in range(0, len(doomed), READ_AT_ONCE):
        some = doomed[start : start + READ_AT_ONCE]
        known = night.stores.search.memories([each.id for each in some])
        for each in some:
            memory = known.get(each.id)
            if memory is None or memory.tier is Tier.ARCHIVAL:
                continue
            if is_upcoming(memory, night.now):
                look.doomed.remove(each)
                look.protected.append(replace(each, kept_by=Protection.UPCOMING))
            else:
                yield each, memory


def _action(each: Doomed, memory: Memory) -> SetTier | ToTrash:
    return (
        ToTrash(memory) if each.fate is ForgettingAction.DELETE else SetTier(memory, Tier.ARCHIVAL)
    )


def _patch(look: Look, each: Doomed, memory: Memory) -> Patch:
    below = (
        look.rules.delete_below
        if each.fate is ForgettingAction.DELETE
        else look.rules.archive_below
    )
    return Patch(_action(each, memory), f"relevance {each.relevance:.4f}, below {below}")


def _question(look: Look, some: Sequence[tuple[Doomed, Memory]]) -> Patch:
    archive = tuple(memory for each, memory in some if each.fate is not ForgettingAction.DELETE)
    trash = tuple(memory for each, memory in some if each.fate is ForgettingAction.DELETE)
    most = max(each.relevance for each, _ in some)
    below = max(look.rules.archive_below, look.rules.delete_below)
    reason = f"relevance of {most:.4f} at most, below {below}"
    return Patch(PutAway(archive, trash), reason, ask=True)


# -- the report ----------------------------------------------------------------------------


def _tell(night: Night, look: Look) -> None:
    """Put the documented figures into the report: what was put away, not what was planned. Lists
    name some of the memories only, those first that are least relevant; the numbers beside them
    count all."""
    archived = [each for each in night.carried_out if isinstance(each.action, SetTier)]
    deleted = [each for each in night.carried_out if isinstance(each.action, ToTrash)]
    night.report.counts.update(
        {
            "examined": look.examined,
            "preserved": look.examined - len(archived) - len(deleted),
            "archived_count": len(archived),
            "deleted_count": len(deleted),
            "protected_count": len(look.protected),
            "archived": _put_away(look, archived),
            "deleted": _put_away(look, deleted),
            "protected": _protected(night, look),
        }
    )


def _put_away(look: Look, patches: Sequence[Patch]) -> list[dict[str, object]]:
    doomed = {each.id: each for each in look.doomed}
    memories = [touched(each.action)[0] for each in patches[:LISTED]]
    return [_item(doomed[each.id], each) for each in memories]


def _protected(night: Night, look: Look) -> list[dict[str, object]]:
    kept = look.protected[:LISTED]
    known = night.stores.search.memories([each.id for each in kept])
    return [
        {
            **_item(each, known.get(each.id)),
            "protection_reason": each.kept_by.value,
            "action": each.fate.value,
        }
        for each in kept
    ]


def _item(each: Doomed, memory: Memory | None) -> dict[str, object]:
    return {
        "id": each.id,
        "content_preview": memory.content[:PREVIEW_CHARS] if memory else "",
        "relevance": round(each.relevance, 6),
        "type": memory.type.value if memory else None,
    }
