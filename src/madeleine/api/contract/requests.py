"""What operations take: the parameters of the query and the fields of the body.

A field that is not required may be left out. `{id}` in a path is no field of a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from madeleine.api.contract.memories import (
    ClaimShape,
    OriginShape,
    PromptOutcome,
    RequestTime,
    SpokenTime,
    ToldMoment,
    UnitNumber,
    WrittenText,
)
from madeleine.api.contract.shape import RequestShape, field, shape
from madeleine.model.cause import ActivityKind
from madeleine.model.people import Role
from madeleine.model.proposal import ProposalType
from madeleine.model.words import Edge, MemoryKind, MemoryType, Tier

MemoryUuid = Annotated[str, (("format", "uuid"),)]
Offset = Annotated[int, (("minimum", 0), ("maximum", 1_000_000_000))]
Limit100 = Annotated[int, (("minimum", 1), ("maximum", 100))]
Limit200 = Annotated[int, (("minimum", 1), ("maximum", 200))]
Limit500 = Annotated[int, (("minimum", 1), ("maximum", 500))]
Limit1000 = Annotated[int, (("minimum", 1), ("maximum", 1_000))]
Limit3000 = Annotated[int, (("minimum", 1), ("maximum", 3_000))]
Limit10000 = Annotated[int, (("minimum", 1), ("maximum", 10_000))]


@shape
class NewConnection(RequestShape):
    """A connection to be drawn."""

    target: str = field("the id of the other memory")
    edge: Edge | None = field("what it says", default=None)
    weight: UnitNumber | None = field("how strong, 0 to 1", default=None)
    reason: str | None = field("why", default=None)
    by: str | None = field("who drew it", default=None)
    at: RequestTime | None = field("when it was drawn", default=None)
    kind: str | None = field("which association", default=None)
    confidence: UnitNumber | None = field("how sure", default=None)


@shape
class MemoryFilter(RequestShape):
    """Which memories are meant; a field that is left out lets in any."""

    types: tuple[MemoryType, ...] | None = field("only these types", default=None)
    tiers: tuple[Tier, ...] | None = field("only these tiers", default=None)
    spaces: tuple[str, ...] | None = field(
        "only these spaces; `global` is the one without a name", default=None
    )
    tags: tuple[str, ...] | None = field("only memories with any of these tags", default=None)
    created_after: SpokenTime | None = field(
        "created at this time or later; also as people say it: yesterday, since friday",
        default=None,
    )
    created_before: SpokenTime | None = field("created before this time", default=None)
    as_of: SpokenTime | None = field("as things stood at this time", default=None)
    outdated: bool | None = field("also what is retired, expired or superseded", default=None)
    exchanges: bool | None = field(
        "also what was said in sessions, kept word for word", default=None
    )


@shape
class MemoryDraft(RequestShape):
    """A memory to be written."""

    content: WrittenText = field("the text to remember")
    type: MemoryType | None = field(
        "fact, decision, preference, event, person, project, concept, procedure, goal, observation",
        default=None,
    )
    tier: Tier | None = field("core, working or archival", default=None)
    source: str | None = field("where it comes from, such as agent:claude-code", default=None)
    space: str | None = field(
        "the project it belongs to; null is global", default=None, nullable=True
    )
    tags: tuple[str, ...] | None = field("labels; normalised to lower case", default=None)
    connections: tuple[NewConnection, ...] | None = field(
        "links to other memories: target, edge, weight, reason", default=None
    )
    title: str | None = field(
        "a short title; weighs ten times in text search", default=None, nullable=True
    )
    about_self: bool | None = field("it describes the user: the self defines it", default=None)
    confidence: UnitNumber | None = field("how sure its author is, 0 to 1", default=None)
    valid_until: RequestTime | None = field("when it stops being true", default=None, nullable=True)
    origin: OriginShape | None = field(
        "session, turn, speaker, uri: where it was said", default=None, nullable=True
    )
    triggers: tuple[str, ...] | None = field(
        "before which deeds it is told: paths, globs, commands; none: those that its text is about",
        default=None,
        nullable=True,
    )
    kind: MemoryKind | None = field(
        "`standing`: it says how things are to be done; `plain`: not; none: read from its text",
        default=None,
        nullable=True,
    )
    metadata: Mapping[str, object] | None = field(
        "what another program keeps beside it: an object of JSON, given back as it is",
        default=None,
        nullable=True,
    )
    claim: ClaimShape | None = field(
        "what it states: subject, attribute, value; it replaces older values of that attribute",
        default=None,
        nullable=True,
    )
    replaces: tuple[str, ...] | None = field(
        "memories that it replaces: they are retired in the same change", default=None
    )
    id: MemoryUuid | None = field("a UUID of the caller's choice, for imports", default=None)
    created: RequestTime | None = field("when it was first known, for imports", default=None)
    idempotency_key: str | None = field(
        "makes a repeated call return the first memory", default=None
    )


@shape
class PauseBody(RequestShape):
    """A session that is paused, or goes on."""

    session_id: str = field("the conversation")
    resume: bool | None = field("end the pause", default=None)


@shape
class SpaceQuery(RequestShape):
    """The space of a request that names none."""

    default_space: str | None = field("the space of a request that names none", default=None)


@shape
class RememberManyBody(RequestShape):
    """What `remember_many` is given."""

    items: tuple[MemoryDraft, ...] = field("drafts as for remember")


@shape
class RecallBody(MemoryFilter):
    """What `recall` is given."""

    query: WrittenText = field("what is asked")
    limit: Limit100 | None = field(
        "how many at most; 10 if not said, 30 for an overview", default=None
    )
    session_id: str | None = field("the conversation that asks", default=None)
    explain: bool | None = field("show how each score came about", default=None)
    why_not: str | None = field(
        "id of a memory that you miss: says why it is not there", default=None
    )
    all: bool | None = field("also what is found below the floor", default=None)


@shape
class WhisperBody(RequestShape):
    """What `whisper` is given: a prompt or an action."""

    prompt: str | None = field("what was typed", default=None)
    action: str | None = field(
        "what an agent is about to do, tool first: Edit src/app.py", default=None
    )
    space: str | None = field("the project it was typed in", default=None)
    session_id: str | None = field("the conversation it belongs to", default=None)
    cwd: str | None = field("the folder it was typed in", default=None)
    explain: bool | None = field("show every candidate and stage", default=None)
    dry_run: bool | None = field(
        "only look: nothing counts as told, and nothing is written down", default=None
    )


@shape
class BriefQuery(RequestShape):
    """What `brief` is asked in the query."""

    space: str | None = field("the project that the session is in", default=None)
    cwd: str | None = field(
        "the folder it is in; without a space, what belongs to no project is told", default=None
    )
    session_id: str | None = field(
        "the session; what it was told already is left out", default=None
    )
    start: Literal["startup", "resume", "clear", "compact", "subagent"] | None = field(
        "why it starts; startup if not said", default=None
    )
    task: str | None = field("what a sub-agent is to do", default=None)


@shape
class DeedBody(RequestShape):
    """What `deed` is given."""

    tool: str = field("the tool that is about to be used, as its host calls it")
    input: Mapping[str, object] | None = field(
        "what the tool is given, as its host writes it: file_path, command …", default=None
    )
    target: str | None = field("the same as a person would say it, instead", default=None)
    error: str | None = field("what went wrong, if it is over and failed", default=None)
    space: str | None = field("the project it is done in", default=None)
    session_id: str | None = field("the conversation it belongs to", default=None)
    cwd: str | None = field("the folder it is done in", default=None)


@shape
class SpaceHereQuery(RequestShape):
    """What `space_here` is asked in the query."""

    cwd: str | None = field("the folder, as an absolute path", default=None)


@shape
class MoveSpaceBody(RequestShape):
    """What `move_space` is given."""

    source: str = field("the space whose memories move")
    target: str = field("the space that they are in afterwards")
    merge: bool | None = field("also where there are memories in it already", default=None)


@shape
class WhisperWhyQuery(RequestShape):
    """What `whisper_why` is asked in the query."""

    session_id: str | None = field("the last one of this conversation", default=None)


@shape
class FeedbackBody(RequestShape):
    """What `feedback` is given."""

    node_id: str = field("the memory")
    signal: Literal[1, -1, 0] = field(
        "1 for useful, -1 for not; 0 takes back what was said about it in the whisper"
    )
    source: str | None = field("explicit (default) or implicit", default=None)
    whisper_log_id: str | None = field("the whisper that it is about", default=None)


@shape
class ShowQuery(RequestShape):
    """What `show` is asked in the query."""

    session_id: str | None = field("the conversation that asks", default=None)


@shape
class ListQuery(MemoryFilter):
    """What `list` is asked in the query."""

    limit: Limit1000 | None = field("how many at most", default=None)
    offset: Offset | None = field("how many to skip", default=None)


@shape
class ConnectedBody(RequestShape):
    """What `connected` is given."""

    ids: tuple[str, ...] = field("whole ids of memories, at most 200")
    limit: Limit100 | None = field(
        "how many connections each way of each, strongest first; 12 if not said", default=None
    )


@shape
class HistoryQuery(RequestShape):
    """What `history` is asked in the query."""

    limit: Limit10000 | None = field("how many at most", default=None)


@shape
class ReviseBody(RequestShape):
    """What `revise` is given."""

    null_takes_away = True
    content: WrittenText | None = field("the new text", default=None)
    type: MemoryType | None = field(
        "fact, decision, preference, event, person, project, concept, procedure, goal, observation",
        default=None,
    )
    tier: Tier | None = field("core, working or archival", default=None)
    source: str | None = field("where it comes from, such as agent:claude-code", default=None)
    space: str | None = field(
        "the project it belongs to; null is global", default=None, nullable=True
    )
    tags: tuple[str, ...] | None = field("labels; normalised to lower case", default=None)
    title: str | None = field(
        "a short title; weighs ten times in text search", default=None, nullable=True
    )
    about_self: bool | None = field("it describes the user: the self defines it", default=None)
    confidence: UnitNumber | None = field("how sure its author is, 0 to 1", default=None)
    valid_until: RequestTime | None = field("when it stops being true", default=None, nullable=True)
    origin: OriginShape | None = field(
        "session, turn, speaker, uri: where it was said", default=None, nullable=True
    )
    triggers: tuple[str, ...] | None = field(
        "before which deeds it is told: paths, globs, commands; none: those that its text is about",
        default=None,
        nullable=True,
    )
    kind: MemoryKind | None = field(
        "`standing`: it says how things are to be done; `plain`: not; none: read from its text",
        default=None,
        nullable=True,
    )
    metadata: Mapping[str, object] | None = field(
        "what another program keeps beside it: an object of JSON, given back as it is",
        default=None,
        nullable=True,
    )
    claim: ClaimShape | None = field(
        "what it states: subject, attribute, value; it replaces older values of that attribute",
        default=None,
        nullable=True,
    )
    superseded_by: str | None = field("the memory that replaces it", default=None, nullable=True)
    add_connections: tuple[NewConnection, ...] | None = field("connections to add", default=None)
    if_updated: RequestTime | None = field(
        "only if the memory was last updated at this time", default=None
    )
    if_version: str | None = field(
        "only if it still says what it said in this `version` of "
        "/ui/data/memory/{id}, whoever changed it, also by hand",
        default=None,
    )


@shape
class RetireBody(RequestShape):
    """What `retire` is given."""

    reason: str | None = field("why", default=None)
    superseded_by: str | None = field("the memory that replaces it", default=None)


@shape
class ForgetQuery(RequestShape):
    """What `forget` is asked in the query."""

    reason: str | None = field("why", default=None)


@shape
class LinkBody(RequestShape):
    """What `link` is given."""

    source_id: str = field("from")
    target_id: str = field("to")
    edge: Edge | None = field("what the connection says; related_to by default", default=None)
    weight: UnitNumber | None = field("how strong, 0 to 1", default=None)
    reason: str | None = field("why", default=None)
    kind: str | None = field("which association, for the edge `discovered`", default=None)


@shape
class UnlinkBody(RequestShape):
    """What `unlink` is given."""

    source_id: str = field("from")
    target_id: str = field("to")
    edge: Edge | None = field("only this edge; all by default", default=None)


@shape
class MergeBody(RequestShape):
    """What `merge` is given."""

    keep: str = field("the memory that stays")
    drop: str = field("the one that goes into it")
    title: str | None = field("the title of the result", default=None)
    content: WrittenText | None = field("the text of the result", default=None)
    reason: str | None = field("why", default=None)
    if_keep_version: str | None = field(
        "only if the one that stays still says what it said in this `version` of "
        "/ui/data/memory/{id}",
        default=None,
    )
    if_drop_version: str | None = field("the same for the one that goes into it", default=None)


@shape
class ProposalsQuery(RequestShape):
    """What `proposals` is asked in the query."""

    status: Literal["pending", "approved", "rejected", "expired", "all"] | None = field(
        "pending, approved, rejected, expired or all; pending by default", default=None
    )
    kind: ProposalType | None = field("only those of this kind, such as merge", default=None)
    run: str | None = field("only those that this run or night asked", default=None)


@shape
class DecideAllBody(RequestShape):
    """What `decide_all` is given."""

    action: Literal["approved", "rejected"] = field("approved or rejected")
    kind: ProposalType | None = field("only those of this kind, such as merge", default=None)
    run: str | None = field("only those that this run or night asked", default=None)
    ids: tuple[str, ...] | None = field("only these, by their ids", default=None)
    undo: MemoryUuid | None = field(
        "the id by which all of it can be taken back; a new one if not given", default=None
    )


@shape
class SnoozeBody(RequestShape):
    """What `snooze` is given."""

    until: RequestTime | None = field(
        "when the question is asked again; at once if not given", default=None
    )


@shape
class DecideBody(RequestShape):
    """What `decide` is given."""

    action: Literal["approved", "rejected", "pending"] = field(
        "approved or rejected; pending takes the decision back"
    )


@shape
class AuditQuery(RequestShape):
    """What `audit` is asked in the query."""

    limit: Limit10000 | None = field("how many at most", default=None)
    node_id: str | None = field("only changes of this memory", default=None)
    operation: str | None = field("only what this verb did, such as revise", default=None)


@shape
class LogQuery(RequestShape):
    """What `log` is asked in the query."""

    since: str | None = field(
        "from then on, as people say it: yesterday, monday, 3 days ago, 2026-11-01", default=None
    )
    until: str | None = field("up to then, that day included", default=None)
    by: Literal["sleep", "agent", "me", "import"] | None = field("only what they did", default=None)
    kinds: tuple[ActivityKind, ...] | None = field(
        "only these kinds of entries, such as merged", default=None
    )
    space: str | None = field(
        "only what happened to memories of this space; global for those of none", default=None
    )
    last_night: bool | None = field("only what the last night did and asked", default=None)
    limit: Limit1000 | None = field("how many at most; 50 if not said", default=None)


@shape
class InsightsQuery(RequestShape):
    """What `insights` is asked in the query."""

    limit: Limit1000 | None = field("how many at most", default=None)


@shape
class HandInBody(RequestShape):
    """What `hand_in` is given."""

    job_id: str | None = field("the batch that was taken", default=None)
    results: Mapping[str, object] | None = field(
        "the answers, as the batch's instructions say; without a `job_id`, answers to proposals: "
        '{"proposals": {"3f81c2aa": "yes"}}',
        default=None,
    )


@shape
class RunAllQuery(RequestShape):
    """What `run_all` is asked in the query."""

    wait: bool | None = field(
        "answer when it is over; without a daemon that is always so", default=None
    )


@shape
class RunAllBody(RequestShape):
    """What `run_all` is given."""

    dry_run: bool | None = field("only say what would be done; nothing is changed", default=None)
    now: bool | None = field("give memories no time before they fade", default=None)


@shape
class ConsolidateQuery(RequestShape):
    """What `consolidate` is asked in the query."""

    wait: bool | None = field(
        "false: answer at once, the run goes on; true by default", default=None
    )


@shape
class ConsolidateBody(RequestShape):
    """What `consolidate` is given."""

    task: Literal["decay", "creative", "cluster", "forget"] | None = field(
        "decay, creative, cluster or forget; all four without it", default=None
    )
    mode: Literal["decay", "creative", "cluster", "forget", "full"] | None = field(
        "another name for `task`; `full` is all four", default=None
    )
    dry_run: bool | None = field("only say what would be done; nothing is changed", default=None)


@shape
class StatsQuery(RequestShape):
    """What `stats` is asked in the query."""

    days: Annotated[int, (("minimum", 1), ("maximum", 365))] | None = field(
        "how far back; this week, from Monday, by default", default=None
    )


@shape
class PurgeBody(RequestShape):
    """What `purge` is given."""

    memories: tuple[str, ...] | None = field("which of those in the trash", default=None)
    all: bool | None = field("all that lie in the trash", default=None)


@shape
class ImportBody(RequestShape):
    """What `import` is given."""

    items: tuple[Mapping[str, object], ...] = field(
        "drafts as for remember, and: updated, superseded_by, usage, path, file, "
        "plain, whole, trashed"
    )
    format: str | None = field("where they come from, such as obsidian", default=None)
    run: MemoryUuid | None = field("a UUID; all batches of one import bear the same", default=None)
    dry_run: bool | None = field("only say what would be done; nothing is changed", default=None)


@shape
class SkillsQuery(RequestShape):
    """Which procedures are wanted as skills."""

    least: Limit1000 | None = field("how often one was of use, at least; once", default=None)
    spaces: tuple[str, ...] | None = field(
        "only these spaces; `global` is the one without a name", default=None
    )


@shape
class ExportQuery(MemoryFilter):
    """What `export` is asked in the query."""

    after: str | None = field(
        "the id after which to go on: `next` of the page before", default=None
    )
    limit: Limit1000 | None = field("how many at most", default=None)
    files: bool | None = field(
        "also the text of every file, and not only where it differs", default=None
    )
    trash: bool | None = field("what was forgotten instead", default=None)


@shape
class BackupBody(RequestShape):
    """What `backup` is given."""

    to: str | None = field(
        "another file or folder than the one for backups; a whole path", default=None
    )


@shape
class SyncBody(RequestShape):
    """What `sync` is given."""

    to: str | None = field("another place than `sync.place`", default=None)


@shape
class IngestConversationQuery(RequestShape):
    """What `ingest_conversation` is asked in the query."""

    default_space: str | None = field("the space of a request that names none", default=None)
    dry_run: bool | None = field("only say what would be done; nothing is changed", default=None)
    extra_tags: tuple[str, ...] | None = field("labels for everything that is kept", default=None)


@shape
class IngestConversationBody(RequestShape):
    """What `ingest_conversation` is given."""

    content: str | None = field(
        "the conversation as text (`User: …`, `Assistant: …`) or as a host's JSON "
        "lines; a text in which nobody is named is taken in as notes",
        default=None,
    )
    messages: tuple[Mapping[str, object], ...] | None = field(
        "or as messages: role, content, at (a time)", default=None
    )
    agent_id: str | None = field("the agent that took part, such as claude-code", default=None)
    session: str | None = field(
        "the conversation's own id; it makes a repeated call safe", default=None
    )
    uri: str | None = field("where it can be found", default=None)


@shape
class IngestFileBody(RequestShape):
    """What `ingest_file` is given."""

    content: str | None = field("the text of the file", default=None)
    name: str | None = field("its name; titles are made of it", default=None)
    uri: str | None = field(
        "where it can be found: by this a changed file is known again", default=None
    )
    path: str | None = field(
        "instead of all that, a transcript (.jsonl) on this machine", default=None
    )


@shape
class AddPersonBody(RequestShape):
    """What `add_person` is given."""

    name: str = field("a-z, 0-9, `.`, `_` and `-`, such as ada")
    keep: bool | None = field(
        "hand them the memories kept under this name; else refused", default=None
    )


@shape
class RemovePersonQuery(RequestShape):
    """What `remove_person` is asked in the query."""

    erase: bool | None = field("erase their memory too, also later: no way back", default=None)


@shape
class TokensQuery(RequestShape):
    """What `tokens` is asked in the query."""

    person: str | None = field("only those of this person", default=None)


@shape
class CreateTokenBody(RequestShape):
    """What `create_token` is given."""

    name: str = field("what it is for, such as the client")
    person: str | None = field("whose memory it opens; the server's own by default", default=None)
    role: Role | None = field("reader, writer (default), owner or admin", default=None)


@shape
class ShareSpaceBody(RequestShape):
    """What `share_space` is given."""

    name: str = field("the space")
    person: str = field("who")
    role: Literal["reader", "writer", "owner"] | None = field(
        "reader, writer (default) or owner", default=None
    )
    keep: bool | None = field("with the memories kept under this name; else refused", default=None)


@shape
class UnshareSpaceBody(RequestShape):
    """What `unshare_space` is given."""

    name: str = field("the space")
    person: str | None = field("who; oneself always", default=None)
    erase: bool | None = field(
        "without a person: erase what is in it, for good, also later", default=None
    )


@shape
class PageSearchQuery(MemoryFilter):
    """What `page_search` is asked in the query."""

    query: str = field("what is asked")
    limit: Limit100 | None = field("how many at most", default=None)
    why_not: str | None = field(
        "id of a memory that you miss: says why it is not there", default=None
    )
    all: bool | None = field("also what is found below the floor; true by default", default=None)


@shape
class PageListQuery(MemoryFilter):
    """What `page_list` is asked in the query."""

    limit: Limit200 | None = field("how many at most", default=None)
    offset: Offset | None = field("how many to skip", default=None)


@shape
class PageFacetsQuery(RequestShape):
    """What `page_facets` is asked in the query."""

    tag: str | None = field("only tags that begin so", default=None)
    tags: Limit1000 | None = field("how many tags at most; 30 if not said", default=None)


@shape
class PageGraphQuery(RequestShape):
    """What `page_graph` is asked in the query."""

    limit: Limit3000 | None = field("how many at most", default=None)


@shape
class PageGraphMapQuery(RequestShape):
    """What `page_graph_map` is asked in the query: nothing."""


@shape
class PageGraphAreaQuery(RequestShape):
    """What `page_graph_area` is asked in the query."""

    left: int = field("where it begins, in the numbers of the map")
    bottom: int = field("the same, from below")
    right: int = field("where it ends")
    top: int = field("the same, above")
    limit: Limit1000 | None = field("how many at most", default=None)


@shape
class PageGraphFoundQuery(RequestShape):
    """What `page_graph_found` is asked in the query."""

    query: str = field("what is asked")


@shape
class PageGraphSpaceQuery(RequestShape):
    """What `page_graph_space` is asked in the query."""

    space: str = field("which; `global` is the one without a name")
    limit: Limit1000 | None = field("how many at most", default=None)
    offset: Offset | None = field("how many to skip", default=None)


@shape
class PageGraphNearQuery(RequestShape):
    """What `page_graph_near` is asked in the query."""

    limit: Limit200 | None = field("how many at most", default=None)


@shape
class PageGraphPathsQuery(RequestShape):
    """What `page_graph_paths` is asked in the query."""

    from_: str = field("the one")
    to: str = field("the other")


@shape
class PageMemoryQuery(RequestShape):
    """What `page_memory` is asked in the query."""

    as_of: RequestTime | None = field(
        "also as it was at this time, as far as it is known", default=None
    )


@shape
class PageDifferenceQuery(RequestShape):
    """What `page_difference` is asked in the query."""

    change: str = field("the change's id")


@shape
class PageTimeQuery(RequestShape):
    """What `page_time` is asked in the query."""

    limit: Limit200 | None = field("how many at most", default=None)
    offset: Offset | None = field("how many to skip", default=None)


@shape
class PageTimeBarsQuery(RequestShape):
    """What `page_time_bars` is asked in the query."""

    zone: str | None = field(
        "whose days to count in, such as Europe/Dublin; otherwise UTC", default=None
    )


@shape
class PageTimeDayQuery(RequestShape):
    """What `page_time_day` is asked in the query."""

    as_of: RequestTime | None = field("the moment; now by default", default=None)


@shape
class PageWhispersQuery(RequestShape):
    """What `page_whispers` is asked in the query."""

    outcome: PromptOutcome | None = field(
        "only whispered, silent, held_out, late or undelivered", default=None
    )
    moment: ToldMoment | None = field(
        "only what was told to prompts, at starts of sessions, or before deeds", default=None
    )
    worth: Literal["useful", "useless", "unknown"] | None = field(
        "only whispers that were worth that", default=None
    )
    since: RequestTime | None = field("only prompts from then on", default=None)
    until: RequestTime | None = field("only prompts before that", default=None)
    after: str | None = field(
        "the id after which to go on: `next` of the page before", default=None
    )
    limit: Limit200 | None = field("how many at most", default=None)


@shape
class PageProjectsQuery(RequestShape):
    """What `page_projects` is asked in the query."""

    limit: Limit100 | None = field("how many at most", default=None)


@shape
class PageProjectQuery(RequestShape):
    """What `page_project` and `page_project_document` are asked in the query."""

    space: str = field("which project")


@shape
class PageAlikeBody(RequestShape):
    """What `page_alike` is asked."""

    content: str = field("what is being written")
    space: str | None = field("the project that it is for", default=None)


@shape
class PageWhyNotQuery(RequestShape):
    """What `page_why_not` is asked in the query."""

    memory: str = field("the memory that you miss")


@shape
class PageRunsQuery(RequestShape):
    """What `page_runs` is asked in the query."""

    job: str | None = field("only runs of this one", default=None)
    all: bool | None = field("also runs that found nothing to do", default=None)
    limit: Limit200 | None = field("how many at most", default=None)


@shape
class PageRunQuery(RequestShape):
    """What `page_run` is asked in the query."""

    limit: Limit100 | None = field("how many at most", default=None)
    offset: Offset | None = field("how many to skip", default=None)


@shape
class PageTrashQuery(RequestShape):
    """What `page_trash` is asked in the query."""

    words: str | None = field("only memories that say this", default=None)
    how: Literal["forgotten", "merged"] | None = field(
        "only what was forgotten, or what was merged into another memory", default=None
    )
    limit: Limit200 | None = field("how many at most", default=None)
    offset: Offset | None = field("how many to skip", default=None)


@shape
class PageProposalsQuery(RequestShape):
    """What `page_proposals` is asked in the query."""

    status: Literal["pending", "snoozed", "approved", "rejected", "expired", "decided"] | None = (
        field(
            "pending, approved, rejected or expired; snoozed is what waits for its time; decided "
            "is what was approved or rejected when somebody was asked; pending by default",
            default=None,
        )
    )
    type: ProposalType | None = field("only those of this type; `types` counts all", default=None)
    space: str | None = field(
        "only those about memories of this space; `global` is the one without a name", default=None
    )
    limit: Limit500 | None = field("how many at most", default=None)
    offset: Offset | None = field("how many to skip", default=None)
