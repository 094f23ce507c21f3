"""Clients of AutoMem: its eleven black-box tests as the reference describes them, the requests of
its MCP bridge, and what these routes promise beyond."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from madeleine import Madeleine
from madeleine.cli.main import main
from madeleine.ingest.importing.automem_server import ForeignServerDown
from madeleine.ingest.importing.automem_words import (
    AUTHORABLE,
    RELATIONS,
    TYPE_NAMES,
    TYPES,
    name_relation,
)
from madeleine.ingest.importing.formats import read_server
from madeleine.ingest.importing.importer import MemoryImport
from madeleine.ingest.importing.values import ForeignServer, ImportItem
from madeleine.ingest.importing.words import map_type
from madeleine.model.words import MemoryType
from madeleine.server.automem.routes import AUTOMEM_ROUTES
from tests.server.running import Answer, Daemon, running, send

ADMIN = "test-admin-token"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    home = tmp_path_factory.mktemp("automem") / "home"
    home.mkdir()
    config = f'[server]\nadmin_token = "{ADMIN}"\n[sleep]\nenabled = false\n'
    config += "[consolidation]\nenabled = false\n[backup]\nenabled = false\n"
    (home / "config.toml").write_text(config, encoding="utf-8")
    with running(home) as started:
        yield started


def ask(daemon: Daemon, method: str, path: str, body: object = None, **query: Any) -> Answer:
    """Ask as AutoMem's clients do: with a bearer token and as JSON, whatever is asked."""
    headers = {"Content-Type": "application/json"}
    return daemon.ask(method, path, body, headers=headers, **query)


def store(daemon: Daemon, content: str, **more: object) -> str:
    answer = ask(daemon, "POST", "/memory", {"content": content, **more})
    assert answer.status == 201, answer.body
    return str(answer.body["memory_id"])


def results(daemon: Daemon, **query: Any) -> dict[str, Any]:
    answer = ask(daemon, "GET", "/recall", **query)
    assert answer.status == 200, answer.body
    return {each["id"]: each for each in answer.body["results"]}


def unique(word: str) -> str:
    return f"{word} {uuid.uuid4()}"


# -- the eleven ----------------------------------------------------------------------------


def test_health_check(daemon: Daemon) -> None:
    answer = ask(daemon, "GET", "/health")

    assert answer.status == 200
    assert answer.body["status"] in ("healthy", "degraded")
    assert answer.body["timestamp"]
    assert (answer.body["falkordb"], answer.body["qdrant"]) == ("connected", "connected")


@pytest.mark.parametrize("importance", [0.7, 0.65])
def test_store_then_recall(daemon: Daemon, importance: float) -> None:
    content, tag = unique("Live integration test memory"), f"smoke_{uuid.uuid4().hex}"
    made = store(daemon, content, tags=["test", "integration", "smoke", tag], importance=importance)

    found = results(daemon, query=content, tags=tag, limit=50)

    assert found[made]["memory"]["content"] == content
    assert found[made]["memory"]["importance"] == importance
    assert ask(daemon, "DELETE", f"/memory/{made}").status == 200


def test_memory_lifecycle(daemon: Daemon) -> None:
    content, tag = unique("Lifecycle memory"), f"life_{uuid.uuid4().hex}"
    made = store(daemon, content, tags=["test", tag], importance=0.8, metadata={"test_id": tag})
    assert "test" in results(daemon, query=content, tags=tag)[made]["memory"]["tags"]

    told = unique("Updated lifecycle memory")
    changed = ask(daemon, "PATCH", f"/memory/{made}", {"content": told, "importance": 0.9})
    assert (changed.status, changed.body["status"]) == (200, "success")
    found = results(daemon, query=told, tags=tag, limit=50)[made]["memory"]
    assert (found["content"], found["importance"]) == (told, 0.9)
    assert found["metadata"] == {"test_id": tag}

    deleted = ask(daemon, "DELETE", f"/memory/{made}")
    assert (deleted.status, deleted.body["status"]) == (200, "success")
    assert made not in results(daemon, query=told, limit=5)


def test_association(daemon: Daemon) -> None:
    one, other = (store(daemon, unique("Associated")) for _ in range(2))
    body = {"memory1_id": one, "memory2_id": other, "type": "RELATES_TO", "strength": 0.8}

    answer = ask(daemon, "POST", "/associate", body)

    assert answer.status == 201
    assert (answer.body["relation_type"], answer.body["strength"]) == ("RELATES_TO", 0.8)


def test_tag_filtering(daemon: Daemon) -> None:
    tag = f"test_tag_{uuid.uuid4().hex[:8]}"
    for number in range(3):
        store(daemon, f"Tagged memory {number} {tag}", tags=[tag, f"number_{number}"])

    answer = ask(daemon, "GET", "/memory/by-tag", tags=tag, limit=10)

    assert (answer.status, answer.body["status"]) == (200, "success")
    assert len(answer.body["memories"]) == 3
    assert all(tag in each["tags"] for each in answer.body["memories"])


def test_tag_pagination_and_bulk_delete(daemon: Daemon) -> None:
    tag = f"pages_{uuid.uuid4().hex[:8]}"
    made = [store(daemon, f"Page {number} {tag}", tags=[tag]) for number in range(5)]
    seen: list[str] = []
    more, offset = True, 0
    while more:
        page = ask(daemon, "GET", "/memory/by-tag", tags=tag, limit=2, offset=offset).body
        assert (page["limit"], page["offset"]) == (2, offset)
        seen += [each["id"] for each in page["memories"]]
        more, offset = page["has_more"], offset + 2
    assert sorted(seen) == sorted(made)

    deleted = ask(daemon, "DELETE", "/memory/by-tag", tags=tag)
    assert (deleted.status, deleted.body["deleted_count"]) == (200, 5)
    page = ask(daemon, "GET", "/memory/by-tag", tags=tag).body
    assert (page["count"], page["has_more"]) == (0, False)
    assert not results(daemon, tags=tag).keys() & set(made)


def test_time_range_recall(daemon: Daemon) -> None:
    now = datetime.now(UTC)
    made = store(daemon, unique("In time"), timestamp=now.isoformat())
    around = [(now + timedelta(hours=each)).isoformat() for each in (-1, 1)]

    assert made in results(daemon, start=around[0], end=around[1], limit=10)


def test_embedding_handling(daemon: Daemon) -> None:
    assert store(daemon, unique("With a vector"), embedding=[0.1] * 768)


def test_admin_reembed(daemon: Daemon) -> None:
    store(daemon, unique("To be embedded"))
    body = {"limit": 1, "batch_size": 1}

    answer = daemon.ask("POST", "/admin/reembed", body, headers={"X-Admin-Token": ADMIN})

    assert answer.status == 200
    assert answer.body["status"] == "complete"


def test_error_handling(daemon: Daemon) -> None:
    made = store(daemon, unique("Alone"))
    itself = {"memory1_id": made, "memory2_id": made, "type": "RELATES_TO", "strength": 0.5}

    missing = ask(daemon, "DELETE", f"/memory/{uuid.uuid4()}")
    empty = ask(daemon, "POST", "/memory", {"tags": ["test"]})
    alone = ask(daemon, "POST", "/associate", itself)

    for answer, status, words in (
        (missing, 404, "Memory not found"),
        (empty, 400, "'content' is required"),
        (alone, 400, "Cannot associate a memory with itself"),
    ):
        assert answer.status == answer.body["code"] == status
        assert (answer.body["status"], answer.body["message"]) == ("error", words)


# -- who may ask ---------------------------------------------------------------------------


def bare(daemon: Daemon, path: str, method: str = "GET", **headers: str) -> Answer:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return send("127.0.0.1", daemon.launched.port, method, path, None, given)


def test_a_token_is_shown_in_any_of_three_ways_and_the_first_counts(daemon: Daemon) -> None:
    right = daemon.token

    assert bare(daemon, "/recall?limit=1", X_API_Key=right).status == 200
    assert bare(daemon, f"/recall?limit=1&api_key={right}").status == 200
    assert bare(daemon, "/recall?limit=1", Authorization="Basic x", X_API_Key=right).status == 200
    wrong = bare(daemon, "/recall?limit=1", Authorization="Bearer no", X_API_Key=right)
    assert (wrong.status, wrong.body["message"]) == (401, "Unauthorized")
    assert bare(daemon, "/agent/list", X_API_Key=right).status == 401  # which is ours


def test_every_route_but_health_wants_a_token(daemon: Daemon) -> None:
    for route in AUTOMEM_ROUTES:
        answer = bare(daemon, route.path.replace("{id}", str(uuid.uuid4())), route.method)
        assert answer.status == (200 if route.open else 401), route
    told = bare(daemon, "/health").body
    assert (told["memory_count"], told["status"]) == (None, "healthy")
    assert bare(daemon, "/health", Authorization="Bearer no").body["memory_count"] is None
    assert isinstance(ask(daemon, "GET", "/health").body["memory_count"], int)


@pytest.mark.parametrize("path", ["/admin/reembed", "/admin/sync", "/enrichment/reprocess"])
def test_administration_wants_the_admin_token(daemon: Daemon, path: str) -> None:
    refused = ask(daemon, "POST", path, {"ids": ["a"]})

    assert (refused.status, refused.body["message"]) == (401, "Admin authorization required")
    for headers in ({"X-Admin-Token": ADMIN}, {"X-Admin-Api-Key": ADMIN}):
        assert daemon.ask("POST", path, {"ids": ["a"]}, headers=headers).status in (200, 202)
    assert daemon.ask("POST", path, {"ids": ["a"]}, admin_token=ADMIN).status in (200, 202)


def test_what_is_wrong_is_said_in_automems_envelope(daemon: Daemon) -> None:
    for method, path, body, status in (
        ("GET", "/memory/nonsense", None, 400),
        ("GET", f"/memory/{uuid.uuid4()}", None, 404),
        ("PATCH", f"/memory/{uuid.uuid4()}", {}, 404),
        ("PUT", "/recall", None, 405),
        ("POST", "/memory/batch", {"memories": []}, 400),
        ("POST", "/memory", {"content": "x", "importance": 7}, 400),
        ("POST", "/memory", {"content": "x", "tags": {"a": 1}}, 400),
        ("POST", "/memory", {"content": "x", "metadata": "a"}, 400),
        ("POST", "/memory", {"content": "x", "timestamp": "noon"}, 400),
        ("POST", "/memory", {"content": "x", "embedding": ["a"]}, 400),
        ("POST", "/memory", {"content": 7}, 400),
        ("GET", "/memory/by-tag", None, 400),
        ("GET", "/recall?state_mode=x", None, 400),
        ("GET", "/recall?start=x", None, 400),
        ("POST", "/associate", {"memory1_id": "a"}, 400),
    ):
        answer = ask(daemon, method, path, body)
        assert answer.status == status, (path, answer.body)
        assert answer.body["code"] == status
        assert answer.body["status"] == "error"
        assert answer.body["message"]


# -- words, both ways ----------------------------------------------------------------------


def test_each_of_the_seven_types_comes_back(daemon: Daemon) -> None:
    for sent in (*TYPES, "Banana", "context", "Memory"):
        made = store(daemon, unique(sent), type=sent)
        assert ask(daemon, "GET", f"/memory/{made}").body["memory"]["type"] == sent
    assert set(TYPE_NAMES) == set(MemoryType)
    assert all(MemoryType(map_type(name)) for name in TYPES)


def test_a_type_that_was_changed_elsewhere_is_told(daemon: Daemon) -> None:
    made = store(daemon, unique("Habitual"), type="Habit")
    daemon.ok("POST", f"/agent/update/{made}", {"type": "decision"})

    assert ask(daemon, "GET", f"/memory/{made}").body["memory"]["type"] == "Decision"


def test_each_of_the_relations_comes_back(daemon: Daemon) -> None:
    for name in AUTHORABLE:
        one, other = store(daemon, unique("one")), store(daemon, unique("other"))
        body = {"memory1_id": one, "memory2_id": other, "type": name.lower(), "strength": 0.7}
        assert ask(daemon, "POST", "/associate", body).body["relation_type"] == name

        told = ask(daemon, "GET", f"/graph/neighbors/{one}", include_semantic="false").body
        strengths = {each["id"]: each["strength"] for each in told["edges"]}
        assert strengths[f"{one}-{name}-{other}"] == 0.7
    for name, relation in RELATIONS.items():
        assert name_relation(relation.edge, relation.kind, None) == name


def test_tags_metadata_and_importance_come_back_as_they_were_sent(daemon: Daemon) -> None:
    tags = ["Project/Alpha", "Two Words", "Project/Alpha", "entity:tools:sqlite"]
    metadata = {"nested": {"list": [1, None]}, "automem": "not yours"}
    made = store(daemon, unique("Verbatim"), tags=tags, metadata=metadata, importance=0.123)

    memory = ask(daemon, "GET", f"/memory/{made}").body["memory"]

    assert memory["tags"] == tags
    assert memory["metadata"] == {"nested": {"list": [1, None]}}
    assert memory["importance"] == 0.123
    assert memory["tag_prefixes"][:2] == ["project", "project:alpha"]
    assert memory["timestamp"].endswith("+00:00")


def test_the_same_text_twice_is_two_memories_and_one_row(daemon: Daemon) -> None:
    content = unique("Said twice")
    made = {store(daemon, content), store(daemon, content)}

    answer = ask(daemon, "GET", "/recall", query=content).body

    assert len(made) == 2
    (row,) = [each for each in answer["results"] if each["id"] in made]
    assert set(row["deduped_from"]) == made
    assert answer["dedup_removed"] >= 1


# -- recall --------------------------------------------------------------------------------


def test_tags_of_a_recall_match_by_prefix_or_exactly_and_any_or_all(daemon: Daemon) -> None:
    own = uuid.uuid4().hex[:8]
    alpha = store(daemon, unique("Alpha"), tags=[f"{own}/alpha", "left"])
    beta = store(daemon, unique("Beta"), tags=[f"{own}:beta", "right"])

    def found(**query: Any) -> set[str]:
        return set(results(daemon, limit=50, **query))

    assert found(tags=own) == {alpha, beta}
    assert found(tags=f"{own}:alpha") == {alpha}
    assert found(tags=f"{own}/alpha") == {alpha}
    assert found(tags=own[:5]) == set()
    assert found(tags=own, tag_match="exact") == set()
    assert found(tags=[own, "left"], tag_mode="all") == {alpha}
    assert found(tags=own, exclude_tags="rig") == {alpha}
    assert ask(daemon, "GET", "/memory/by-tag", tags=f"{own},left").body["count"] == 0


def test_what_is_no_longer_true_is_told_only_as_history(daemon: Daemon) -> None:
    tag = f"state_{uuid.uuid4().hex[:8]}"
    past, future = "2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
    true = store(daemon, unique("True"), tags=[tag])
    over = store(daemon, unique("Over"), tags=[tag], t_invalid=past)
    ahead = store(daemon, unique("Ahead"), tags=[tag], t_valid=future)

    assert set(results(daemon, tags=tag)) == {true}
    assert set(results(daemon, tags=tag, state_mode="history")) == {true, over, ahead}
    assert set(results(daemon, tags=tag, current_only="false")) == {true, over, ahead}
    ask(daemon, "PATCH", f"/memory/{over}", {"t_invalid": None})
    assert set(results(daemon, tags=tag)) == {true, over}


def test_relations_are_told_and_followed(daemon: Daemon) -> None:
    own = uuid.uuid4().hex[:8]
    seed = store(daemon, f"The heron {own} nests by the quay", tags=[own])
    other = store(daemon, unique("Reeds are cut in February"))
    body = {"memory1_id": seed, "memory2_id": other, "type": "LEADS_TO", "strength": 0.9}
    ask(daemon, "POST", "/associate", body)

    plain = results(daemon, tags=own)
    wide = results(daemon, tags=own, expand_relations="true")

    (relation,) = [each for each in plain[seed]["relations"] if each["type"] == "LEADS_TO"]
    assert relation["memory"]["id"] == other
    assert set(plain) == {seed}
    assert wide[other]["match_type"] == "relation"
    assert wide[other]["relations"][0]["from"] == seed
    related = ask(daemon, "GET", f"/memories/{other}/related").body
    assert seed in [each["id"] for each in related["related_memories"]]
    assert ask(daemon, "GET", "/memories/nobody/related").body["count"] == 0


def test_recall_forgives_what_it_does_not_know(daemon: Daemon) -> None:
    store(daemon, "The ledger is kept in SQLite", tags=["ledger"])
    answer = ask(
        daemon,
        "GET",
        "/recall",
        query="where is the ledger kept?",
        limit="many",
        tag_mode="some",
        sort="sideways",
        format="text",
        offset="x",
        min_score="high",
    )

    assert answer.status == 200
    assert answer.body["sort"] == "score"
    row = answer.body["results"][0]
    assert row["memory"]["content"] == "The ledger is kept in SQLite"
    assert {"final_score", "score_components", "relations", "match_type", "source"} <= row.keys()


def test_a_phrase_names_a_time(daemon: Daemon) -> None:
    tag = uuid.uuid4().hex
    then = store(daemon, unique("Last year"), tags=[tag], timestamp="2025-05-05")
    new = store(daemon, unique("Now"), tags=[tag])

    assert set(results(daemon, tags=tag, time_query="last year")) <= {then}
    assert set(results(daemon, tags=tag, time_query="last 7 days")) == {new}
    assert set(results(daemon, tags=tag, time_query="once upon a time")) == {then, new}
    rows = ask(daemon, "GET", "/recall", tags=tag, sort="time_asc").body["results"]
    assert [each["id"] for each in rows] == [then, new]


# -- the bridge ----------------------------------------------------------------------------


def test_the_bridge_lets_a_memory_supersede_another(daemon: Daemon) -> None:
    """The four requests that its store_memory makes with `supersedes_memory_id`."""
    tag = uuid.uuid4().hex
    old = store(daemon, f"The port is 8001 {tag}", tags=[tag], metadata={"by": "ana"})
    before = ask(daemon, "GET", f"/memory/{old}").body["memory"]
    new = store(daemon, f"The port is 8787 {tag}", tags=[tag])
    metadata = {**before["metadata"], "deprecated": True, "superseded_by": new}
    patch = {"t_invalid": datetime.now(UTC).isoformat(), "metadata": metadata}
    assert ask(daemon, "PATCH", f"/memory/{old}", patch).status == 200
    body = {"memory1_id": old, "memory2_id": new, "type": "INVALIDATED_BY", "strength": 0.9}
    assert ask(daemon, "POST", "/associate", body).status == 201

    assert set(results(daemon, tags=tag)) == {new}
    seen = ask(daemon, "GET", f"/memory/{old}").body["memory"]
    assert seen["t_invalid"]
    assert seen["metadata"] == {"by": "ana", "deprecated": True, "superseded_by": new}
    ours = daemon.ok("GET", f"/agent/recall/{new}")["memory"]["connections"]
    assert ("evolved_from", "invalidated_by", old) in {
        (each["edge"], each.get("kind"), each["target"]) for each in ours
    }


def test_the_bridge_stores_and_associates_many(daemon: Daemon) -> None:
    items = [{"content": unique("One of many"), "tags": ["many"]} for _ in range(3)]
    stored = ask(daemon, "POST", "/memory/batch", {"memories": items})
    assert (stored.status, stored.body["stored"]) == (201, 3)
    one, two, three = stored.body["memory_ids"]
    assert ask(daemon, "GET", f"/memory/{two}").body["memory"]["content"] == items[1]["content"]

    body = {
        "associations": [
            {"memory1_id": one, "memory2_id": two, "type": "LEADS_TO", "strength": 0.5},
            {"memory1_id": one, "memory2_id": one, "type": "LEADS_TO", "strength": 0.5},
            {"memory1_id": one, "memory2_id": str(uuid.uuid4()), "type": "LEADS_TO"},
            {"memory1_id": one, "memory2_id": three, "type": "SIMILAR_TO"},
        ]
    }
    drawn = ask(daemon, "POST", "/associate", body)
    assert (drawn.status, drawn.body["status"]) == (207, "partial_success")
    assert [each["index"] for each in drawn.body["succeeded"]] == [0]
    assert [each["index"] for each in drawn.body["failed"]] == [1, 2, 3]

    wrong = {"memories": [*items, {"content": " "}]}
    refused = ask(daemon, "POST", "/memory/batch", wrong)
    assert (refused.status, refused.body["message"]) == (400, "Memory at index 3 missing 'content'")


def test_everything_that_a_client_wrote_is_a_memory_with_its_undo(daemon: Daemon) -> None:
    content = unique("Undone")
    made = store(daemon, content)
    ask(daemon, "DELETE", f"/memory/{made}")

    restored = daemon.ok("POST", f"/agent/restore/{made}")

    assert restored["memory"]["content"] == content
    assert restored["memory"]["source"] == "agent:automem"
    assert ask(daemon, "GET", f"/memory/{made}").status == 200


# -- numbers and pictures ------------------------------------------------------------------


def test_the_other_routes_have_their_shapes(daemon: Daemon) -> None:
    tag = uuid.uuid4().hex
    store(daemon, unique("Always test"), tags=["critical", tag], importance=0.95)
    store(daemon, unique("Load the rules"), tags=["system"])

    start = ask(daemon, "GET", "/startup-recall").body
    assert start["has_critical"]
    assert start["lesson_count"] == len(start["critical_lessons"]) >= 1
    analytics = ask(daemon, "GET", "/analyze").body["analytics"]
    assert {"memory_types", "patterns", "preferences", "temporal_insights"} <= analytics.keys()
    snapshot = ask(daemon, "GET", "/graph/snapshot", limit=3).body
    assert len(snapshot["nodes"]) == snapshot["stats"]["returned_nodes"] == 3
    assert ask(daemon, "GET", "/graph/snapshot", limit=-1).status == 400
    stats = ask(daemon, "GET", "/graph/stats").body
    assert stats["totals"]["nodes"] >= 3
    assert sum(stats["importance_distribution"].values()) == stats["totals"]["nodes"]
    assert set(ask(daemon, "GET", "/graph/types").body["types"]) == set(TYPES)
    assert len(ask(daemon, "GET", "/graph/relations").body["relations"]) == 13
    assert ask(daemon, "GET", "/graph/neighbors/nobody").status == 404
    assert ask(daemon, "GET", "/enrichment/status").body["status"] == "running"


def test_the_document_describes_them(daemon: Daemon) -> None:
    paths = daemon.ok("GET", "/openapi.json")["paths"]

    for route in AUTOMEM_ROUTES:
        described = paths[route.path][route.method.lower()]
        assert str(route.status) in described["responses"]
        assert described["operationId"] == route.name


# -- moving in -----------------------------------------------------------------------------


def test_a_running_server_is_brought_in_with_everything(daemon: Daemon, tmp_path: Path) -> None:
    """AutoMem's own routes are asked, here of a server that answers them as it does."""
    own = uuid.uuid4().hex[:8]
    old = store(daemon, f"The port was {own}", type="Habit", t_invalid="2026-01-01")
    new = store(daemon, f"The port is {own}", tags=["Two Words"], importance=0.9, metadata={"a": 1})
    drawn = {"memory1_id": new, "memory2_id": old, "type": "LEADS_TO", "strength": 0.7}
    ask(daemon, "POST", "/associate", {**drawn, "reason": "none"})
    server = ForeignServer(f"http://127.0.0.1:{daemon.launched.port}", daemon.token)

    found = {
        str(each.values["id"]): each.values
        for each in read_server("automem", server)
        if isinstance(each, ImportItem)
    }

    assert found[old]["valid_until"] == "2026-01-01T00:00:00Z"
    assert found[old]["type"] == "preference"
    assert found[new]["tags"] == ["Two Words"]
    kept = {"tags": ["Two Words"], "importance": 0.9}
    assert found[new]["metadata"] == {"a": 1, "automem": kept}
    links: Any = found[new]["connections"]
    assert {"target": old, "edge": "related_to", "weight": 0.7, "kind": "leads_to"} in links
    with Madeleine.open(tmp_path, in_process=True) as m:
        moving = MemoryImport("automem", lambda body: m._call("import", body=body), False)
        told: Any = moving.take_all(read_server("automem", server))
        assert told["counts"]["written"] == len(found)
        assert m.show(new).memory.metadata == {"a": 1, "automem": kept}


def test_a_server_that_refuses_or_is_not_there_is_named(daemon: Daemon) -> None:
    here = f"http://127.0.0.1:{daemon.launched.port}"

    for server in (ForeignServer(here, "wrong"), ForeignServer("http://127.0.0.1:1", "x")):
        with pytest.raises(ForeignServerDown, match="127"):
            list(read_server("automem", server))


def test_the_command_brings_a_server_in(
    daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(daemon, unique("For the command"))
    monkeypatch.setenv("AUTOMEM_API_KEY", daemon.token)
    url = f"http://127.0.0.1:{daemon.launched.port}"

    code = main(["import", "automem", url, "--dry-run", "--home", str(tmp_path / "other")])

    assert code == 0
