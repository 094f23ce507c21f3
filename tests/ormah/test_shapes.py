"""Every request of Ormah's clients, as they send it, answered with what they read of the answer.

`requests.json` was written down from the clients of Ormah 0.15.3: what its command line, hook and
MCP adapter send, and which values their code takes out of the answer. `test_clients.py` runs the
clients themselves; this runs where they cannot be installed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.server.running import Answer, Daemon

REQUESTS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("requests.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def names(trusting: Daemon) -> dict[str, str]:
    """What stands for the names in braces."""
    one = trusting.remember("The office has three floors")
    other = trusting.remember("There are three floors in the office")
    merge = trusting.ok("POST", "/agent/merge", {"keep": one, "drop": other})["change"]
    known = {"merge": merge}
    known["memory"] = trusting.remember("Atlas is deployed to Fly", space="atlas")
    known["retired"] = trusting.remember("Backups go to the old tape drive", space="atlas")
    known["proposal"] = _proposed(trusting)
    return known


def _proposed(daemon: Daemon) -> str:
    """Return a proposal, made by an agent that was unsure, and leave something else to judge."""
    daemon.remember("The staging server runs Debian 12", title="Staging on Debian")
    daemon.remember("Staging server runs on Debian 12 bookworm", title="Staging OS is Debian 12")
    batch = daemon.ok("POST", "/agent/maintenance", {})
    pair = batch["merge_candidates"][0]["pair"]
    results = {"verdicts": [{"pair": pair, "relation": "duplicate", "sure": 0.7}]}
    daemon.ok("POST", "/agent/maintenance", {"job_id": batch["job_id"], "results": results})
    (waiting,) = daemon.ok("GET", "/agent/proposals")["proposals"]
    daemon.remember("The mailing list is read on Mondays", title="Mailing list on Mondays")
    daemon.remember("On Mondays the mailing list is read", title="Mondays: mailing list")
    return str(waiting["id"])


def ask(daemon: Daemon, asked: Mapping[str, Any]) -> Answer:
    """Ask as the clients do: without a token."""
    query = asked.get("query", {})
    return daemon.ask(asked["method"], asked["path"], asked.get("body"), token=None, **query)


def filled(asked: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    text = json.dumps(asked)
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return dict(json.loads(text))


def path_is_in(answer: Any, path: str) -> bool:
    """Whether a client finds what it takes out of an answer."""
    for part in path.split("."):
        place = int(part) if part.isdigit() else part
        try:
            answer = answer[place]
        except (LookupError, TypeError):
            return False
    return True


def test_what_the_clients_send_is_answered_with_what_they_read(
    trusting: Daemon, names: dict[str, str]
) -> None:
    """In one go, since the later requests are about what the earlier ones did."""
    for asked in REQUESTS:
        answer = ask(trusting, filled(asked, names))

        assert answer.status == 200, (asked["from"], answer.body)
        for path in asked["reads"]:
            assert path_is_in(answer.body, path), (asked["from"], path, answer.body)
        if "batches" in answer.body:
            names["job"] = answer.body["job_id"]
