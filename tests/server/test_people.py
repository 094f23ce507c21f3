"""Several people on one server: whose memory is whose, what is shared, and what a token may do."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from madeleine import Madeleine
from madeleine.api.operations import OPERATION_BY_NAME
from madeleine.errors import NoPeople
from madeleine.server.caller_resolver import CACHE_SECONDS
from tests import postgres
from tests.database.test_walls import connected, tables
from tests.server.running import eventually, running
from tests.server.team import Client, Team, make_home
from tests.server.team import team as running_team
from tests.server.test_events import listening
from tests.server.test_page import enter, raw


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with running_team(tmp_path_factory.mktemp("team") / "home", "people") as started:
        yield started


@pytest.fixture(scope="module")
def ada(team: Team) -> Client:
    return team.person("ada")


@pytest.fixture(scope="module")
def ben(team: Team) -> Client:
    return team.person("ben")


def test_each_person_finds_their_own_and_nobody_elses(ada: Client, ben: Client) -> None:
    ada.remember("The kettle of Ada is copper")
    ben.remember("The kettle of Ben is steel")

    assert ada.recall("which kettle") == ["The kettle of Ada is copper"]
    assert ben.recall("which kettle") == ["The kettle of Ben is steel"]


def test_who_sits_at_the_server_has_a_memory_of_their_own(team: Team, ada: Client) -> None:
    ada.remember("Ada parks the heron in the garage")

    assert team.admin.recall("where is the heron") == []
    assert team.daemon.door.call("recall", body={"query": "where is the heron"})["results"] == []


def test_a_folder_that_a_caller_elsewhere_names_is_not_looked_at_here(
    ada: Client, tmp_path: Path
) -> None:
    """The name of a folder says as much as a word would; what lies in one is the server's."""
    lies_here = tmp_path / "anywhere"
    lies_here.mkdir()
    (lies_here / ".madeleine.toml").write_text('space = "plotter"', encoding="utf-8")
    said = ada.remember("The plotter draws coastlines in red", space="plotter")

    def told(folder: str) -> list[str]:
        asked = {"prompt": "what does the plotter draw in red?", "cwd": folder}
        return [each["node_id"] for each in ada.ok("POST", "/agent/whisper", asked)["injected"]]

    assert told(str(lies_here)) == []
    assert told("/home/ada/work/plotter") == [said]
    assert ada.ok("GET", "/agent/brief", cwd=str(lies_here))["items"] == []


def test_a_shared_space_is_written_and_read_by_its_members(
    team: Team, ada: Client, ben: Client
) -> None:
    cleo = team.person("cleo")
    team.share("atlas", "ada")
    team.share("atlas", "ben", "reader")

    node = ada.remember("Atlas ships on a Thursday", space="atlas")

    assert ben.recall("when does Atlas ship")[0] == "Atlas ships on a Thursday"
    assert ben.recall("when does Atlas ship", spaces=["atlas"]) == ["Atlas ships on a Thursday"]
    assert ben.recall("when does Atlas ship", spaces=["other"]) == []
    assert cleo.recall("when does Atlas ship") == []
    shown = ben.ok("GET", f"/agent/recall/{node}")["memory"]
    assert (shown["space"], shown["source"]) == ("atlas", "person:ada")
    assert [each["id"] for each in ben.ok("GET", "/agent/list", spaces="atlas")["memories"]] == [
        node
    ]
    assert ada.ok("GET", "/agent/spaces")["spaces"] == [
        {"name": "atlas", "role": "writer", "members": {"ada": "writer", "ben": "reader"}}
    ]


def test_answers_from_own_and_shared_memory_are_joined_by_score(team: Team, ada: Client) -> None:
    team.share("joined", "ada")
    for place in range(3):
        ada.remember(f"The quince tart number {place} is mine", space=None)
        ada.remember(f"The quince tart number {place} is ours", space="joined")

    results = ada.ok("POST", "/agent/recall", {"query": "quince tart", "limit": 4})["results"]

    scores = [each["score"] for each in results]
    assert scores == sorted(scores, reverse=True)
    assert {each["memory"]["space"] for each in results} == {None, "joined"}
    assert len(results) == 4


def test_a_reader_of_a_space_changes_nothing_there(team: Team, ada: Client, ben: Client) -> None:
    team.share("library", "ada")
    team.share("library", "ben", "reader")
    node = ada.remember("The library opens at nine", space="library")

    refused = [
        ben.status("POST", "/agent/remember", {"content": "No, at ten", "space": "library"}),
        ben.status("POST", f"/agent/update/{node}", {"content": "at ten"}),
        ben.status("POST", f"/agent/outdated/{node}", {}),
        ben.status("DELETE", f"/agent/recall/{node}"),
        ben.status("POST", "/agent/feedback", {"node_id": node, "signal": 1}),
    ]

    assert refused == [403] * 5
    assert ada.recall("when does the library open")[0] == "The library opens at nine"


def test_a_shared_space_in_another_spelling_is_told_to_be_ones_own(
    team: Team, ada: Client, ben: Client
) -> None:
    """Otherwise a member believes that all others can read it."""
    for name in ("ada", "ben"):
        team.share("harbour", name)
    draft = {"content": "The crane at the harbour is yellow", "space": "Harbour"}

    answer = ada.ok("POST", "/agent/remember", draft)
    batch = ada.ok("POST", "/agent/remember/batch", {"items": [{**draft, "content": "A pier"}]})
    about = ada.ok("POST", "/agent/remember", {**draft, "content": "Tall", "about_self": True})
    right = ada.ok("POST", "/agent/remember", {"content": "A buoy", "space": "harbour"})
    other = ada.ok("POST", "/agent/remember", {"content": "A mast", "space": "harbours"})

    note = "the space you share is called `harbour`; `Harbour` is one of your own"
    assert answer["notes"][-1] == note
    parts = {"kind": "nearly_shared", "space": "Harbour", "shared": "harbour"}
    assert answer["notes_parts"][-1] == parts
    assert len(answer["notes_parts"]) == len(answer["notes"])
    assert note in answer["text"]
    assert note in batch["text"]
    assert not any(note in each["notes"] for each in (about, right, other))
    assert ben.recall("the crane at the harbour", spaces=["Harbour"]) == []


def test_what_describes_a_person_stays_with_them(team: Team, ada: Client, ben: Client) -> None:
    team.share("salon", "ada")
    team.share("salon", "ben")

    ada.remember("Ada is afraid of moths", space="salon", about_self=True)

    assert ada.recall("what is Ada afraid of")[0] == "Ada is afraid of moths"
    assert "Ada is afraid of moths" not in ben.recall("what is Ada afraid of")


def test_a_token_may_do_what_its_role_says(team: Team, ada: Client) -> None:
    reader, writer = team.client("ada", "reader"), team.client("ada", "writer")
    draft = {"content": "Readers do not write"}

    assert reader.status("POST", "/agent/remember", draft) == 403
    assert reader.status("POST", "/agent/recall", {"query": "kettle"}) == 200
    assert writer.status("POST", "/agent/remember", draft) == 200
    for path in ("/admin/export", "/consolidate/status"):
        assert writer.status("GET", path) == 403
        assert ada.status("GET", path) == 200
    assert writer.status("POST", "/admin/rebuild") == 403
    assert writer.status("DELETE", "/admin/tokens/ada's") == 403


@pytest.mark.parametrize("role", ["reader", "writer"])
def test_any_client_may_sign_a_browser_in_which_then_may_no_more_than_it(
    team: Team, ada: Client, role: str
) -> None:
    shown = enter(team.daemon, team.client("ada", role).token)

    status = team.daemon.ask("GET", "/admin/status", token=None, headers=shown)

    assert OPERATION_BY_NAME["page_link"].role == "reader"
    assert status.body["role"] == role


def test_only_an_admin_tends_people_and_the_server(team: Team, ada: Client) -> None:
    asked = [
        ada.status("GET", "/admin/people"),
        ada.status("POST", "/admin/people", {"name": "eve"}),
        ada.status("DELETE", "/admin/people/ben"),
        ada.status("POST", "/admin/tokens", {"name": "more", "person": "ben"}),
        ada.status("POST", "/admin/spaces", {"name": "new", "person": "ada"}),
        ada.status("POST", "/admin/stop"),
        ada.status("POST", "/admin/backup", {}),
        ada.status("GET", "/admin/backup"),
    ]

    assert asked == [403, 403, 403, 403, 404, 403, 403, 403]


def test_a_revoked_token_opens_nothing(team: Team) -> None:
    dora = team.person("dora")
    made = team.client("dora")
    (first, second) = team.admin.ok("GET", "/admin/tokens", person="dora")["tokens"]
    assert dora.status("GET", "/agent/list") == 200

    dora.ok("DELETE", f"/admin/tokens/{second['id'][:8]}")

    assert made.status("GET", "/agent/list") == 401
    assert dora.status("GET", "/agent/list") == 200
    team.admin.ok("DELETE", f"/admin/tokens/{first['id']}")
    assert dora.status("GET", "/agent/list") == 401


def test_a_token_is_told_once_and_kept_as_a_hash(team: Team) -> None:
    body = {"name": "phone", "person": None, "role": "reader"}

    made = team.admin.ok("POST", "/admin/tokens", body)

    told = team.admin.ok("GET", "/admin/tokens")
    assert made["token"] not in str(told)
    assert made["id"] in {each["id"] for each in told["tokens"]}
    assert len(made["token"]) >= 43  # 256 bits


def test_who_is_removed_is_let_in_no_more_and_finds_all_again(team: Team) -> None:
    finn = team.person("finn")
    finn.remember("Finn keeps bees")
    team.admin.ok("DELETE", "/admin/people/finn")
    assert finn.status("GET", "/agent/list") == 401

    refused = team.admin.ask("POST", "/admin/people", {"name": "finn"})
    added = team.admin.ok("POST", "/admin/people", {"name": "finn", "keep": True})

    assert (refused.status, added["kept"]) == (409, 1)
    assert added["text"] == "Added finn, with 1 memory kept under that name"
    assert team.client("finn").recall("who keeps bees") == ["Finn keeps bees"]


def test_what_was_kept_of_somebody_is_erased_later(team: Team) -> None:
    team.person("hugo").remember("Hugo keeps hornets")
    team.admin.ok("DELETE", "/admin/people/hugo")
    hint = team.admin.ask("POST", "/admin/people", {"name": "hugo"}).body["error"]["hint"]

    team.admin.ok("DELETE", "/admin/people/hugo", erase="true")

    assert "`madeleine person add hugo --keep`" in hint
    assert "`madeleine person remove hugo --erase`" in hint
    assert team.person("hugo").ok("GET", "/agent/list")["total"] == 0


def test_nothing_is_erased_under_a_name_that_is_no_persons(team: Team) -> None:
    """What is kept is found by the name of its tenant: the server's own has one, and a space."""
    team.share("annex", "home")
    team.admin.remember("The annex has a skylight", space="annex")
    own = team.admin.ok("GET", "/agent/list")["total"]

    asked = [
        team.admin.status("DELETE", f"/admin/people/{name}", erase="true")
        for name in ("home", "space:annex", "never-there")
    ]

    assert asked == [404, 422, 404]
    assert team.admin.ok("GET", "/agent/list")["total"] == own
    assert team.admin.recall("what has the annex")[0] == "The annex has a skylight"
    leaving = {"name": "never-there", "erase": True}
    assert team.admin.status("POST", "/admin/spaces/leave", leaving) == 404


def test_what_was_kept_of_a_space_goes_to_nobody_unasked(team: Team, ada: Client) -> None:
    lena = team.person("lena")
    team.share("mill", "ada")
    ada.remember("The mill grinds rye", space="mill")
    team.admin.ok("POST", "/admin/spaces/leave", {"name": "mill"})
    body = {"name": "mill", "person": "lena"}

    refused = team.admin.ask("POST", "/admin/spaces", body)
    found = lena.recall("what does the mill grind")
    kept = team.admin.ok("POST", "/admin/spaces", {**body, "keep": True})
    further = team.admin.ok("POST", "/admin/spaces", {"name": "mill", "person": "ada"})

    assert (refused.status, found) == (409, [])
    assert refused.body["error"]["message"] == "memories are kept under the name `mill`: 1"
    assert (kept["kept"], further["kept"]) == (1, 0)
    assert lena.recall("what does the mill grind") == ["The mill grinds rye"]
    for _ in range(2):  # the second has nothing to take from anybody
        team.admin.ok("POST", "/admin/spaces/leave", {"name": "mill", "erase": True})
    team.share("mill", "lena")
    assert lena.recall("what does the mill grind") == []


def test_what_is_erased_is_gone(team: Team) -> None:
    gus = team.person("gus")
    gus.remember("Gus keeps wasps")

    team.admin.ok("DELETE", "/admin/people/gus", erase="true")

    again = team.person("gus")
    assert again.recall("who keeps wasps") == []
    assert again.ok("GET", "/agent/list")["total"] == 0


def test_a_person_is_not_told_about_the_server(ada: Client, team: Team) -> None:
    status = ada.ok("GET", "/admin/status")

    assert (status["person"], status["role"]) == ("ada", "owner")
    assert (status["home"], status["daemon"], status["pid"]) == (None, None, None)
    assert str(team.daemon.home) not in str(status)
    told = team.admin.ok("GET", "/admin/status")
    assert told["daemon"]["port"]
    assert str(team.daemon.home) in told["reranker"]["why_not"]


def test_a_shared_memory_is_whispered_to_its_members(team: Team, ada: Client, ben: Client) -> None:
    team.share("harbour", "ada")
    team.share("harbour", "ben", "reader")
    text = "The harbour pilot answers on radio channel twelve"
    ada.remember(text, space="harbour")
    prompt = {"prompt": "which radio channel does the harbour pilot answer on?"}

    inside = ben.ok("POST", "/agent/whisper", {**prompt, "space": "harbour"})
    outside = ben.ok("POST", "/agent/whisper", {**prompt, "space": "elsewhere"})

    assert text in inside["text"]
    assert text not in outside["text"]


def test_a_prompt_hook_over_the_network_is_told_of_ones_own_and_what_is_shared(
    team: Team, ada: Client, ben: Client
) -> None:
    team.share("orchard", "ada")
    team.share("orchard", "ben", "reader")
    own, shared = "The orchard of Ben is mulched with bark", "The orchard pump runs on diesel fuel"
    ben.remember(own)
    ada.remember(shared, space="orchard")

    about_own = [hooked(each, "what is the orchard of Ben mulched with?") for each in (ben, ada)]
    about_shared = [hooked(each, "which fuel runs the orchard pump?") for each in (ben, ada)]

    assert [own in each for each in about_own] == [True, False]
    assert [shared in each for each in about_shared] == [True, True]


def hooked(client: Client, prompt: str) -> str:
    """Return what a host gets to read that has us asked by its prompt hook."""
    connection = http.client.HTTPConnection("127.0.0.1", client.daemon.launched.port, timeout=20)
    shown = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json"}
    call = {
        "prompt": prompt,
        "session_id": "one and the same",
        "hook_event_name": "UserPromptSubmit",
    }
    connection.request("POST", "/hook/inject?host=claude", json.dumps(call), shown)
    response = connection.getresponse()
    assert response.status == 200
    told = response.read().decode()
    connection.close()
    return told


def test_members_hear_what_happens_in_their_space(team: Team, ada: Client, ben: Client) -> None:
    team.share("forum", "ada")
    team.share("forum", "ben", "reader")

    as_ben = copy(team.daemon)
    as_ben.token = ben.token
    with listening(as_ben) as heard:
        node = ada.remember("The forum opens on Friday", space="forum")
        assert heard.until("remembered")["node_id"] == node


def test_a_batch_goes_where_each_of_it_belongs(team: Team, ada: Client, ben: Client) -> None:
    team.share("ledger", "ada")
    team.share("ledger", "ben", "reader")
    items = [
        {"content": "A private line of the ledger"},
        {"content": "A common line of the ledger", "space": "ledger"},
        {"content": ""},
    ]

    told = [
        each.ok("POST", "/agent/remember/batch", {"items": items})["results"] for each in (ada, ben)
    ]

    assert ada.status("POST", "/agent/remember/batch", {}) == 422
    assert ada.status("POST", "/agent/remember/batch", {"items": "none"}) == 422
    assert ["error" in each for each in told[0]] == [False, False, True]
    assert ["error" in each for each in told[1]] == [False, True, True]
    shared = ben.ok("GET", "/agent/list", spaces="ledger")["memories"]
    assert [each["content"] for each in shared] == ["A common line of the ledger"]


def test_an_import_is_split_and_an_export_names_what_is_shared(
    team: Team, ada: Client, ben: Client
) -> None:
    team.share("archive", "ada")
    team.share("archive", "ben", "reader")
    items = [
        {"content": f"Sheet {n} of the archive", "space": "archive" if n % 2 else None}
        for n in range(6)
    ]

    brought = ada.ok("POST", "/admin/import", {"items": items})
    pages, after = [], ""
    while after is not None:
        query = {"spaces": "archive", "limit": 2, **({"after": after} if after else {})}
        page = ben.ok("GET", "/admin/export", **query)
        pages += page["items"]
        after = page["next"]

    assert brought["counts"]["written"] == 6
    assert len(ada.ok("POST", f"/agent/undo/{brought['run']}")["memories"]) == 6
    assert ben.ok("GET", "/agent/list", spaces="archive")["total"] == 0
    assert sorted(each["content"] for each in pages) == [
        f"Sheet {n} of the archive" for n in (1, 3, 5)
    ]
    own = ben.ok("GET", "/admin/export")["items"]
    assert not any("archive" in each["content"] for each in own)


def test_what_is_done_in_a_shared_space_can_be_undone_there(
    team: Team, ada: Client, ben: Client
) -> None:
    team.share("studio", "ada")
    team.share("studio", "ben")
    node = ada.remember("The studio is painted white", space="studio")

    done = ben.ok("POST", f"/agent/update/{node}", {"content": "The studio is painted blue"})
    seen = ada.ok("GET", f"/agent/history/{node}")["events"]
    ada.ok("POST", f"/agent/undo/{done['change']}")

    assert "person:ben" in {each["body"].get("by") for each in seen}
    shown = ben.ok("GET", f"/agent/recall/{node}")["memory"]["content"]
    assert shown == "The studio is painted white"
    ben.ok("DELETE", f"/agent/recall/{node}")
    assert node in {each["memory"]["id"] for each in ada.ok("GET", "/agent/trash")["memories"]}
    ada.ok("POST", f"/agent/restore/{node}")
    assert ada.status("POST", "/admin/purge", {"memories": [node]}) == 403


def test_an_owner_of_a_space_says_who_shares_it(team: Team, ada: Client, ben: Client) -> None:
    team.share("council", "ada", "owner")
    body = {"name": "council", "person": "ben", "role": "reader"}

    ada.ok("POST", "/admin/spaces", body)
    refused = ben.status("POST", "/admin/spaces", {**body, "role": "owner"})
    ben.ok("POST", "/admin/spaces/leave", {"name": "council", "person": "ben"})

    assert refused == 403
    assert "council" not in {each["name"] for each in ben.ok("GET", "/agent/spaces")["spaces"]}
    assert ada.status("POST", "/admin/spaces/leave", {"name": "council"}) == 403


def test_the_server_is_known_by_the_names_that_it_was_given(team: Team, ada: Client) -> None:
    def asked(**headers: str) -> int:
        return team.daemon.ask("GET", "/agent/list", token=ada.token, headers=headers).status

    assert asked(Host="memory.example.org") == 200
    assert asked(Host="memory.example.org", Origin="https://memory.example.org") == 200
    assert asked(Host="evil.example.org") == 403
    assert asked(Origin="https://evil.example.org") == 403


def test_nobody_is_let_in_on_trust(team: Team) -> None:
    """`trust_loopback` is set here: behind a proxy everybody comes from this machine."""
    assert team.daemon.ask("GET", "/agent/list", token=None).status == 401


@pytest.mark.parametrize("token", [None, "mad_unknown"])
def test_whoever_has_no_token_is_told_who_makes_one(team: Team, token: str | None) -> None:
    """A client over the network has no home folder of the server's to look into."""
    answer = team.daemon.ask("GET", "/agent/list", token=token)

    assert answer.status == 401
    assert "madeleine token create" in answer.error["hint"]
    assert "run/token" not in answer.error["hint"]
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.soak
def test_another_server_refuses_a_revoked_token_within_seconds(team: Team, tmp_path: Path) -> None:
    hana = team.person("hana")
    with running_team(tmp_path / "home", "people") as second:
        elsewhere = replace(hana, daemon=second.daemon)
        hana.remember("Hana writes here and reads there")
        assert elsewhere.recall("what does Hana do") == ["Hana writes here and reads there"]
        (made,) = team.admin.ok("GET", "/admin/tokens", person="hana")["tokens"]

        team.admin.ok("DELETE", f"/admin/tokens/{made['id']}")

        assert hana.status("GET", "/agent/list") == 401
        eventually(lambda: elsewhere.status("GET", "/agent/list") == 401, CACHE_SECONDS + 5)


def test_commands_tend_people_tokens_and_spaces(team: Team) -> None:
    def run(*words: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "madeleine", "--home", str(team.daemon.home), *words]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == code, done.stderr
        return done.stdout

    run("person", "add", "ida")
    token = run("token", "create", "ida's laptop", "--person", "ida", "--role", "reader").strip()
    run("space", "share", "quay", "--with", "ida", "--role", "owner")

    ida = Client(team.daemon, token)
    assert ida.ok("GET", "/admin/status")["role"] == "reader"
    assert "ida             quay (owner)" in run("person", "list")
    assert "quay: ida (owner)" in run("space", "list")
    listed = run("token", "list", "--person", "ida")
    assert "ida             reader  ida's laptop   used just now" in listed
    assert "Revoked" in run("token", "revoke", "ida's laptop")
    assert ida.status("GET", "/admin/status") == 401
    run("person", "add", "ida", code=4)
    run("token", "create", "x", "--person", "nobody", code=3)
    run("token", "revoke", "nothing", code=3)
    run("space", "leave", "quay", "--erase")
    run("person", "remove", "ida")
    run("person", "remove", "ida", "--erase")
    ola = "person", "add", "ola"
    run(*ola)
    team.client("ola").remember("Ola keeps ants")
    run("person", "remove", "ola")
    run(*ola, code=4)
    assert "Added ola, with 1 memory kept under that name" in run(*ola, "--keep")
    run("space", "share", "quay", "--with", "ola", "--keep")
    run("space", "leave", "quay")
    run("space", "leave", "quay", "--erase")


def test_the_database_keeps_no_token_and_shows_nothing_without_a_tenant(
    team: Team, ada: Client
) -> None:
    ada.remember("Something that only Ada knows")
    url = postgres.ordinary("people")

    with connected(url) as server, connected(url.replace("//people@", "//postgres@")) as superuser:
        for table, walled in tables(server):
            if walled:
                assert server.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
        kept = superuser.execute("SELECT t::text, octet_length(t.hash) FROM tokens t").fetchall()
        files = superuser.execute("SELECT count(*) FROM files").fetchone()

    assert all(length == 32 and "mad_" not in row for row, length in kept)
    assert kept
    assert files is not None
    assert files[0] > 0


@pytest.mark.soak
def test_without_a_server_a_command_reaches_the_same(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", "serverless")
    with Madeleine.open(home) as alone:
        door = alone._door
        door.call("add_person", body={"name": "jo"})
        door.call("share_space", body={"name": "shed", "person": "home"})
        door.call("share_space", body={"name": "shed", "person": "jo"})
        alone.remember("The shed key is under the pot", space="shed")
        alone.remember("My own key is elsewhere")

        found = alone.recall("where is the key")
        listed = door.call("people")["text"]

    assert {each.memory.space for each in found} == {"shed", None}
    assert listed == "1 person\n  jo"
    with running(home) as daemon:
        jo = Team(daemon).client("jo")
        assert jo.recall("where is the key") == ["The shed key is under the pot"]


def test_a_home_of_one_person_has_no_room_for_others(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[embedder]\nkind = "none"\n', encoding="utf-8")

    with Madeleine.open(tmp_path) as alone, pytest.raises(NoPeople):
        alone._door.call("people")


# -- the page --------------------------------------------------------------------------------

PROXY = "memory.example.org"


def test_a_link_to_the_page_opens_what_the_token_opens_that_asked_for_it(
    team: Team, ada: Client, ben: Client
) -> None:
    ada.remember("The lantern of Ada is green")
    ben.remember("The lantern of Ben is blue")

    shown = enter(team.daemon, ada.token)
    found = team.daemon.ask(
        "POST", "/agent/recall", {"query": "which lantern"}, token=None, headers=shown
    )
    told = [each["memory"]["content"] for each in found.body["results"]]
    people = team.daemon.ask("GET", "/admin/people", token=None, headers=shown)

    assert told[0] == "The lantern of Ada is green"
    assert "The lantern of Ben is blue" not in told
    assert people.status == 403


def test_a_reader_at_the_page_only_reads(team: Team) -> None:
    doris = team.person("doris", "reader")

    shown = enter(team.daemon, doris.token)
    draft = {"content": "A reader writes"}
    refused = team.daemon.ask("POST", "/agent/remember", draft, token=None, headers=shown)

    assert refused.status == 403
    assert team.daemon.ask("GET", "/agent/list", token=None, headers=shown).status == 200


def test_a_browser_is_signed_out_when_its_token_is_revoked(team: Team) -> None:
    ella = team.person("ella")
    shown = enter(team.daemon, ella.token)
    assert team.daemon.ask("GET", "/agent/list", token=None, headers=shown).status == 200

    team.admin.ok("DELETE", "/admin/tokens/ella's")

    assert team.daemon.ask("GET", "/agent/list", token=None, headers=shown).status == 401


def test_who_sits_at_the_server_sees_the_server_at_the_page(team: Team) -> None:
    shown = enter(team.daemon, team.daemon.token)

    assert team.daemon.ask("GET", "/admin/people", token=None, headers=shown).status == 200


def test_a_link_asked_for_through_a_proxy_leads_through_it(team: Team, ada: Client) -> None:
    answer = team.daemon.ask("POST", "/ui/link", token=ada.token, headers={"Host": PROXY})
    link = urlsplit(answer.body["url"])
    entered = raw(team.daemon, "GET", f"{link.path}?{link.query}", {"Host": PROXY})

    assert (link.scheme, link.netloc) == ("https", PROXY)
    assert "secure" in entered.headers["set-cookie"].lower()


def test_the_page_shows_what_is_shared_beside_ones_own(team: Team, ada: Client) -> None:
    fay = team.person("fay")
    for name in ("ada", "fay"):
        team.share("observatory", name)
    own = fay.remember("The telescope at home is small", tags=["lens"])
    node = ada.remember("The telescope of the observatory is huge", space="observatory")

    asked = "/ui/data"
    found = fay.ok("GET", f"{asked}/search", query="how big is the telescope")["memories"]
    listed = fay.ok("GET", f"{asked}/list")
    narrowed = fay.ok("GET", f"{asked}/list", spaces="observatory")
    facets = fay.ok("GET", f"{asked}/facets")
    opened = fay.ok("GET", f"{asked}/memory/{node}")["memory"]

    assert {each["id"] for each in found} == {own, node}
    assert [each["id"] for each in listed["memories"]] == [node, own]
    assert listed["total"] == 2
    assert [each["id"] for each in narrowed["memories"]] == [node]
    assert (facets["memories"], facets["spaces"]["observatory"]) == (2, 1)
    assert facets["tags"] == {"lens": 1}
    assert opened["content"] == "The telescope of the observatory is huge"
    assert fay.status("GET", f"{asked}/memory/{node}/similar") == 200
