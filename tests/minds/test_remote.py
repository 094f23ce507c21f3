"""The remote embedder against a real HTTP server that says what a test tells it to."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from madeleine.errors import BadSetting, MindDown
from madeleine.minds.remote import RemoteEmbedder

from .reading import passage, vectors

KEY = "sk-very-secret-0123456789"
Reply = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class Script:
    """A server that answers each request with the next reply, and the last one for ever."""

    def __init__(self) -> None:
        self.replies: list[Reply] = [answering]
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.over = threading.Event()
        script = self

        class Listener(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                script.asked.append(asked)
                script.paths.append(self.path)
                script.keys.append(self.headers["Authorization"])
                place = min(len(script.asked), len(script.replies)) - 1
                script.replies[place](self, asked)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(timeout=10)


def send(listener: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    listener.send_response(status)
    for name, value in headers.items():
        listener.send_header(name.replace("_", "-"), value)
    listener.send_header("Content-Length", str(len(body)))
    listener.end_headers()
    listener.wfile.write(body)


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 2.0, 0.0]


def answering(listener: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
    """Answer rightly, but in the wrong order, as servers may."""
    items = [
        {"object": "embedding", "index": place, "embedding": vector_of(text)}
        for place, text in enumerate(asked["input"])
    ]
    send(listener, 200, json.dumps({"data": items[::-1]}).encode())


def refusing(status: int, body: str = "", **headers: str) -> Reply:
    return lambda listener, asked: send(listener, status, body.encode(), **headers)


def embeddings(*rows: object) -> Reply:
    items = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
    return refusing(200, json.dumps({"data": items}))


@pytest.fixture
def server() -> Iterator[Script]:
    script = Script()
    script.thread.start()
    yield script
    script.close()


@pytest.fixture
def remote(server: Script, monkeypatch: pytest.MonkeyPatch) -> RemoteEmbedder:
    monkeypatch.setattr("madeleine.minds.remote.BACKOFF_SECONDS", 0.01)
    return RemoteEmbedder(server.url, "little-model", KEY, timeout_seconds=5)


def test_vectors_come_in_the_order_of_their_texts(server: Script, remote: RemoteEmbedder) -> None:
    texts = [chr(97 + number % 26) * (number + 1) for number in range(130)]

    answer = vectors(remote, texts)

    expected = np.array([vector_of(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(answer, expected, atol=1e-6)
    assert all(vector.dtype == np.float32 for vector in answer)
    assert [len(asked["input"]) for asked in server.asked] == [64, 64, 2]


def test_the_request_is_what_openai_documents(server: Script, remote: RemoteEmbedder) -> None:
    vectors(remote, ["hello"])

    assert server.asked == [{"model": "little-model", "input": ["hello"]}]
    assert (server.paths, server.keys) == (["/v1/embeddings"], [f"Bearer {KEY}"])


def test_a_server_tells_nothing_of_single_tokens(remote: RemoteEmbedder) -> None:
    (trace,) = remote.read([passage("hello")])
    asked = remote.ask("hello")

    assert remote.token_dimension == 0
    assert trace.tokens.shape == asked.tokens.shape == asked.small.shape == (0, 0)
    assert asked.spans == ()
    assert asked.vector.tobytes() == trace.vector.tobytes()


def test_without_a_key_none_is_sent(server: Script) -> None:
    vectors(RemoteEmbedder(f"{server.url}/", "little-model", "", 5), ["hello"])

    assert (server.paths, server.keys) == (["/v1/embeddings"], [None])


def test_nobody_is_asked_before_something_is_wanted(server: Script, remote: RemoteEmbedder) -> None:
    assert remote.name == "remote:little-model"
    assert server.asked == []
    assert (remote.dimension, remote.dimension) == (3, 3)
    assert len(server.asked) == 1


def test_empty_and_endless_texts_are_made_fit_to_send(
    server: Script, remote: RemoteEmbedder
) -> None:
    vectors(remote, ["", "word " * 200_000, "\ud800"])

    empty, endless, half = server.asked[0]["input"]
    assert (empty, len(endless), half) == (" ", 8_000, "?")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_busy_for_a_moment_is_asked_again(
    server: Script, remote: RemoteEmbedder, status: int
) -> None:
    server.replies = [refusing(status), refusing(status), answering]

    assert len(vectors(remote, ["hello"])) == 1
    assert len(server.asked) == 3


def test_a_server_that_stays_broken_is_asked_three_times(
    server: Script, remote: RemoteEmbedder
) -> None:
    server.replies = [refusing(500, '{"error": {"message": "out of\\nmemory"}}')]

    with pytest.raises(MindDown, match="the server answers 500: out of memory"):
        vectors(remote, ["hello"])
    assert len(server.asked) == 3


def test_a_wait_longer_than_the_time_limit_is_not_begun(
    server: Script, remote: RemoteEmbedder
) -> None:
    server.replies = [refusing(429, Retry_After="3600")]

    with pytest.raises(MindDown, match="the server answers 429"):
        vectors(remote, ["hello"])
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [301, 400, 404])
def test_a_refusal_that_will_not_change_is_not_repeated(
    server: Script, remote: RemoteEmbedder, status: int
) -> None:
    server.replies = [refusing(status, '{"error": "no such model"}')]

    with pytest.raises(MindDown, match=f"answers {status}: no such model"):
        vectors(remote, ["hello"])
    assert len(server.asked) == 1


def test_a_server_that_hangs_is_given_up_in_time(server: Script) -> None:
    def hang(listener: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        server.over.wait(30)

    server.replies = [hang]
    remote = RemoteEmbedder(server.url, "little-model", KEY, timeout_seconds=0.2)

    started = time.monotonic()
    with pytest.raises(MindDown, match=r"no answer within 0\.2 seconds"):
        vectors(remote, ["hello"])
    assert time.monotonic() - started < 5


def test_an_answer_that_drips_in_is_given_up_in_time(server: Script) -> None:
    def drip(listener: BaseHTTPRequestHandler, asked: dict[str, Any]) -> None:
        listener.send_response(200)
        listener.send_header("Content-Length", "100000")
        listener.end_headers()
        while not server.over.wait(0.02):
            try:
                listener.wfile.write(b" ")
            except OSError:
                return

    server.replies = [drip]
    remote = RemoteEmbedder(server.url, "little-model", KEY, timeout_seconds=0.3)

    started = time.monotonic()
    with pytest.raises(MindDown, match="no answer within"):
        vectors(remote, ["hello"])
    assert time.monotonic() - started < 5


def test_an_endless_answer_is_not_read_to_its_end(
    server: Script, remote: RemoteEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("madeleine.minds.remote.MAX_ANSWER_BYTES", 100_000)
    server.replies = [refusing(200, " " * 300_000)]

    with pytest.raises(MindDown, match="longer than 100,000 bytes"):
        vectors(remote, ["hello"])


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>it works</html>",
        "[]",
        "null",
        '{"data": null}',
        '{"data": 7}',
        '{"data": {"index": 0}}',
        '{"data": [{"embedding": [1, 2]}, {"embedding": [1, 2]}]}',
        '{"data": [{"index": 0, "embedding": [1, 2]}]}',
        '{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}',
        '{"data": [{"index": 0, "embedding": [1]}, {"index": 5, "embedding": [1]}]}',
        '{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}',
        '{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}',
        '{"data": [{"index": 0, "embedding": 1}, {"index": 1, "embedding": 1}]}',
        '{"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]}',
        '{"data": [{"index": 1e999, "embedding": [1]}, {"index": 1, "embedding": [1]}]}',
        "[" * 100_000,
    ],
    ids=range(17),
)
def test_nonsense_is_not_taken_for_vectors(
    server: Script, remote: RemoteEmbedder, body: str
) -> None:
    server.replies = [refusing(200, body)]

    with pytest.raises(MindDown, match="does not hold 2 vectors"):
        vectors(remote, ["hello", "world"])


def test_one_vector_too_many_is_nonsense_too(server: Script, remote: RemoteEmbedder) -> None:
    server.replies = [embeddings([1, 0], [0, 1], [1, 1])]

    with pytest.raises(MindDown, match="does not hold 2 vectors"):
        vectors(remote, ["hello", "world"])


@pytest.mark.parametrize(
    "row", [[0, 0], [float("nan"), 1], [float("inf"), 1], [1e300, 1], [None, 1]]
)
def test_a_vector_without_direction_is_refused(
    server: Script, remote: RemoteEmbedder, row: list[float]
) -> None:
    server.replies = [embeddings([1, 0], row)]

    with pytest.raises(MindDown, match=r"without direction|does not hold"):
        vectors(remote, ["hello", "world"])


def test_a_model_that_changes_its_size_is_refused(server: Script, remote: RemoteEmbedder) -> None:
    server.replies = [embeddings([1, 0, 0]), embeddings([1, 0])]
    vectors(remote, ["hello"])

    with pytest.raises(MindDown, match="2 numbers a vector, 3 before"):
        vectors(remote, ["world"])


def test_a_server_that_is_not_there_is_down() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: refused, and nobody else's
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"

        with pytest.raises(MindDown, match="Connection refused"):
            vectors(RemoteEmbedder(url, "little-model", KEY, 5), ["hello"])


def test_a_server_that_hangs_up_is_down(server: Script, remote: RemoteEmbedder) -> None:
    server.replies = [lambda listener, asked: listener.connection.shutdown(socket.SHUT_RDWR)]

    with pytest.raises(MindDown, match="no usable answer"):
        vectors(remote, ["hello"])


def test_plain_http_where_https_is_expected_is_down(server: Script) -> None:
    url = server.url.replace("http://", "https://")

    with pytest.raises(MindDown, match="no usable answer"):
        vectors(RemoteEmbedder(url, "little-model", KEY, 5), ["hello"])


@pytest.mark.parametrize("status", [401, 403, 400, 500])
def test_the_key_is_never_repeated(server: Script, remote: RemoteEmbedder, status: int) -> None:
    server.replies = [refusing(status, json.dumps({"error": {"message": f"bad key {KEY}"}}))]

    with pytest.raises(MindDown) as caught:
        vectors(remote, ["hello"])

    assert str(status) in str(caught.value)
    assert KEY not in f"{caught.value!r} {caught.value.hint} {remote!r}"


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "tab\tbed"])
def test_a_key_no_header_can_carry_is_refused_unseen(key: str) -> None:
    with pytest.raises(BadSetting) as caught:
        RemoteEmbedder("http://127.0.0.1/v1", "little-model", key, 5)

    assert key not in f"{caught.value!r} {caught.value.hint}"


@pytest.mark.parametrize("url", ["", "127.0.0.1/v1", "ftp://127.0.0.1", "http://", "http://x:y/"])
def test_an_address_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(BadSetting, match=r"embedder\.url"):
        RemoteEmbedder(url, "little-model", KEY, 5)


def test_a_model_without_a_name_is_refused_at_once() -> None:
    with pytest.raises(BadSetting, match=r"embedder\.model"):
        RemoteEmbedder("http://127.0.0.1/v1", "", KEY, 5)
