"""Ormah and AutoMem as systems of `madeleine bench everyday`.

Neither can be whole on a machine without their models, so small servers with their shapes stand
in for them; Ormah's other half of the talk is also tried on our own daemon, which answers its
clients.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench import ormah_stand_in
from tests.bench.automem_stand_in import TOKEN, AutoMemStandIn, running_automem
from tests.bench.test_recall_bench import bench
from tests.server.running import running

everyday_set: Any = bench("_everyday_set")
systems: Any = bench("_everyday_systems")
asking: Any = bench("_everyday_http")
ormah: Any = bench("_everyday_ormah")
automem: Any = bench("_everyday_automem")
homes: Any = bench("_recall_homes")
program: Any = bench("everyday")

WHOLE = everyday_set.read_stores("dev")[0]
STORE = replace(WHOLE, prompts=WHOLE.prompts[:4], actions=WHOLE.actions[:3])
MEMORY = STORE.memories[0]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the program measure one small store."""
    monkeypatch.setattr(program, "read_stores", lambda split: [STORE])


# -- Ormah ---------------------------------------------------------------------------------


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program on the path that answers as Ormah does."""
    place = tmp_path / "bin"
    place.mkdir()
    made = place / "ormah"
    text = Path(ormah_stand_in.__file__).read_text(encoding="utf-8")
    made.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    made.chmod(0o755)
    monkeypatch.setenv("PATH", str(place))
    return made


def test_ormah_is_told_a_store_with_its_dates_and_asked(command: Path, tmp_path: Path) -> None:
    system = program.find_system("ormah", homes.Homes(tmp_path / "homes"))

    with system.opened(STORE) as asked:
        said = asked.whisper(MEMORY.content, None)
        (first, *_) = asked.recall(MEMORY.content, None)
        files = sorted((tmp_path / "homes").glob("ormah-*.asked/memory/nodes/*.md"))
        dates = {line for file in files for line in file.read_text("utf-8").splitlines()[1:5]}

    assert [each.id for each in said.now][:1] == [MEMORY.id]
    assert (first.id, first.score) == (MEMORY.id, pytest.approx(first.score))
    assert f"created: '{MEMORY.created}'" in dates
    assert f"last_accessed: '{MEMORY.created}'" in dates
    assert not list((tmp_path / "homes").glob("*.asked"))


def test_what_ormah_said_earlier_in_a_session_counts_as_said(command: Path, tmp_path: Path) -> None:
    system = program.find_system("ormah", homes.Homes(tmp_path / "homes"))

    with system.opened(STORE) as asked:
        said = asked.whisper("go on", None, [MEMORY.content])

    assert said.now == ()
    assert MEMORY.id in said.before


@pytest.mark.usefixtures("few")
def test_ormah_is_measured_through_the_command(command: Path, tmp_path: Path) -> None:
    where = tmp_path / "figures.json"

    code = program.main(["--system", "ormah", "--json", str(where)])

    found = json.loads(where.read_text(encoding="utf-8"))
    assert code == 0
    assert found["system"] == "ormah"
    assert {"whisper", "actions", "recall"} < {each["part"] for each in found["figures"]}


def test_a_machine_without_ormah_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SystemExit, match="Ormah is not installed: `pip install ormah`") as ended:
        program.main(["--system", "ormah"])

    assert ended.value.code not in (0, None)


@pytest.mark.parametrize(
    ("variable", "value", "why"),
    [
        ("ORMAH_FAILS", "ValueError: port", "did not start: ValueError: port"),
        ("ORMAH_LOG_LINE", "WARNING: Vector search failed: no model", "without vectors here"),
    ],
)
@pytest.mark.usefixtures("few", "command")
def test_an_ormah_that_is_not_whole_is_not_measured(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, why: str
) -> None:
    monkeypatch.setenv(variable, value)
    monkeypatch.setenv("ORMAH_LOG_LINE", value)

    with pytest.raises(SystemExit, match=why):
        program.main(["--system", "ormah", "--only", "recall"])


def test_the_models_of_ormahs_user_are_used_and_nothing_else_of_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    monkeypatch.delenv("FASTEMBED_CACHE_PATH", raising=False)
    monkeypatch.setenv("ORMAH_MEMORY_DIR", "/home/ana/memory")

    given = ormah.environment(tmp_path, 4321)

    assert given["FASTEMBED_CACHE_PATH"] == "/home/ana/.local/share/ormah/models"
    assert (given["HOME"], given["ORMAH_PORT"]) == (str(tmp_path), "4321")
    assert given["ORMAH_MEMORY_DIR"] == str(tmp_path / "memory")


def test_our_own_daemon_answers_what_is_asked_of_ormah(tmp_path: Path) -> None:
    """Memories are told and whispers are read as by Ormah's clients, whom the daemon answers."""
    settings = "[server]\ntrust_loopback = true\n[whisper]\ndeadline_ms = 15000\n"
    (tmp_path / "config.toml").write_text(settings, encoding="utf-8")
    store = replace(STORE, memories=STORE.memories[:6])
    with running(tmp_path) as daemon:
        door = asking.HttpDoor(f"http://127.0.0.1:{daemon.launched.port}")
        names = ormah.remember_store(door, store)
        asked = ormah.OrmahAsked(door, {node[:8]: key for node, key in names.items()})

        said = asked.whisper(MEMORY.content, MEMORY.space)

    assert sorted(names.values()) == sorted(each.id for each in store.memories)
    assert MEMORY.id in [each.id for each in said.now]


# -- AutoMem -------------------------------------------------------------------------------


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("AUTOMEM_API_TOKEN", TOKEN)
    monkeypatch.delenv("AUTOMEM_API_URL", raising=False)
    with running_automem() as held:
        yield held


def test_automem_is_asked_within_a_stores_own_tag_and_left_as_it_was(
    server: AutoMemStandIn,
) -> None:
    server.memories["mine"] = {"content": MEMORY.content, "tags": ["diary"]}
    system = automem.find_automem({"AUTOMEM_API_TOKEN": TOKEN}, server.address)

    with system.opened(STORE) as asked:
        (first, *_) = asked.recall(MEMORY.content, None)
        told = [each for each in server.memories.values() if each["content"] == MEMORY.content]

    assert first.id == MEMORY.id
    assert told[1]["timestamp"] == MEMORY.created
    assert f"everyday-{STORE.name}" in told[1]["tags"]
    assert server.queries[0]["tag_match"] == ["exact"]
    assert list(server.memories) == ["mine"]


def test_automem_whispers_what_scores_high_enough_in_the_askers_space(
    server: AutoMemStandIn,
) -> None:
    memory = next(each for each in STORE.memories if each.space)
    system = automem.find_automem({"AUTOMEM_API_TOKEN": TOKEN}, server.address)

    def said(threshold: float, space: str | None) -> list[str]:
        with replace(system, threshold=threshold).opened(STORE) as asked:
            return [each.id for each in asked.whisper(memory.content, space).now]

    assert said(0.1, memory.space)[0] == memory.id
    assert memory.id not in said(0.1, "elsewhere")
    assert said(99.0, memory.space) == []


@pytest.mark.usefixtures("few")
def test_automem_is_measured_through_the_command_with_a_threshold_from_train(
    server: AutoMemStandIn, tmp_path: Path
) -> None:
    where = tmp_path / "figures.json"

    code = program.main(["--system", "automem", "--address", server.address, "--json", str(where)])

    found = json.loads(where.read_text(encoding="utf-8"))
    assert code == 0
    assert found["threshold"] > 0
    assert {"whisper", "actions", "recall"} < {each["part"] for each in found["figures"]}
    assert server.memories == {}


@pytest.mark.usefixtures("few")
def test_a_threshold_that_is_given_is_not_fitted(
    server: AutoMemStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--system", "automem", "--address", server.address, "--only", "actions"]

    program.main([*words, "--threshold", "0.7", "--json"])

    said = capsys.readouterr()
    assert json.loads(said.out)["threshold"] == 0.7
    assert "F1 on train" not in said.err


def test_an_automem_that_does_not_answer_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AUTOMEM_API_URL", "http://127.0.0.1:9")

    with pytest.raises(SystemExit, match=r"127\.0\.0\.1:9.*start it .* --address") as ended:
        program.main(["--system", "automem", "--only", "recall"])

    assert ended.value.code not in (0, None)


def test_an_automem_that_wants_a_token_or_lacks_qdrant_says_so(
    server: AutoMemStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--system", "automem", "--address", server.address, "--only", "recall"]
    server.qdrant = "disconnected"
    with pytest.raises(SystemExit, match="runs without Qdrant"):
        program.main(words)

    monkeypatch.delenv("AUTOMEM_API_TOKEN")
    with pytest.raises(SystemExit, match="set AUTOMEM_API_TOKEN"):
        program.main(words)


@pytest.mark.parametrize(
    "words",
    [
        ["--system", "ormah", "--fit"],
        ["--threshold", "0.4"],
        ["--system", "cosine", "--address", "http://127.0.0.1:9"],
        ["--system", "automem", "--only", "pairs"],
    ],
)
def test_what_does_not_go_together_is_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(words)

    assert ended.value.code == 2


def test_an_address_without_a_scheme_is_refused() -> None:
    with pytest.raises(SystemExit, match="is no address"):
        program.main(["--system", "automem", "--address", "127.0.0.1:8001"])
