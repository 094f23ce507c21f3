"""Every answer of every route is what /openapi.json says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from madeleine.api.routes import ROUTE_BY_NAME, ROUTES
from madeleine.errors import Conflict, Missing, Rejected, Unavailable
from madeleine.model.proposal import ProposalType
from madeleine.server.mcp.tools import TOOL_BY_NAME, TOOLS, input_schema
from madeleine.write.proposals import propose
from tests.fakes import close, keep, make_stores
from tests.server.answering import problems_of
from tests.server.running import Daemon, running

PEOPLE = {route.name for route in ROUTES if route.path.startswith("/admin/people")} | {
    "tokens",
    "create_token",
    "revoke_token",
    "spaces",
    "share_space",
    "unshare_space",
}  # where several share a database: `test_people.py` asks these, with the same check
ENDS = {"stop"}


class Walk:
    """Asks one route after the other, and remembers which were asked."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.asked: set[str] = set()

    def __call__(self, name: str, id: str = "", body: object = None, **query: Any) -> Any:
        route = ROUTE_BY_NAME[name]
        self.asked.add(name)
        given = {} if route.method == "POST" and body is None else body
        return self.daemon.ok(route.method, route.path.replace("{id}", id), given, **query)


def write(ask: Walk) -> list[str]:
    """Write, change and undo; return the ids of what is left."""
    one = ask("remember", body={"content": "The ledger uses SQLite", "title": "Database"})
    two = ask(
        "remember",
        body={
            "content": "The ledger uses SQLite, with write-ahead logging.",
            "connections": [{"target": one["node_id"], "edge": "supports", "reason": "detail"}],
            "origin": {"session": "s", "turn": 3},
            "claim": {"subject": "ledger", "attribute": "database", "value": "SQLite"},
        },
    )
    ask("remember", body={"content": "The shed has a lamp", "space": "shed"})
    ask("move_space", body={"source": "shed", "target": "garden"})
    items = [{"content": "Ana keeps the books"}, {"content": ""}, {"content": "Ana keeps bees"}]
    batch = ask("remember_many", body={"items": items})["results"]
    ana, bees = (each["node_id"] for each in (batch[0], batch[2]))
    ask("revise", ana, {"tags": ["people"], "tier": "core"})
    ask("link", body={"source_id": ana, "target_id": one["node_id"], "edge": "contradicts"})
    ask("link", body={"source_id": bees, "target_id": ana, "edge": "evolved_from"})
    ask("insights")
    ask("unlink", body={"source_id": ana, "target_id": one["node_id"]})
    ask("retire", bees, {"reason": "sold", "superseded_by": ana})
    change = ask("merge", body={"keep": one["node_id"], "drop": two["node_id"]})["change"]
    ask("merges")
    ask("undo_merge", change)
    ask("undo", ask("revise", ana, {"title": "Books"})["change"])
    ask("forget", bees, reason="enough")
    ask("trash")
    ask("page_memory", bees)
    ask("restore", bees)
    gone = ask("remember", body={"content": "To be gone for good"})["node_id"]
    ask("forget", gone)
    ask("purge", body={"memories": [gone]})
    return [one["node_id"], two["node_id"], ana, bees]


def read(ask: Walk, ids: list[str]) -> None:
    ask("recall", body={"query": "which database?", "explain": True, "why_not": ids[2]})
    ask("recall", body={"query": "database", "spaces": ["nowhere"]})
    ask("whisper_why")
    told = ask("whisper", body={"prompt": "which database does the ledger use?", "explain": True})
    ask("whisper", body={"prompt": "thanks!"})
    ask("whisper_why")
    ask("whisper_report")
    ask("brief", cwd="/nowhere", task="look at the ledger")
    ask("space_here")
    ask("space_here", cwd="/nowhere/ledger")
    ask("deed", body={"tool": "Edit", "target": "ledger/a.py"})
    ask("deed", body={"tool": "Bash", "input": {"command": "ls"}, "error": "no", "cwd": "/x"})
    ask("brief", space="nowhere", cwd="/nowhere", start="compact")
    ask("brief", space="ledger", start="resume", session_id="s1")
    ask("pause", body={"session_id": "s-1"})
    ask("pause", body={"session_id": "s-1", "resume": True})
    ask("feedback", body={"node_id": ids[0], "signal": 1, "whisper_log_id": told["whisper_id"]})
    for name in ("show", "history", "page_memory", "page_similar", "page_graph_near"):
        ask(name, ids[0])
    ask("page_memory", ids[2], as_of="2026-01-01")
    ask("page_alike", body={"content": "The ledger uses SQLite 3, of course"})
    ask("list", limit=2)
    ask("connected", body={"ids": [ids[0], ids[2], "nobody"], "limit": 3})
    ask("audit")
    ask("log", since="yesterday", by="agent")
    ask("log", last_night="true")
    ask("log", kinds="merged")
    for how in ("forgotten", "merged"):
        ask("page_trash", how=how)
    change = ask("revise", ids[0], {"content": "The ledger uses SQLite 3"})["change"]
    ask("page_difference", ids[0], change=change)
    ask("page_change", change)
    ask("page_search", query="database", why_not=ids[2])
    for name in ("page_list", "page_facets", "page_graph", "page_time", "page_time_bars"):
        ask(name)
    ask("page_graph_map")
    ask("page_graph_area", left=-100, bottom=-100, right=100, top=100)
    ask("page_graph_found", query="database")
    ask("page_graph_space", space="global")
    ask("page_graph_paths", **{"from": ids[0], "to": ids[1]})
    ask("page_time_day", as_of="2026-01-01")
    ask("page_time_turns")
    ask("page_whispers")
    ask("page_whispers", worth="unknown", since="2026-01-01", until="2100-01-01")
    for name in ("page_about", "page_projects", "page_figures"):
        ask(name)
    for name in ("page_project", "page_project_document"):
        ask(name, space="garden")
    ask("page_whisper", told["whisper_id"])
    ask("page_why_not", told["whisper_id"], memory=ids[2])
    ask("page_memory_prompts", ids[0])


def sleep(ask: Walk) -> None:
    for name in ("tasks", "consolidate_status"):
        ask(name)
    ask("run_all", body={"dry_run": True}, wait="true")
    ask("run_task", "importance_scorer", {}, wait="true")
    ask("run_task", "duplicate_merger", {}, wait="true")
    ask("consolidate", body={"task": "decay"})
    ask("stop_task", "run-all")
    ask("pause_task", "auto_linker")
    ask("resume_task", "auto_linker")
    batch = ask("maintenance")
    ask("maintenance_status")
    ask("hand_in", body={"job_id": batch["job_id"]})
    ask("hand_in", body={"job_id": batch["job_id"], "results": {"verdicts": []}})
    for name in ("tasks", "consolidate_status", "page_sleep"):
        ask(name)
    for run in ask("page_runs", all="true")["runs"]:
        if run["changes"]:
            ask("page_run", run["run"])
    ask("proposals", status="all")
    listed = ask("proposals")["proposals"]
    ask("page_proposals")
    ask("proposal", listed[0]["id"])
    ask("page_proposal", listed[0]["id"])
    ask("decide", listed[0]["id"], {"action": "rejected"})
    ask("page_proposals", status="decided")
    ask("snooze", listed[0]["id"], {"until": "2100-01-01"})
    ask("page_proposals", status="snoozed", space="global")
    ask("snooze", listed[0]["id"])
    ask("decide_all", body={"action": "rejected", "kind": "forget"})
    ask("decide", listed[0]["id"], {"action": "pending"})


def tend(ask: Walk, folder: Path) -> None:
    for name in (
        "health",
        "status",
        "stats",
        "reconcile",
        "rebuild",
        "compact",
        "cost",
        "page_home",
    ):
        ask(name)
    ask("skills", least=1, spaces="global")
    ask("stats", days=3)
    ask("backup", body={"to": str(folder / "backup.zip")})
    meeting = folder / "meeting place"
    meeting.mkdir()
    ask("sync", body={"to": str(meeting)})
    for name in ("backup", "backups", "sync_status", "page_link"):
        ask(name)
    items = [{"content": "Brought along"}, {"content": "x", "type": "rumour"}]
    ask("import", body={"items": items, "format": "jsonl"})
    ask("export", files="true")
    ask("export", trash="true")
    said = [{"role": "user", "content": "We decided to deploy on Tuesdays, remember that."}]
    ask("ingest_conversation", body={"messages": said}, dry_run="true")
    ask("ingest_conversation", body={"messages": said})
    ask("ingest_file", body={"content": "# Notes\n\nThe kettle is red.", "name": "notes.md"})


@pytest.mark.timeout(300)
def test_every_route_answers_as_the_document_says(home: Path, tmp_path: Path) -> None:
    stores = make_stores(home)
    memory = keep(stores, "Perhaps outdated")
    action = {"verb": "retire", "memory": memory.id}
    propose(stores, ProposalType.DECAY, (memory.id,), "retire it", action)
    close(stores)
    with running(home) as daemon:
        ask = Walk(daemon)
        ids = write(ask)
        read(ask, ids)
        sleep(ask)
        tend(ask, tmp_path)
        assert set(ROUTE_BY_NAME) - ask.asked == PEOPLE | ENDS
        ask("stop")


def test_a_refusal_is_what_the_document_says(daemon: Daemon) -> None:
    schemas = daemon.ok("GET", "/openapi.json")["components"]["schemas"]

    answer = daemon.ask("GET", "/agent/recall/ffffffff").body

    assert set(answer) == set(schemas["ErrorAnswer"]["required"]) == {"error"}
    assert set(answer["error"]) == set(schemas["MadeleineError"]["required"])
    codes = schemas["MadeleineError"]["properties"]["code"]["enum"]
    assert {each.code for each in (Rejected, Missing, Conflict, Unavailable)} <= set(codes)


def test_a_field_that_nobody_declared_is_noticed() -> None:
    assert problems_of("GET", "/admin/health", {"status": "ok", "version": "1"}) == []
    assert problems_of("GET", "/admin/health", {"status": "ok", "version": "1", "more": 1})
    assert problems_of("GET", "/admin/health", {"status": "ok"})
    assert problems_of("GET", "/admin/health", {"status": "ok", "version": 1})


def test_no_field_of_an_answer_is_without_a_type(daemon: Daemon) -> None:
    schemas = daemon.ok("GET", "/openapi.json")["components"]["schemas"]

    bare = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, found in schema["properties"].items()
        if not found.keys() & {"type", "$ref", "anyOf", "enum"}
    ]

    assert bare == []


def test_a_connection_has_all_its_fields(daemon: Daemon) -> None:
    schemas = daemon.ok("GET", "/openapi.json")["components"]["schemas"]

    assert set(schemas["Connection"]["properties"]) == {
        "target",
        "edge",
        "weight",
        "reason",
        "by",
        "at",
        "kind",
        "confidence",
        "discovered_at",
        "algorithm",
    }
    assert schemas["Connection"]["required"] == ["target", "edge", "weight"]


TIME = {"type": "string", "anyOf": [{"format": "date-time"}, {"format": "date"}]}
"""What a request may name a time with."""


def formats_in(schema: object) -> set[str]:
    """Return the formats that a schema demands alone, without a choice."""
    if isinstance(schema, list):
        return {found for each in schema for found in formats_in(each)}
    if not isinstance(schema, dict):
        return set()
    chosen = schema.get("anyOf") == TIME["anyOf"]
    inner = {name: each for name, each in schema.items() if not (chosen and name == "anyOf")}
    own = {schema["format"]} if isinstance(schema.get("format"), str) else set()
    return own.union(*(formats_in(each) for each in inner.values()))


def test_a_request_may_name_a_bare_date_where_it_takes_a_time(daemon: Daemon) -> None:
    document = daemon.ok("GET", "/openapi.json")
    schemas = document["components"]["schemas"]
    asked = [
        each
        for path in document["paths"].values()
        for operation in path.values()
        for each in (operation["parameters"], operation.get("requestBody"))
    ]
    bodies = {
        name: each for name, each in schemas.items() if not each.get("additionalProperties", 1)
    }

    assert formats_in([asked, list(bodies.values())]) == {"uuid"}
    for body, field in (("MemoryDraft", "created"), ("MemoryDraft", "valid_until")):
        time = bodies[body]["properties"][field]
        assert (time["type"], time["anyOf"]) == (["string", "null"], TIME["anyOf"])
    for name in ("2026-01-01", "2026-01-01T10:00:00Z"):
        daemon.ok("POST", "/agent/recall", {"query": "x", "created_after": name})


def test_a_tool_may_be_given_a_bare_date_where_it_takes_a_time() -> None:
    schemas = [input_schema(each) for each in TOOLS]

    assert formats_in(schemas) == set()
    until = input_schema(TOOL_BY_NAME["revise"])["properties"]["valid_until"]
    assert until["anyOf"] == TIME["anyOf"]
    assert "yesterday" in input_schema(TOOL_BY_NAME["recall"])["properties"]["as_of"]["examples"]


def test_a_body_of_which_nothing_is_needed_may_be_left_out(daemon: Daemon) -> None:
    paths = daemon.ok("GET", "/openapi.json")["paths"]

    assert paths["/agent/maintenance"]["post"]["requestBody"]["required"] is False
    assert paths["/agent/remember"]["post"]["requestBody"]["required"] is True
    assert daemon.ok("POST", "/agent/maintenance")["status"] == "idle"


def test_null_means_left_out_but_where_it_takes_a_value_away(daemon: Daemon) -> None:
    schemas = daemon.ok("GET", "/openapi.json")["components"]["schemas"]
    kept = daemon.ok("POST", "/agent/remember", {"content": "Null is nothing", "title": None})

    assert schemas["MemoryDraft"]["properties"]["title"]["type"] == ["string", "null"]
    assert schemas["ReviseBody"]["properties"]["content"]["type"] == "string"
    assert daemon.ask("POST", f"/agent/update/{kept['node_id']}", {"content": None}).status == 422


@pytest.mark.parametrize("content", ["", "  ", "\n"])
def test_a_text_that_says_nothing_is_against_the_document_and_refused(
    daemon: Daemon, content: str
) -> None:
    schemas = daemon.ok("GET", "/openapi.json")["components"]["schemas"]

    assert schemas["MemoryDraft"]["properties"]["content"]["pattern"] == r"\S"
    assert daemon.ask("POST", "/agent/remember", {"content": content}).status == 422
