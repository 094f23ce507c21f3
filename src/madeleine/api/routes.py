"""Every operation that a door offers, as a table: name, HTTP method and path, what it takes.

The daemon serves these routes, the command line and the Python face call them by name, and
docs/reference/routes.md and /openapi.json are made from them. This module knows no verb and
imports nothing heavy, so that a command that talks to the daemon starts at once.
`api/operations.py` says what each one does.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Field(NamedTuple):
    """One field of a request: its JSON type in words, and what it means."""

    name: str
    type: str
    help: str
    required: bool = False


class Route(NamedTuple):
    """One operation. `{id}` in the path is an id, a short id or an unambiguous prefix."""

    name: str
    method: str
    path: str
    summary: str
    body: tuple[Field, ...] = ()
    query: tuple[Field, ...] = ()
    answer: str = ""
    """What it answers with, where that is no JSON."""
    open: bool = False
    """Whether it answers without a token."""
    admin: bool = False
    """Whether it asks for the admin token, when one is set."""

    @property
    def role(self) -> str:
        """What one must be where several people share a database: reader, writer, owner of the
        memory that it is about, or admin."""
        if self.name in _SERVERS:
            return "admin"
        if self.name in _TENDING or (self.admin and self.name not in _READING):
            return "owner"
        reads = self.method == "GET" or self.name in _READING
        return "reader" if reads and self.name not in _TAKING else "writer"


_READING = frozenset(  # sent by POST, and changes nothing; a link lets in with the asker's own role
    ["recall", "whisper", "hook_inject", "hook_delivered", "hook_undelivered", "page_link"]
)
_TAKING = frozenset(["maintenance"])  # asked with GET, and takes something
_TENDING = frozenset(["reconcile", "rebuild", "compact", "revoke_token"])
_SERVERS = frozenset(
    ["stop", "backup", "backups", "people", "add_person", "remove_person", "create_token"]
)


_DRAFT = (
    Field("content", "string", "the text to remember", required=True),
    Field(
        "type",
        "string",
        "fact, decision, preference, event, person, project, concept, procedure, goal, observation",
    ),
    Field("tier", "string", "core, working or archival"),
    Field("source", "string", "where it comes from, such as agent:claude-code"),
    Field("space", "string|null", "the project it belongs to; null is global"),
    Field("tags", "array of string", "labels; normalised to lower case"),
    Field(
        "connections", "array of object", "links to other memories: target, edge, weight, reason"
    ),
    Field("title", "string|null", "a short title; weighs ten times in text search"),
    Field("about_self", "boolean", "it describes the user: the self defines it"),
    Field("confidence", "number", "how sure its author is, 0 to 1"),
    Field("valid_until", "string|null", "when it stops being true"),
    Field("origin", "object|null", "session, turn, speaker, uri: where it was said"),
    Field(
        "claim",
        "object|null",
        "what it states: subject, attribute, value; it replaces older values of that attribute",
    ),
    Field("id", "string", "a UUID of the caller's choice, for imports"),
    Field("created", "string", "when it was first known, for imports"),
    Field("idempotency_key", "string", "makes a repeated call return the first memory"),
)
_FILTER = (
    Field("types", "array of string", "only these types"),
    Field("tiers", "array of string", "only these tiers"),
    Field("spaces", "array of string", "only these spaces; `global` is the one without a name"),
    Field("tags", "array of string", "only memories with any of these tags"),
    Field("created_after", "string", "created at this time or later"),
    Field("created_before", "string", "created before this time"),
    Field("as_of", "string", "as things stood at this time"),
    Field("outdated", "boolean", "also what is retired, expired or superseded"),
)
_SPACE = Field("default_space", "string", "the space of a request that names none")
_LIMIT = Field("limit", "integer", "how many at most")
_OFFSET = Field("offset", "integer", "how many to skip")
_ZONE = Field("zone", "string", "whose days to count in, such as Europe/Dublin; otherwise UTC")
_DRY_RUN = Field("dry_run", "boolean", "only say what would be done; nothing is changed")
_NOW = Field("now", "boolean", "give memories no time before they fade")
_WAIT = Field("wait", "boolean", "answer when it is over; without a daemon that is always so")
_INGEST = (
    _SPACE,
    _DRY_RUN,
    Field("extra_tags", "array of string", "labels for everything that is kept"),
)

ROUTES: tuple[Route, ...] = (
    Route(
        "remember",
        "POST",
        "/agent/remember",
        "write one memory",
        _DRAFT,
        (_SPACE,),
    ),
    Route(
        "remember_many",
        "POST",
        "/agent/remember/batch",
        "write many memories",
        (Field("items", "array of object", "drafts as for remember", required=True),),
        (_SPACE,),
    ),
    Route(
        "recall",
        "POST",
        "/agent/recall",
        "find memories that answer a question",
        (
            Field("query", "string", "what is asked", required=True),
            _LIMIT,
            *_FILTER,
            Field("session_id", "string", "the conversation that asks"),
            Field("explain", "boolean", "show how each score came about"),
            Field("why_not", "string", "id of a memory that you miss: says why it is not there"),
        ),
        (_SPACE,),
    ),
    Route(
        "whisper",
        "POST",
        "/agent/whisper",
        "say what is worth knowing before a prompt is answered; empty text is silence",
        (
            Field("prompt", "string", "what was typed", required=True),
            Field("space", "string", "the project it was typed in"),
            Field("session_id", "string", "the conversation it belongs to"),
            Field("cwd", "string", "the folder it was typed in"),
            Field("explain", "boolean", "show every candidate and stage"),
        ),
        (_SPACE,),
    ),
    Route(
        "whisper_why",
        "GET",
        "/agent/whisper/why",
        "say in plain words why the last whisper, or silence, was what it was",
        (),
        (Field("session_id", "string", "the last one of this conversation"),),
    ),
    Route(
        "whisper_report",
        "GET",
        "/agent/whisper/report",
        "say what the hold-out shows: how often memories show in replies, whispered and held out",
    ),
    Route(
        "feedback",
        "POST",
        "/agent/feedback",
        "say whether a memory was useful",
        (
            Field("node_id", "string", "the memory", required=True),
            Field(
                "signal",
                "integer",
                "1 for useful, -1 for not; 0 takes back what was said about it in the whisper",
                required=True,
            ),
            Field("source", "string", "explicit (default) or implicit"),
            Field("whisper_log_id", "string", "the whisper that it is about"),
        ),
        (),
    ),
    Route(
        "show",
        "GET",
        "/agent/recall/{id}",
        "one memory whole, with connections and neighbours",
        query=(Field("session_id", "string", "the conversation that asks"),),
    ),
    Route(
        "list",
        "GET",
        "/agent/list",
        "memories, newest first",
        query=(*_FILTER, _LIMIT, _OFFSET),
    ),
    Route(
        "trash",
        "GET",
        "/agent/trash",
        "what was forgotten and can be restored",
    ),
    Route(
        "history",
        "GET",
        "/agent/history/{id}",
        "what happened to a memory, newest first",
        query=(_LIMIT,),
    ),
    Route(
        "revise",
        "POST",
        "/agent/update/{id}",
        "change what a memory says; null clears a field",
        (
            Field("content", "string", "the new text"),
            *(
                f
                for f in _DRAFT
                if f.name
                in (
                    "type",
                    "tier",
                    "space",
                    "title",
                    "tags",
                    "source",
                    "confidence",
                    "valid_until",
                    "origin",
                    "claim",
                    "about_self",
                )
            ),
            Field("superseded_by", "string|null", "the memory that replaces it"),
            Field("add_connections", "array of object", "connections to add"),
            Field("if_updated", "string", "only if the memory was last updated at this time"),
            Field(
                "if_version",
                "string",
                "only if it still says what it said in this `version` of /ui/data/memory/{id}, "
                "whoever changed it, also by hand",
            ),
        ),
    ),
    Route(
        "retire",
        "POST",
        "/agent/outdated/{id}",
        "mark a memory as no longer true",
        (
            Field("reason", "string", "why"),
            Field("superseded_by", "string", "the memory that replaces it"),
        ),
    ),
    Route(
        "forget",
        "DELETE",
        "/agent/recall/{id}",
        "move a memory to the trash",
        query=(Field("reason", "string", "why"),),
    ),
    Route(
        "restore",
        "POST",
        "/agent/restore/{id}",
        "bring a forgotten memory back",
    ),
    Route(
        "link",
        "POST",
        "/agent/connect",
        "connect two memories",
        (
            Field("source_id", "string", "from", required=True),
            Field("target_id", "string", "to", required=True),
            Field("edge", "string", "what the connection says; related_to by default"),
            Field("weight", "number", "how strong, 0 to 1"),
            Field("reason", "string", "why"),
            Field("kind", "string", "which association, for the edge `discovered`"),
        ),
    ),
    Route(
        "unlink",
        "POST",
        "/agent/disconnect",
        "take a connection away",
        (
            Field("source_id", "string", "from", required=True),
            Field("target_id", "string", "to", required=True),
            Field("edge", "string", "only this edge; all by default"),
        ),
    ),
    Route(
        "merge",
        "POST",
        "/agent/merge",
        "make one memory of two",
        (
            Field("keep", "string", "the memory that stays", required=True),
            Field("drop", "string", "the one that goes into it", required=True),
            Field("title", "string", "the title of the result"),
            Field("content", "string", "the text of the result"),
            Field("reason", "string", "why"),
            Field(
                "if_keep_version",
                "string",
                "only if the one that stays still says what it said in this `version` of "
                "/ui/data/memory/{id}",
            ),
            Field("if_drop_version", "string", "the same for the one that goes into it"),
        ),
    ),
    Route(
        "undo",
        "POST",
        "/agent/undo/{id}",
        "take back a change, a run, or a whole night by the `request` that it answered with",
    ),
    Route(
        "proposals",
        "GET",
        "/agent/proposals",
        "what waits for a decision",
        query=(
            Field(
                "status",
                "string",
                "pending, approved, rejected, expired or all; pending by default",
            ),
        ),
    ),
    Route(
        "proposal",
        "GET",
        "/agent/proposals/{id}",
        "one proposal, with exactly what approving it would change",
    ),
    Route(
        "decide",
        "POST",
        "/agent/proposals/{id}",
        "approve or reject a proposal, or take that back",
        (
            Field(
                "action",
                "string",
                "approved or rejected; pending takes the decision back",
                required=True,
            ),
        ),
    ),
    Route(
        "merges",
        "GET",
        "/agent/merges",
        "merges that were made, newest first",
        query=(_LIMIT,),
    ),
    Route(
        "undo_merge",
        "POST",
        "/agent/merges/{id}/undo",
        "take a merge back",
    ),
    Route(
        "audit",
        "GET",
        "/agent/audit",
        "every recorded change, newest first",
        query=(
            _LIMIT,
            Field("node_id", "string", "only changes of this memory"),
            Field("operation", "string", "only what this verb did, such as revise"),
        ),
    ),
    Route(
        "insights",
        "GET",
        "/agent/insights",
        "what changed its mind and what contradicts what, newest first",
        query=(_LIMIT,),
    ),
    Route(
        "maintenance",
        "GET",
        "/agent/maintenance",
        "take a batch of questions about memories, for an agent that judges",
    ),
    Route(
        "hand_in",
        "POST",
        "/agent/maintenance",
        "hand in the verdicts about a batch of questions; without any, take a batch, or with "
        "its `job_id` see it once more",
        (
            Field("job_id", "string", "the batch that was taken"),
            Field("results", "object", "the answers, as the batch's instructions say"),
        ),
    ),
    Route(
        "tasks",
        "GET",
        "/admin/tasks",
        "the jobs that tend the memory: when they run, how the last run went",
    ),
    Route(
        "run_all",
        "POST",
        "/admin/tasks/run-all",
        "run the whole sleep cycle, in its documented order",
        (_DRY_RUN, _NOW),
        (_WAIT,),
        admin=True,
    ),
    Route(
        "run_task",
        "POST",
        "/admin/tasks/{id}/run",
        "run one job now; `{id}` is its name",
        (_DRY_RUN, _NOW),
        (_WAIT,),
        admin=True,
    ),
    Route(
        "stop_task",
        "POST",
        "/admin/tasks/{id}/stop",
        "stop a run that waits or is under way: a job's, or `run-all` for all; what it has "
        "done by then stays",
        admin=True,
    ),
    Route(
        "pause_task",
        "POST",
        "/admin/tasks/{id}/pause",
        "let a job no longer run by itself, nor with the whole cycle",
        admin=True,
    ),
    Route(
        "resume_task",
        "POST",
        "/admin/tasks/{id}/resume",
        "let a paused job run by itself again",
        admin=True,
    ),
    Route(
        "consolidate",
        "POST",
        "/consolidate",
        "run the consolidation engine: decay, creative, cluster and forget, or one of them",
        (
            Field("task", "string", "decay, creative, cluster or forget; all four without it"),
            Field("mode", "string", "another name for `task`; `full` is all four"),
            _DRY_RUN,
        ),
        (Field("wait", "boolean", "false: answer at once, the run goes on; true by default"),),
        admin=True,
    ),
    Route(
        "consolidate_status",
        "GET",
        "/consolidate/status",
        "when each task of the consolidation engine ran, and when it will run again",
        admin=True,
    ),
    Route(
        "health",
        "GET",
        "/admin/health",
        "whether the daemon answers",
        open=True,
    ),
    Route(
        "status",
        "GET",
        "/admin/status",
        "what there is and what is wrong",
    ),
    Route(
        "stats",
        "GET",
        "/stats",
        "how much there is, and how much was whispered and remembered lately",
        query=(Field("days", "integer", "how far back; this week, from Monday, by default"),),
    ),
    Route(
        "reconcile",
        "POST",
        "/admin/reconcile",
        "make the index say what the files say",
    ),
    Route(
        "rebuild",
        "POST",
        "/admin/rebuild",
        "make the index anew from files and journal",
    ),
    Route(
        "purge",
        "POST",
        "/admin/purge",
        "remove forgotten memories for good: there is no way back",
        (
            Field("memories", "array of string", "which of those in the trash"),
            Field("all", "boolean", "all that lie in the trash"),
        ),
        admin=True,
    ),
    Route(
        "compact",
        "POST",
        "/admin/compact",
        "tidy the journal's past months without changing what they say",
    ),
    Route(
        "import",
        "POST",
        "/admin/import",
        "bring memories in from elsewhere; what is here already is not added twice",
        (
            Field(
                "items",
                "array of object",
                "drafts as for remember, and: updated, superseded_by, usage, path, file, plain, "
                "whole, trashed",
                required=True,
            ),
            Field("format", "string", "where they come from, such as obsidian"),
            Field("run", "string", "a UUID; all batches of one import bear the same"),
            _DRY_RUN,
        ),
        (_SPACE,),
        admin=True,
    ),
    Route(
        "export",
        "GET",
        "/admin/export",
        "a page of memories with all that belongs to them, in the order of their ids",
        query=(
            *_FILTER,
            Field("after", "string", "the id after which to go on: `next` of the page before"),
            _LIMIT,
            Field("files", "boolean", "also the text of every file, and not only where it differs"),
            Field("trash", "boolean", "what was forgotten instead"),
        ),
        admin=True,
    ),
    Route(
        "backup",
        "POST",
        "/admin/backup",
        "make a backup of vault, journal and settings, and let the oldest go",
        (Field("to", "string", "another file or folder than the one for backups; a whole path"),),
        admin=True,
    ),
    Route(
        "backups",
        "GET",
        "/admin/backup",
        "the backups that there are, newest first",
        admin=True,
    ),
    Route(
        "ingest_conversation",
        "POST",
        "/ingest/conversation",
        "take in a conversation: what was said outright, and its exchanges",
        (
            Field(
                "content",
                "string",
                "the conversation as text (`User: …`, `Assistant: …`) or as a host's JSON lines; "
                "a text in which nobody is named is taken in as notes",
            ),
            Field("messages", "array of object", "or as messages: role, content, at (a time)"),
            Field("agent_id", "string", "the agent that took part, such as claude-code"),
            Field("session", "string", "the conversation's own id; it makes a repeated call safe"),
            Field("uri", "string", "where it can be found"),
        ),
        _INGEST,
    ),
    Route(
        "ingest_file",
        "POST",
        "/ingest/file",
        "take in a file of notes, section by section; taken in again it revises what came of it",
        (
            Field("content", "string", "the text of the file"),
            Field("name", "string", "its name; titles are made of it"),
            Field("uri", "string", "where it can be found: by this a changed file is known again"),
            Field("path", "string", "instead of all that, a transcript (.jsonl) on this machine"),
        ),
        _INGEST,
    ),
    Route(
        "people",
        "GET",
        "/admin/people",
        "the people who have a memory of their own in this database",
        admin=True,
    ),
    Route(
        "add_person",
        "POST",
        "/admin/people",
        "give a person a memory of their own",
        (
            Field("name", "string", "a-z, 0-9, `.`, `_` and `-`, such as ada", required=True),
            Field("keep", "boolean", "hand them the memories kept under this name; else refused"),
        ),
        admin=True,
    ),
    Route(
        "remove_person",
        "DELETE",
        "/admin/people/{id}",
        "let a person in no more; `{id}` is their name",
        query=(Field("erase", "boolean", "erase their memory too, also later: no way back"),),
        admin=True,
    ),
    Route(
        "tokens",
        "GET",
        "/admin/tokens",
        "your tokens; to an admin everybody's",
        query=(Field("person", "string", "only those of this person"),),
    ),
    Route(
        "create_token",
        "POST",
        "/admin/tokens",
        "make a token for a client; its secret is told this once",
        (
            Field("name", "string", "what it is for, such as the client", required=True),
            Field("person", "string", "whose memory it opens; the server's own by default"),
            Field("role", "string", "reader, writer (default), owner or admin"),
        ),
        admin=True,
    ),
    Route(
        "revoke_token",
        "DELETE",
        "/admin/tokens/{id}",
        "let a token in no more; `{id}` is its id, at least 8 characters of it, or its name",
    ),
    Route(
        "spaces",
        "GET",
        "/agent/spaces",
        "the spaces that you share with others; to an admin all of them",
    ),
    Route(
        "share_space",
        "POST",
        "/admin/spaces",
        "let a person share a space; an admin makes it by that, an owner adds others",
        (
            Field("name", "string", "the space", required=True),
            Field("person", "string", "who", required=True),
            Field("role", "string", "reader, writer (default) or owner"),
            Field("keep", "boolean", "with the memories kept under this name; else refused"),
        ),
    ),
    Route(
        "unshare_space",
        "POST",
        "/admin/spaces/leave",
        "take a person out of a shared space; without one, let nobody share it any more",
        (
            Field("name", "string", "the space", required=True),
            Field("person", "string", "who; oneself always"),
            Field(
                "erase", "boolean", "without a person: erase what is in it, for good, also later"
            ),
        ),
    ),
    Route("stop", "POST", "/admin/stop", "end the daemon"),
    Route(
        "page_link",
        "POST",
        "/ui/link",
        "a link that signs a browser in to the page, once and within a minute",
        admin=True,
    ),
    # What only the page asks for stands under /ui/data/.
    Route(
        "page_search",
        "GET",
        "/ui/data/search",
        "recall while a question is being typed; what is shown is not noted as used",
        query=(
            Field("query", "string", "what is asked", required=True),
            _LIMIT,
            *_FILTER,
            Field("why_not", "string", "id of a memory that you miss: says why it is not there"),
        ),
    ),
    Route(
        "page_list",
        "GET",
        "/ui/data/list",
        "memories without their whole texts, newest first",
        query=(*_FILTER, _LIMIT, _OFFSET),
    ),
    Route(
        "page_facets",
        "GET",
        "/ui/data/facets",
        "what memories can be filtered by, with how many there are of each",
        query=(Field("tag", "string", "only tags that begin so"),),
    ),
    Route(
        "page_graph",
        "GET",
        "/ui/data/graph",
        "the spaces, largest first, each with its strongest memories and their connections",
        query=(_LIMIT,),
    ),
    Route(
        "page_graph_space",
        "GET",
        "/ui/data/graph/space",
        "more memories of one space, strongest first, with the connections that start at them",
        query=(
            Field("space", "string", "which; `global` is the one without a name", required=True),
            _LIMIT,
            _OFFSET,
        ),
    ),
    Route(
        "page_graph_near",
        "GET",
        "/ui/data/graph/near/{id}",
        "a memory, those connected with it, and some of those connected with them",
        query=(_LIMIT,),
    ),
    Route(
        "page_graph_paths",
        "GET",
        "/ui/data/graph/paths",
        "the shortest ways between two memories over connections",
        query=(
            Field("from", "string", "the one", required=True),
            Field("to", "string", "the other", required=True),
        ),
    ),
    Route(
        "page_memory",
        "GET",
        "/ui/data/memory/{id}",
        "one memory, also a forgotten one, with connections and strength; not noted as a use",
        query=(Field("as_of", "string", "also as it was at this time, as far as it is known"),),
    ),
    Route(
        "page_similar",
        "GET",
        "/ui/data/memory/{id}/similar",
        "the memories nearest to one in meaning",
    ),
    Route(
        "page_difference",
        "GET",
        "/ui/data/memory/{id}/difference",
        "a memory before and after one change of it",
        query=(Field("change", "string", "the change's id", required=True),),
    ),
    Route(
        "page_time",
        "GET",
        "/ui/data/time",
        "memories by when they became known, newest first, with evolutions and tensions",
        query=(_LIMIT, _OFFSET),
    ),
    Route(
        "page_time_bars",
        "GET",
        "/ui/data/time/bars",
        "how many memories became known in each stretch of time",
        query=(_ZONE,),
    ),
    Route(
        "page_time_day",
        "GET",
        "/ui/data/time/day",
        "how much held at a moment, and what has come and gone since",
        query=(Field("as_of", "string", "the moment; now by default"),),
    ),
    Route(
        "page_time_turns",
        "GET",
        "/ui/data/time/turns",
        "what replaced what, and what cannot hold beside what, newest first",
        query=(_LIMIT,),
    ),
    Route(
        "page_home",
        "GET",
        "/ui/data/home",
        "how much there is, how it grows, what came of the last prompts, what needs attention",
        query=(_ZONE,),
    ),
    Route(
        "page_whispers",
        "GET",
        "/ui/data/whispers",
        "the last prompts and what came of each, newest first",
        query=(
            Field("outcome", "string", "only whispered, silent, held_out, late or undelivered"),
            Field("after", "string", "the id after which to go on: `next` of the page before"),
            _LIMIT,
        ),
    ),
    Route(
        "page_whisper",
        "GET",
        "/ui/data/whispers/{id}",
        "one prompt with its stages and every memory that was considered for it",
    ),
    Route(
        "page_why_not",
        "GET",
        "/ui/data/whispers/{id}/why_not",
        "why a memory was not whispered for a prompt",
        query=(Field("memory", "string", "the memory that you miss", required=True),),
    ),
    Route(
        "page_sleep",
        "GET",
        "/ui/data/sleep",
        "how every job and every task of consolidation stands",
    ),
    Route(
        "page_runs",
        "GET",
        "/ui/data/sleep/runs",
        "what the jobs did, newest first",
        query=(
            Field("job", "string", "only runs of this one"),
            Field("all", "boolean", "also runs that found nothing to do"),
            _LIMIT,
        ),
    ),
    Route(
        "page_run",
        "GET",
        "/ui/data/sleep/runs/{id}",
        "the changes that a run made, newest first, and how it went",
        query=(_LIMIT, _OFFSET),
    ),
    Route(
        "page_change",
        "GET",
        "/ui/data/changes/{id}",
        "what a change made of each file: the texts before and after",
    ),
    Route(
        "page_proposals",
        "GET",
        "/ui/data/proposals",
        "what waits for a decision, or was decided, newest first",
        query=(
            Field(
                "status",
                "string",
                "pending, approved, rejected or expired; decided is what was approved or rejected "
                "when somebody was asked; pending by default",
            ),
            Field("type", "string", "only those of this type; `types` counts all"),
            _LIMIT,
            _OFFSET,
        ),
    ),
    Route(
        "page_proposal",
        "GET",
        "/ui/data/proposals/{id}",
        "one proposal with its memories, and exactly what approving it would change",
    ),
)

# What only the daemon can tell, and not as JSON.
EVENTS = Route(
    "events",
    "GET",
    "/events",
    "what happens, as it happens, as server-sent events: remembered, revised, retired, forgotten, "
    "restored, linked, unlinked, merged, undone, changed, whispered, feedback, proposal, decided, "
    "job_started, job_finished",
    answer="a stream of events, each with a name and a JSON body",
)
METRICS = Route(
    "metrics",
    "GET",
    "/metrics",
    "numbers about the memory, its jobs and the hooks, for Prometheus",
    answer="text in the format of Prometheus",
)
TOLD = (EVENTS, METRICS)

BY_NAME = MappingProxyType({route.name: route for route in ROUTES})
