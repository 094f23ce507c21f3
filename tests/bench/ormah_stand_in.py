"""A program that answers as Ormah's server does, for tests of what asks it: `ormah server start`.

It keeps files like Ormah's and finds by common words. Texts have the shapes that Ormah 0.15 shows.
`ORMAH_LOG_LINE` is written to its log, `ORMAH_FAILS` makes it end at once.
"""

from __future__ import annotations

import json
import os
import re
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NODES = Path(os.environ.get("ORMAH_MEMORY_DIR", "")) / "nodes"
FRAMING = "# Ormah whispers\nThe most relevant memories are shown in full.\n\n"


def words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.lower()))


def nodes() -> list[tuple[str, str, str]]:
    """Return id, date and text of all that is kept."""
    found = []
    for path in sorted(NODES.glob("*.md")):
        head, _, content = path.read_text(encoding="utf-8").partition("\n---\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        found.append((fields["id"], fields["created"].strip("'"), content.strip()))
    return found


def ranked(text: str) -> list[tuple[int, str, str, str]]:
    """Return how many words, id, date and text of what shares words, best first."""
    asked = words(text)
    found = [(len(asked & words(said)), node, created, said) for node, created, said in nodes()]
    return sorted((each for each in found if each[0]), reverse=True)


def remember(body: dict[str, str]) -> dict[str, object]:
    node = str(uuid.uuid4())
    now = "2026-11-18T05:22:19.363550Z"
    lines = [f"created: '{now}'", f"id: {node}", f"last_accessed: '{now}'", f"updated: '{now}'"]
    NODES.mkdir(parents=True, exist_ok=True)
    text = "\n".join(["---", *lines, "---", "", body["content"]])
    (NODES / f"fact_{node[:8]}.md").write_text(text, encoding="utf-8")
    return {"text": f"Remembered [fact]\nID: {node}", "node_id": node}


def whisper(body: dict[str, str]) -> dict[str, object]:
    said = [
        f"- **[fact]** {content[:60]} (id: {node[:8]}, whisper_log_id: 7)\n  {content}"
        for common, node, _, content in ranked(body["prompt"])[:2]
        if common > 1
    ]
    return {"text": FRAMING + "\n\n".join(said) if said else "", "node_id": None}


def recall(body: dict[str, str]) -> dict[str, object]:
    found = ranked(body["query"])[: int(body["limit"])]
    parts = [
        f"{place}. [fact] {content[:60]}\n   ID: {node} | whisper_log_id: {place} | Tier: working"
        f" | Score: {min(common / 10, 1):.3f} | Created: {created[:19]}\n   {content}\n"
        for place, (common, node, created, content) in enumerate(found, 1)
    ]
    if not parts:
        return {"text": "No memories found matching your query.", "node_id": None}
    return {"text": "\n".join([f"Found {len(parts)} memories:\n", *parts]), "node_id": None}


ROUTES = {"/agent/remember": remember, "/agent/whisper": whisper, "/agent/recall": recall}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer({"status": "ok"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(ROUTES[self.path.partition("?")[0]](body))

    def _answer(self, body: dict[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    assert sys.argv[1:] == ["server", "start"], sys.argv
    sys.stderr.write(os.environ.get("ORMAH_LOG_LINE", "INFO: ready") + "\n")
    if "ORMAH_FAILS" in os.environ:
        sys.exit(3)
    address = (os.environ["ORMAH_HOST"], int(os.environ["ORMAH_PORT"]))
    ThreadingHTTPServer(address, Handler).serve_forever()
