"""An agent and its memory over MCP: the official client, `madeleine mcp`, a real daemon."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsResult, Root
from pydantic import FileUrl

from madeleine.api.remote import stop_daemon
from tests.server.mcp_clients import ERAS, fields, over_http, over_stdio, said, talk
from tests.server.running import running


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home that no daemon ever opened; whoever starts one there, it is ended."""
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.setenv("MADELEINE_SERVER_PORT", "0")
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    yield tmp_path / "home"
    stop_daemon(tmp_path / "home")


def killed(home: Path) -> None:
    """End the daemon as a power cut would."""
    os.kill(int((home / "run" / "pid").read_text(encoding="utf-8")), signal.SIGKILL)


@pytest.mark.few(1)
@pytest.mark.parametrize("era", ERAS)
def test_an_agent_remembers_though_the_daemon_was_down_and_is_killed(home: Path, era: str) -> None:
    async def story() -> dict[str, Any]:
        async with over_stdio(home, era, name="codex") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            kept = await client.call_tool("remember", {"content": "Ship on Fridays, never Monday"})
            await asyncio.to_thread(killed, home)
            found = await client.call_tool("recall", {"query": "ship on Fridays"})
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("nope", {})
            wrong = await client.call_tool("recall", {"query": 7})
            return {"names": names, "kept": fields(kept), "found": fields(found), "wrong": wrong}

    told = talk(story)

    assert told["names"][0] == "remember"
    assert told["kept"]["memory"]["source"] == "agent:codex"
    assert told["found"]["results"][0]["memory"]["id"] == told["kept"]["node_id"]
    assert told["wrong"].is_error
    assert "not a text" in said(told["wrong"])


@pytest.mark.soak
def test_calls_under_way_when_the_daemon_is_killed_are_done_once(home: Path) -> None:
    async def story() -> list[str]:
        async with over_stdio(home, ERAS[0]) as client:
            await client.call_tool("recall", {"query": "is anybody there"})
            calls = [
                asyncio.ensure_future(client.call_tool("remember", {"content": f"Oath {number}"}))
                for number in range(30)
            ]
            await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.to_thread(killed, home)
            return [fields(each)["node_id"] for each in await asyncio.gather(*calls)]

    nodes = talk(story)

    written = [each.stem.rpartition("_")[2] for each in (home / "vault").glob("*.md")]
    assert sorted(written) == sorted(node[:8] for node in nodes)
    assert len(set(written)) == 30


@pytest.mark.soak
def test_two_agents_share_one_memory_at_once(home: Path) -> None:
    long = "Field notes on moss. " + "Mosses have no roots. " * 30_000

    async def agent(name: str, era: str) -> list[str]:
        async with over_stdio(home, era, name) as client:
            kept = [
                client.call_tool("remember", {"content": f"Thing {number} by {name} 🦉"})
                for number in range(8)
            ]
            return [fields(each)["node_id"] for each in await asyncio.gather(*kept)]

    async def story() -> tuple[list[str], list[str], dict[str, Any]]:
        async with over_stdio(home, ERAS[0], "first") as client:
            whole = fields(await client.call_tool("remember", {"content": long}))
            one, two = await asyncio.gather(agent("ada", ERAS[0]), agent("bo", ERAS[1]))
            shown = await client.call_tool("recall_node", {"node_id": two[0]})
            assert "by bo 🦉" in said(shown)
            return one, two, whole

    one, two, _ = talk(story)

    assert len({*one, *two}) == 16
    files = list((home / "vault").glob("*.md"))
    assert len(files) == 17
    assert any(long in path.read_text(encoding="utf-8") for path in files)


@pytest.mark.soak
def test_both_doors_give_the_same_answers(home: Path) -> None:
    with running(home) as daemon:
        daemon.remember("The ferry leaves at noon")

        async def listing(stdio: bool, era: str) -> Any:
            opened = over_stdio(home, era) if stdio else over_http(daemon, era)
            async with opened as client:
                tools = await client.list_tools()
                return client.instructions, [tool.model_dump() for tool in tools.tools]

        for era in ERAS:
            first = talk(lambda: listing(True, era))  # noqa: B023  # called at once
            again = talk(lambda: listing(True, era))  # noqa: B023
            direct = talk(lambda: listing(False, era))  # noqa: B023
            assert first == again == direct


def test_a_memory_belongs_to_the_project_the_agent_works_in(home: Path, tmp_path: Path) -> None:
    for name in ("atlas", "borealis"):
        (tmp_path / name / ".git").mkdir(parents=True)

    async def roots(context: object) -> ListRootsResult:
        uri = FileUrl((tmp_path / "borealis").as_uri())
        return ListRootsResult(roots=[Root(uri=uri)])

    async def story() -> tuple[object, object, object]:
        async with over_stdio(home, ERAS[1], cwd=tmp_path / "atlas") as client:
            one = fields(await client.call_tool("remember", {"content": "Atlas uses tabs"}))
            everywhere = {"content": "Tabs are fine everywhere", "space": None}
            two = fields(await client.call_tool("remember", everywhere))
        async with over_stdio(
            home, "legacy", cwd=tmp_path / "atlas", list_roots_callback=roots
        ) as client:
            for number in range(50):  # the roots are asked for beside the first requests
                said_now = {"content": f"Borealis uses {number} spaces"}
                three = fields(await client.call_tool("remember", said_now))
                if three["memory"]["space"] != "atlas":
                    break
        return one["memory"]["space"], two["memory"]["space"], three["memory"]["space"]

    assert talk(story) == ("atlas", None, "borealis")
