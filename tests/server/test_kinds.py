"""Kinds over HTTP and MCP: a client decides by them, whatever the sentences say."""

from __future__ import annotations

from typing import Any

import pytest

from madeleine.server.mcp.tool_answers import MAX_ERROR_CHARS
from tests.server.mcp_clients import ERAS, over_http, talk
from tests.server.running import Answer, Daemon

NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("method", "path", "body", "kind", "parts"),
    [
        ("GET", f"/agent/recall/{NOBODY}", None, "no_such_memory", {"wanted": NOBODY, "near": []}),
        ("POST", "/agent/remember", {"content": " "}, "empty_draft", {}),
        ("POST", "/agent/remember", {"content": 3}, "invalid_value", {"field": "content"}),
        ("POST", "/agent/remember", {"content": "x", "type": "odd"}, "unknown_word", {}),
        ("POST", f"/agent/undo/{NOBODY}", {}, "no_such_change", {"wanted": NOBODY}),
        ("GET", "/agent/nowhere", None, "no_such_route", {"path": "/agent/nowhere"}),
        ("DELETE", "/agent/remember", None, "wrong_method", {"allowed": ["POST"]}),
        ("POST", "/admin/tasks/nap/run", {}, "no_such_job", {"wanted": "nap"}),
        ("POST", f"/agent/restore/{NOBODY}", {}, "not_in_trash", {"wanted": NOBODY}),
        ("GET", f"/agent/proposals/{NOBODY}", None, "no_such_proposal", {"wanted": NOBODY}),
    ],
)
def test_an_error_names_its_kind_and_what_it_is_made_of(
    daemon: Daemon, method: str, path: str, body: object, kind: str, parts: dict[str, object]
) -> None:
    answer = daemon.ask(method, path, body)

    error = answer.body["error"]
    assert error["kind"] == kind
    assert {name: error["parts"].get(name) for name in parts} == parts
    assert error["message"]


def undone_twice(daemon: Daemon) -> Answer:
    memory = daemon.remember("The gate is green")
    done = daemon.ok("POST", f"/agent/update/{memory}", {"content": "The gate is red"})
    daemon.ok("POST", f"/agent/undo/{done['change']}", {})
    return daemon.ask("POST", f"/agent/undo/{done['change']}", {})


def test_who_takes_back_what_is_taken_back_is_told_so_by_kind(daemon: Daemon) -> None:
    answer = undone_twice(daemon)

    assert (answer.status, answer.body["error"]["kind"]) == (409, "already_undone")
    assert answer.body["error"]["parts"]["state"] == "undone"


def test_an_id_that_fits_several_comes_with_the_memories_it_fits(daemon: Daemon) -> None:
    planks = [daemon.remember(f"Plank {each} is oak") for each in range(40)]
    first = max("0123456789abcdef", key=lambda each: sum(plank[0] == each for plank in planks))

    error = daemon.ask("GET", f"/agent/recall/{first}").body["error"]

    assert error["kind"] == "ambiguous_id"
    assert len(error["parts"]["candidates"]) > 1
    for each in error["parts"]["candidates"]:
        assert each["id"].startswith(first)
        shown = daemon.ok("GET", f"/agent/recall/{each['id']}")["memory"]  # others are there too
        assert each["title"] == (shown["title"] or shown["content"])


def test_a_slip_in_an_id_comes_with_what_may_have_been_meant(daemon: Daemon) -> None:
    memory = daemon.remember("The pier has eleven lamps")
    slip = memory[:-1] + ("0" if memory[-1] != "0" else "1")

    error = daemon.ask("GET", f"/agent/recall/{slip}").body["error"]

    assert error["parts"]["near"][0]["id"] == memory
    assert error["parts"]["near"][0]["title"] == "The pier has eleven lamps"


def test_each_refused_line_of_a_batch_names_its_kind(daemon: Daemon) -> None:
    items = [{"content": "Kept"}, {"content": ""}, {"content": "x", "tier": "odd"}]

    results = daemon.ok("POST", "/agent/remember/batch", {"items": items})["results"]

    assert [each.get("error", {}).get("kind") for each in results] == [
        None,
        "empty_draft",
        "unknown_word",
    ]


def test_a_refused_tool_names_its_kind_beside_what_it_says(daemon: Daemon) -> None:
    async def story() -> Any:
        async with over_http(daemon, ERAS[-1]) as client:
            return await client.call_tool("recall_node", {"node_id": NOBODY})

    result = talk(story)

    assert result.is_error
    assert result.meta["madeleine/error"] == {"code": "missing", "kind": "no_such_memory"}


def test_a_refused_tool_stays_short_however_much_it_was_sent(daemon: Daemon) -> None:
    async def story() -> Any:
        async with over_http(daemon, ERAS[-1]) as client:
            return await client.call_tool("recall_node", {"node_id": "a" * 300_000})

    result = talk(story)

    assert result.is_error
    assert len(result.model_dump_json()) < 3 * MAX_ERROR_CHARS


def test_the_python_face_has_the_kind_that_the_daemon_named(daemon: Daemon) -> None:
    with pytest.raises(Exception, match="no memory") as raised:
        daemon.door.call("show", NOBODY)

    assert getattr(raised.value, "kind", None) == "no_such_memory"
    assert getattr(raised.value, "parts", {})["wanted"] == NOBODY


# -- why there is an answer, or none ---------------------------------------------------------


def recall(daemon: Daemon, query: str, **more: object) -> Any:
    return daemon.ok("POST", "/agent/recall", {"query": query, **more})


def test_each_reason_has_its_kind_and_parts_beside_the_sentence(daemon: Daemon) -> None:
    memory = daemon.remember("Quokkas sleep in the shade of the acacia", tier="core")

    found = recall(daemon, "where do quokkas sleep?")["results"]

    hit = next(each for each in found if each["memory"]["id"] == memory)
    kinds = [each["kind"] for each in hit["reasons_parts"]]
    assert len(kinds) == len(hit["reasons"])
    assert {"shares_words", "tier"} <= set(kinds)
    by_kind = dict(zip(kinds, hit["reasons"], strict=True))
    parts = {each["kind"]: each for each in hit["reasons_parts"]}
    assert by_kind["shares_words"] == f"shares words ({parts['shares_words']['share']:.2f})"
    assert (by_kind["tier"], parts["tier"]["tier"]) == ("core tier", "core")


@pytest.mark.parametrize(
    ("query", "more", "kind"),
    [
        ("?!", {}, "no_word"),
        ("zebra crossing", {"tags": ["unheard-of"]}, "filtered_out"),
        ("what did I do yesterday?", {"tags": ["unheard-of"]}, "nothing_from_time"),
    ],
)
def test_a_recall_that_finds_nothing_names_the_kind_of_its_silence(
    daemon: Daemon, query: str, more: dict[str, object], kind: str
) -> None:
    daemon.remember("A zebra has stripes")

    answer = recall(daemon, query, **more)

    assert answer["results"] == []
    assert answer["silence_parts"]["kind"] == kind
    assert answer["silence"]


def test_an_answer_has_no_kind_of_silence(daemon: Daemon) -> None:
    daemon.remember("The xylophone is in the attic")

    answer = recall(daemon, "where is the xylophone?")

    assert (answer["silence"], answer["silence_parts"]) == (None, None)


def test_a_question_for_a_retired_memory_names_it_and_what_took_its_place(daemon: Daemon) -> None:
    old, new = daemon.remember("The vault code is in Bern"), daemon.remember("It is in Basel now")
    daemon.ok("POST", f"/agent/outdated/{old}", {"superseded_by": new})

    answer = recall(daemon, old[:8])

    retired = {"memory": old, "superseded_by": new}
    told = [answer["silence_parts"], *answer["notes_parts"]]
    assert retired in [
        {name: each.get(name) for name in retired}
        for parts in told
        if parts
        for each in (parts, *parts.get("memories", ()))
    ]


def test_a_text_that_is_known_is_noted_by_kind(daemon: Daemon) -> None:
    first = daemon.ok("POST", "/agent/remember", {"content": "Bees dance to tell the way"})

    again = daemon.ok("POST", "/agent/remember", {"content": "Bees dance to tell the way"})

    assert again["notes_parts"] == [{"kind": "already_known", "memory": first["node_id"]}]
    assert len(again["notes"]) == 1


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [("  ", "empty_prompt"), ("ok", "too_short"), ("thank you!", "only_talk")],
)
def test_a_whisper_that_stays_silent_names_the_kind_and_so_does_its_log(
    daemon: Daemon, prompt: str, kind: str
) -> None:
    memory = daemon.remember("Something to be silent about")

    answer = daemon.ok("POST", "/agent/whisper", {"prompt": prompt, "session_id": f"k {kind}"})
    logged = daemon.ok("GET", "/agent/whisper/why", session_id=f"k {kind}")["whisper"]

    assert answer["silence_parts"]["kind"] == kind
    assert logged["silence_parts"]["kind"] == kind
    assert logged["silence"] == answer["silence"]
    missed = daemon.ok("GET", f"/ui/data/whispers/{logged['id']}/why_not", memory=memory)
    assert missed["text"] == f"Nothing was looked for: {answer['silence']}."


def test_a_silent_search_says_of_which_kind_its_own_silence_was(daemon: Daemon) -> None:
    daemon.remember("Marmots whistle when an eagle comes")

    prompt = {"prompt": "qwrtz plimpf grundo vexil?", "explain": True}
    answer = daemon.ok("POST", "/agent/whisper", prompt)

    parts = answer["silence_parts"]
    assert parts["kind"] in ("nothing_found", "too_weak", "below_gate")
    assert answer["explained"]["silence_parts"] == parts
    assert answer["explained"]["silence"] == answer["silence"]
    if parts["kind"] == "nothing_found":
        assert parts["because"]["kind"]


def test_a_tool_names_the_kind_of_a_silence(daemon: Daemon) -> None:
    async def story() -> Any:
        async with over_http(daemon, ERAS[-1]) as client:
            return await client.call_tool("recall", {"query": "?!"})

    assert talk(story).structured_content["silence_parts"] == {"kind": "no_word"}
