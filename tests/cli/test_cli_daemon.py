"""With a daemon on the home, commands go through it; the same words, the same answers."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from madeleine.cli.tour import EXAMPLE_DRAFTS
from tests.cli.running import MODULE, Cli
from tests.server.running import running

HEAVY = ("numpy", "onnxruntime", "tokenizers", "apsw", "starlette", "pydantic", "uvicorn", "yaml")


@pytest.fixture
def served(cli: Cli) -> Iterator[Cli]:
    with running(cli.home):
        yield cli


def test_serve_says_where_it_listens_and_status_agrees(cli: Cli) -> None:
    address = cli.process("serve", "--port", "0", "--json").answer

    try:
        assert cli.ok("status")["daemon"]["port"] == address["port"]
        assert f"daemon on 127.0.0.1:{address['port']}" in cli("status").out
    finally:
        assert cli.ok("stop")["stopped"] is True


def test_stop_waits_until_the_home_is_free(served: Cli) -> None:
    assert served("stop").out == "stopped\n"
    assert served.ok("status")["daemon"] is None


def test_ui_starts_a_daemon_and_gives_a_link_that_opens_the_page_once(cli: Cli) -> None:
    ran = cli.process("ui", "--no-open", MADELEINE_SERVER_PORT="0")

    try:
        assert ran.code == 0, ran.err
        assert "open this link within a minute" in ran.out
        link = ran.out.split()[-1]
        with urlopen(link) as answer:
            assert answer.url.partition("#")[0].endswith("/ui/")
        with pytest.raises(HTTPError, match="403"):
            urlopen(link)
    finally:
        cli("stop")


def test_ui_goes_to_the_daemon_that_runs(served: Cli) -> None:
    answer = served.ok("ui")

    assert answer["opened"] is False
    assert f":{served.ok('status')['daemon']['port']}/ui/enter?code=" in answer["url"]


def test_a_second_daemon_on_the_same_home_is_refused(served: Cli) -> None:
    ran = served.process("serve", "--port", "0")

    assert ran.code == 5
    assert f"{served.home} is open in" in ran.err
    assert "madeleine stop" in ran.err
    assert served.ok("status")["daemon"] is not None


def test_a_port_that_is_taken_is_told(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = cli.process("serve", "--port", str(taken.getsockname()[1]))

    assert ran.code == 5
    assert "error: " in ran.err
    assert "hint: " in ran.err


@pytest.mark.parametrize("port", ["70000", "-1", "http"])
def test_a_port_that_is_none_is_rejected(cli: Cli, port: str) -> None:
    assert cli("serve", f"--port={port}").code == 2


def test_the_foreground_daemon_ends_with_stop(cli: Cli) -> None:
    with subprocess.Popen(
        [*MODULE, "serve", "--foreground", "--port", "0"],
        stdout=subprocess.PIPE,
        env=cli.environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"listening on http://127.0.0.1:")
        assert cli("stop").code == 0

    assert process.returncode == 0


def test_the_daemon_answers_as_the_home_itself_does(served: Cli) -> None:
    memory = served.remember("Tides turn", "--space", "atlas", "--tag", "sea", "--tag", "moon")
    words = [
        ("show", memory),
        ("list", "--space", "atlas", "--tag", "moon", "--limit", "3"),
        ("recall", "tides turn", "--type", "fact"),
        ("history", memory, "--limit", "1"),
        ("proposals",),
        ("list", "--trash"),
    ]
    through = [served.ok(*each) for each in words]
    served.ok("stop")

    assert [_still(served.ok(*each)) for each in words] == [_still(each) for each in through]


MOVING = (
    "access_count",
    "last_accessed",
    "last_review",
    "importance",
    "stability",
    "events",
    "text",
)


def _still(value: object) -> object:
    """Return an answer without what reading itself changes: the counters of use."""
    if isinstance(value, dict):
        return {key: _still(each) for key, each in value.items() if key not in MOVING}
    return [_still(each) for each in value] if isinstance(value, list) else value


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("remember", " "), 2),
        (("remember", "x", "--type", "thought"), 2),
        (("show", "ffff"), 3),
        (("show", "../../admin/stop"), 3),
        (("undo", "123456"), 3),
        (("list", "--after", "soon"), 2),
    ],
)
def test_refusals_come_through_with_code_and_hint(
    served: Cli, words: tuple[str, ...], code: int
) -> None:
    ran = served(*words)

    assert ran.code == code
    assert ran.err.startswith("error: ")
    assert "hint: " in ran.err


def test_rebuild_and_reconcile_go_through_the_daemon(served: Cli) -> None:
    served.remember("Tides turn")

    assert served("rebuild").out.startswith("1 file: 1 indexed in ")
    assert served("reconcile").out == "1 file: 0 written, 0 dropped, 1 unchanged\n"


def test_jsonl_goes_through_the_daemon(served: Cli) -> None:
    data = b"".join(json.dumps({"content": f"number {n}"}).encode() + b"\n" for n in range(300))

    assert served("remember", "--jsonl", "-", stdin=data).err.startswith("300 remembered")


# -- light ---------------------------------------------------------------------------------


def _imported(cli: Cli, *words: str) -> set[str]:
    """Return the modules that a command has imported when it ends."""
    code = (
        "import sys; from madeleine.cli.main import main; code = main(sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        check=True,
        env=cli.environment(),
    )
    return set(done.stderr.decode().split())


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("recall", "--help")])
def test_help_imports_nothing_heavy(cli: Cli, words: tuple[str, ...]) -> None:
    assert _imported(cli, *words).isdisjoint(HEAVY)


def test_the_help_of_all_imports_no_command() -> None:
    modules = _imported(Cli(Path("unused")), "--help")

    assert not [name for name in modules if name.startswith("madeleine.cli.commands")]
    assert modules.isdisjoint({"argparse", "json", "http.client", "dataclasses", "inspect"})


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "words",
    [("recall", "tides"), ("remember", "tides"), ("list",), ("status",), ("stop",)],
)
def test_commands_through_a_daemon_import_nothing_heavy(
    served: Cli, words: tuple[str, ...]
) -> None:
    assert _imported(served, *words).isdisjoint(HEAVY)


# -- the tour ------------------------------------------------------------------------------


def _tour(cli: Cli, port: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "madeleine.cli.tour", "--home", str(cli.home), "--port", str(port)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=cli.environment(),
    )


@pytest.mark.soak
def test_the_tour_can_be_taken_twice(cli: Cli) -> None:
    try:
        first, second = _tour(cli, 0), _tour(cli, 0)

        assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
        assert f"remembered {len(EXAMPLE_DRAFTS)} examples" in first.stdout
        assert "examples" not in second.stdout
        assert "$ madeleine recall" in first.stdout
        assert "What an agent is whispered" in first.stdout
        assert "make stop" in second.stdout
        assert f'MADELEINE_HOME="{cli.home}"' in second.stdout, "as a shell finds it"
    finally:
        cli("stop")


def test_the_tour_says_how_to_choose_another_port(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = _tour(cli, port)

    assert ran.returncode == 5
    assert f"port {port} is taken by another program" in ran.stderr
    assert f"make start PORT={port + 1}" in ran.stderr
    assert not cli.home.exists()


def test_the_spaces_of_a_home_are_listed_with_and_without_a_daemon(cli: Cli) -> None:
    cli.remember("The tiles are cut at zoom nine", "--space", "atlas")
    alone = cli.ok("space", "list")

    with running(cli.home):
        served = cli.ok("space", "list")

    assert alone == served
    assert served["own"] == {"atlas": 1}


def test_an_alias_holds_at_once_beside_a_daemon(served: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "letters-of-ada"
    folder.mkdir()
    before = served.ok("space", "which", str(folder))["space"]

    added = served.ok("space", "alias", str(folder), "letters")

    assert before is None
    assert added["notes"] == []
    assert served.ok("space", "which", str(folder))["space"] == "letters"
