"""Somebody with a token of their own tries to reach another person's memory: by every route and
every tool, with ids that they know. What is not theirs is not there for them (404), or not theirs
to do (403), and no answer holds a word of it."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from madeleine.api.endpoint import NON_JSON_ROUTES
from madeleine.api.routes import ROUTES
from madeleine.bootstrap import load_settings, open_homes
from madeleine.model.proposal import ProposalType
from madeleine.server.automem.routes import AUTOMEM_ROUTES
from madeleine.server.hook_service import HOOK_ROUTES
from madeleine.server.mcp.tools import TOOLS
from madeleine.write.proposals import propose
from tests.server.mcp_clients import SECONDS, said, talk
from tests.server.running import Answer, send
from tests.server.team import Client, Team
from tests.server.team import team as running_team

SECRET = "heronquay"
TEXT = f"The vault of Ada opens with {SECRET} seventeen"
GONE = f"An older word of Ada was {SECRET} twelve"


@dataclass(frozen=True, slots=True)
class Victim:
    """What Ada has, and the ids by which it is called."""

    client: Client
    memory: str
    beside: str
    gone: str
    change: str
    merge: str
    proposal: str
    whisper: str
    token: str

    def contents(self) -> list[str]:
        """All of it, byte for byte."""
        pages = [
            self.client.ok("GET", "/admin/export", files="true", trash=trash, outdated="true")
            for trash in ("true", "false")
        ]
        asked = ("/agent/proposals", "/agent/spaces", "/agent/merges")
        tokens = [each["id"] for each in self.client.ok("GET", "/admin/tokens")["tokens"]]
        parts = [*pages, tokens, *(self.client.ok("GET", path) for path in asked)]
        return [json.dumps(each) for each in parts]


@dataclass(slots=True)
class World:
    team: Team
    ada: Victim
    mallory: Client
    mine: str
    """A memory of Mallory's."""
    known: list[str] = field(default_factory=list)
    """All that Ada has, as it was looked at last."""

    def check_untouched(self) -> None:
        """Check that Ada has what she had."""
        now = self.ada.contents()
        different = [pair for pair in zip(now, self.known, strict=True) if pair[0] != pair[1]]
        assert different == []

    def look(self) -> None:
        """Look at what Ada has, after she did something herself."""
        self.known = self.ada.contents()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    home = tmp_path_factory.mktemp("attacks") / "home"
    with running_team(home, "attacks") as team:
        ada, mallory = team.person("ada"), team.person("mallory")
        team.share("salon", "ada", "owner")
        victim = _victim(home, team, ada)
        made = World(team, victim, mallory, mallory.remember("Mallory collects stamps"))
        made.look()
        yield made


def _victim(home: Path, team: Team, ada: Client) -> Victim:
    memory, beside = ada.remember(TEXT), ada.remember(f"{SECRET} is a station on the line")
    gone = ada.remember(GONE)
    ada.ok("DELETE", f"/agent/recall/{gone}")
    change = ada.ok("POST", f"/agent/update/{memory}", {"title": f"On {SECRET}"})["change"]
    both = [ada.remember(f"{SECRET} twin {each}") for each in ("one", "two")]
    merge = ada.ok("POST", "/agent/merge", {"keep": both[0], "drop": both[1]})["change"]
    ada.remember(f"{SECRET} in the salon", space="salon")
    said = ada.ok("POST", "/agent/whisper", {"prompt": TEXT, "session_id": "ada's"})
    token = team.admin.ok("GET", "/admin/tokens", person="ada")["tokens"][0]["id"]
    proposal = _proposed(home, memory, beside)
    return Victim(ada, memory, beside, gone, change, merge, proposal, said["whisper_id"], token)


def _proposed(home: Path, memory: str, beside: str) -> str:
    """Propose something to Ada as a job would, on a server of our own."""
    contexts = open_homes(home, load_settings(home), None)
    try:
        stores = contexts.of("ada").stores
        action = {"verb": "merge", "keep": memory, "drop": beside}
        wording = f"Merge two about {SECRET}"
        return propose(stores, ProposalType.MERGE, (memory, beside), wording, action).id
    finally:
        contexts.close()


Ask = tuple[str, str, object, Mapping[str, object]]
Tried = list[tuple[Ask, set[int]]]
Attacks = dict[str, Tried]
NOT_THERE = {404}
NOT_ALLOWED = {403}
HARMLESS = {200}


def attacks(world: World) -> Attacks:
    """Return what Mallory tries at each route, and what may come back."""
    ada, mine = world.ada, world.mine
    one, link = ada.memory, {"target": ada.memory}

    def at(method: str, path: str, body: object = None, **query: object) -> Ask:
        return method, path, body, query

    def both(ask: Callable[[str], Ask], named: str, wanted: set[int]) -> Tried:
        return [(ask(named), wanted), (ask(named[:8]), wanted)]

    return {
        "remember": [
            (at("POST", "/agent/remember", {"content": "mine", "connections": [link]}), NOT_THERE),
            (at("POST", "/agent/remember", {"content": "into it", "space": "salon"}), HARMLESS),
            (at("POST", "/agent/remember", {"content": "guessed", "id": ada.beside}), HARMLESS),
        ],
        "remember_many": [
            (
                at(
                    "POST",
                    "/agent/remember/batch",
                    {"items": [{"content": "x", "connections": [link]}, {"content": "y"}]},
                ),
                HARMLESS,
            )
        ],
        "recall": [
            (at("POST", "/agent/recall", {"query": query, **more}), HARMLESS)
            for query in (f"what opens the vault of Ada {one}", "everything from today")
            for more in ({}, {"why_not": one}, {"spaces": ["salon"]}, {"outdated": True})
        ],
        "whisper": [
            (
                at(
                    "POST",
                    "/agent/whisper",
                    {"prompt": "what opens the vault of Ada?", "session_id": "ada's"},
                ),
                HARMLESS,
            )
        ],
        "whisper_why": [(at("GET", "/agent/whisper/why", session_id="ada's"), HARMLESS)],
        "deed": [
            (
                at(
                    "POST",
                    "/agent/deed",
                    {"tool": "Bash", "target": "open the vault of Ada", "space": "salon"},
                ),
                HARMLESS,
            )
        ],
        "brief": [
            (at("GET", "/agent/brief", space=space, task="what opens the vault of Ada?"), HARMLESS)
            for space in ("", "salon")
        ],
        "whisper_report": [(at("GET", "/agent/whisper/report"), HARMLESS)],
        "pause": [(at("POST", "/agent/pause", {"session_id": "ada's"}), HARMLESS)],
        "feedback": [
            *both(
                lambda each: at("POST", "/agent/feedback", {"node_id": each, "signal": 1}),
                one,
                NOT_THERE,
            ),
            (
                at(
                    "POST",
                    "/agent/feedback",
                    {"node_id": mine, "signal": 1, "whisper_log_id": ada.whisper},
                ),
                NOT_THERE,
            ),
        ],
        "show": both(lambda each: at("GET", f"/agent/recall/{each}"), one, NOT_THERE),
        "list": [
            (at("GET", "/agent/list", outdated="true"), HARMLESS),
            (at("GET", "/agent/list", spaces="salon"), HARMLESS),
        ],
        "connected": [
            (at("POST", "/agent/connected", {"ids": [one, ada.gone, mine]}), HARMLESS),
        ],
        "trash": [(at("GET", "/agent/trash"), HARMLESS)],
        "history": [
            *both(lambda each: at("GET", f"/agent/history/{each}"), one, NOT_THERE),
            *both(lambda each: at("GET", f"/agent/history/{each}"), ada.gone, NOT_THERE),
        ],
        "revise": [
            *both(
                lambda each: at("POST", f"/agent/update/{each}", {"title": "Stolen"}),
                one,
                NOT_THERE,
            ),
            (at("POST", f"/agent/update/{mine}", {"add_connections": [link]}), NOT_THERE),
            (at("POST", f"/agent/update/{mine}", {"superseded_by": one}), NOT_THERE),
        ],
        "retire": [
            *both(lambda each: at("POST", f"/agent/outdated/{each}", {}), one, NOT_THERE),
            (at("POST", f"/agent/outdated/{mine}", {"superseded_by": one}), NOT_THERE),
        ],
        "forget": both(lambda each: at("DELETE", f"/agent/recall/{each}"), one, NOT_THERE),
        "restore": both(lambda each: at("POST", f"/agent/restore/{each}"), ada.gone, NOT_THERE),
        "link": [
            (at("POST", "/agent/connect", {"source_id": a, "target_id": b}), NOT_THERE)
            for a, b in ((mine, one), (one, mine), (one, ada.beside))
        ],
        "unlink": [
            (at("POST", "/agent/disconnect", {"source_id": a, "target_id": b}), NOT_THERE)
            for a, b in ((mine, one), (one, mine))
        ],
        "merge": [
            (at("POST", "/agent/merge", {"keep": a, "drop": b}), NOT_THERE)
            for a, b in ((mine, one), (one, mine), (one, ada.memory[:8]))
        ],
        "undo": both(lambda each: at("POST", f"/agent/undo/{each}"), ada.change, NOT_THERE),
        "proposals": [(at("GET", "/agent/proposals", status="all"), HARMLESS)],
        "proposal": both(
            lambda each: at("GET", f"/agent/proposals/{each}"), ada.proposal, NOT_THERE
        ),
        "decide": [
            (at("POST", f"/agent/proposals/{ada.proposal}", {"action": each}), NOT_THERE)
            for each in ("approved", "rejected")
        ],
        "snooze": [
            (at("POST", f"/agent/proposals/{ada.proposal}/snooze", body), NOT_THERE)
            for body in ({}, {"until": "2030-01-01"})
        ],
        "decide_all": [
            (at("POST", "/agent/proposals", {"action": each}), HARMLESS)
            for each in ("approved", "rejected")
        ],
        "space_here": [
            (at("GET", "/agent/space"), HARMLESS),
            (at("GET", "/agent/space", cwd="/etc"), NOT_ALLOWED),
        ],
        "move_space": [
            # Mallory may have put something of their own into a space of that name.
            (
                at("POST", "/agent/space", {"source": "salon", "target": "mine"}),
                NOT_THERE | HARMLESS,
            ),
        ],
        "merges": [(at("GET", "/agent/merges"), HARMLESS)],
        "undo_merge": both(
            lambda each: at("POST", f"/agent/merges/{each}/undo"), ada.merge, NOT_THERE
        ),
        "audit": [
            (at("GET", "/agent/audit"), HARMLESS),
            (at("GET", "/agent/audit", node_id=one), NOT_THERE),
            (at("GET", "/agent/audit", node_id=ada.gone), NOT_THERE),
        ],
        "log": [(at("GET", "/agent/log"), HARMLESS)],
        "insights": [(at("GET", "/agent/insights"), HARMLESS)],
        "maintenance": [(at("GET", "/agent/maintenance"), HARMLESS)],
        "maintenance_status": [(at("GET", "/admin/maintenance-status"), HARMLESS)],
        "hand_in": [(at("POST", "/agent/maintenance", {}), HARMLESS)],
        "tasks": [(at("GET", "/admin/tasks"), HARMLESS)],
        "run_all": [(at("POST", "/admin/tasks/run-all", {"dry_run": True}, wait="true"), HARMLESS)],
        "run_task": [
            (at("POST", "/admin/tasks/index_updater/run", {}, wait="true"), HARMLESS),
        ],
        "stop_task": [(at("POST", "/admin/tasks/run-all/stop"), HARMLESS)],
        "pause_task": [(at("POST", "/admin/tasks/index_updater/pause"), HARMLESS)],
        "resume_task": [(at("POST", "/admin/tasks/index_updater/resume"), HARMLESS)],
        "consolidate": [(at("POST", "/consolidate", {"task": "decay"}), HARMLESS)],
        "consolidate_status": [(at("GET", "/consolidate/status"), HARMLESS)],
        "health": [(at("GET", "/admin/health"), HARMLESS)],
        "status": [(at("GET", "/admin/status"), HARMLESS)],
        "stats": [(at("GET", "/stats"), HARMLESS)],
        "reconcile": [(at("POST", "/admin/reconcile"), HARMLESS)],
        "rebuild": [(at("POST", "/admin/rebuild"), HARMLESS)],
        "purge": [
            *both(
                lambda each: at("POST", "/admin/purge", {"memories": [each]}), ada.gone, NOT_THERE
            ),
            (at("POST", "/admin/purge", {"all": True}), HARMLESS),
        ],
        "compact": [(at("POST", "/admin/compact"), HARMLESS)],
        "cost": [(at("GET", "/admin/cost"), NOT_ALLOWED)],
        "import": [
            (
                at(
                    "POST",
                    "/admin/import",
                    {"items": [{"content": "brought", "id": ada.beside, "space": "salon"}]},
                ),
                HARMLESS,
            )
        ],
        "export": [
            (at("GET", "/admin/export", files="true"), HARMLESS),
            (at("GET", "/admin/export", trash="true"), HARMLESS),
            (at("GET", "/admin/export", spaces="salon", outdated="true"), HARMLESS),
        ],
        "skills": [
            (at("GET", "/agent/skills"), HARMLESS),
            (at("GET", "/agent/skills", spaces="salon"), HARMLESS),
        ],
        "backup": [
            (at("POST", "/admin/backup", {}), NOT_ALLOWED),
            (at("POST", "/admin/backup", {"to": "/tmp/stolen.zip"}), NOT_ALLOWED),
        ],
        "backups": [(at("GET", "/admin/backup"), NOT_ALLOWED)],
        "sync": [
            (at("POST", "/admin/machines", {}), NOT_ALLOWED),
            (at("POST", "/admin/machines", {"to": "/tmp/stolen"}), NOT_ALLOWED),
        ],
        "sync_status": [(at("GET", "/admin/machines"), NOT_ALLOWED)],
        "ingest_conversation": [
            (at("POST", "/ingest/conversation", {"content": "User: hi\nAssistant: ho"}), HARMLESS)
        ],
        "ingest_file": [
            (at("POST", "/ingest/file", {"path": "/etc/hostname"}), NOT_ALLOWED),
            (
                at("POST", "/ingest/file", {"content": "# Notes\n\nMine."}, default_space="salon"),
                HARMLESS,
            ),
        ],
        "people": [(at("GET", "/admin/people"), NOT_ALLOWED)],
        "add_person": [(at("POST", "/admin/people", {"name": "eve"}), NOT_ALLOWED)],
        "remove_person": [
            (at("DELETE", "/admin/people/ada"), NOT_ALLOWED),
            (at("DELETE", "/admin/people/ada", erase="true"), NOT_ALLOWED),
        ],
        "tokens": [
            (at("GET", "/admin/tokens"), HARMLESS),
            (at("GET", "/admin/tokens", person="ada"), HARMLESS),
        ],
        "create_token": [
            (at("POST", "/admin/tokens", {"name": "x", "person": "ada"}), NOT_ALLOWED),
            (at("POST", "/admin/tokens", {"name": "x", "role": "admin"}), NOT_ALLOWED),
        ],
        "revoke_token": [
            *both(lambda each: at("DELETE", f"/admin/tokens/{each}"), ada.token, NOT_THERE),
            (at("DELETE", "/admin/tokens/ada's"), NOT_THERE),
        ],
        "spaces": [(at("GET", "/agent/spaces"), HARMLESS)],
        "share_space": [
            (at("POST", "/admin/spaces", {"name": "salon", "person": "mallory"}), NOT_THERE),
            (at("POST", "/admin/spaces", {"name": "nowhere", "person": "ada"}), NOT_THERE),
        ],
        "unshare_space": [
            (at("POST", "/admin/spaces/leave", {"name": "salon", "person": "ada"}), NOT_THERE),
            (at("POST", "/admin/spaces/leave", {"name": "salon", "erase": True}), NOT_THERE),
        ],
        "stop": [(at("POST", "/admin/stop"), NOT_ALLOWED)],
        **page_attacks(world, at, both),
    }


def page_attacks(world: World, at: Callable[..., Ask], both: Callable[..., Tried]) -> Attacks:
    """Return what Mallory tries at the routes that the page asks."""
    ada, mine = world.ada, world.mine

    def data(path: str, **query: object) -> Ask:
        return at("GET", f"/ui/data/{path}", None, **query)

    def lists(*paths: str) -> Tried:
        return [(data(path), HARMLESS) for path in paths]

    asked = {"query": "what opens the vault of Ada"}
    return {
        "page_link": [(at("POST", "/ui/link"), HARMLESS)],
        "page_search": [
            (data("search", **asked), HARMLESS),
            (data("search", **asked, spaces="salon", outdated="true"), HARMLESS),
            (data("search", **asked, why_not=ada.memory), HARMLESS),
        ],
        "page_list": [
            (data("list", outdated="true"), HARMLESS),
            (data("list", spaces="salon"), HARMLESS),
        ],
        "page_facets": [(data("facets", tag=SECRET[:3]), HARMLESS)],
        "page_graph": lists("graph"),
        "page_graph_map": [(data("graph/map"), HARMLESS)],
        "page_graph_area": [
            (data("graph/area", left="-999", bottom="-999", right="999", top="999"), HARMLESS)
        ],
        "page_graph_found": [(data("graph/found", query=SECRET), HARMLESS)],
        "page_graph_space": [(data("graph/space", space="salon"), HARMLESS)],
        "page_graph_near": both(lambda each: data(f"graph/near/{each}"), ada.memory, NOT_THERE),
        "page_graph_paths": [
            (data("graph/paths", **{"from": a, "to": b}), NOT_THERE)
            for a, b in ((mine, ada.memory), (ada.memory, mine), (ada.memory, ada.beside))
        ],
        "page_memory": [
            *both(lambda each: data(f"memory/{each}"), ada.memory, NOT_THERE),
            *both(lambda each: data(f"memory/{each}"), ada.gone, NOT_THERE),
        ],
        "page_similar": both(lambda each: data(f"memory/{each}/similar"), ada.memory, NOT_THERE),
        "page_memory_prompts": both(
            lambda each: data(f"memory/{each}/prompts"), ada.memory, NOT_THERE
        ),
        "page_alike": [
            (at("POST", "/ui/data/alike", {"content": SECRET, "space": each}), HARMLESS)
            for each in ("salon", None)
        ],
        "page_difference": [
            (data(f"memory/{each}/difference", change=ada.change), NOT_THERE)
            for each in (ada.memory, mine)
        ],
        "page_time": lists("time"),
        "page_time_bars": lists("time/bars"),
        "page_time_day": [(data("time/day"), HARMLESS)],
        "page_time_turns": lists("time/turns"),
        "page_home": lists("home"),
        "page_about": lists("about"),
        "page_projects": lists("projects"),
        "page_figures": lists("figures"),
        "page_project": [(data("project", space="salon"), HARMLESS)],
        "page_project_document": [(data("project/document", space="salon"), HARMLESS)],
        "page_whispers": lists("whispers"),
        "page_whisper": [(data(f"whispers/{ada.whisper}"), NOT_THERE)],
        "page_why_not": [
            (data(f"whispers/{ada.whisper}/why_not", memory=each), NOT_THERE)
            for each in (ada.memory, mine)
        ],
        "page_sleep": lists("sleep"),
        "page_runs": [(data("sleep/runs", all="true"), HARMLESS)],
        "page_run": [(data(f"sleep/runs/{ada.change}"), NOT_THERE)],
        "page_change": both(lambda each: data(f"changes/{each}"), ada.change, NOT_THERE),
        "page_proposals": [
            (data("proposals", status=each), HARMLESS)
            for each in ("pending", "approved", "decided")
        ],
        "page_trash": [(data("trash", words=each), HARMLESS) for each in ("", "secret")],
        "page_proposal": both(lambda each: data(f"proposals/{each}"), ada.proposal, NOT_THERE),
    }


def test_every_route_is_attacked(world: World) -> None:
    assert set(attacks(world)) == {route.name for route in ROUTES}
    assert {each.name for each in NON_JSON_ROUTES} | {each.name for each in HOOK_ROUTES} == {
        "events",
        "metrics",
        "hook_inject",
        "hook_delivered",
        "hook_undelivered",
        "hook_store",
        "hook_statusline",
    }


@pytest.mark.few(28)
@pytest.mark.parametrize("name", [route.name for route in ROUTES])
def test_a_route_gives_nothing_of_anothers_memory_away(world: World, name: str) -> None:
    for (method, path, body, query), wanted in attacks(world)[name]:
        answer = world.mallory.ask(method, path, body, **query)
        assert answer.status in wanted, (method, path, body, answer.body)
        _is_clean(world, answer, {"method": method, "path": path, "body": body, **query})

    world.check_untouched()


def automem_attacks(world: World) -> Attacks:
    """Return what Mallory tries at the routes for AutoMem's clients."""
    one, beside, mine = world.ada.memory, world.ada.beside, world.mine

    def at(method: str, path: str, body: object = None, **query: object) -> Ask:
        return method, path, body, query

    asked = {"query": f"what opens the vault of Ada {one}", "state_mode": "history"}
    mentioned = {"expand_relations": "true", "priority_ids": one, "adaptive_floor": "false"}
    drawn = {"type": "INVALIDATED_BY", "strength": 0.9}
    return {
        "automem_report_health": [(at("GET", "/health"), HARMLESS)],
        "automem_store": [(at("POST", "/memory", {"content": "mine", "id": one}), {201})],
        "automem_store_batch": [
            (at("POST", "/memory/batch", {"memories": [{"content": "mine too", "id": one}]}), {201})
        ],
        "automem_list_by_tag": [(at("GET", "/memory/by-tag", tags=SECRET), HARMLESS)],
        "automem_delete_by_tag": [(at("DELETE", "/memory/by-tag", tags="adas"), HARMLESS)],
        "automem_look_at": [
            (at("GET", f"/memory/{one}"), NOT_THERE),
            (at("GET", f"/memory/{world.ada.gone}"), NOT_THERE),
            (at("GET", f"/memory/{one[:8]}"), {400}),
        ],
        "automem_change": [(at("PATCH", f"/memory/{one}", {"content": "Stolen"}), NOT_THERE)],
        "automem_delete": [(at("DELETE", f"/memory/{one}"), NOT_THERE)],
        "automem_list_related": [(at("GET", f"/memories/{one}/related", max_depth=3), HARMLESS)],
        "automem_answer_recall": [
            (at("GET", "/recall", **query), HARMLESS)
            for query in ({}, asked, {**asked, **mentioned}, {"tags": "adas"}, {"limit": 100})
        ],
        "automem_associate": [
            (at("POST", "/associate", {"memory1_id": a, "memory2_id": b, **drawn}), NOT_THERE)
            for a, b in ((mine, one), (one, mine), (one, beside))
        ]
        + [
            (
                at(
                    "POST",
                    "/associate",
                    {"associations": [{"memory1_id": mine, "memory2_id": one, **drawn}]},
                ),
                {207},
            )
        ],
        "automem_recall_at_start": [(at("GET", "/startup-recall"), HARMLESS)],
        "automem_analyze": [(at("GET", "/analyze"), HARMLESS)],
        "automem_show_snapshot": [(at("GET", "/graph/snapshot", limit=0), HARMLESS)],
        "automem_show_neighbors": [
            (at("GET", f"/graph/neighbors/{each}", depth=3), NOT_THERE) for each in (one, one[:8])
        ],
        "automem_count_graph": [(at("GET", "/graph/stats"), HARMLESS)],
        "automem_list_types": [(at("GET", "/graph/types"), HARMLESS)],
        "automem_list_relations": [(at("GET", "/graph/relations"), HARMLESS)],
        "automem_report_enrichment": [(at("GET", "/enrichment/status"), HARMLESS)],
        "automem_reprocess": [(at("POST", "/enrichment/reprocess", {"ids": [one]}), {202})],
        "automem_reembed": [(at("POST", "/admin/reembed", {}), HARMLESS)],
        "automem_sync": [(at("POST", "/admin/sync", {"dry_run": True}), HARMLESS)],
    }


def test_every_route_of_automem_is_attacked(world: World) -> None:
    assert set(automem_attacks(world)) == {route.name for route in AUTOMEM_ROUTES}


@pytest.mark.few(22)
@pytest.mark.parametrize("name", [route.name for route in AUTOMEM_ROUTES])
def test_a_route_of_automem_gives_nothing_of_anothers_memory_away(world: World, name: str) -> None:
    for (method, path, body, query), wanted in automem_attacks(world)[name]:
        answer = world.mallory.ask(method, path, body, **query)
        assert answer.status in wanted, (method, path, body, answer.body)
        _is_clean(world, answer, {"method": method, "path": path, "body": body, **query})

    world.check_untouched()


def test_the_routes_of_ormah_alone_give_nothing_of_anothers_memory_away(world: World) -> None:
    query = {"q": f"what opens the vault of Ada {world.ada.memory}"}
    asked = {"/ui/search": HARMLESS, "/ui/insights": HARMLESS, "/agent/clients": NOT_ALLOWED}

    for path, wanted in asked.items():
        answer = world.mallory.ask("GET", path, **query)
        assert answer.status in wanted, (path, answer.body)
        _is_clean(world, answer, query)


def test_a_reader_writes_nothing_by_automems_routes(world: World) -> None:
    reader = world.team.client("mallory", "reader")
    mine = world.mine
    pair = {"memory1_id": mine, "memory2_id": world.mallory.remember("Mallory collects coins")}

    assert reader.ask("GET", f"/memory/{mine}").status == 200
    for method, path, body in (
        ("POST", "/memory", {"content": "no"}),
        ("POST", "/memory/batch", {"memories": [{"content": "no"}]}),
        ("PATCH", f"/memory/{mine}", {"content": "no"}),
        ("DELETE", f"/memory/{mine}", None),
        ("POST", "/associate", pair),
        ("POST", "/admin/reembed", {}),
        ("POST", "/enrichment/reprocess", {"ids": [mine]}),
    ):
        answer = reader.ask(method, path, body)
        assert (answer.status, answer.body["status"]) == (403, "error"), (path, answer.body)


def _is_clean(world: World, answer: Answer, asked: object) -> None:
    """Whether an answer says nothing that its request did not."""
    told, known = json.dumps(answer.body), json.dumps(asked)
    names = (world.ada.memory, world.ada.gone, world.ada.change, world.ada.proposal)
    for secret in (SECRET, *names, *(each[:8] for each in names)):
        assert secret in known or secret not in told, (asked, answer.body)


def test_an_id_that_somebody_else_took_opens_nothing(world: World) -> None:
    """Ids may be chosen: Mallory's memory may have the same as Ada's, and stays Mallory's."""
    taken = world.ada.client.remember(f"{SECRET} under a chosen id")
    body = {"content": "Mine under the same id", "id": taken}

    world.mallory.ok("POST", "/agent/remember", body)

    shown = world.mallory.ok("GET", f"/agent/recall/{taken}")["memory"]["content"]
    assert shown == "Mine under the same id"
    assert SECRET in world.ada.client.ok("GET", f"/agent/recall/{taken}")["memory"]["content"]
    world.mallory.ok("DELETE", f"/agent/recall/{taken}")
    assert SECRET in world.ada.client.ok("GET", f"/agent/recall/{taken}")["memory"]["content"]
    world.look()


@pytest.mark.few(3)
@pytest.mark.parametrize("tool", [each.name for each in TOOLS])
def test_a_tool_gives_nothing_of_anothers_memory_away(world: World, tool: str) -> None:
    ada, mine = world.ada, world.mine
    tries: dict[str, list[dict[str, Any]]] = {
        "remember": [{"content": "m", "connections": [{"target": ada.memory}]}],
        "recall": [{"query": f"what opens the vault of Ada {ada.memory}"}],
        "recall_node": [{"node_id": ada.memory}, {"node_id": ada.memory[:8]}],
        "revise": [{"node_id": ada.memory, "title": "Stolen"}],
        "mark_outdated": [
            {"node_id": ada.memory},
            {"node_id": mine, "superseded_by": ada.memory},
        ],
        "forget": [{"node_id": ada.memory}],
        "connect": [
            {"source_id": mine, "target_id": ada.memory},
            {"source_id": ada.memory, "target_id": mine},
        ],
        "submit_feedback": [{"node_id": ada.memory, "signal": 1}],
        "run_maintenance": [{}],
    }

    for arguments in tries[tool]:
        refused, told = talk(lambda given=arguments: _call(world, tool, given))  # type: ignore[misc]
        assert refused == (tool not in ("recall", "run_maintenance")), told
        assert SECRET not in told

    world.check_untouched()


async def _call(world: World, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    client = world.mallory
    shown = {"Authorization": f"Bearer {client.token}"}
    async with httpx2.AsyncClient(headers=shown, timeout=SECONDS) as http:
        address = f"http://127.0.0.1:{client.daemon.launched.port}/mcp"
        transport = streamable_http_client(address, http_client=http)
        async with McpClient(transport, mode="legacy") as mcp:
            result = await mcp.call_tool(tool, arguments)
            return bool(result.is_error), said(result) + json.dumps(result.structured_content)


def test_events_tell_each_only_of_their_own(world: World) -> None:
    with _listening(world.mallory) as heard:
        theirs = world.ada.client.remember("Ada bought a barometer")
        mine = world.mallory.remember("Mallory bought a barometer")

        lines = [next(heard)]
        while mine not in lines[-1]:
            lines.append(next(heard))

    assert theirs not in "".join(lines)
    world.look()


class _listening:
    """The lines of somebody's events, as they come."""

    def __init__(self, client: Client) -> None:
        self._connection = http.client.HTTPConnection(
            "127.0.0.1", client.daemon.launched.port, timeout=SECONDS
        )
        self._token = client.token

    def __enter__(self) -> Iterator[str]:
        shown = {"Authorization": f"Bearer {self._token}"}
        self._connection.request("GET", "/events", headers=shown)
        response = self._connection.getresponse()
        assert response.status == 200
        assert response.readline() == b": listening\n"
        return iter(lambda: response.readline().decode(), "")

    def __exit__(self, *error: object) -> None:
        self._connection.close()


@pytest.mark.soak
def test_events_end_when_the_token_is_revoked(world: World) -> None:
    body = {"name": "short-lived", "person": "mallory"}
    made = world.team.admin.ok("POST", "/admin/tokens", body)

    with _listening(Client(world.team.daemon, made["token"])) as heard:
        world.team.admin.ok("DELETE", f"/admin/tokens/{made['id']}")
        lines = list(heard)

    assert "event: lost\n" in lines


def test_metrics_count_only_ones_own(world: World) -> None:
    told = _text(world.mallory, "/metrics")
    alone = world.mallory.ok("GET", "/stats")["store"]["total_nodes"]

    counted = sum(int(each) for each in re.findall(r"madeleine_memories{.*} (\d+)", told))
    assert counted == alone
    assert "madeleine_hooks_total" not in told
    assert "madeleine_uptime_seconds" in _text(world.team.admin, "/metrics")


def _text(client: Client, path: str) -> str:
    connection = http.client.HTTPConnection(
        "127.0.0.1", client.daemon.launched.port, timeout=SECONDS
    )
    connection.request("GET", path, headers={"Authorization": f"Bearer {client.token}"})
    told = connection.getresponse().read().decode()
    connection.close()
    return told


def test_a_hook_whispers_nothing_of_anothers_and_reads_no_file_here(
    world: World, tmp_path: Path
) -> None:
    transcript = tmp_path / "session.jsonl"
    line = {"type": "user", "message": {"role": "user", "content": "I prefer oat milk always."}}
    transcript.write_text(
        json.dumps({**line, "sessionId": "s", "uuid": "u"}) + "\n", encoding="utf-8"
    )
    call = {
        "prompt": f"what opens the vault of Ada? {world.ada.memory}",
        "session_id": "s",
        "transcript_path": str(transcript),
        "hook_event_name": "UserPromptSubmit",
    }

    told = [_raw(world.mallory, path, call) for path in ("/hook/inject", "/hook/store")]

    assert not any(SECRET in each for each in told)
    assert world.team.admin.ok("GET", "/admin/status")["daemon"]["hooks"].get("stores", 0) == 0


def _raw(client: Client, path: str, body: object) -> str:
    connection = http.client.HTTPConnection(
        "127.0.0.1", client.daemon.launched.port, timeout=SECONDS
    )
    given = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(body), given)
    response = connection.getresponse()
    assert response.status == 200
    told = response.read().decode()
    connection.close()
    return told


def test_no_header_or_name_makes_one_somebody_else(world: World) -> None:
    for headers in ({"X-Person": "ada"}, {"X-Agent-Id": "ada"}, {"X-Forwarded-User": "ada"}):
        answer = world.mallory.daemon.ask(
            "GET", f"/agent/recall/{world.ada.memory}", token=world.mallory.token, headers=headers
        )
        assert answer.status == 404
    for token in (None, "", "x", world.ada.token, "mad_" + "A" * 43):
        given = {} if token is None else {"Authorization": f"Bearer {token}"}
        port = world.team.daemon.launched.port
        assert send("127.0.0.1", port, "GET", "/agent/list", None, given).status == 401
    admin = world.team.admin
    for name in ("space:salon", "home", "ada (in the making)", "Ada", "", "a" * 65, "ada\n"):
        assert admin.status("POST", "/admin/people", {"name": name}) in (409, 422)
    body = {"name": "x", "person": "space:salon"}
    assert admin.status("POST", "/admin/tokens", body) == 404


def test_what_is_shared_and_what_is_ones_own_are_not_tied_together(world: World) -> None:
    """A member sees both, and is told why not."""
    ada = world.ada.client
    shared = ada.remember("The salon meets on Mondays", space="salon")
    own = ada.remember("Ada likes Mondays")

    asked = {
        "connect": {"source_id": own, "target_id": shared},
        "merge": {"keep": own, "drop": shared},
        "remember": {"content": "tied", "connections": [{"target": shared}]},
        f"update/{own}": {"space": "salon"},
        f"update/{shared}": {"space": "elsewhere"},
        f"outdated/{own}": {"superseded_by": shared},
    }
    answers = {name: ada.ask("POST", f"/agent/{name}", body) for name, body in asked.items()}

    assert {name: each.status for name, each in answers.items()} == dict.fromkeys(asked, 422)
    assert all("remember it where you want it" in each.error["hint"] for each in answers.values())
    world.look()


def test_who_leaves_a_space_sees_nothing_of_it_any_more(world: World) -> None:
    team = world.team
    team.share("attic", "ada")
    node = world.ada.client.remember("The attic key hangs behind the clock", space="attic")
    team.share("attic", "mallory", "reader")
    assert world.mallory.status("GET", f"/agent/recall/{node}") == 200
    assert world.mallory.status("DELETE", f"/agent/recall/{node}") == 403

    team.admin.ok("POST", "/admin/spaces/leave", {"name": "attic", "person": "mallory"})

    assert world.mallory.status("GET", f"/agent/recall/{node}") == 404
    assert "attic key" not in str(world.mallory.recall("where is the attic key"))
    world.look()
