"""What agents remember over MCP and HTTP, where a person has to say yes, or wants nothing kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.mcp_clients import message, post
from tests.server.running import Daemon, running

TEXT = "The mill wheel is greased every full moon"
PAGE = {"X-Agent-Id": "page"}


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    home = tmp_path_factory.mktemp("careful") / "home"
    home.mkdir()
    settings = (
        '[write]\napproval = "agents"\n[exclude]\nfolders = "/srv/client"\nwords = "Falcon"\n'
    )
    (home / "config.toml").write_text(f"{settings}spaces = 'acme'\n", encoding="utf-8")
    with running(home) as daemon:
        yield daemon


def call(daemon: Daemon, tool: str, arguments: dict[str, Any], **query: str) -> Any:
    asked = message("tools/call", name=tool, arguments=arguments)
    return post(daemon, asked, None, **query).body["result"]


def waiting(daemon: Daemon) -> list[dict[str, Any]]:
    listed = daemon.ok("GET", "/agent/proposals", kind="remember")["proposals"]
    return [each for each in listed if each["status"] == "pending"]


def test_a_tool_is_told_that_it_waits_and_recall_does_not_find_it(careful: Daemon) -> None:
    held = call(careful, "remember", {"content": TEXT})

    text, given = held["content"][0]["text"], held["structuredContent"]
    assert text.startswith("Waits for the user's yes as ")
    assert "`madeleine proposals`" in text
    assert given["change"] is None
    found = call(careful, "recall", {"query": "when is the mill wheel greased?", "all": True})
    assert found["structuredContent"]["results"] == []
    missing = call(careful, "recall_node", {"node_id": given["node_id"]})
    assert missing["isError"]
    assert careful.ok("GET", "/agent/brief")["text"].find("mill wheel") == -1

    asked = next(each for each in waiting(careful) if given["node_id"] in each["source_nodes"])
    answers = {"proposals": {asked["id"][:8]: "yes"}}
    call(careful, "run_maintenance", {"results": answers})

    found = call(careful, "recall", {"query": "when is the mill wheel greased?"})
    assert [each["memory"]["content"] for each in found["structuredContent"]["results"]] == [TEXT]


def test_over_http_an_agent_waits_and_the_page_does_not(careful: Daemon) -> None:
    body = {"content": "The barn owl nests above the forge"}
    held = careful.ask("POST", "/agent/remember", body, headers={"X-Agent-Id": "codex"}).body
    many = {"items": [{"content": "A first of many"}, {"content": "Falcon is secret"}]}
    batch = careful.ok("POST", "/agent/remember/batch", many)
    own = careful.ask(
        "POST", "/agent/remember", {"content": "The page writes at once"}, headers=PAGE
    ).body

    assert held["proposal"] == next(
        each["id"] for each in waiting(careful) if held["node_id"] in each["source_nodes"]
    )
    assert own["proposal"] is None
    assert own["change"]
    assert batch["text"] == "0 memories written, 1 waiting for the user's yes, 1 refused"
    assert batch["results"][0]["proposal"]
    assert batch["results"][1]["error"]["kind"] == "excluded"


def test_the_inbox_of_the_page_shows_what_would_be_remembered(careful: Daemon) -> None:
    body = {"content": "The cider press squeaks", "space": "orchard"}
    held = careful.ok("POST", "/agent/remember", body)

    lines = careful.ok("GET", "/ui/data/proposals", type="remember")
    line = next(each for each in lines["proposals"] if each["id"] == held["proposal"])
    detail = careful.ok("GET", f"/ui/data/proposals/{held['proposal']}")

    assert (line["space"], line["sides"][0]["text"]) == ("orchard", "The cider press squeaks")
    assert [each["content"] for each in detail["memories"]] == ["The cider press squeaks"]
    assert detail["problem"] is None
    assert "+The cider press squeaks" in detail["difference"]


@pytest.mark.parametrize(
    ("arguments", "query", "setting"),
    [
        ({"content": "Falcon ships in May"}, {}, "exclude.words"),
        ({"content": "The wharf is long", "tags": ["falcon"]}, {}, "exclude.words"),
        ({"content": "The wharf is long", "space": "acme"}, {}, "exclude.spaces"),
        ({"content": "The wharf is long"}, {"space": "acme#main"}, "exclude.spaces"),
        ({"content": "The wharf is long"}, {"folder": "/srv/client/site"}, "exclude.folders"),
    ],
)
def test_a_tool_is_told_why_nothing_was_kept(
    careful: Daemon, arguments: dict[str, Any], query: dict[str, str], setting: str
) -> None:
    before = len(waiting(careful))

    refused = call(careful, "remember", arguments, **query)

    assert refused["isError"]
    assert f"`{setting}` keeps out" in refused["content"][0]["text"]
    assert refused["_meta"]["madeleine/error"]["kind"] == "excluded"
    assert len(waiting(careful)) == before


def test_a_conversation_that_is_handed_in_says_what_was_kept_out(careful: Daemon) -> None:
    text = "User: Remember that Falcon ships in May.\nAssistant: Noted."

    answer = careful.ok("POST", "/ingest/conversation", {"content": text, "agent_id": "codex"})

    assert any("`exclude.words`" in each for each in answer["notes"])


def test_a_prompt_from_an_excluded_folder_is_not_written_down(
    careful: Daemon, tmp_path: Path
) -> None:
    prompts = {
        "/srv/client": "what does the heron eat?",
        str(tmp_path): "where does the heron nest?",
    }
    for folder, prompt in prompts.items():
        careful.ok("POST", "/agent/whisper", {"prompt": prompt, "cwd": folder})

    deed = {"action": "Edit /srv/client/wheel.py", "session_id": "s9", "cwd": "/srv/client"}
    careful.ok("POST", "/agent/whisper", deed)

    logged = str(careful.ok("GET", "/ui/data/whispers"))

    assert "where does the heron nest?" in logged
    assert "what does the heron eat?" not in logged
    assert "wheel.py" not in logged


def test_a_file_that_an_agent_hands_in_waits_and_the_pages_does_not(careful: Daemon) -> None:
    body = {"content": "The hives stand south of the wall.", "uri": "file:///farm.md"}
    body["name"] = "farm.md"
    secret = {**body, "content": "Falcon ships in May.", "uri": "file:///secret.md"}

    answer = careful.ok("POST", "/ingest/file", body)
    again = careful.ok("POST", "/ingest/file", body)
    refused = careful.ok("POST", "/ingest/file", secret)
    mine = {**secret, "uri": "file:///mine.md"}
    own = careful.ask("POST", "/ingest/file", mine, headers=PAGE).body

    [asked] = [each for each in waiting(careful) if "hives" in each["action"]["memory"]]
    assert asked["source_nodes"] == [each["node_id"] for each in answer["memories"]]
    assert again["extracted"] == 0
    assert (refused["text"], refused["extracted"]) == ("Nothing was kept.", 0)
    assert any("`exclude.words`" in each for each in refused["notes"])
    assert own["extracted"] == 1


def test_a_revision_by_a_tool_waits_and_one_that_is_kept_out_is_refused(careful: Daemon) -> None:
    body = {"content": "The sluice opens at dawn"}
    node = careful.ask("POST", "/agent/remember", body, headers=PAGE).body["node_id"]

    held = call(careful, "revise", {"node_id": node, "content": "The sluice opens at dusk"})
    refused = call(careful, "revise", {"node_id": node, "content": "Falcon opens at dusk"})

    assert held["structuredContent"]["change"] is None
    assert "once the user says yes" in held["content"][0]["text"]
    assert refused["isError"]
    shown = careful.ok("GET", f"/agent/recall/{node}")
    assert shown["memory"]["content"] == "The sluice opens at dawn"
    asked = next(each for each in waiting(careful) if each["source_nodes"] == [node])
    detail = careful.ok("GET", f"/ui/data/proposals/{asked['id']}")
    assert "+The sluice opens at dusk" in detail["difference"]
    careful.ok("POST", f"/agent/proposals/{asked['id']}", {"action": "approved"})
    shown = careful.ok("GET", f"/agent/recall/{node}")
    assert shown["memory"]["content"] == "The sluice opens at dusk"
