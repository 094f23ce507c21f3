"""A running AutoMem, asked for all that it has.

With its admin token that is one request: the backup of the graph. Without it the memories are
listed, and each is asked for by itself, since the list does not say which are no longer true.
AutoMem notes that as a use of each.
"""

from __future__ import annotations

import io
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from urllib.parse import quote

from madeleine.errors import Unavailable
from madeleine.ingest.importing.automem import read_graph, read_packed
from madeleine.ingest.importing.json_files import WHOLE_BYTES, parse_json
from madeleine.ingest.importing.values import (
    ForeignServer,
    ImportNote,
    NotThatFormat,
    ReaderOutput,
)

TIMEOUT_SECONDS = 120.0
NOT_FOUND = 404


class ForeignServerDown(Unavailable):
    """A server of another program gives no answer, or refuses one."""

    kind = "foreign_server_down"

    def __init__(self, url: str, problem: str) -> None:
        super().__init__(
            f"{url}: {problem}",
            hint="is it running, and are AUTOMEM_API_KEY and AUTOMEM_ADMIN_TOKEN set as it wants?",
            url=url,
            problem=problem,
        )


def read(server: ForeignServer) -> Iterator[ReaderOutput]:
    """Give every memory with its relations."""
    if server.admin_key:
        packed = _fetch(server, "/backup?include=falkordb")
        yield from read_graph(*read_packed(server.url, io.BytesIO(packed)))
        return
    yield from read_graph(server.url, json.dumps(_gather_graph(server)).encode())
    yield ImportNote("without AUTOMEM_ADMIN_TOKEN what only a backup has stayed there")


def _gather_graph(server: ForeignServer) -> dict[str, object]:
    """Return a graph as a backup has it, put together of what the server answers."""
    listed = _fetch_json(server, "/graph/snapshot?limit=0")
    nodes, edges = listed.get("nodes"), listed.get("edges")
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise NotThatFormat(server.url, "does not answer as AutoMem does")
    found = []
    for node in nodes:
        told = _fetch_json(server, f"/memory/{quote(str(node.get('id')), safe='')}").get("memory")
        if isinstance(told, dict):
            found.append({"id": node["id"], "labels": ["Memory"], "properties": told})
    relations = [
        {
            "source_id": each.get("source"),
            "type": each.get("type"),
            "target_id": each.get("target"),
            "properties": {"strength": each.get("strength"), **(each.get("properties") or {})},
        }
        for each in edges
        if isinstance(each, dict)
    ]
    return {"nodes": found, "relationships": relations}


def _fetch_json(server: ForeignServer, path: str) -> dict[str, object]:
    said = parse_json(server.url, _fetch(server, path))
    if not isinstance(said, dict):
        raise NotThatFormat(server.url, "does not answer as AutoMem does")
    return said


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _fetch(server: ForeignServer, path: str) -> bytes:
    headers = {"Authorization": f"Bearer {server.key}"} if server.key else {}
    if server.admin_key:
        headers["X-Admin-Token"] = server.admin_key
    wanted = urllib.request.Request(server.url.rstrip("/") + path, headers=headers)
    opener = urllib.request.build_opener(_NoRedirects)  # a token is for nobody else
    try:
        with opener.open(wanted, timeout=TIMEOUT_SECONDS) as answer:
            data: bytes = answer.read(WHOLE_BYTES + 1)
    except urllib.error.HTTPError as error:
        if error.code == NOT_FOUND and path.startswith("/memory/"):
            return b"{}"  # it went meanwhile
        raise ForeignServerDown(server.url, f"{path} answers {error.code}") from error
    except (OSError, ValueError) as error:
        raise ForeignServerDown(server.url, str(error)) from error
    if len(data) > WHOLE_BYTES:
        raise NotThatFormat(server.url, f"answers with more than {WHOLE_BYTES:,} bytes")
    return data
