"""The Python door: `Madeleine`, a thin typed face over the operations.

With a daemon on the home every call goes through it; without one this process opens the home
itself, alone. Both ways give the same answers and raise the same five kinds of errors.
"""

from __future__ import annotations

import builtins
import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeVar, cast

from madeleine.api import python_values
from madeleine.api.contract import responses as told
from madeleine.api.contract.memories import from_json
from madeleine.api.home_paths import home_path
from madeleine.api.remote import RemoteDoor, find_daemon
from madeleine.errors import HomeBusy, NoFile, Rejected
from madeleine.model.codec import Json
from madeleine.model.memory import Claim, Connection, Memory, Origin
from madeleine.model.proposal import Proposal
from madeleine.model.times import format_time

PYTHON_AUTHOR = "python"
LOCK_WAIT_SECONDS = 10.0  # another command usually ends within a second

TimeInput = datetime | str
TextValues = Iterable[str]
Answer = TypeVar("Answer")


class UnchangedType(enum.Enum):
    """Stands for a field that a revision leaves as it is; None clears it."""

    UNCHANGED = "unchanged"


UNCHANGED = UnchangedType.UNCHANGED


class InProcessDoor(Protocol):
    """The way to the operations in this process: answers as they are made, or as JSON."""

    def perform(
        self,
        name: str,
        id: str | None = None,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        by: str = PYTHON_AUTHOR,
    ) -> Any: ...

    def call(
        self,
        name: str,
        id: str | None = None,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        by: str = PYTHON_AUTHOR,
    ) -> Json: ...

    def close(self) -> None: ...


OperationDoor = RemoteDoor | InProcessDoor


def open_local(home: Path, wait_seconds: float) -> InProcessDoor:
    """Open the home in this process."""
    # What is behind it (SQLite, numpy, the model) would be loaded for a client of a daemon, too.
    from madeleine.api.local import open_local as open_here

    return open_here(home, wait_seconds)


def _open_local_or_remote(home: Path, wait_seconds: float) -> OperationDoor:
    """Open the home here, unless a daemon came up while we waited for the lock."""
    try:
        return open_local(home, wait_seconds)
    except HomeBusy:
        started = find_daemon(home)
        if started is None:
            raise
        return started


class Madeleine:
    """The memory in one home. Use it as a context manager, or `close` it."""

    def __init__(self, path: str | Path | None = None) -> None:
        """Open a home, as `Madeleine.open` does."""
        home = home_path(path)
        self._use(find_daemon(home) or _open_local_or_remote(home, LOCK_WAIT_SECONDS), home)

    def _use(self, door: OperationDoor, home: Path) -> None:
        self._door = door
        self.home = home

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        in_process: bool = False,
        wait_seconds: float = LOCK_WAIT_SECONDS,
    ) -> Madeleine:
        """Open a home: through its daemon if one is running, else in this process.

        `in_process` never talks to a daemon; if one, or anybody else, keeps the home open for
        longer than `wait_seconds`, `HomeBusy` is raised.
        """
        home = home_path(path)
        opened = cls.__new__(cls)
        if in_process:
            opened._use(open_local(home, wait_seconds), home)
        else:
            opened._use(find_daemon(home) or _open_local_or_remote(home, wait_seconds), home)
        return opened

    def __enter__(self) -> Madeleine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is pending and let others in."""
        self._door.close()

    # -- writing ---------------------------------------------------------------------------

    def remember(
        self,
        content: str,
        *,
        type: str = "fact",
        tier: str = "working",
        source: str | None = None,
        space: str | None = None,
        tags: TextValues = (),
        connections: Iterable[Connection | Mapping[str, object]] = (),
        title: str | None = None,
        about_self: bool = False,
        confidence: float = 1.0,
        valid_until: TimeInput | None = None,
        origin: Origin | Mapping[str, object] | None = None,
        claim: Claim | Mapping[str, object] | None = None,
        triggers: TextValues | None = None,
        kind: str | None = None,
        metadata: Mapping[str, object] | None = None,
        replaces: TextValues = (),
        id: str | None = None,
        created: TimeInput | None = None,
        idempotency_key: str | None = None,
    ) -> python_values.WrittenMemory:
        """Write one memory and return it, with the `change` that `undo` takes back.

        A text that is already known in its space is returned as it is. Memories that it
        `replaces` are retired in the same change; `similar` are those that it is like.
        """
        body = {
            "content": content,
            "type": type,
            "tier": tier,
            "source": source,
            "space": space,
            "tags": tags,
            "connections": connections,
            "title": title,
            "about_self": about_self,
            "confidence": confidence,
            "valid_until": valid_until,
            "origin": origin,
            "claim": claim,
            "triggers": triggers,
            "kind": kind,
            "metadata": metadata,
            "replaces": replaces,
            "id": id,
            "created": created,
            "idempotency_key": idempotency_key,
        }
        return python_values.build_written_memory(
            self._post("remember", told.RememberedMemory, body)
        )

    def remember_many(
        self, drafts: Iterable[Mapping[str, object]]
    ) -> builtins.list[told.WriteOutcome]:
        """Write many memories, each a mapping of draft fields; one outcome each, in order."""
        body = {"items": tuple(drafts)}
        return [*self._post("remember_many", told.RememberedMany, body).results]

    def ingest(
        self,
        source: str | Path | Iterable[Mapping[str, object]],
        *,
        space: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        tags: TextValues = (),
        dry_run: bool = False,
    ) -> told.IngestReport:
        """Take in a file (a `Path`), a text, or a conversation as messages (`role`, `content`).

        Notes become a memory for each section, a conversation what was said in it. A file that
        is taken in again revises what came of it; secrets are taken out first.
        """
        query = {"default_space": space, "dry_run": dry_run, "extra_tags": list(tags)}
        if isinstance(source, Path):
            return self._post(
                "ingest_file", told.IngestReport, _read_source_file(source), query=query
            )
        is_text = isinstance(source, str)
        said = {"content": source} if is_text else {"messages": tuple(source)}
        body = {**said, "session": session, "agent_id": agent}
        return self._post("ingest_conversation", told.IngestReport, body, query=query)

    def revise(
        self,
        memory: str | Memory,
        *,
        content: str | UnchangedType = UNCHANGED,
        type: str | UnchangedType = UNCHANGED,
        tier: str | UnchangedType = UNCHANGED,
        space: str | UnchangedType | None = UNCHANGED,
        title: str | UnchangedType | None = UNCHANGED,
        tags: TextValues | UnchangedType | None = UNCHANGED,
        source: str | UnchangedType | None = UNCHANGED,
        confidence: float | UnchangedType = UNCHANGED,
        valid_until: TimeInput | UnchangedType | None = UNCHANGED,
        origin: Origin | Mapping[str, object] | UnchangedType | None = UNCHANGED,
        claim: Claim | Mapping[str, object] | UnchangedType | None = UNCHANGED,
        triggers: TextValues | UnchangedType | None = UNCHANGED,
        kind: str | UnchangedType | None = UNCHANGED,
        metadata: Mapping[str, object] | UnchangedType | None = UNCHANGED,
        about_self: bool | UnchangedType = UNCHANGED,
        superseded_by: str | UnchangedType | None = UNCHANGED,
        add_connections: Iterable[Connection | Mapping[str, object]] | UnchangedType = UNCHANGED,
        if_updated: TimeInput | UnchangedType = UNCHANGED,
        if_version: str | UnchangedType = UNCHANGED,
    ) -> told.ChangedMemory:
        """Change what a memory says; a field given as None is cleared."""
        given = {
            "content": content,
            "type": type,
            "tier": tier,
            "space": space,
            "title": title,
            "tags": tags,
            "source": source,
            "confidence": confidence,
            "valid_until": valid_until,
            "origin": origin,
            "claim": claim,
            "triggers": triggers,
            "kind": kind,
            "metadata": metadata,
            "about_self": about_self,
            "superseded_by": superseded_by,
            "add_connections": add_connections,
            "if_updated": if_updated,
            "if_version": if_version,
        }
        body = {name: each for name, each in given.items() if each is not UNCHANGED}
        return self._post("revise", told.ChangedMemory, body, memory)

    def retire(
        self,
        memory: str | Memory,
        reason: str | None = None,
        superseded_by: str | Memory | None = None,
    ) -> told.ChangedMemory:
        """Mark a memory as no longer true."""
        body = {"reason": reason, "superseded_by": superseded_by and _memory_id(superseded_by)}
        return self._post("retire", told.ChangedMemory, body, memory)

    def forget(self, memory: str | Memory, reason: str | None = None) -> told.ForgottenMemory:
        """Move a memory to the trash."""
        return self._get("forget", told.ForgottenMemory, {"reason": reason}, memory)

    def restore(self, memory: str | Memory) -> told.ChangedMemory:
        """Bring a forgotten memory back."""
        return self._post("restore", told.ChangedMemory, {}, memory)

    def purge(self, *memories: str | Memory, all: bool = False) -> told.PurgeReceipt:
        """Remove forgotten memories for good, or `all` of them: there is no way back. Returns
        which `memories` are gone, and what was `removed` of them and what is `left`."""
        body = {"memories": [_memory_id(each) for each in memories], "all": all}
        return self._post("purge", told.PurgeReceipt, body)

    def link(
        self,
        source: str | Memory,
        target: str | Memory,
        edge: str = "related_to",
        weight: float = 0.5,
        reason: str | None = None,
        kind: str | None = None,
    ) -> told.ChangedMemory:
        """Connect two memories."""
        ends = {"source_id": _memory_id(source), "target_id": _memory_id(target)}
        body = {**ends, "edge": edge, "weight": weight, "reason": reason, "kind": kind}
        return self._post("link", told.ChangedMemory, body)

    def unlink(
        self, source: str | Memory, target: str | Memory, edge: str | None = None
    ) -> told.ChangedMemory:
        """Take the connections from one memory to another away: all, or those of one edge."""
        body = {"source_id": _memory_id(source), "target_id": _memory_id(target), "edge": edge}
        return self._post("unlink", told.ChangedMemory, body)

    def merge(
        self,
        keep: str | Memory,
        drop: str | Memory,
        title: str | None = None,
        content: str | None = None,
        reason: str | None = None,
    ) -> told.MergedMemory:
        """Make one memory of two; `undo` with the returned change takes it back whole."""
        body = {"keep": _memory_id(keep), "drop": _memory_id(drop)}
        wording = {"title": title, "content": content, "reason": reason}
        return self._post("merge", told.MergedMemory, {**body, **wording})

    def undo(self, change_or_run: str) -> told.UndoneChanges:
        """Take back a change, or every change of a run or of a whole night."""
        return self._post("undo", told.UndoneChanges, {}, change_or_run)

    # -- reading ---------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        limit: int | None = None,
        *,
        types: TextValues = (),
        tiers: TextValues = (),
        spaces: TextValues = (),
        tags: TextValues = (),
        created_after: TimeInput | None = None,
        created_before: TimeInput | None = None,
        as_of: TimeInput | None = None,
        outdated: bool = False,
        exchanges: bool = False,
        session_id: str | None = None,
        explain: bool = False,
        why_not: str | Memory | None = None,
        all: bool = False,
        space: str | None = None,
    ) -> python_values.RecallHits:
        """Return the memories that answer `query`, best first, each with its reasons: at most
        `limit`, which is 10, or 30 for an overview. `all` adds what is below the floor.

        `spaces` lets in only those; `space` is the asker's own, which is preferred. `why_not`
        names a memory that is missed: the answer's `why_not` says why it is not there.
        """
        body = {
            "query": query,
            "limit": limit,
            "types": types,
            "tiers": tiers,
            "spaces": spaces,
            "tags": tags,
            "created_after": created_after,
            "created_before": created_before,
            "as_of": as_of,
            "outdated": outdated,
            "exchanges": exchanges,
            "session_id": session_id,
            "explain": explain,
            "why_not": why_not.id if isinstance(why_not, Memory) else why_not,
            "all": all,
        }
        query_space = {"default_space": space}
        return python_values.build_recall_hits(
            self._post("recall", told.RecallAnswer, body, query=query_space)
        )

    def whisper(
        self,
        prompt: str = "",
        *,
        action: str | None = None,
        session_id: str | None = None,
        space: str | None = None,
        cwd: str | None = None,
        explain: bool = False,
        dry_run: bool = False,
    ) -> told.WhisperAnswer:
        """Return what is worth saying before `prompt` is answered, or before an `action` such as
        `Edit src/app.py` is taken; mostly that is nothing. In a dry run nothing counts as told."""
        body = {
            "prompt": None if action else prompt,
            "action": action,
            "session_id": session_id,
            "space": space,
            "cwd": cwd,
            "explain": explain,
            "dry_run": dry_run,
        }
        return self._post("whisper", told.WhisperAnswer, body)

    def brief(
        self,
        *,
        space: str | None = None,
        cwd: str | None = None,
        session_id: str | None = None,
        start: str | None = None,
        task: str | None = None,
    ) -> told.BriefAnswer:
        """Return what a session should know at its start. It counts as told to nobody."""
        query = {
            "space": space,
            "cwd": cwd,
            "session_id": session_id,
            "start": start,
            "task": task,
        }
        return self._get("brief", told.BriefAnswer, query)

    def deed(
        self,
        tool: str,
        target: str | None = None,
        *,
        input: Mapping[str, object] | None = None,
        error: str | None = None,
        space: str | None = None,
        session_id: str | None = None,
        cwd: str | None = None,
    ) -> told.DeedAnswer:
        """Return what is worth knowing before a tool is used on `target`, or with the `input` that
        its host writes; with an `error`, after it failed. It counts as told to nobody."""
        body = {
            "tool": tool,
            "target": target,
            "input": input,
            "error": error,
            "space": space,
            "session_id": session_id,
            "cwd": cwd,
        }
        return self._post("deed", told.DeedAnswer, body)

    def whisper_why(self, session_id: str | None = None) -> str:
        """Return in plain words why the last whisper, or silence, was what it was."""
        return self._get("whisper_why", told.WhisperReason, {"session_id": session_id}).text

    def whisper_report(self) -> str:
        """Return in plain words what the hold-out shows: whether whispers helped."""
        return self._get("whisper_report", told.WhisperReport).text

    def feedback(
        self,
        memory: str | Memory,
        signal: int,
        *,
        source: str = "explicit",
        whisper_id: str | None = None,
    ) -> None:
        """Say that a memory was useful (1) or not (-1), best with the whisper it is about."""
        node = memory.id if isinstance(memory, Memory) else memory
        body = {"node_id": node, "signal": signal, "source": source, "whisper_log_id": whisper_id}
        self._post("feedback", told.NotedFeedback, body)

    def show(self, memory: str | Memory, session_id: str | None = None) -> told.ShownMemory:
        """Return a memory whole, with its connections and neighbours. It counts as a use."""
        return self._get("show", told.ShownMemory, {"session_id": session_id}, memory)

    def get(self, memory: str | Memory) -> Memory:
        """Return just the memory that an id, a short id or an unambiguous prefix names."""
        return self.show(memory).memory

    def list(
        self,
        limit: int = 50,
        offset: int = 0,
        *,
        types: TextValues = (),
        tiers: TextValues = (),
        spaces: TextValues = (),
        tags: TextValues = (),
        created_after: TimeInput | None = None,
        created_before: TimeInput | None = None,
        as_of: TimeInput | None = None,
        outdated: bool = False,
        exchanges: bool = False,
    ) -> python_values.MemoryList:
        """Return memories, newest first; what was said in sessions only with `exchanges`."""
        query = {
            "limit": limit,
            "offset": offset,
            "types": types,
            "tiers": tiers,
            "spaces": spaces,
            "tags": tags,
            "created_after": created_after,
            "created_before": created_before,
            "as_of": as_of,
            "outdated": outdated,
            "exchanges": exchanges,
        }
        return python_values.build_memory_list(self._get("list", told.MemoryPage, query))

    def history(self, memory: str | Memory, limit: int = 100) -> builtins.list[told.JournalEvent]:
        """Return what happened to a memory, newest first."""
        return [*self._get("history", told.MemoryHistory, {"limit": limit}, memory).events]

    def log(
        self,
        *,
        since: str | None = None,
        until: str | None = None,
        by: str | None = None,
        kinds: Sequence[str] | None = None,
        space: str | None = None,
        last_night: bool = False,
        limit: int = 50,
    ) -> builtins.list[told.LogEntry]:
        """Return what happened, newest first, each with what `undo` takes to take it back.

        `since` and `until` are times as people say them, such as `yesterday` or `3 days ago`;
        `by` is sleep, agent, me or import; `kinds` are such as `merged`; `space="global"` is for
        memories of no space.
        """
        query = {
            "since": since,
            "until": until,
            "by": by,
            "kinds": kinds,
            "space": space,
            "last_night": last_night,
            "limit": limit,
        }
        return [*self._get("log", told.LogPage, query).entries]

    # -- proposals -------------------------------------------------------------------------

    def proposals(
        self, status: str = "pending", *, kind: str | None = None, run: str | None = None
    ) -> builtins.list[Proposal]:
        """Return what waits for a decision; `all` returns the decided ones too. `kind` is such as
        merge, `run` the run or night that asked."""
        query = {"status": status, "kind": kind, "run": run}
        return [*self._get("proposals", told.ProposalPage, query).proposals]

    def decide_all(
        self,
        action: str,
        *,
        kind: str | None = None,
        run: str | None = None,
        ids: Sequence[str] | None = None,
        undo: str | None = None,
    ) -> told.DecidedProposals:
        """Decide all that wait, or those of a kind or run, or just `ids`: `approved` or `rejected`.
        `undo` with the answer's `undo` takes all of it back; you may give that id yourself."""
        body = {"action": action, "kind": kind, "run": run, "ids": ids, "undo": undo}
        return self._post("decide_all", told.DecidedProposals, body)

    def decide(self, proposal: str | Proposal, action: str) -> told.DecidedProposal:
        """Decide a proposal: `approved` carries out exactly what it says, `rejected` does not, and
        `pending` takes the decision back."""
        wanted = proposal if isinstance(proposal, str) else proposal.id
        return self._post("decide", told.DecidedProposal, {"action": action}, wanted)

    def snooze(
        self, proposal: str | Proposal, until: TimeInput | None = None
    ) -> told.SnoozedProposal:
        """Put a question off until then; without a time it is asked again at once."""
        wanted = proposal if isinstance(proposal, str) else proposal.id
        return self._post("snooze", told.SnoozedProposal, {"until": until}, wanted)

    def proposal(self, proposal: str | Proposal) -> told.ShownProposal:
        """Return one proposal with exactly what approving it would change."""
        wanted = proposal if isinstance(proposal, str) else proposal.id
        return self._get("proposal", told.ShownProposal, None, wanted)

    # -- sleep -----------------------------------------------------------------------------

    def sleep(
        self, job: str | None = None, dry_run: bool = False, now: bool = False
    ) -> python_values.SleepReports:
        """Run the whole sleep cycle, or one job, and return a report of each job that ran.

        A dry run changes nothing; its reports say what would be done. With `now`, memories get
        no time before they fade; else they get what the timetable gives them. `undo` with the
        `request` takes the whole night back, with a report's `run` what this run did.
        """
        name = "run_all" if job is None else "run_task"
        body = {"dry_run": dry_run, "now": now}
        return python_values.build_sleep_reports(
            self._post(name, told.SleepRun, body, job or "", {"wait": True})
        )

    def consolidate(
        self, task: str | None = None, dry_run: bool = False
    ) -> told.ConsolidationReport:
        """Run the consolidation engine, or one task of it: decay, creative, cluster or forget.

        Returns what was done: mode, dry_run, started_at, completed_at, success, and `steps` with
        the result of each task. `undo` with a step's `run` takes it back.
        """
        body = {"dry_run": dry_run, **({} if task is None else {"task": task})}
        return self._post("consolidate", told.ConsolidationRun, body).consolidation

    # -- the home --------------------------------------------------------------------------

    def status(self) -> told.HomeStatus:
        """Return what there is and what is wrong."""
        return self._get("status", told.HomeStatus)

    def cost(self) -> told.CostReport:
        """Return what remote models were asked today and this month, and what it cost."""
        return self._get("cost", told.CostReport)

    def skills(
        self, *, least: int | None = None, spaces: Sequence[str] | None = None
    ) -> builtins.list[told.SkillEntry]:
        """Return the procedures that were of use, as Agent Skills: `text` is the SKILL.md, to be
        read before an agent follows it. `least` is how often one was of use; once, if unsaid."""
        query = {"least": least, "spaces": spaces}
        return [*self._get("skills", told.SkillList, query).skills]

    def reconcile(self) -> told.ReconcileReport:
        """Make the index say what the files say."""
        return self._post("reconcile", told.ReconcileReport, {})

    def rebuild(self) -> told.RebuildReport:
        """Make the index anew from files and journal."""
        return self._post("rebuild", told.RebuildReport, {})

    # -- moving in and out -----------------------------------------------------------------

    def import_from(
        self, form: str, path: str | Path, space: str | None = None, dry_run: bool = False
    ) -> Json:
        """Bring memories along from another program, or from an export; `form` is one of those
        that `madeleine import --help` lists. Returns what came of it: `counts`, `problems`, and
        the `run` that `undo` takes."""
        # The readers of all formats are loaded by who imports, and by nobody else.
        from madeleine.ingest.importing.formats import read
        from madeleine.ingest.importing.importer import MemoryImport

        found = read(form, Path(path).expanduser(), space)
        moving = MemoryImport(form, lambda body: self._call("import", body=body), dry_run)
        return moving.take_all(found)

    def export(
        self,
        path: str | Path,
        form: str = "jsonl",
        *,
        trash: bool = False,
        types: TextValues = (),
        tiers: TextValues = (),
        spaces: TextValues = (),
        tags: TextValues = (),
        created_after: TimeInput | None = None,
        created_before: TimeInput | None = None,
        as_of: TimeInput | None = None,
        outdated: bool = True,
    ) -> int:
        """Write memories to `path` as jsonl, zip or obsidian; return how many. The rest is a
        filter as for `list`; without one everything is written."""
        # The writers of all formats are loaded by who exports, and by nobody else.
        from madeleine.ingest.exporting.export import MemoryExport

        chosen = {
            "types": types,
            "tiers": tiers,
            "spaces": spaces,
            "tags": tags,
            "created_after": created_after,
            "created_before": created_before,
            "as_of": as_of,
        }
        given: Json = {"outdated": outdated}
        given.update({name: each for name, each in chosen.items() if each})
        leaving = MemoryExport(lambda query: self._call("export", query=query), given, trash)
        return leaving.write(form, Path(path).expanduser())

    def backup(self, to: str | Path | None = None) -> Path:
        """Make a backup of vault, journal and settings, and return where it is."""
        body = {} if to is None else {"to": str(Path(to).expanduser().absolute())}
        return Path(self._post("backup", told.BackupReport, body).path)

    def sync(self, to: str | None = None) -> told.SyncReceipt:
        """Exchange memories with your other machines, once: with the place in the settings, or
        another one."""
        return self._post("sync", told.SyncReceipt, {} if to is None else {"to": to})

    def sync_status(self) -> told.SyncStatus:
        """Return when this machine last met your others, and what waits."""
        return self._get("sync_status", told.SyncStatus)

    def _get(
        self,
        name: str,
        kind: type[Answer],
        query: Mapping[str, object] | None = None,
        memory: str | Memory = "",
    ) -> Answer:
        given = cast("Json", encode_value(query or {}))
        return read_answer(
            kind, self._door.perform(name, _memory_id(memory), given, {}, PYTHON_AUTHOR)
        )

    def _post(
        self,
        name: str,
        kind: type[Answer],
        body: Mapping[str, object],
        memory: str | Memory = "",
        query: Mapping[str, object] | None = None,
    ) -> Answer:
        said = cast("Json", encode_value(body))
        return read_answer(
            kind, self._door.perform(name, _memory_id(memory), query or {}, said, PYTHON_AUTHOR)
        )

    def _call(
        self,
        name: str,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> Json:
        """Carry out an operation for what reads and writes JSON anyway."""
        given, said = (
            cast("Json", encode_value(query or {})),
            cast("Json", encode_value(body or {})),
        )
        return self._door.call(name, query=given, body=said, by=PYTHON_AUTHOR)


def read_answer(kind: type[Answer], answer: object) -> Answer:
    """Return an answer as its dataclass: a daemon tells it as JSON, an operation in this process
    has made it already."""
    return answer if isinstance(answer, kind) else cast("Answer", from_json(kind, answer))


def encode_value(value: object) -> object:
    """Return a value as JSON holds it: times as text, values of ours as objects."""
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Mapping):
        return {str(name): encode_value(each) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return _encode_dataclass(value)
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, Iterable):
        return [encode_value(each) for each in value]
    return value


def _encode_dataclass(value: object) -> Json:
    """Return a dataclass's fields, those left out that hold nothing."""
    given = {each.name: getattr(value, each.name) for each in fields(value)}  # type: ignore[arg-type]  # checked by the caller
    return {name: encode_value(each) for name, each in given.items() if each is not None}


def _read_source_file(path: Path) -> dict[str, object]:
    """Return a file as it is handed in; a transcript is read where it is."""
    whole = path.expanduser().absolute()
    if whole.suffix == ".jsonl":
        return {"path": str(whole)}
    try:
        content = whole.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoFile(whole) from error
    except (OSError, UnicodeDecodeError) as error:
        raise Rejected(f"cannot read {whole}: {error}", hint="name a text file") from error
    return {"content": content, "name": whole.name, "uri": whole.resolve().as_uri()}


def _memory_id(memory: str | Memory) -> str:
    return memory.id if isinstance(memory, Memory) else memory
