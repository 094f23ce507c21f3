"""Who may ask: token, Host and Origin over TCP, the file mode over the unix socket."""

from __future__ import annotations

import http.client
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from madeleine.api.operations import OPERATIONS
from madeleine.errors import Forbidden, NoToken
from madeleine.server.guard import Guard, is_over_unix
from tests.server.running import Answer, Daemon, running

GUARDED = [route for route in OPERATIONS if not route.open]
FOREIGN = [
    "evil.example",
    "evil.example:8787",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost@evil.example",
    "127.0.0.2",
    "0.0.0.0",
    "[::2]",
    "localhost:port",
    "",
]


@pytest.mark.parametrize("route", GUARDED, ids=lambda route: route.name)
def test_every_route_asks_for_the_token(daemon: Daemon, route: Any) -> None:
    answer = daemon.ask(route.method, route.path.replace("{id}", "abc"), token=None)

    assert answer.status == 401
    assert answer.error["code"] == "rejected"
    assert "run/token" in answer.error["hint"]
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/openapi.json", "/nowhere"])
def test_what_is_not_in_the_table_asks_for_the_token_too(daemon: Daemon, path: str) -> None:
    assert daemon.ask("GET", path, token=None).status == 401


@pytest.mark.parametrize("token", ["wrong", "", "wröng"])
def test_a_wrong_token_is_refused(daemon: Daemon, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}

    assert daemon.ask("GET", "/agent/list", token=None, headers=headers).status == 401


def test_the_token_counts_only_as_a_bearer(daemon: Daemon) -> None:
    headers = {"Authorization": f"Basic {daemon.token}"}

    assert daemon.ask("GET", "/agent/list", token=None, headers=headers).status == 401


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize("path", ["/agent/list", "/admin/health"])
def test_a_foreign_host_header_is_refused(daemon: Daemon, host: str, path: str) -> None:
    """O32: a page whose name was made to point here must read nothing."""
    answer = daemon.ask("GET", path, headers={"Host": host})

    assert answer.status == 403
    assert answer.error["code"] == "rejected"
    assert answer.error["message"] == f"Host {host!r} is not allowed"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST:1", "127.0.0.1:8787", "[::1]:8787", "[::1]"]
)
def test_this_machine_may_be_called_by_its_names(daemon: Daemon, host: str) -> None:
    assert daemon.ask("GET", "/agent/list", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:1", "http://localhost", ""]
)
def test_a_cross_site_post_is_refused(daemon: Daemon, origin: str) -> None:
    before = daemon.ok("GET", "/agent/list")["total"]

    answer = daemon.ask(
        "POST", "/agent/remember", {"content": "planted"}, headers={"Origin": origin}
    )

    assert answer.status == 403
    assert answer.error["message"] == f"Origin {origin!r} is not allowed"
    assert daemon.ok("GET", "/agent/list")["total"] == before


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_our_own_page_may_ask(daemon: Daemon, name: str) -> None:
    origin = f"http://{name}:{daemon.launched.port}"

    assert daemon.ask("GET", "/agent/list", headers={"Origin": origin}).status == 200


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    # In the home and not in the environment, where the other daemons would find it too.
    home = tmp_path_factory.mktemp("trusting")
    settings = '[embedder]\nkind = "fake"\n[server]\ntrust_loopback = true\n'
    (home / "config.toml").write_text(settings, encoding="utf-8")
    with running(home) as started:
        yield started


def test_trusting_loopback_lets_clients_in_without_a_token(trusting: Daemon) -> None:
    assert trusting.ask("GET", "/agent/list", token=None).status == 200


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_trusting_loopback_still_checks_host_and_origin(
    trusting: Daemon, headers: dict[str, str]
) -> None:
    assert trusting.ask("GET", "/agent/list", token=None, headers=headers).status == 403


def scope(
    client: str = "127.0.0.1",
    server: tuple[str, int | None] = ("127.0.0.1", 8787),
    headers: dict[str, str] | None = None,
) -> dict[str, Any]:
    given = {"host": "localhost", **(headers or {})}
    pairs = [(name.encode(), value.encode()) for name, value in given.items()]
    return {"client": (client, 5), "server": server, "headers": pairs}


@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_only_this_machine_is_trusted_without_a_token(client: str) -> None:
    guard = Guard("secret", "0.0.0.0", 8787, trust_loopback=True)

    guard.check(scope(client), is_open=False)

    for stranger in ("192.168.1.7", "::ffff:10.0.0.1", "2001:db8::1", "nonsense"):
        with pytest.raises(NoToken):
            guard.check(scope(stranger), is_open=False)


def test_a_forwarded_header_makes_nobody_local(trusting: Daemon) -> None:
    """The peer's address is the connection's; a header about it is not looked at."""
    guard = Guard("secret", "0.0.0.0", 8787, trust_loopback=True)

    with pytest.raises(NoToken):
        guard.check(scope("192.168.1.7", headers={"x-forwarded-for": "127.0.0.1"}), is_open=False)


def test_the_configured_host_may_be_named() -> None:
    guard = Guard("secret", "Memory.lan", 8787)

    def ask(host: str, **more: str) -> None:
        headers = {"host": host, "authorization": "Bearer secret", **more}
        guard.check(scope("192.168.1.7", headers=headers), is_open=False)

    ask("memory.lan:8787")
    ask("memory.lan", origin="http://memory.lan:8787")
    with pytest.raises(Forbidden):
        ask("other.lan")


def test_who_names_no_known_host_is_told_of_the_names_that_are_set() -> None:
    foreign = scope(headers={"host": "other.lan"})
    hints = []
    for names in (frozenset[str](), frozenset(["memory.example.org"])):
        with pytest.raises(Forbidden) as caught:
            Guard("secret", "127.0.0.1", 8787, names=names).check(foreign, is_open=True)
        hints.append(caught.value.hint)

    assert ["server.names" in each for each in hints] == [False, True]


def test_two_host_headers_are_no_host() -> None:
    twice = scope()
    twice["headers"].append((b"host", b"evil.example"))

    with pytest.raises(Forbidden):
        Guard("secret", "127.0.0.1", 8787).check(twice, is_open=True)


def test_the_unix_socket_needs_no_token(daemon: Daemon) -> None:
    assert daemon.door.call("list")["total"] == daemon.ok("GET", "/agent/list")["total"]


def test_a_unix_request_is_told_from_a_tcp_one_by_the_server_address() -> None:
    assert is_over_unix(scope(server=("/home/run/socket", None)))
    assert not is_over_unix(scope())


def test_the_socket_and_the_token_belong_to_their_owner_alone(daemon: Daemon) -> None:
    run = daemon.home / "run"

    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    assert stat.S_IMODE((run / "socket").stat().st_mode) == 0o600
    assert stat.S_ISSOCK((run / "socket").stat().st_mode)
    assert stat.S_IMODE((run / "token").stat().st_mode) == 0o600
    assert len(daemon.token) >= 43  # 32 random bytes


def test_a_token_that_others_could_read_is_made_private_and_kept(home: Path) -> None:
    run = home / "run"
    run.mkdir(parents=True)
    (run / "token").write_text("chosen-by-hand\n", encoding="utf-8")
    (run / "token").chmod(0o644)

    with running(home) as daemon:
        assert daemon.token == "chosen-by-hand"
        assert daemon.ask("GET", "/agent/list").status == 200
        assert stat.S_IMODE((run / "token").stat().st_mode) == 0o600


def test_a_refused_client_may_send_its_whole_body_first(daemon: Daemon) -> None:
    answer = daemon.ask("POST", "/agent/remember", {"content": "x" * 500_000}, token=None)

    assert answer.status == 401


def test_a_request_without_a_host_is_refused(daemon: Daemon) -> None:
    with socket.create_connection(("127.0.0.1", daemon.launched.port), timeout=5) as client:
        client.sendall(b"GET /admin/health HTTP/1.0\r\n\r\n")
        response = http.client.HTTPResponse(client)
        response.begin()

        assert Answer(response.status, None, {}).status == 403
