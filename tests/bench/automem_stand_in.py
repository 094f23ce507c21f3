"""A server that answers as AutoMem does, for tests of what asks it.

It keeps memories in a list, finds by common words within the tags that are asked for, makes its
vectors a moment after it has answered, and wants a token.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "test-token"


@dataclass(slots=True)
class AutoMemStandIn:
    """What the server holds, and how it is."""

    address: str = ""
    memories: dict[str, dict[str, Any]] = field(default_factory=dict)
    vectors: int = 0
    qdrant: str = "connected"
    queries: list[dict[str, list[str]]] = field(default_factory=list)

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        match method, path:
            case "GET", "/health":
                # Vectors come after the answer to a batch.
                known = self.vectors
                self.vectors = len(self.memories)
                return 200, {"status": "healthy", "qdrant": self.qdrant, "vector_count": known}
            case "POST", "/memory/batch":
                ids = [str(uuid.uuid4()) for _ in body["memories"]]
                self.memories |= dict(zip(ids, body["memories"], strict=True))
                return 201, {"status": "success", "stored": len(ids), "memory_ids": ids}
            case "DELETE", "/memory/by-tag":
                gone = [
                    key for key, each in self.memories.items() if query["tags"][0] in each["tags"]
                ]
                for key in gone:
                    del self.memories[key]
                self.vectors = len(self.memories)
                return 200, {"status": "success", "deleted_count": len(gone)}
            case "GET", "/recall":
                self.queries.append(query)
                return 200, {"status": "success", "results": self._found(query)}
            case _:
                return 404, {"status": "error", "code": 404, "message": "Not found"}

    def _found(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        asked = _words(query["query"][0])
        found: list[dict[str, Any]] = [
            {"id": key, "memory": each, "final_score": score, "score": score}
            for key, each in self.memories.items()
            if query["tags"][0] in each["tags"]
            and (score := 0.35 * len(asked & _words(each["content"])))
        ]
        found.sort(key=lambda each: -each["final_score"])
        return found[: int(query["limit"][0])]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.lower()))


@contextmanager
def running_automem() -> Iterator[AutoMemStandIn]:
    """Run such a server on a free port."""
    held = AutoMemStandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            at = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            if at.path != "/health" and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                status, said = 401, {"status": "error", "code": 401, "message": "Unauthorized"}
            else:
                status, said = held.answer(self.command, at.path, parse_qs(at.query), body)
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_DELETE = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: it is a test's."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    held.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield held
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
