"""What a real night does with the stores of Everyday: unasked, and as questions.

A retirement is right when the set says that the memory was replaced, whoever replaced it. A merge
is right when the set says that both say the same. Of what is asked, a question about two memories
is right when one of them was replaced by the other, directly or through others, or when both say
the same, whichever it asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from _everyday_asking import same_as
from _everyday_set import EverydayStore
from _everyday_systems import MOST_RECALLED, draft_of
from _recall_homes import Homes, Notes, digest, remember_all
from _recall_metrics import mean
from _recall_report import Figure, share
from _recall_sets import Draft, memory_id
from _sleep_homes import lent

from madeleine import Madeleine
from madeleine.model.proposal import Proposal, ProposalType

KNOWN = (ProposalType.CONFLICT, ProposalType.MERGE)
"""Questions whose right answer the set knows."""


@dataclass(frozen=True, slots=True)
class Night:
    """What one night did with a store. Each flag says whether one deed or question was right."""

    retired: tuple[bool, ...]
    merged: tuple[bool, ...]
    asked: Mapping[str, tuple[bool, ...]]
    outdated: int
    """Memories of the store that others replaced."""
    restated: int
    memories: int
    old_first: tuple[bool, ...] = ()
    """Of each question about what changed, whether the old value stood above the new one before."""
    old_first_after: tuple[bool, ...] = ()
    """The same after the night, with the questions that it asks unanswered."""


def sleep_store(homes: Homes, store: EverydayStore) -> Night:
    """Run one night on a copy of a store's home and return what it did."""
    drafts = [draft_of(each, store.name) for each in store.memories]
    home, _ = homes.made(f"night-{store.name}", digest(drafts), lambda at: _fill(at, drafts))
    with lent(homes, home) as work, Madeleine.open(work, in_process=True) as opened:
        before = _find_old_first(opened, store)
    with lent(homes, home) as work, Madeleine.open(work, in_process=True) as opened:
        opened.sleep()  # nothing was asked here: what is used is asked about first
        after = _find_old_first(opened, store)
        listed = {each.id: each for each in opened.list(limit=1_000, outdated=True)}
        proposals = opened.proposals()
    names = {memory_id("everyday", store.name, each.id): each for each in store.memories}
    same = same_as(store)
    retired = [
        names[key].replaced_by is not None
        for key, memory in listed.items()
        if key in names and memory.superseded_by is not None
    ]
    gone = [each for key, each in names.items() if key not in listed]
    merged = [len(same[each.id]) > 1 for each in gone]
    asked: dict[str, list[bool]] = {}
    for proposal in proposals:
        nodes = [names[key].id for key in proposal.source_nodes if key in names]
        asked.setdefault(proposal.type.value, []).append(is_right(store, same, proposal, nodes))
    return Night(
        tuple(retired),
        tuple(merged),
        {kind: tuple(flags) for kind, flags in asked.items()},
        sum(each.replaced_by is not None for each in store.memories),
        sum(each.same_as is not None for each in store.memories),
        len(store.memories),
        before,
        after,
    )


def _find_old_first(opened: Madeleine, store: EverydayStore) -> tuple[bool, ...]:
    """Return of each question about what changed whether the old value stands above the new one."""
    names = {memory_id("everyday", store.name, each.id): each.id for each in store.memories}
    found = []
    for question in store.questions:
        if question.kind == "changed":
            hits = opened.recall(question.text, limit=MOST_RECALLED, space=question.space)
            ids = [names.get(each.memory.id) for each in hits]
            old, new = (
                ids.index(each) if each in ids else len(ids)
                for each in (question.old, question.new)
            )
            found.append(old < new)
    return tuple(found)


def is_right(
    store: EverydayStore,
    same: Mapping[str, frozenset[str]],
    proposal: Proposal,
    nodes: Sequence[str],
) -> bool:
    """Whether what is asked is so. Only questions about two memories have a known answer."""
    if proposal.type not in KNOWN or len(nodes) < 2:
        return False
    return is_same_or_later(store, same, nodes[0], nodes[1])


def is_same_or_later(
    store: EverydayStore, same: Mapping[str, frozenset[str]], one: str, two: str
) -> bool:
    """Whether two memories say the same, or one of them was replaced by the other, directly or
    through others."""
    replaced_by = {each.id: each.replaced_by for each in store.memories}

    def later(memory: str) -> Iterator[str]:
        following = replaced_by[memory]
        while following is not None:
            yield from same[following]
            following = replaced_by[following]

    return two in same[one] or two in later(one) or one in later(two)


def night_figures(nights: Sequence[Night]) -> Iterator[Figure]:
    """Return how much of what was done and asked is right, and how much was found at all."""
    outdated = sum(each.outdated for each in nights)
    restated = sum(each.restated for each in nights)
    memories = sum(each.memories for each in nights)
    retired = [flag for each in nights for flag in each.retired]
    merged = [flag for each in nights for flag in each.merged]
    yield share("sleep", "done unasked: right", mean(map(float, [*retired, *merged])))
    yield share("sleep", "retired unasked: right", mean(map(float, retired)))
    yield Figure("sleep", "outdated ones retired unasked", sum(retired), outdated, unit="memories")
    yield share("sleep", "merged unasked: right", mean(map(float, merged)))
    yield Figure("sleep", "restatements merged unasked", sum(merged), restated, unit="memories")
    asked = {
        kind: [flag for each in nights for flag in each.asked.get(kind.value, ())] for kind in KNOWN
    }
    every = [flag for flags in asked.values() for flag in flags]
    yield share("sleep", "asked: right", mean(map(float, every)))
    for kind, flags in asked.items():
        yield share("sleep", f"asked about a {kind.value}: right", mean(map(float, flags)))
    questions = sum(len(flags) for each in nights for flags in each.asked.values())
    kinds = {
        kind.value: sum(len(each.asked.get(kind.value, ())) for each in nights)
        for kind in ProposalType
    }
    note = ", ".join(f"{kind} {count}" for kind, count in kinds.items() if count)
    yield Figure("sleep", "questions asked", questions, memories, unit="questions", note=note)
    before = [float(flag) for each in nights for flag in each.old_first]
    after = [float(flag) for each in nights for flag in each.old_first_after]
    yield share("sleep", "old value above new, before a night", mean(before))
    yield share("sleep", "old value above new, after it, nothing answered", mean(after))


def _fill(home: Path, drafts: Sequence[Draft]) -> Notes:
    with Madeleine.open(home, in_process=True) as opened:
        remember_all(opened, drafts, f"remembering {home.name}")
    return {}
