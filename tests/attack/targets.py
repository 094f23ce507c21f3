"""What reads what others wrote, one function each. It may refuse with an error of ours, and nothing
else: any other exception, a signal, or too long a time is a fault."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from madeleine import Madeleine
from madeleine.errors import MadeleineError
from madeleine.ingest.importing.formats import READERS, read
from madeleine.ingest.importing.guessing import guess_format
from madeleine.ingest.transcript_lines import UnreadableLine
from madeleine.ingest.transcript_lines import parse_head as parse_transcript_head
from madeleine.ingest.transcript_lines import parse_line as parse_transcript_line
from madeleine.minds.extractor import RemoteExtractor
from madeleine.minds.judges.language_model import ModelAddress
from madeleine.minds.judges.remote import RemoteJudge
from madeleine.model.config_text import parse_table
from madeleine.model.extraction import ExtractionSource
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair
from madeleine.server.hook_hosts import read_hook_call
from madeleine.server.request_reading import parse_body, parse_query
from madeleine.vault.front_matter import parse_document
from madeleine.vault.journal_lines import parse_line as parse_journal_line
from madeleine.vault.markdown import read_memory
from madeleine.vault.yaml_fallback import InvalidYaml, load_block
from tests.fakes import NOON

MODEL_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True)
class Target:
    """Something to throw inputs at."""

    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    tokens: tuple[bytes, ...] = ()
    """Words that mean something to it."""


# -- files ---------------------------------------------------------------------------------------

NOTE = (
    b"---\nid: 0b6a3f0e-3f1d-4c43-9f4f-2d3f7c1c9d10\ntype: decision\ntags: [deploy, 'fly.io']\n"
    b"created: 2026-01-02T03:04:05Z\nconnections:\n- target: 5c1b\n  edge: supports\n"
    b"origin: {session: s, agent: a}\n---\n# Deploy\n\nWe deploy with **fly.io** on Fridays.\n\n"
    b"- [[Other note|alias]]\n- `code`\n\n```py\nx = 1\n```\n"
)


def read_note(data: bytes) -> None:
    read_memory("note.md", data, Fingerprint(len(data), 0))
    for block in parse_document(data).blocks:
        if block.key is not None:
            with suppress(InvalidYaml):
                load_block(block.key, block.text)


def read_settings(data: bytes) -> None:
    parse_table(data.decode("utf-8", "replace"), Path("config.toml"))


# -- lines ---------------------------------------------------------------------------------------

JOURNAL = (
    b'{"v":1,"id":"a","device":"d","at":"2026-01-02T03:04:05Z","kind":"used",'
    b'"body":{"memory":"m","how":"recalled","session":null}}\n'
)
CLAUDE = (
    b'{"type":"user","sessionId":"s","cwd":"/w","timestamp":"2026-01-02T03:04:05Z","message":'
    b'{"role":"user","content":"no, use uv, never pip"}}'
)
CODEX = (
    b'{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message",'
    b'"role":"user","content":[{"type":"input_text","text":"we take A, not B"}]}}'
)
HOOK = (
    b'{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/w","hook_event_name":"UserPromptSubmit",'
    b'"prompt":"how do we deploy?","tool_name":"Edit","tool_input":{"file_path":"a.py"}}'
)


def read_transcript(data: bytes) -> None:
    for line in data.split(b"\n"):
        with suppress(UnreadableLine):
            parse_transcript_line(line)
        parse_transcript_head(line)


def read_journal(data: bytes) -> None:
    for line in data.split(b"\n"):
        parse_journal_line(line)


def read_hook(data: bytes) -> None:
    for host in ("claude", "codex", "gemini", "cursor", "copilot", "agy"):
        with suppress(MadeleineError):
            read_hook_call(f"inject {host}", data)


# -- requests and answers -----------------------------------------------------------------------

BODY = b'{"query":"who?","limit":3,"tags":["a"],"created_after":"2026-01-02","explain":true}'


def read_request(data: bytes) -> None:
    with suppress(MadeleineError):
        parse_query(data)
    parse_body(data, "application/json")


PAIR = MemoryPair(
    Memory(
        "00000000-0000-4000-8000-000000000001", "Marek prefers tabs", created=NOON, updated=NOON
    ),
    Memory(
        "00000000-0000-4000-8000-000000000002", "Marek likes spaces", created=NOON, updated=NOON
    ),
    0.8,
)
TOLD = [ExtractionSource("user", "we take A, not B, from Monday on")]


def completion(said: str) -> bytes:
    """Return the answer of a server whose model says this."""
    choice = {"message": {"content": said}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 1}}).encode()


VERDICTS = '{"verdicts":[{"pair":1,"relation":"evolved_from","confidence":0.9,"why":"later"}]}'
FOUND = (
    '{"memories":[{"number":1,"quote":"we take A, not B","type":"decision","title":"A is taken",'
    '"content":"We take A, not B.","about_self":false,"confidence":0.9,"tags":["a"]}]}'
)


class _Answering(BaseHTTPRequestHandler):
    """Answers every request with what is to be tried."""

    said = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.said)))
        self.end_headers()
        self.wfile.write(self.said)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@cache
def answering_server() -> str:
    """Return the address of a server that stands in for a language model."""
    server = HTTPServer(("127.0.0.1", 0), _Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def read_model_answer(data: bytes) -> None:
    """Read it as a whole answer, and as what a model says in one."""
    url = answering_server()
    for said in (data, completion(data.decode("utf-8", "replace"))):
        _Answering.said = said
        judge = RemoteJudge(url, "m", "", timeout_seconds=MODEL_TIMEOUT_SECONDS)
        judge.judge([PAIR])
        judge.synthesise([PAIR.older, PAIR.newer])
        address = ModelAddress(url, "m", "", "openai")
        RemoteExtractor(address, timeout_seconds=MODEL_TIMEOUT_SECONDS).extract(TOLD)


# -- imports ------------------------------------------------------------------------------------

CHATS = (
    b'[{"title":"t","create_time":1.0,"mapping":{"a":{"id":"a","message":{"author":{"role":"user"},'
    b'"create_time":1.0,"content":{"content_type":"text","parts":["we use uv"]}},"parent":null,'
    b'"children":[]}}}]'
)
GRAPH = b'{"type":"entity","name":"Marek","entityType":"person","observations":["prefers tabs"]}\n'
RULES = b"# Project\n\n- Use uv, never pip\n- Tests run with pytest\n\n## Style\n\nShort lines.\n"


def read_import(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("export.json", "memory.jsonl", "note.md", "export.zip"):
            path = Path(folder, name)
            path.write_bytes(data)
            with suppress(MadeleineError):
                guess_format(path)
            for form in READERS:
                with suppress(MadeleineError):
                    for _ in read(form, path):
                        pass


# -- texts --------------------------------------------------------------------------------------

TEXTS = (
    b"We deploy with fly.io on Fridays, never on Mondays; ask Tom (tom@example.org) before 9:30.",
    b"The admin login is ana / hunter2 and the Wi-Fi key is 7f3k-22ab-91xx.",
    "Wir haben am 3. März entschieden: nicht mehr Celery, sondern Arq.".encode(),
    "我们上周决定不再使用 Redis，改用 PostgreSQL。".encode(),
    b"no, sorry, 90; don't save this: my PIN is 4711. remember that src/legacy/** is Tom's",
    b"import os\nfor x in range(10):\n    print(x)  # see https://example.org/a?b=c#d\n",
)


@cache
def home() -> Madeleine:
    """Return a memory of its own for this process."""
    return Madeleine.open(tempfile.mkdtemp(prefix="madeleine-attack-"), in_process=True)


def live_with(data: bytes) -> None:
    """Remember a text, ask with it, and be whispered to about it."""
    text = data.decode("utf-8", "replace")
    for act in (
        lambda: home().remember(text[:20_000]),
        lambda: home().recall(text[:20_000], 5, explain=True),
        lambda: home().whisper(text[:20_000]),
        lambda: home().whisper("", action=text[:2_000]),
    ):
        with suppress(MadeleineError):
            act()


TARGETS = {
    "notes": Target(
        read_note, (NOTE, RULES), (b"tags:", b"connections:", b": ", b"\n- ", b"|\n  ")
    ),
    "settings": Target(read_settings, (b'[sleep]\nenabled = true\n[whisper]\nnames = ["a"]\n',)),
    "journal": Target(read_journal, (JOURNAL,), (b'"kind":', b'"body":')),
    "transcripts": Target(read_transcript, (CLAUDE, CODEX), (b'"payload":', b'"content":', b"\n")),
    "hooks": Target(read_hook, (HOOK,), (b'"tool_input":', b'"prompt":', b'"error":')),
    "requests": Target(read_request, (BODY, b"q=a&q=b&limit=3"), (b"%ff", b"&", b'"query":')),
    "answers": Target(read_model_answer, (VERDICTS.encode(), FOUND.encode(), completion(FOUND))),
    "imports": Target(read_import, (CHATS, GRAPH, RULES, NOTE), (b'"parts":', b'"mapping":')),
    "texts": Target(live_with, TEXTS, (b"remember that ", b"yesterday ", b"/**", b"https://")),
}
