"""Meeting other machines of the same person."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from madeleine.api import answer_texts
from madeleine.api.contract.requests import SyncBody
from madeleine.api.contract.responses import HeldMemory, SyncReceipt, SyncStatus
from madeleine.api.operation import operation
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext


@operation(
    "sync",
    "POST",
    "/admin/machines",
    "exchange memories with your other machines, once",
    role=Role.ADMIN,
    body=SyncBody,
    answer=SyncReceipt,
    admin=True,
    unbounded=True,
    server_path="to",
)
def sync_home(context: HomeContext, call: OperationCall) -> SyncReceipt:
    """Exchange with the place in the settings, or with another one."""
    reader = RequestReader(call.body)
    to = reader.text("to")
    reader.done()
    began = time.monotonic()
    done = context.sync.run(to)
    sent = answer_texts.render_count(done.sent, "change")
    notes = [f"`{memory[:8]}` could not be taken: {why}" for memory, why in done.refused.items()]
    if done.unfinished:
        files = answer_texts.render_count(len(done.unfinished), "file")
        notes.append(f"{files} at the place came only in part: left for the next sync")
    if done.newer:
        files = answer_texts.render_count(len(done.newer), "file")
        notes.append(f"{files} at the place are of a later release: upgrade this machine")
    if done.bad:
        notes.append(f"{answer_texts.render_count(done.bad, 'line')} at the place are not ours")
    return SyncReceipt(
        text=f"Sent {sent} to {done.place}, wrote "
        f"{answer_texts.render_count(done.written, 'memory')} here",
        place=done.place,
        sent=done.sent,
        received=done.received,
        events_sent=done.events_sent,
        events_received=done.events_received,
        written=done.written,
        trashed=done.trashed,
        purged=done.purged,
        merged=done.merged,
        asked=done.asked,
        held=len(done.held),
        waiting=done.waiting,
        notes=notes,
        seconds=round(time.monotonic() - began, 3),
    )


@operation(
    "sync_status",
    "GET",
    "/admin/machines",
    "when this machine last met your others, and what waits",
    role=Role.ADMIN,
    answer=SyncStatus,
    admin=True,
)
def report_sync(context: HomeContext, call: OperationCall) -> SyncStatus:
    """Return how it stands; nothing is asked of the network."""
    return read_sync_status(context)


def read_sync_status(context: HomeContext) -> SyncStatus:
    """Return what status says of other machines."""
    state = context.sync.read_state()
    last = format_time(state.last) if state.last is not None else None
    return SyncStatus(
        text=f"Last sync: {last or 'never'}",
        place=state.place,
        every_minutes=state.every_minutes,
        last=last,
        problem=state.problem,
        changed=state.changed,
        waiting=state.waiting,
        unread=state.unread,
        held=[HeldMemory(memory=memory, reason=why) for memory, why in state.held],
    )
