"""The page as it is served, and who gets past it: one-time links, cookie and key."""

from __future__ import annotations

import gzip
import http.client
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from madeleine.server.page_door import PAGE_FOLDER
from madeleine.server.page_sessions import CODE_SECONDS, SESSION_SECONDS, PageSessions
from tests.server.running import WAIT_SECONDS, Daemon, running

AS_BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer as it came."""

    status: int
    body: bytes
    headers: dict[str, str]


def raw(daemon: Daemon, method: str, path: str, headers: dict[str, str] | None = None) -> Raw:
    connection = http.client.HTTPConnection("127.0.0.1", daemon.launched.port, timeout=WAIT_SECONDS)
    try:
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Raw(answer.status, answer.read(), found)
    finally:
        connection.close()


def enter(daemon: Daemon, token: str = "") -> dict[str, str]:
    """Use a link as a browser does; return the headers that its page then sends."""
    link = urlsplit(str(daemon.ask("POST", "/ui/link", token=token).body["url"]))
    answer = raw(daemon, "GET", f"{link.path}?{link.query}")
    assert answer.status == 303
    key = answer.headers["location"].partition("#")[2]
    return {"Cookie": answer.headers["set-cookie"].partition(";")[0], "X-Madeleine-Page": key}


# -- files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/ui/", "/ui/search", "/ui/m/1234", "/ui/no/such/view"])
def test_every_view_is_answered_with_the_frame_and_without_a_token(
    daemon: Daemon, path: str
) -> None:
    answer = raw(daemon, "GET", path, AS_BROWSER)

    assert answer.status == 200
    assert answer.body == (PAGE_FOLDER / "index.html").read_bytes()
    assert answer.headers["cache-control"] == "no-cache"


def test_the_frame_lets_a_browser_run_nothing_but_its_own_files(daemon: Daemon) -> None:
    headers = raw(daemon, "GET", "/ui/").headers

    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_files_named_by_their_content_are_kept_for_ever_and_packed(daemon: Daemon) -> None:
    name = next((PAGE_FOLDER / "assets").glob("parts-*.js"))

    answer = raw(daemon, "GET", f"/ui/assets/{name.name}", {"Accept-Encoding": "gzip"})

    assert "immutable" in answer.headers["cache-control"]
    assert gzip.decompress(answer.body) == name.read_bytes()
    assert len(answer.body) < name.stat().st_size / 2


@pytest.mark.parametrize(
    ("path", "view"), [("/ui/", "Home"), ("/ui/search?q=a", "Search"), ("/ui/m/12", "Memory")]
)
def test_the_frame_names_the_files_of_its_view_so_that_they_come_at_once(
    daemon: Daemon, path: str, view: str
) -> None:
    named = raw(daemon, "GET", path, AS_BROWSER).headers["link"]

    files = re.findall(r"</ui/(assets/[^>]+)>; rel=modulepreload", named)
    assert any(file.startswith(f"assets/{view}-") for file in files)
    assert all((PAGE_FOLDER / file).is_file() for file in files)


def test_a_frame_that_is_known_is_not_sent_again(daemon: Daemon) -> None:
    tag = raw(daemon, "GET", "/ui/").headers["etag"]

    answer = raw(daemon, "GET", "/ui/", {"If-None-Match": tag})

    assert (answer.status, answer.body) == (304, b"")


def test_a_file_that_is_not_there_is_missing_and_not_the_frame(daemon: Daemon) -> None:
    assert raw(daemon, "GET", "/ui/assets/gone.js").status == 404


@pytest.mark.parametrize("path", ["/ui/data/nonsense", "/ui/data/memory/a/b/c", "/ui/data/"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_a_program_asks_for_and_is_not_there_is_missing(
    daemon: Daemon, method: str, path: str
) -> None:
    answer = daemon.ask(method, path)

    assert (answer.status, answer.body["error"]["code"]) == (404, "missing")
    assert daemon.ask(method, path, token=None).status == 401


def test_a_program_that_asks_for_a_view_gets_the_data_behind_it(daemon: Daemon) -> None:
    kept = daemon.remember("The ferry leaves at noon")

    found = daemon.ok("GET", "/ui/search?query=when+does+the+ferry+leave")["memories"]
    near = daemon.ok("GET", f"/ui/graph/node/{kept}")
    known = daemon.ok("GET", "/ui/timeline?limit=1")

    assert [each["id"] for each in found] == [kept]
    assert near["id"] == kept
    assert (len(known["memories"]), known["total"]) == (1, daemon.ok("GET", "/ui/graph")["total"])


@pytest.mark.parametrize(
    "path", ["/ui/search?query=a", "/ui/graph", "/ui/graph/node/1", "/ui/timeline"]
)
def test_the_data_behind_a_view_needs_a_token(daemon: Daemon, path: str) -> None:
    assert raw(daemon, "GET", path, {"Accept": "application/json"}).status == 401
    assert raw(daemon, "GET", path).headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/ui/../../../etc/passwd", "/ui/%2e%2e/%2e%2e/run/token"])
def test_no_path_leads_out_of_the_page(daemon: Daemon, path: str) -> None:
    answer = raw(daemon, "GET", path)

    assert answer.body == (PAGE_FOLDER / "index.html").read_bytes()


def test_the_page_is_only_read(daemon: Daemon) -> None:
    answer = raw(daemon, "POST", "/ui/search")

    assert answer.status == 405
    assert answer.headers["allow"] == "GET"


def test_the_page_is_served_under_its_own_names_only(daemon: Daemon) -> None:
    assert raw(daemon, "GET", "/ui/", {"Host": "evil.example"}).status == 403


# -- the way in ----------------------------------------------------------------------------


def test_a_link_works_once(daemon: Daemon) -> None:
    link = urlsplit(str(daemon.ok("POST", "/ui/link")["url"]))
    target = f"{link.path}?{link.query}"

    first, second = raw(daemon, "GET", target), raw(daemon, "GET", target)

    assert first.status == 303
    assert re.fullmatch(r"/ui/#[\w-]{40,}", first.headers["location"])
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(first.headers["set-cookie"].split("; "))
    assert second.status == 403
    assert b"madeleine ui" in second.body
    assert b"<a href=/ui/>" in second.body  # whoever is signed in already may go on
    assert "set-cookie" not in second.headers


@pytest.mark.parametrize("code", ["", "?code=", "?code=wrong"])
def test_without_a_code_nobody_enters(daemon: Daemon, code: str) -> None:
    assert raw(daemon, "GET", f"/ui/enter{code}").status == 403


def test_cookie_and_key_together_open_what_the_token_opens(daemon: Daemon) -> None:
    both = enter(daemon)

    assert daemon.ask("GET", "/agent/list", token=None, headers=both).status == 200
    body = {"content": "Written by hand in the page"}
    written = daemon.ask("POST", "/agent/remember", body, token=None, headers=both)
    assert written.status == 200


@pytest.mark.parametrize("missing", ["Cookie", "X-Madeleine-Page"])
def test_one_half_alone_opens_nothing(daemon: Daemon, missing: str) -> None:
    """A browser sends cookies to every port of this machine; the key it does not."""
    half = {name: value for name, value in enter(daemon).items() if name != missing}

    assert daemon.ask("GET", "/agent/list", token=None, headers=half).status == 401


def test_halves_of_two_sessions_do_not_fit(daemon: Daemon) -> None:
    mixed = {**enter(daemon), "X-Madeleine-Page": enter(daemon)["X-Madeleine-Page"]}

    assert daemon.ask("GET", "/agent/list", token=None, headers=mixed).status == 401


def test_a_page_of_another_site_gets_nowhere_with_both_halves(daemon: Daemon) -> None:
    headers = {**enter(daemon), "Origin": "http://127.0.0.1:9"}

    assert daemon.ask("POST", "/agent/remember", {}, token=None, headers=headers).status == 403


def test_a_link_asks_for_the_token(daemon: Daemon) -> None:
    assert daemon.ask("POST", "/ui/link", token=None).status == 401


def test_where_an_admin_token_is_set_only_it_makes_links(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_SERVER_ADMIN_TOKEN", "for-admins-only")
    with running(home) as daemon:
        assert daemon.ask("POST", "/ui/link").status == 401
        daemon.token = "for-admins-only"
        both = enter(daemon)
        assert daemon.ask("GET", "/admin/backup", token=None, headers=both).status == 200


def test_a_session_outlives_the_daemon_but_not_the_token(home: Path) -> None:
    with running(home) as daemon:
        port, both = daemon.launched.port, enter(daemon)
    with running(home, port=port) as daemon:
        assert daemon.ask("GET", "/agent/list", token=None, headers=both).status == 200
    (home / "run" / "token").unlink()
    with running(home, port=port) as daemon:
        assert daemon.ask("GET", "/agent/list", token=None, headers=both).status == 401


# -- time ----------------------------------------------------------------------------------


class Now:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def __call__(self) -> float:
        return self.at


def scope(sessions: PageSessions, cookie: str, key: str) -> dict[str, object]:
    shown = f"other=1; {sessions.cookie_name}={cookie}"
    return {"headers": [(b"cookie", shown.encode()), (b"x-madeleine-page", key.encode())]}


def test_a_code_is_good_for_a_minute_and_a_session_for_a_month() -> None:
    now = Now()
    sessions = PageSessions("token", 8787, now)
    late, code = sessions.new_code(), sessions.new_code()
    session = sessions.enter(code)
    assert session is not None
    shown = scope(sessions, session.cookie, session.key)
    assert sessions.token_id_of(shown) == ""

    now.at += CODE_SECONDS
    assert sessions.enter(late) is None
    now.at += SESSION_SECONDS
    assert sessions.token_id_of(shown) is None


def test_a_session_cannot_be_made_longer_by_hand() -> None:
    sessions = PageSessions("token", 8787, Now())
    session = sessions.enter(sessions.new_code())
    assert session is not None
    until, rest = session.cookie.split(".", 1)

    longer = f"{int(until) + 1}.{rest}"

    assert sessions.token_id_of(scope(sessions, longer, session.key)) is None


@pytest.mark.parametrize("cookie", ["", ".", "a.b", "..", "é.é.é", '"'])
def test_nonsense_in_a_cookie_is_just_no_session(cookie: str) -> None:
    sessions = PageSessions("token", 8787, Now())

    assert sessions.token_id_of(scope(sessions, cookie, "")) is None
