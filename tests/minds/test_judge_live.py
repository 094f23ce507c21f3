"""The judge behind a real language model's server, if there is one on this machine.

The model is tiny and says nonsense: what is tried is the wire, not the verdicts. It runs with
the package xllamacpp and a GGUF file that MADELEINE_TEST_GGUF names, and is skipped without.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from madeleine.minds.judges.remote import RemoteJudge
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair, Verdict

GGUF = os.environ.get("MADELEINE_TEST_GGUF", "")
KEY = "test"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def server() -> Any:
    llama = pytest.importorskip("xllamacpp")
    if not GGUF:
        pytest.skip("MADELEINE_TEST_GGUF names no model")
    wanted = llama.CommonParams()
    wanted.model.path = GGUF
    wanted.n_ctx, wanted.n_parallel, wanted.verbosity = 2_048, 1, 0
    wanted.cpuparams.n_threads = 1
    wanted.api_keys, wanted.model_alias = [KEY], {"smollm2"}
    return llama.Server(wanted)


def pair() -> MemoryPair:
    older = Memory("1" * 32, "Harbor uses SQLite", NOON, NOON)
    later = NOON + timedelta(days=1)
    return MemoryPair(older, Memory("2" * 32, "Harbor moved to Postgres", later, later), 0.7)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_real_model_answers_or_is_counted(server: Any, provider: str) -> None:
    url = f"{server.listening_address}/v1"
    judge = RemoteJudge(url, "smollm2", KEY, provider=provider, timeout_seconds=120)

    (found,) = judge.judge([pair()])
    problems = judge.problems()

    assert (found is None) == bool(problems)
    assert found is None or isinstance(found, Verdict)
    assert not [said for said in problems if "the server answers" in said]


@pytest.mark.timeout(300)
def test_a_real_server_refuses_another_key(server: Any) -> None:
    judge = RemoteJudge(f"{server.listening_address}/v1", "smollm2", "wrong", timeout_seconds=30)

    assert judge.judge([pair()]) == [None]
    assert judge.problems() == {"llm:smollm2: the server does not accept the key (401)": 1}
