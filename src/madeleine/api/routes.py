"""Every operation that a door offers, as a table: name, HTTP method and path, and who may ask.

The daemon serves these routes, and the command line and the Python face call them by name. This
module knows no verb and imports nothing heavy, so that a command that talks to the daemon starts
at once. `api/contract/table.py` says what each one takes and answers, `api/operations.py` what it
does.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Route(NamedTuple):
    """One operation. `{id}` in the path is an id, a short id or an unambiguous prefix."""

    name: str
    method: str
    path: str
    summary: str
    role: str
    """What one must be where several people share a database: reader, writer, owner of the
    memory that it is about, or admin. It has no default: a row that forgot it would let in more
    than it should."""
    answer: str = ""
    """What it answers with, where that is no JSON."""
    open: bool = False
    """Whether it answers without a token."""
    admin: bool = False
    """Whether it asks for the admin token, when one is set."""
    quick: bool = False
    """Whether an agent or a person waits for it: what runs by itself meanwhile stands still."""
    unbounded: bool = False
    """Whether it may take longer than a client otherwise waits for an answer."""
    only_reads: bool = False
    """Whether it is sent by POST and yet safe to be tried again."""


ROUTES: tuple[Route, ...] = (
    Route(
        "remember",
        "POST",
        "/agent/remember",
        "write one memory",
        role="writer",
        quick=True,
    ),
    Route(
        "remember_many",
        "POST",
        "/agent/remember/batch",
        "write many memories",
        role="writer",
        unbounded=True,
    ),
    Route(
        "recall",
        "POST",
        "/agent/recall",
        "find memories that answer a question",
        role="reader",
        quick=True,
        only_reads=True,
    ),
    Route(
        "whisper",
        "POST",
        "/agent/whisper",
        "say what is worth knowing before a prompt is answered; empty text is silence",
        role="reader",
        quick=True,
    ),
    Route(
        "whisper_why",
        "GET",
        "/agent/whisper/why",
        "say in plain words why the last whisper, or silence, was what it was",
        role="reader",
    ),
    Route(
        "whisper_report",
        "GET",
        "/agent/whisper/report",
        "say what the hold-out shows: how often memories show in replies, whispered and held out",
        role="reader",
    ),
    Route(
        "feedback",
        "POST",
        "/agent/feedback",
        "say whether a memory was useful",
        role="writer",
    ),
    Route(
        "show",
        "GET",
        "/agent/recall/{id}",
        "one memory whole, with connections and neighbours",
        role="reader",
        quick=True,
    ),
    Route(
        "list",
        "GET",
        "/agent/list",
        "memories, newest first",
        role="reader",
        quick=True,
    ),
    Route(
        "trash",
        "GET",
        "/agent/trash",
        "what was forgotten and can be restored",
        role="reader",
    ),
    Route(
        "history",
        "GET",
        "/agent/history/{id}",
        "what happened to a memory, newest first",
        role="reader",
    ),
    Route(
        "revise",
        "POST",
        "/agent/update/{id}",
        "change what a memory says; null clears a field",
        role="writer",
    ),
    Route(
        "retire",
        "POST",
        "/agent/outdated/{id}",
        "mark a memory as no longer true",
        role="writer",
    ),
    Route(
        "forget",
        "DELETE",
        "/agent/recall/{id}",
        "move a memory to the trash",
        role="writer",
    ),
    Route(
        "restore",
        "POST",
        "/agent/restore/{id}",
        "bring a forgotten memory back",
        role="writer",
    ),
    Route(
        "link",
        "POST",
        "/agent/connect",
        "connect two memories",
        role="writer",
    ),
    Route(
        "unlink",
        "POST",
        "/agent/disconnect",
        "take a connection away",
        role="writer",
    ),
    Route(
        "merge",
        "POST",
        "/agent/merge",
        "make one memory of two",
        role="writer",
    ),
    Route(
        "undo",
        "POST",
        "/agent/undo/{id}",
        "take back a change, a run, or a whole night by the `request` that it answered with",
        role="writer",
    ),
    Route(
        "proposals",
        "GET",
        "/agent/proposals",
        "what waits for a decision",
        role="reader",
    ),
    Route(
        "proposal",
        "GET",
        "/agent/proposals/{id}",
        "one proposal, with exactly what approving it would change",
        role="reader",
    ),
    Route(
        "decide",
        "POST",
        "/agent/proposals/{id}",
        "approve or reject a proposal, or take that back",
        role="writer",
    ),
    Route(
        "merges",
        "GET",
        "/agent/merges",
        "merges that were made, newest first",
        role="reader",
    ),
    Route(
        "undo_merge",
        "POST",
        "/agent/merges/{id}/undo",
        "take a merge back",
        role="writer",
    ),
    Route(
        "audit",
        "GET",
        "/agent/audit",
        "every recorded change, newest first",
        role="reader",
    ),
    Route(
        "insights",
        "GET",
        "/agent/insights",
        "what changed its mind and what contradicts what, newest first",
        role="reader",
    ),
    Route(
        "maintenance",
        "GET",
        "/agent/maintenance",
        "take a batch of questions about memories, for an agent that judges",
        role="writer",
    ),
    Route(
        "hand_in",
        "POST",
        "/agent/maintenance",
        "hand in the verdicts about a batch of questions; without any, take a batch, or with "
        "its `job_id` see it once more",
        role="writer",
        unbounded=True,
    ),
    Route(
        "tasks",
        "GET",
        "/admin/tasks",
        "the jobs that tend the memory: when they run, how the last run went",
        role="reader",
    ),
    Route(
        "run_all",
        "POST",
        "/admin/tasks/run-all",
        "run the whole sleep cycle, in its documented order",
        role="owner",
        admin=True,
        unbounded=True,
    ),
    Route(
        "run_task",
        "POST",
        "/admin/tasks/{id}/run",
        "run one job now; `{id}` is its name",
        role="owner",
        admin=True,
        unbounded=True,
    ),
    Route(
        "stop_task",
        "POST",
        "/admin/tasks/{id}/stop",
        "stop a run that waits or is under way: a job's, or `run-all` for all; what it has "
        "done by then stays",
        role="owner",
        admin=True,
    ),
    Route(
        "pause_task",
        "POST",
        "/admin/tasks/{id}/pause",
        "let a job no longer run by itself, nor with the whole cycle",
        role="owner",
        admin=True,
    ),
    Route(
        "resume_task",
        "POST",
        "/admin/tasks/{id}/resume",
        "let a paused job run by itself again",
        role="owner",
        admin=True,
    ),
    Route(
        "consolidate",
        "POST",
        "/consolidate",
        "run the consolidation engine: decay, creative, cluster and forget, or one of them",
        role="owner",
        admin=True,
    ),
    Route(
        "consolidate_status",
        "GET",
        "/consolidate/status",
        "when each task of the consolidation engine ran, and when it will run again",
        role="owner",
        admin=True,
    ),
    Route(
        "health",
        "GET",
        "/admin/health",
        "whether the daemon answers",
        role="reader",
        open=True,
    ),
    Route(
        "status",
        "GET",
        "/admin/status",
        "what there is and what is wrong",
        role="reader",
    ),
    Route(
        "stats",
        "GET",
        "/stats",
        "how much there is, and how much was whispered and remembered lately",
        role="reader",
    ),
    Route(
        "reconcile",
        "POST",
        "/admin/reconcile",
        "make the index say what the files say",
        role="owner",
        unbounded=True,
    ),
    Route(
        "rebuild",
        "POST",
        "/admin/rebuild",
        "make the index anew from files and journal",
        role="owner",
        unbounded=True,
    ),
    Route(
        "purge",
        "POST",
        "/admin/purge",
        "remove forgotten memories for good: there is no way back",
        role="owner",
        admin=True,
    ),
    Route(
        "compact",
        "POST",
        "/admin/compact",
        "tidy the journal's past months without changing what they say",
        role="owner",
        unbounded=True,
    ),
    Route(
        "import",
        "POST",
        "/admin/import",
        "bring memories in from elsewhere; what is here already is not added twice",
        role="owner",
        admin=True,
        unbounded=True,
    ),
    Route(
        "export",
        "GET",
        "/admin/export",
        "a page of memories with all that belongs to them, in the order of their ids",
        role="owner",
        admin=True,
    ),
    Route(
        "backup",
        "POST",
        "/admin/backup",
        "make a backup of vault, journal and settings, and let the oldest go",
        role="admin",
        admin=True,
        unbounded=True,
    ),
    Route(
        "backups",
        "GET",
        "/admin/backup",
        "the backups that there are, newest first",
        role="admin",
        admin=True,
    ),
    Route(
        "ingest_conversation",
        "POST",
        "/ingest/conversation",
        "take in a conversation: what was said outright, and its exchanges",
        role="writer",
    ),
    Route(
        "ingest_file",
        "POST",
        "/ingest/file",
        "take in a file of notes, section by section; taken in again it revises what came of it",
        role="writer",
    ),
    Route(
        "people",
        "GET",
        "/admin/people",
        "the people who have a memory of their own in this database",
        role="admin",
        admin=True,
    ),
    Route(
        "add_person",
        "POST",
        "/admin/people",
        "give a person a memory of their own",
        role="admin",
        admin=True,
    ),
    Route(
        "remove_person",
        "DELETE",
        "/admin/people/{id}",
        "let a person in no more; `{id}` is their name",
        role="admin",
        admin=True,
    ),
    Route(
        "tokens",
        "GET",
        "/admin/tokens",
        "your tokens; to an admin everybody's",
        role="reader",
    ),
    Route(
        "create_token",
        "POST",
        "/admin/tokens",
        "make a token for a client; its secret is told this once",
        role="admin",
        admin=True,
    ),
    Route(
        "revoke_token",
        "DELETE",
        "/admin/tokens/{id}",
        "let a token in no more; `{id}` is its id, at least 8 characters of it, or its name",
        role="owner",
    ),
    Route(
        "spaces",
        "GET",
        "/agent/spaces",
        "the spaces that you share with others; to an admin all of them",
        role="reader",
    ),
    Route(
        "share_space",
        "POST",
        "/admin/spaces",
        "let a person share a space; an admin makes it by that, an owner adds others",
        role="writer",
    ),
    Route(
        "unshare_space",
        "POST",
        "/admin/spaces/leave",
        "take a person out of a shared space; without one, let nobody share it any more",
        role="writer",
    ),
    Route(
        "stop",
        "POST",
        "/admin/stop",
        "end the daemon",
        role="admin",
    ),
    Route(
        "page_link",
        "POST",
        "/ui/link",
        "a link that signs a browser in to the page, once and within a minute",
        role="reader",
        admin=True,
    ),
    # What only the page asks for stands under /ui/data/.
    Route(
        "page_search",
        "GET",
        "/ui/data/search",
        "recall while a question is being typed; what is shown is not noted as used",
        role="reader",
    ),
    Route(
        "page_list",
        "GET",
        "/ui/data/list",
        "memories without their whole texts, newest first",
        role="reader",
    ),
    Route(
        "page_facets",
        "GET",
        "/ui/data/facets",
        "what memories can be filtered by, with how many there are of each",
        role="reader",
    ),
    Route(
        "page_graph",
        "GET",
        "/ui/data/graph",
        "the spaces, largest first, each with its strongest memories and their connections",
        role="reader",
    ),
    Route(
        "page_graph_space",
        "GET",
        "/ui/data/graph/space",
        "more memories of one space, strongest first, with the connections that start at them",
        role="reader",
    ),
    Route(
        "page_graph_near",
        "GET",
        "/ui/data/graph/near/{id}",
        "a memory, those connected with it, and some of those connected with them",
        role="reader",
    ),
    Route(
        "page_graph_paths",
        "GET",
        "/ui/data/graph/paths",
        "the shortest ways between two memories over connections",
        role="reader",
    ),
    Route(
        "page_memory",
        "GET",
        "/ui/data/memory/{id}",
        "one memory, also a forgotten one, with connections and strength; not noted as a use",
        role="reader",
    ),
    Route(
        "page_similar",
        "GET",
        "/ui/data/memory/{id}/similar",
        "the memories nearest to one in meaning",
        role="reader",
    ),
    Route(
        "page_difference",
        "GET",
        "/ui/data/memory/{id}/difference",
        "a memory before and after one change of it",
        role="reader",
    ),
    Route(
        "page_time",
        "GET",
        "/ui/data/time",
        "memories by when they became known, newest first, with evolutions and tensions",
        role="reader",
    ),
    Route(
        "page_time_bars",
        "GET",
        "/ui/data/time/bars",
        "how many memories became known in each stretch of time",
        role="reader",
    ),
    Route(
        "page_time_day",
        "GET",
        "/ui/data/time/day",
        "how much held at a moment, and what has come and gone since",
        role="reader",
    ),
    Route(
        "page_time_turns",
        "GET",
        "/ui/data/time/turns",
        "what replaced what, and what cannot hold beside what, newest first",
        role="reader",
    ),
    Route(
        "page_home",
        "GET",
        "/ui/data/home",
        "how much there is, how it grows, what came of the last prompts, what needs attention",
        role="reader",
    ),
    Route(
        "page_whispers",
        "GET",
        "/ui/data/whispers",
        "the last prompts and what came of each, newest first",
        role="reader",
    ),
    Route(
        "page_whisper",
        "GET",
        "/ui/data/whispers/{id}",
        "one prompt with its stages and every memory that was considered for it",
        role="reader",
    ),
    Route(
        "page_why_not",
        "GET",
        "/ui/data/whispers/{id}/why_not",
        "why a memory was not whispered for a prompt",
        role="reader",
    ),
    Route(
        "page_sleep",
        "GET",
        "/ui/data/sleep",
        "how every job and every task of consolidation stands",
        role="reader",
    ),
    Route(
        "page_runs",
        "GET",
        "/ui/data/sleep/runs",
        "what the jobs did, newest first",
        role="reader",
    ),
    Route(
        "page_run",
        "GET",
        "/ui/data/sleep/runs/{id}",
        "the changes that a run made, newest first, and how it went",
        role="reader",
    ),
    Route(
        "page_change",
        "GET",
        "/ui/data/changes/{id}",
        "what a change made of each file: the texts before and after",
        role="reader",
    ),
    Route(
        "page_proposals",
        "GET",
        "/ui/data/proposals",
        "what waits for a decision, or was decided, newest first",
        role="reader",
    ),
    Route(
        "page_proposal",
        "GET",
        "/ui/data/proposals/{id}",
        "one proposal with its memories, and exactly what approving it would change",
        role="reader",
    ),
)

# What only the daemon can tell, and not as JSON.
EVENTS_ROUTE = Route(
    "events",
    "GET",
    "/events",
    "what happens, as it happens, as server-sent events: remembered, revised, retired, forgotten, "
    "restored, linked, unlinked, merged, undone, changed, whispered, feedback, proposal, decided, "
    "job_started, job_finished",
    role="reader",
    answer="a stream of events, each with a name and a JSON body",
)
METRICS_ROUTE = Route(
    "metrics",
    "GET",
    "/metrics",
    "numbers about the memory, its jobs and the hooks, for Prometheus",
    role="reader",
    answer="text in the format of Prometheus",
)
NON_JSON_ROUTES = (EVENTS_ROUTE, METRICS_ROUTE)

ROUTE_BY_NAME = MappingProxyType({route.name: route for route in ROUTES})
