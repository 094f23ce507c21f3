"""Carrying patches out, each only if the memories it touches are still as planned.

A patch becomes a change through the same plain action that a proposal would carry, and every
change bears the run's id, so that the whole run can be taken back. What somebody changed since
the plan was made is left alone: the patch is skipped and counted, and the next run looks again.
What the run itself changed before does not count as a change by somebody else.

Stopping halfway is safe: each change is whole by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from madeleine.errors import Conflict, Damaged, FileChanged, MadeleineError, Missing, Rejected
from madeleine.model.change import Change, FileEdit
from madeleine.model.digest import text_digest
from madeleine.model.event import EventKind
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.model.memory import Connection, Memory, Usage
from madeleine.sleep.actions import (
    build_deeds,
    changed_file_id,
    concerned_ids,
    consulted_memories,
    encode_action,
    touched_memories,
)
from madeleine.sleep.values import (
    STOPPED,
    Action,
    AddConnections,
    JobContext,
    MoveToTrash,
    Patch,
    RemoveConnection,
    Score,
    SetSpace,
    SetTier,
    Summarise,
)
from madeleine.vault.markdown import read_memory
from madeleine.vault.vault import is_in_trash
from madeleine.write.actions import plan_action
from madeleine.write.change_file import ChangeContext, CurrentFile, find_current
from madeleine.write.commit import commit
from madeleine.write.record import new_event, record_events

EDITS_AT_ONCE = 8  # files that share a journal line; who wants to write waits for one such change
MANY_AT_ONCE: Mapping[type[Action], int] = {MoveToTrash: 128, SetTier: 48}
"""Of some kinds a run has thousands, and one such change is a matter of a tenth of a second."""
ONE_FILE = (AddConnections, SetTier, SetSpace, MoveToTrash, RemoveConnection, Summarise)
SKIPPED = (Conflict, Missing, Damaged, Rejected)
"""What goes wrong with one patch and says nothing about the next. A disk that is full does."""


@dataclass(slots=True)
class PatchApplier:
    """A run's applying: what it may touch, and how it left the memories it touched."""

    context: JobContext
    own: dict[str, Memory] = field(default_factory=dict)

    def hand(self, patch: Patch) -> ChangeContext:
        """Return the hand that carries out this patch, and only this: it sees nothing but
        memories that are as the patch was made for."""
        planned = {each.id: each for each in touched_memories(patch.action)}

        def read(memory_id: str) -> CurrentFile:
            found = find_current(self.context.stores, memory_id)
            if found is None or not self._is_as_planned(found.memory, planned):
                raise FileChanged(found.path if found else memory_id)
            return found

        report = self.context.report
        return ChangeContext(
            self.context.stores, read, self.context.now, report.job, patch.reason, report.run
        )

    def _is_as_planned(self, memory: Memory, planned: dict[str, Memory]) -> bool:
        if memory.id not in planned:
            return True
        known = (planned[memory.id], self.own.get(memory.id))
        return any(each is not None and says_the_same(memory, each) for each in known)

    def plan(self, patch: Patch) -> Change:
        """Return the change that a patch means now; raises one of SKIPPED if it means none."""
        self._check_looked_at(patch)
        change = plan_action(self.hand(patch), encode_action(patch.action))
        return replace(change, details={**change.details, "deeds": build_deeds(patch.action)})

    def _check_looked_at(self, patch: Patch) -> None:
        """Refuse a patch whose judgement speaks of a memory that says something else now."""
        wanted = {each.id: text_digest(each) for each in consulted_memories(patch.action)}
        now = self.context.stores.search.memories(wanted)
        for memory_id, digest in wanted.items():
            if memory_id not in now or text_digest(now[memory_id]) != digest:
                raise FileChanged(memory_id)

    def carry_out(self, change: Change) -> None:
        """Commit a change and remember how it left the memories."""
        if not change.edits:
            return
        commit(self.context.stores, change)
        for edit in change.edits:
            self._note(edit)

    def _note(self, edit: FileEdit) -> None:
        if edit.path_after is None or edit.after is None or is_in_trash(edit.path_after):
            self.own.pop(edit.memory_id, None)
            return
        self.own[edit.memory_id] = read_memory(edit.path_after, edit.after, NO_FINGERPRINT).memory

    def applied(self, patches: Sequence[Patch]) -> None:
        self.context.report.applied += len(patches)
        self.context.carried_out += patches

    def skipped(self, patch: Patch, error: MadeleineError) -> None:
        report = self.context.report
        report.skipped += 1
        if not isinstance(error, Conflict):  # somebody was quicker: that is no problem
            problem = type(error).__name__
            report.problems[problem] = report.problems.get(problem, 0) + 1
        self.again([patch])

    def again(self, patches: Sequence[Patch]) -> None:
        self.context.again.update(each for patch in patches for each in concerned_ids(patch.action))


def apply_patches(context: JobContext, patches: Sequence[Patch]) -> None:
    """Carry out the patches in order, and count in the report what became of them."""
    work, done = PatchApplier(context), 0
    for some in _group_patches(patches):
        if context.stop():
            context.report.stopped = STOPPED
            context.report.counts["left"] = len(patches) - done
            work.again(patches[done:])
            return
        _apply_some(work, some)
        done += len(some)
        context.progress(done, len(patches))


def _group_patches(patches: Sequence[Patch]) -> Iterator[list[Patch]]:
    """Put patches of one kind together that follow each other and change one file each, all of
    them different; the rest is alone."""
    some: list[Patch] = []
    taken: set[str] = set()
    for patch in patches:
        one = changed_file_id(patch.action) if isinstance(patch.action, ONE_FILE) else None
        if some and (one is None or one in taken or not _fits_group(patch, some)):
            yield some
            some, taken = [], set()
        some.append(patch)
        taken |= {one} if one is not None else set()
    if some:
        yield some


def _fits_group(patch: Patch, some: Sequence[Patch]) -> bool:
    most = MANY_AT_ONCE.get(type(patch.action), EDITS_AT_ONCE)
    return len(some) < most and type(patch.action) is type(some[0].action)


def _apply_some(work: PatchApplier, patches: Sequence[Patch]) -> None:
    if isinstance(patches[0].action, Score):
        _note_scores(work.context, patches[0].action)
        work.applied(patches)
        return
    with work.context.stores.index.steady():
        planned = [(patch, change) for patch in patches if (change := _plan(work, patch))]
    if not planned:
        return
    try:
        work.carry_out(_merge_changes([change for _, change in planned]))
        work.applied([patch for patch, _ in planned])
    except SKIPPED:
        for patch, _ in planned:
            _apply_alone(work, patch)


def _plan(work: PatchApplier, patch: Patch) -> Change | None:
    try:
        return work.plan(patch)
    except SKIPPED as error:
        work.skipped(patch, error)
        return None


def _apply_alone(work: PatchApplier, patch: Patch) -> None:
    """Carry out one patch of several that did not go through together."""
    try:
        work.carry_out(work.plan(patch))
        work.applied([patch])
    except SKIPPED as error:
        work.skipped(patch, error)


def _merge_changes(changes: Sequence[Change]) -> Change:
    """Return one change of all their edits, which says for each of them why."""
    if len(changes) == 1:
        return changes[0]
    both = [(edit, change.reason) for change in changes for edit in change.edits]
    reasons = {edit.memory_id: reason for edit, reason in both}
    done = [deed for change in changes for deed in _read_deeds(change)]
    details: dict[str, object] = {"reasons": reasons, "deeds": done}
    return replace(changes[0], edits=tuple(edit for edit, _ in both), reason=None, details=details)


def _read_deeds(change: Change) -> list[object]:
    found = change.details.get("deeds")
    return found if isinstance(found, list) else []


def _note_scores(context: JobContext, score: Score) -> None:
    """Write new scores into the journal, with the old ones to take them back by."""
    body = {
        "change": context.stores.new_id(),
        "run": context.report.run,
        "by": context.report.job,
        "scores": {score.name: score.scores},
        "was": {score.name: score.was},
    }
    record_events(
        context.stores, [new_event(context.stores, EventKind.SCORED, body)], durable=False
    )


def says_the_same(one: Memory, other: Memory) -> bool:
    """Whether two memories are equal but for their use. The index keeps of two connections
    that are alike the first, so the other one in a file tells nothing."""
    return _without_usage(one) == _without_usage(other)


def _without_usage(memory: Memory) -> Memory:
    first: dict[tuple[str, str], Connection] = {}
    for each in memory.connections:
        first.setdefault((each.target, each.edge.value), each)
    return replace(memory, usage=Usage(), connections=tuple(first.values()))
