"""Who is answered in Ormah's shapes, and what that must not lead to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from madeleine.api.ormah import MAX_CLUSTER_CHARS, MAX_PAIR_CHARS, translate_answer
from tests.server.running import Daemon

BROWSER = {"Sec-Fetch-Site": "same-origin"}


def test_lists_stand_alone_for_a_guest_and_in_their_envelope_for_others(trusting: Daemon) -> None:
    for path, name in (("proposals", "proposals"), ("merges", "merges"), ("audit", "events")):
        guests = trusting.ask("GET", f"/agent/{path}", token=None).body
        ours = trusting.ask("GET", f"/agent/{path}").body
        pages = trusting.ask("GET", f"/agent/{path}", token=None, headers=BROWSER).body

        assert isinstance(guests, list)
        assert len(guests) == len(ours[name])
        assert pages == ours


def test_an_error_has_a_detail_for_a_guest_only(trusting: Daemon) -> None:
    guests = trusting.ask("GET", "/agent/recall/deadbeef", token=None)
    ours = trusting.ask("GET", "/agent/recall/deadbeef")

    assert guests.status == ours.status == 404
    assert guests.body["error"] == ours.body["error"]
    assert guests.body["detail"].startswith("no memory `deadbeef`")
    assert "detail" not in ours.body


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_site_is_no_guest(trusting: Daemon, site: str) -> None:
    """An image or a link sends no Origin; and taking a batch of questions reserves it."""
    answer = trusting.ask("GET", "/agent/maintenance", token=None, headers={"Sec-Fetch-Site": site})

    assert answer.status == 401


def test_without_trust_there_are_no_guests(daemon: Daemon) -> None:
    answer = daemon.ask("GET", "/agent/proposals", token=None)

    assert answer.status == 401
    assert "detail" not in answer.body


def test_feedback_of_a_guest_is_about_the_newest_whisper_of_that_memory(trusting: Daemon) -> None:
    memory = trusting.remember("The mascot of Atlas is a heron called Olga", title="Mascot")
    said = trusting.ask(
        "POST", "/agent/whisper", {"prompt": "what is the mascot of Atlas called?"}, token=None
    ).body
    assert memory in [each["node_id"] for each in said["injected"]]

    given = {"node_id": memory[:8], "signal": 1, "source": "implicit", "whisper_log_id": 7}
    answer = trusting.ask("POST", "/agent/feedback", given, token=None)

    assert answer.status == 200
    (noted,) = [each for each in journal(trusting) if each.get("memory") == memory]
    assert noted["whisper"] == said["whisper_id"]


def journal(daemon: Daemon) -> list[dict[str, Any]]:
    """Return what the journal says of feedback."""
    files = sorted((daemon.home / "journal").glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    events = [json.loads(line) for line in lines]
    return [each["body"] for each in events if each["kind"] == "feedback"]


def test_feedback_on_what_was_never_whispered_is_still_noted(trusting: Daemon) -> None:
    memory = trusting.remember("The cellar key hangs behind the door")

    given = {"node_id": memory, "signal": -1, "whisper_log_id": 7}

    assert trusting.ask("POST", "/agent/feedback", given, token=None).status == 200


def test_the_audit_can_be_asked_for_one_memory_and_one_verb(trusting: Daemon) -> None:
    memory = trusting.remember("The lift is out of order")
    for title in ("Lift", "The lift"):
        trusting.ok("POST", f"/agent/update/{memory}", {"title": title})
    trusting.ok("POST", f"/agent/outdated/{memory}", {})

    def verbs(**query: object) -> list[str]:
        events = trusting.ok("GET", "/agent/audit", **query)["events"]
        return [each["body"]["verb"] for each in events]

    assert verbs(node_id=memory) == ["retire", "revise", "revise", "remember"]
    assert verbs(node_id=memory[:8], operation="revise", limit=1) == ["revise"]
    assert verbs(node_id=memory, operation="forget") == []
    guests = trusting.ask(
        "GET", "/agent/audit", token=None, node_id=memory, operation="mark_outdated"
    ).body
    assert [each["node_id"] for each in guests] == [memory]


def test_stats_say_how_much_there_is_and_was_new(trusting: Daemon) -> None:
    before = trusting.ok("GET", "/stats")

    trusting.remember("A memory that counts", tier="archival")

    after = trusting.ok("GET", "/stats", days=7)
    assert after["store"]["total_nodes"] == before["store"]["total_nodes"] + 1
    assert after["store"]["by_tier"]["archival"] == 1
    assert after["usage"]["memories_this_week"] >= 1
    assert (before["window"]["kind"], after["window"]["kind"]) == ("calendar_week", "rolling")
    assert after["window"]["days"] == 7


def batch(content: str) -> dict[str, Any]:
    memories = {
        "a" * 8: {"type": "fact", "content": "short", "title": "Short"},
        "b" * 8: {"type": "fact", "content": content},
    }
    pair = {"pair": "p1", "node_a_id": "a" * 8, "node_b_id": "b" * 8, "similarity": 0.9}
    return {
        "status": "ready",
        "job_id": "j",
        "memories": memories,
        "merge_candidates": [pair],
        "conflict_candidates": [],
        "link_candidates": [],
        "consolidation_clusters": [{"cluster": "c1", "node_ids": list(memories)}],
    }


def batches(content: str) -> dict[str, Any]:
    shown: Any = translate_answer("maintenance", batch(content))
    return dict(shown["batches"])


def test_an_agent_is_asked_only_about_what_its_client_shows_whole() -> None:
    """Ormah's adapter cuts texts; deciding about the rest unseen would lose it."""
    both, one, none = (
        batches("x" * chars) for chars in (MAX_CLUSTER_CHARS, MAX_PAIR_CHARS, MAX_PAIR_CHARS + 1)
    )

    assert both["summary"] == "1 merge candidates, 1 consolidation clusters"
    assert one["summary"] == "1 merge candidates"
    assert none["summary"] == "nothing to process"
    assert both["merge_candidates"][0]["node_b"]["title"] == ""


def test_a_memory_that_is_gone_by_now_is_not_asked_about() -> None:
    gone = batch("text")
    del gone["memories"]["b" * 8]

    shown: Any = translate_answer("maintenance", gone)

    assert shown["batches"]["summary"] == "nothing to process"


def test_where_there_is_nothing_to_judge_the_client_is_told_to_stop() -> None:
    idle: Any = translate_answer(
        "maintenance", {"status": "idle", "text": "x", "message": "Nothing to judge."}
    )

    assert (idle["status"], idle["message"]) == ("busy", "Nothing to judge.")


def test_what_only_ormahs_clients_ask_is_answered_as_ormah_does(trusting: Daemon) -> None:
    """The shapes are those of `routes_agent`, `routes_admin` and `routes_ui` of Ormah 0.15.3."""
    old = trusting.remember("The ferry leaves at nine", title="Ferry")
    new = trusting.remember("The ferry leaves at ten", title="Ferry later")
    trusting.ok("POST", f"/agent/outdated/{old}", {"superseded_by": new, "reason": "new timetable"})
    trusting.ok(
        "POST",
        "/agent/connect",
        {"source_id": new, "target_id": trusting.remember("No ferries run"), "edge": "contradicts"},
    )

    def asked(path: str) -> Any:
        answer = trusting.ask("GET", path, token=None)
        assert answer.status == 200, answer.body
        return answer.body

    found = asked("/ui/search?q=when+does+the+ferry+leave&limit=3")
    assert found[0]["id"] == new
    assert {"id", "type", "tier", "space", "title", "content", "_score"} <= found[0].keys()
    assert asked("/ui/search?q=+") == []
    insights = asked("/ui/insights")
    evolution = next(each for each in insights["evolutions"] if each["newer"]["id"] == new)
    assert evolution["older"]["id"] == old
    assert evolution["explanation"] == "new timetable"
    assert set(evolution["newer"]) == {"id", "title", "type", "tier", "content", "created"}
    assert {"node_a", "node_b", "explanation"} == set(insights["tensions"][0])
    assert asked("/admin/maintenance-status")["status"] in ("idle", "awaiting_results")
    clients = asked("/agent/clients")
    assert "claude" in [each["id"] for each in clients]
    named = {"id", "name", "detected", "wired", "platform", "available_on_current_os"}
    assert all(set(each) == named for each in clients)


def test_the_page_and_its_search_stay_what_they_are(trusting: Daemon) -> None:
    assert "memories" in trusting.ok("GET", "/ui/search", query="ferry")
    for path in ("/ui/search?q=x", "/ui/insights", "/agent/clients"):
        strange = {"Sec-Fetch-Site": "cross-site"}
        assert trusting.ask("GET", path, token=None, headers=strange).status == 401
