"""How each operation is called over HTTP: what a client of a daemon has to know.

Made by `make docs` from the declarations (`api/operation.py`), so that a command that talks to the
daemon need not import the functions beside which they stand.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Route(NamedTuple):
    """One operation as a client calls it. `{id}` in the path is an id or the beginning of one."""

    name: str
    method: str
    path: str
    unbounded: bool = False
    """Whether it may take longer than a client otherwise waits for an answer."""


ROUTES: tuple[Route, ...] = (
    Route("remember", "POST", "/agent/remember"),
    Route("remember_many", "POST", "/agent/remember/batch", unbounded=True),
    Route("recall", "POST", "/agent/recall"),
    Route("whisper", "POST", "/agent/whisper"),
    Route("whisper_why", "GET", "/agent/whisper/why"),
    Route("whisper_report", "GET", "/agent/whisper/report"),
    Route("feedback", "POST", "/agent/feedback"),
    Route("pause", "POST", "/agent/pause"),
    Route("brief", "GET", "/agent/brief"),
    Route("deed", "POST", "/agent/deed"),
    Route("show", "GET", "/agent/recall/{id}"),
    Route("connected", "POST", "/agent/connected"),
    Route("list", "GET", "/agent/list"),
    Route("trash", "GET", "/agent/trash"),
    Route("history", "GET", "/agent/history/{id}"),
    Route("revise", "POST", "/agent/update/{id}"),
    Route("retire", "POST", "/agent/outdated/{id}"),
    Route("forget", "DELETE", "/agent/recall/{id}"),
    Route("restore", "POST", "/agent/restore/{id}"),
    Route("link", "POST", "/agent/connect"),
    Route("unlink", "POST", "/agent/disconnect"),
    Route("merge", "POST", "/agent/merge"),
    Route("undo", "POST", "/agent/undo/{id}"),
    Route("proposals", "GET", "/agent/proposals"),
    Route("decide_all", "POST", "/agent/proposals"),
    Route("snooze", "POST", "/agent/proposals/{id}/snooze"),
    Route("proposal", "GET", "/agent/proposals/{id}"),
    Route("decide", "POST", "/agent/proposals/{id}"),
    Route("merges", "GET", "/agent/merges"),
    Route("undo_merge", "POST", "/agent/merges/{id}/undo"),
    Route("audit", "GET", "/agent/audit"),
    Route("log", "GET", "/agent/log"),
    Route("space_here", "GET", "/agent/space"),
    Route("move_space", "POST", "/agent/space"),
    Route("insights", "GET", "/agent/insights"),
    Route("maintenance", "GET", "/agent/maintenance"),
    Route("maintenance_status", "GET", "/admin/maintenance-status"),
    Route("hand_in", "POST", "/agent/maintenance", unbounded=True),
    Route("tasks", "GET", "/admin/tasks"),
    Route("run_all", "POST", "/admin/tasks/run-all", unbounded=True),
    Route("run_task", "POST", "/admin/tasks/{id}/run", unbounded=True),
    Route("stop_task", "POST", "/admin/tasks/{id}/stop"),
    Route("pause_task", "POST", "/admin/tasks/{id}/pause"),
    Route("resume_task", "POST", "/admin/tasks/{id}/resume"),
    Route("consolidate", "POST", "/consolidate"),
    Route("consolidate_status", "GET", "/consolidate/status"),
    Route("health", "GET", "/admin/health"),
    Route("status", "GET", "/admin/status"),
    Route("stats", "GET", "/stats"),
    Route("reconcile", "POST", "/admin/reconcile", unbounded=True),
    Route("rebuild", "POST", "/admin/rebuild", unbounded=True),
    Route("purge", "POST", "/admin/purge"),
    Route("compact", "POST", "/admin/compact", unbounded=True),
    Route("cost", "GET", "/admin/cost"),
    Route("import", "POST", "/admin/import", unbounded=True),
    Route("export", "GET", "/admin/export"),
    Route("skills", "GET", "/agent/skills"),
    Route("backup", "POST", "/admin/backup", unbounded=True),
    Route("backups", "GET", "/admin/backup"),
    Route("ingest_conversation", "POST", "/ingest/conversation"),
    Route("ingest_file", "POST", "/ingest/file"),
    Route("people", "GET", "/admin/people"),
    Route("add_person", "POST", "/admin/people"),
    Route("remove_person", "DELETE", "/admin/people/{id}"),
    Route("tokens", "GET", "/admin/tokens"),
    Route("create_token", "POST", "/admin/tokens"),
    Route("revoke_token", "DELETE", "/admin/tokens/{id}"),
    Route("spaces", "GET", "/agent/spaces"),
    Route("share_space", "POST", "/admin/spaces"),
    Route("unshare_space", "POST", "/admin/spaces/leave"),
    Route("stop", "POST", "/admin/stop"),
    Route("page_link", "POST", "/ui/link"),
    Route("page_search", "GET", "/ui/data/search"),
    Route("page_list", "GET", "/ui/data/list"),
    Route("page_facets", "GET", "/ui/data/facets"),
    Route("page_graph", "GET", "/ui/data/graph"),
    Route("page_graph_space", "GET", "/ui/data/graph/space"),
    Route("page_graph_near", "GET", "/ui/data/graph/near/{id}"),
    Route("page_graph_paths", "GET", "/ui/data/graph/paths"),
    Route("page_graph_map", "GET", "/ui/data/graph/map"),
    Route("page_graph_area", "GET", "/ui/data/graph/area"),
    Route("page_graph_found", "GET", "/ui/data/graph/found"),
    Route("page_memory", "GET", "/ui/data/memory/{id}"),
    Route("page_similar", "GET", "/ui/data/memory/{id}/similar"),
    Route("page_alike", "POST", "/ui/data/alike"),
    Route("page_difference", "GET", "/ui/data/memory/{id}/difference"),
    Route("page_time", "GET", "/ui/data/time"),
    Route("page_time_bars", "GET", "/ui/data/time/bars"),
    Route("page_time_day", "GET", "/ui/data/time/day"),
    Route("page_time_turns", "GET", "/ui/data/time/turns"),
    Route("page_home", "GET", "/ui/data/home"),
    Route("page_about", "GET", "/ui/data/about"),
    Route("page_projects", "GET", "/ui/data/projects"),
    Route("page_figures", "GET", "/ui/data/figures"),
    Route("page_project", "GET", "/ui/data/project"),
    Route("page_project_document", "GET", "/ui/data/project/document"),
    Route("page_whispers", "GET", "/ui/data/whispers"),
    Route("page_whisper", "GET", "/ui/data/whispers/{id}"),
    Route("page_memory_prompts", "GET", "/ui/data/memory/{id}/prompts"),
    Route("page_why_not", "GET", "/ui/data/whispers/{id}/why_not"),
    Route("page_sleep", "GET", "/ui/data/sleep"),
    Route("page_runs", "GET", "/ui/data/sleep/runs"),
    Route("page_run", "GET", "/ui/data/sleep/runs/{id}"),
    Route("page_change", "GET", "/ui/data/changes/{id}"),
    Route("page_proposals", "GET", "/ui/data/proposals"),
    Route("page_proposal", "GET", "/ui/data/proposals/{id}"),
    Route("page_trash", "GET", "/ui/data/trash"),
)

ROUTE_BY_NAME = MappingProxyType({route.name: route for route in ROUTES})
