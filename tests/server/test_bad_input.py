"""What cannot work over HTTP: each gets its code, its status and a hint, and changes nothing."""

from __future__ import annotations

import json
import os
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.running import Answer, Daemon, running, send

TYPES = "fact, decision, preference, event, person, project, concept, procedure, goal, observation"


def assert_refused(answer: Answer, status: int, code: str, message: str, hint: str) -> None:
    assert answer.status == status, answer.body
    assert set(answer.body) == {"error"}
    assert answer.error["code"] == code
    assert message in answer.error["message"]
    assert hint in answer.error["hint"]


@pytest.mark.parametrize(
    ("draft", "message", "hint"),
    [
        ({}, "the memory has no text", "content"),
        ({"content": ""}, "the memory has no text", "content"),
        ({"content": " \n\t "}, "the memory has no text", "content"),
        ({"content": 7}, "`content` is 7, not a text", ""),
        ({"content": "x", "type": "rumour"}, "unknown type 'rumour'", TYPES),
        ({"content": "x", "tier": "gold"}, "unknown tier 'gold'", "core, working, archival"),
        ({"content": "x", "confidence": 7}, "`confidence` is 7", ""),
        ({"content": "x", "confidence": "high"}, "`confidence` is 'high', not a number", ""),
        ({"content": "x", "created": "yesterday"}, "`created` is 'yesterday', not a time", "2026"),
        ({"content": "x", "valid_until": "2026-13-01"}, "not a time", "2026-11-15"),
        ({"content": "x", "id": "17"}, "`id` is '17', not a UUID", ""),
        ({"content": "x", "colour": "red"}, "an unknown field `colour`", "known fields"),
        ({"content": "x", "spaces": "T"}, "an unknown field `spaces`", "did you mean `space`?"),
        ({"content": "x", "tags": "storage"}, "`tags` is 'storage', not a list", ""),
        ({"content": "x", "title": "t" * 301}, "`title` is 301 characters", ""),
        ({"content": "\ud83d half a pair"}, "not valid Unicode", "UTF-8"),
        ({"content": "x", "connections": [{"target": "ab", "weight": 7}]}, "`weight` is 7", ""),
        (
            {"content": "x", "connections": [{"target": "ab", "edge": "likes"}]},
            "'likes'",
            "part_of",
        ),
    ],
)
def test_a_draft_that_cannot_be_is_refused(
    daemon: Daemon, draft: dict[str, object], message: str, hint: str
) -> None:
    before = sorted(daemon.vault.rglob("*.md"))

    answer = daemon.ask("POST", "/agent/remember", draft)

    assert_refused(answer, 422, "rejected", message, hint)
    assert sorted(daemon.vault.rglob("*.md")) == before


def test_a_text_over_the_bound_is_refused_with_413(daemon: Daemon) -> None:
    answer = daemon.ask("POST", "/agent/remember", {"content": "x" * 1_048_577})

    assert_refused(answer, 413, "rejected", "1,048,577 bytes", "limits.content_bytes")


def test_a_link_to_itself_is_refused(daemon: Daemon) -> None:
    lonely = daemon.remember("A lonely memory")

    answer = daemon.ask("POST", "/agent/connect", {"source_id": lonely, "target_id": lonely})

    assert_refused(answer, 422, "rejected", "cannot be connected to itself", "two memories")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("weight", 7, "`weight` is 7"),
        ("weight", -0.1, "`weight` is -0.1"),
        ("weight", True, "`weight` is True"),
        ("edge", "likes", "unknown edge 'likes'"),
    ],
)
def test_a_link_with_a_bad_weight_or_edge_is_refused(
    daemon: Daemon, field: str, value: object, message: str
) -> None:
    one, other = daemon.remember("Bad link source"), daemon.remember("Unlike that, its goal")

    answer = daemon.ask(
        "POST", "/agent/connect", {"source_id": one, "target_id": other, field: value}
    )

    assert_refused(answer, 422, "rejected", message, "")


def test_a_link_to_nothing_is_missing(daemon: Daemon) -> None:
    one = daemon.remember("It points to nothing")

    answer = daemon.ask("POST", "/agent/connect", {"source_id": one, "target_id": "dead00beef"})

    assert_refused(answer, 404, "missing", "no memory `dead00beef`", "madeleine list")


def test_an_ambiguous_prefix_lists_the_candidates(daemon: Daemon) -> None:
    for digit in "12":
        daemon.remember(f"Twin number {digit}", id=f"abcdabcd-000{digit}-4000-8000-000000000000")

    answer = daemon.ask("GET", "/agent/recall/abcdabcd")

    assert_refused(answer, 409, "conflict", "`abcdabcd` fits 2 memories", "one of: ")
    assert "Twin number 1" in answer.error["hint"]
    assert "Twin number 2" in answer.error["hint"]


def test_a_slip_in_an_id_names_what_was_meant(daemon: Daemon) -> None:
    meant = daemon.remember("The one that was meant", id="beefbeef-0000-4000-8000-000000000000")

    answer = daemon.ask("GET", "/agent/recall/beefbeea")

    assert_refused(answer, 404, "missing", "no memory `beefbeea`", "The one that was meant")
    assert meant[:8] in answer.error["hint"]


@pytest.mark.parametrize("wanted", ["%25", "_", "*", "%5B0-9%5D", "..", "%00"])
def test_a_wildcard_in_an_id_matches_nothing(daemon: Daemon, wanted: str) -> None:
    daemon.remember("Not to be found by a wildcard")

    answer = daemon.ask("GET", f"/agent/recall/{wanted}")

    assert answer.status == 404
    assert answer.error["code"] == "missing"


def test_a_path_trick_in_a_title_stays_in_the_vault(daemon: Daemon) -> None:
    before = {path for path in daemon.home.rglob("*") if daemon.vault not in path.parents}

    answer = daemon.ok(
        "POST", "/agent/remember", {"content": "Tricky", "title": "../../../etc/passwd\0.md"}
    )

    path = daemon.ok("GET", f"/agent/recall/{answer['node_id']}")["path"]
    assert "/" not in path
    assert (daemon.vault / path).is_file()
    after = {path for path in daemon.home.rglob("*") if daemon.vault not in path.parents}
    assert {path for path in after - before if path.suffix == ".md"} == set()


def test_an_id_that_is_taken_is_a_conflict(daemon: Daemon) -> None:
    taken = str(uuid.uuid4())
    daemon.remember("The first to have this id", id=taken)

    answer = daemon.ask("POST", "/agent/remember", {"content": "Another text", "id": taken})

    assert_refused(answer, 409, "conflict", f"`{taken}` already exists", "leave `id` out")


def test_an_idempotency_key_makes_a_retry_safe_and_no_more(daemon: Daemon) -> None:
    body = {"content": "Sent twice by a bad network", "idempotency_key": "k-1"}

    first, second = (daemon.ok("POST", "/agent/remember", body) for _ in range(2))
    other = daemon.ask("POST", "/agent/remember", {**body, "content": "Another text"})

    assert first["node_id"] == second["node_id"]
    assert_refused(other, 409, "conflict", "'k-1' belongs to another text", "new key")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({}, "`query` is missing"),
        ({"query": "  "}, "`query` is empty"),
        ({"query": "x", "limit": 0}, "`limit` is 0"),
        ({"query": "x", "limit": "many"}, "`limit` is 'many'"),
        ({"query": "x", "types": ["rumour"]}, "unknown types 'rumour'"),
        ({"query": "x", "created_after": "soon"}, "`created_after` is 'soon', not a time"),
        ({"query": "x", "sort": "best"}, "unknown field `sort`"),
    ],
)
def test_a_query_that_cannot_be_is_refused(
    daemon: Daemon, query: dict[str, object], message: str
) -> None:
    assert_refused(daemon.ask("POST", "/agent/recall", query), 422, "rejected", message, "")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"limit": "ten"}, "`limit` is 'ten'"),
        ({"limit": "1.5"}, "`limit` is '1.5'"),
        ({"limit": 100_000}, "`limit` is 100000"),
        ({"limit": ["1", "2"]}, "`limit` is given more than once"),
        ({"outdated": "yes"}, "`outdated` is 'yes'"),
        ({"types": "fact,rumour"}, "unknown types 'rumour'"),
        ({"colour": "red"}, "unknown field `colour`"),
    ],
)
def test_a_bad_parameter_is_refused(
    daemon: Daemon, parameters: dict[str, Any], message: str
) -> None:
    answer = daemon.ask("GET", "/agent/list", **parameters)

    assert_refused(answer, 422, "rejected", message, "")


def test_a_parameter_that_is_not_utf8_is_refused(daemon: Daemon) -> None:
    answer = daemon.ask("GET", "/agent/list?spaces=%ff%fe")

    assert_refused(answer, 422, "rejected", "not valid UTF-8", "UTF-8")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"{", "the body is not JSON"),
        (b"content=hello", "the body is not JSON"),
        (b'{"content": NaN}', "NaN is not a number"),
        (b'["content"]', "the body is not a JSON object"),
        (b'{"content": "M\xfcnchen"}', "the body is not valid UTF-8 at byte 14"),
        (b'{"content": ' + b"[" * 100_000, "the body is nested too deeply"),
        (b'{"content": ' + b"1" * 5_000 + b"}", "the body is not JSON"),
    ],
)
def test_a_body_that_is_not_json_is_refused(daemon: Daemon, raw: bytes, message: str) -> None:
    answer = daemon.ask("POST", "/agent/remember", raw=raw)

    assert_refused(answer, 422, "rejected", message, "application/json")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_of_another_type_is_refused(daemon: Daemon, kind: str) -> None:
    """A page of another site can send such a body without asking the browser first."""
    raw = json.dumps({"content": "planted"}).encode()

    answer = daemon.ask("POST", "/agent/remember", raw=raw, headers={"Content-Type": kind})

    assert_refused(answer, 422, "rejected", "the body", "application/json")


def test_a_route_that_takes_no_body_refuses_one(daemon: Daemon) -> None:
    kept = daemon.remember("No body wanted")

    answer = daemon.ask("POST", f"/agent/restore/{kept}", {"force": True})

    assert_refused(answer, 422, "rejected", "unknown field `force`", "")


def test_a_revision_that_changes_nothing_is_refused(daemon: Daemon) -> None:
    kept = daemon.remember("Nothing to revise")

    answer = daemon.ask("POST", f"/agent/update/{kept}", {})

    assert_refused(answer, 422, "rejected", "changes nothing", "content")


def test_an_unknown_proposal_or_action_is_refused(daemon: Daemon) -> None:
    unknown = daemon.ask("POST", "/agent/proposals/abc", {"action": "approved"})
    action = daemon.ask("POST", "/agent/proposals/abc", {"action": "maybe"})
    status = daemon.ask("GET", "/agent/proposals", status="open")

    assert_refused(unknown, 404, "missing", "no proposal `abc`", "madeleine proposals")
    assert_refused(action, 422, "rejected", "unknown action 'maybe'", "approved, rejected")
    assert_refused(status, 422, "rejected", "unknown status 'open'", "pending")


def test_an_unknown_change_is_missing(daemon: Daemon) -> None:
    answer = daemon.ask("POST", f"/agent/undo/{uuid.uuid4()}")

    assert_refused(answer, 404, "missing", "no change, run or night", "madeleine history")


def test_nothing_forgotten_has_that_id(daemon: Daemon) -> None:
    answer = daemon.ask("POST", "/agent/restore/12345678")

    assert_refused(answer, 404, "missing", "no forgotten memory `12345678`", "trash")


@pytest.mark.parametrize("path", ["/", "/agent", "/agent/remember/", "/agent/recall/a/b"])
def test_a_path_that_is_not_there_answers_in_our_shape(daemon: Daemon, path: str) -> None:
    answer = daemon.ask("GET", path)

    assert_refused(answer, 404, "missing", f"no route GET {path}", "/openapi.json")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "DELETE"])
def test_a_wrong_method_answers_in_our_shape(daemon: Daemon, method: str) -> None:
    answer = daemon.ask(method, "/agent/remember")

    assert_refused(answer, 405, "rejected", f"does not answer {method}", "use POST")
    assert answer.headers["allow"] == "POST"


def test_a_batch_over_its_bound_is_refused_whole(daemon: Daemon) -> None:
    before = daemon.ok("GET", "/agent/list")["total"]
    items = [{"content": f"number {number}"} for number in range(10_001)]

    answer = daemon.ask("POST", "/agent/remember/batch", {"items": items})

    assert_refused(answer, 422, "rejected", "holds 10,001; the limit is 10,000", "batches")
    assert daemon.ok("GET", "/agent/list")["total"] == before


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon that takes small bodies and one request at a time."""
    # In the home and not in the environment, where the other daemons would find it too.
    home = tmp_path_factory.mktemp("small")
    settings = '[embedder]\nkind = "fake"\n[server]\nmax_body_bytes = 1000\n'
    (home / "config.toml").write_text(settings, encoding="utf-8")
    with running(home) as started:
        yield started


def test_a_body_over_the_bound_is_refused_before_it_is_read(small: Daemon) -> None:
    answer = small.ask("POST", "/agent/remember", {"content": "x" * 2_000_000})

    assert_refused(answer, 413, "rejected", "the limit is 1,000", "server.max_body_bytes")


def test_a_chunked_body_over_the_bound_is_refused_too(small: Daemon) -> None:
    headers = {"Authorization": f"Bearer {small.token}", "Content-Type": "application/json"}
    parts = iter([b'{"content": "', *[b"x" * 600] * 3, b'"}'])

    answer = send("127.0.0.1", small.launched.port, "POST", "/agent/remember", parts, headers)

    assert_refused(answer, 413, "rejected", "the limit is 1,000", "server.max_body_bytes")


def test_more_requests_than_allowed_are_told_to_wait(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_SERVER_MAX_REQUESTS", "0")
    with running(home) as daemon:
        answer = daemon.ask("POST", "/agent/recall", {"query": "x"})
        health = daemon.ask("GET", "/admin/health")

    assert_refused(answer, 429, "unavailable", "too many requests", "wait")
    assert health.status == 200


def test_a_client_that_hangs_up_halfway_harms_nobody(daemon: Daemon) -> None:
    head = (
        "POST /agent/remember HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {daemon.token}\r\nContent-Length: 1000\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", daemon.launched.port)) as client:
        client.sendall(head.encode() + b'{"content": "half')

    assert daemon.ask("GET", "/admin/health").status == 200
    assert daemon.ok("GET", "/admin/status")["daemon"]["failures"] == 0


def test_a_vault_that_cannot_be_written_says_so(daemon: Daemon) -> None:
    daemon.vault.chmod(0o500)
    try:
        if os.access(daemon.vault, os.W_OK):
            pytest.skip("this user writes where nobody may")
        answer = daemon.ask("POST", "/agent/remember", {"content": "Nowhere to write this"})
    finally:
        daemon.vault.chmod(0o700)

    assert_refused(answer, 503, "unavailable", "cannot write", "writable")
