"""After a kill: every change is finished or taken back, so that it is whole or not there.

A change whose files all have their new state is complete and only lacks its mark; otherwise
what was written is put back. A change that cannot be made sense of is left alone and said.
"""

from __future__ import annotations

from collections.abc import Mapping

from madeleine.errors import Damaged, MadeleineError, Rejected
from madeleine.model.change import FileEdit
from madeleine.model.event import Event
from madeleine.vault.journal import RecordedChange, RecordedEdit
from madeleine.write.record import file_sha256, read_outcomes, settle_changes
from madeleine.write.stores import Stores


def recover_changes(stores: Stores) -> list[str]:
    """Finish or take back every change that was interrupted; return what was done, in words.

    Only this device's: another device that shares the journal may have finished a change
    whose mark has not arrived here yet.
    """
    with stores.writing:
        own = [each for each in stores.log.unsettled_changes() if _is_ours(stores, each)]
        return [_recover_one(stores, begun) for begun in own]


def _is_ours(stores: Stores, begun: Event) -> bool:
    """Whether this machine began a change; its name may have changed, the mark in it not."""
    return begun.device.rpartition("-")[2] == stores.journal.device.rpartition("-")[2]


def _recover_one(stores: Stores, begun: Event) -> str:
    change_id = str(begun.body["change"])
    try:
        outcome, said = _finish_change(stores, change_id, begun)
    except (Damaged, Rejected) as error:
        outcome, said = "lost", f"cannot be made sense of: {error.message}"
    except MadeleineError as error:
        return f"change {change_id[:8]} is still unfinished: {error.message}"
    settle_changes(stores, {change_id: outcome, **_outcomes_of_others(begun, outcome)})
    return f"change {change_id[:8]} {said}"


def _outcomes_of_others(begun: Event, outcome: str) -> dict[str, str]:
    """Return what a change that is done means for others: an undo takes back what it names."""
    details = begun.body.get("details")
    return read_outcomes(details) if outcome == "done" and isinstance(details, Mapping) else {}


def _finish_change(stores: Stores, change_id: str, begun: Event) -> tuple[str, str]:
    recorded = stores.journal.find_change(change_id, begun.device, begun.at)
    if recorded is None:
        return "lost", "was interrupted and its record is gone"
    states = [_file_state(stores, edit) for edit in recorded.edits]
    if "before" not in states:
        return "done", f"({recorded.verb}) was complete"
    _roll_back(stores, recorded, states)
    return "dropped", f"({recorded.verb}) was interrupted and taken back"


def _file_state(stores: Stores, edit: RecordedEdit) -> str:
    """Whether a file is as the change left it, as it was before, or neither."""
    if file_sha256(stores.vault.bytes_or_none(edit.path_after)) == edit.after_sha256 and (
        edit.path_before in (None, edit.path_after)
        or stores.vault.bytes_or_none(edit.path_before) is None
    ):
        return "after"
    if stores.vault.bytes_or_none(edit.path_before) == edit.before:
        return "before"
    return "other"


def _roll_back(stores: Stores, recorded: RecordedChange, states: list[str]) -> None:
    for edit, state in reversed(list(zip(recorded.edits, states, strict=True))):
        current = stores.vault.bytes_or_none(edit.path_after)
        if state == "after":
            stores.vault.apply(
                FileEdit(edit.memory_id, edit.path_after, current, edit.path_before, edit.before)
            )
        elif current is not None and _is_second_copy(edit, current):
            stores.vault.apply(FileEdit(edit.memory_id, edit.path_after, current, None, None))


def _is_second_copy(edit: RecordedEdit, current: bytes) -> bool:
    """Whether a file was written in its new place and not yet removed from its old one."""
    moved = edit.path_before is not None and edit.path_after != edit.path_before
    return moved and file_sha256(current) == edit.after_sha256
