"""An embedding server that a test makes slow, asked over HTTP."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from madeleine.minds.fake import FakeEmbedder
from madeleine.model.embedding import Passage
from tests.server.running import WAIT_SECONDS


class SlowModel:
    """An embedding server that answers only while it may."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.asked = 0
        self.refuses = ""
        """A text that it answers with an error."""
        model, vectors = self, FakeEmbedder()

        class Listener(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.asked += 1
                if model.refuses and model.refuses in given["input"]:
                    self.send_error(400)
                    return
                if not model.may_answer.wait(WAIT_SECONDS):
                    return
                traces = vectors.read([Passage(each, 0, len(each)) for each in given["input"]])
                data = [
                    {"index": place, "embedding": [float(each) for each in trace.vector]}
                    for place, trace in enumerate(traces)
                ]
                body = json.dumps({"data": data}).encode()
                try:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    return  # a daemon that ended does not wait for us

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self) -> None:
        self.may_answer.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(WAIT_SECONDS)
