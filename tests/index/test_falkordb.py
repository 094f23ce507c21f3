"""What the index in FalkorDB promises beyond the port: several processes on one graph, writes that
happen whole or not at all, right answers in spite of its index of vectors, vectors in Qdrant, and
plain words when something is not as it should be."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

from madeleine import Madeleine
from madeleine.errors import BadSetting, DatabaseDown, DatabaseUnfit
from madeleine.index.port import Index, IndexBatch
from madeleine.index.search import CandidateQuery
from madeleine.index.sqlite import SqliteIndex
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Connection, Memory, Origin, first_words
from madeleine.model.meta_pattern import MetaPattern
from madeleine.model.query import Filter
from madeleine.model.words import META_SOURCE, Edge
from madeleine.testing.making import DIMENSION, NOON, ids, keep, memory, memory_id, put, said, unit
from tests import falkordb
from tests.index.test_postgres import ASKED, TEXTS
from tests.qdrant_edge import EdgeVectors

ANY = Filter()
EAST, NORTH = unit(1, 0, 0, 0), unit(0, 1, 0, 0)


def opened(folder: Path, exact_up_to: int = 1_000, apart: Any = None) -> Index:
    return falkordb.open_index(folder, "tiny", DIMENSION, exact_up_to=exact_up_to, apart=apart)


@pytest.fixture(params=["graph", "client", "engine"])
def apart(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Who keeps the vectors: nobody but the graph, Qdrant's client, or Qdrant's engine."""
    if request.param == "engine":
        pytest.importorskip("qdrant_edge")
        made = EdgeVectors(tmp_path / "shards")
        yield made
        made.close()
    else:
        yield falkordb.qdrant() if request.param == "client" else None


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = opened(tmp_path)
    yield made
    made.close()


@pytest.fixture
def another() -> Iterator[Callable[..., falkordb.Server]]:
    """Start one more server, for a test that stops it or has it otherwise."""
    falkordb.server()
    with ExitStack() as ending:

        def start(*options: str, module: bool = True) -> falkordb.Server:
            made = falkordb.Server(*options, module=module)
            ending.callback(made.remove)
            return made

        yield start


# -- several processes -----------------------------------------------------------------------


@pytest.mark.few(2)
def test_what_one_process_writes_another_finds_at_once(tmp_path: Path, apart: Any) -> None:
    one, other = (opened(tmp_path, apart=apart) for _ in range(2))

    one.write(IndexBatch(puts=[put(memory(1, "a kettle"), EAST)]))

    assert ids(other.search.search_text(["kettle"], ANY, NOON, 5)) == [memory_id(1)]
    assert ids(other.search.search_vector(EAST, ANY, NOON, 5)) == [memory_id(1)]
    one.write(IndexBatch(puts=[put(memory(1, "a kettle"), NORTH)]))
    assert other.search.search_vector(EAST, ANY, NOON, 5)[0].score == pytest.approx(0, abs=1e-6)
    one.close()
    other.close()


@pytest.mark.few(1)
def test_a_rebuild_by_one_process_is_seen_by_all(tmp_path: Path, apart: Any) -> None:
    one, other = (opened(tmp_path, apart=apart) for _ in range(2))
    one.write(IndexBatch(puts=[put(memory(1, "a kettle"), EAST)]))
    fresh = one.fresh()
    fresh.write(IndexBatch(puts=[put(memory(2, "a teapot"), EAST)]))
    assert other.search.extent().memories == 1

    one.replace_with(fresh)
    other.write(IndexBatch(puts=[put(memory(3, "a cup"), NORTH)]))

    assert {each.id for each in other.search.listing(ANY, NOON, 9)} == {memory_id(2), memory_id(3)}
    assert ids(one.search.search_vector(EAST, ANY, NOON, 9)) == [memory_id(2), memory_id(3)]
    one.close()
    other.close()


def test_the_graph_is_drawn_from_what_others_wrote_and_rebuilt(
    index: Index, tmp_path: Path
) -> None:
    other = opened(tmp_path)
    keep(index, memory(1))
    assert other.graph.regions(NOON) == {None: 1}

    keep(index, memory(2))
    assert other.graph.regions(NOON) == {None: 2}
    fresh = index.fresh()
    keep(fresh, memory(3))
    index.replace_with(fresh)

    assert ids(other.graph.strongest(None, NOON, 9)) == [memory_id(3)]
    index.clear()
    assert other.graph.regions(NOON) == {}
    other.close()


@pytest.mark.parametrize("chars", [1, 199, 200, 201, 599, 600, 601, 5_000])
def test_a_text_in_any_script_is_cut_between_letters(index: Index, chars: int) -> None:
    texts = ["\N{CAT FACE}" * chars, "é" * chars]
    keep(index, *(memory(number, text) for number, text in enumerate(texts)))

    found = index.graph.sketches([memory_id(0), memory_id(1)], NOON)

    assert [each.headline for each in found] == [first_words(text) for text in texts]


def test_a_rebuild_that_was_killed_leaves_nothing_behind(index: Index) -> None:
    index.write(IndexBatch(puts=[put(memory(1, "a kettle"), EAST)]))
    keep(index.fresh(), memory(2, "a teapot"))

    again = index.fresh()

    assert again.search.count(ANY, NOON) == 0
    assert ids(index.search.listing(ANY, NOON, 9)) == [memory_id(1)]
    again.close()


def test_a_writer_waits_for_who_reads_steadily(index: Index, tmp_path: Path) -> None:
    other = opened(tmp_path)
    keep(index, memory(1, "a kettle"))
    writer = threading.Thread(target=keep, args=(index, memory(2, "a kettle")))

    with other.steady():
        before = other.search.count(ANY, NOON)
        writer.start()
        writer.join(0.2)
        assert writer.is_alive()
        assert other.search.count(ANY, NOON) == before == 1

    writer.join(10)
    assert other.search.count(ANY, NOON) == 2
    other.close()


def test_who_reads_steadily_may_write(index: Index) -> None:
    with index.steady():
        keep(index, memory(1, "a kettle"))
        assert index.search.count(ANY, NOON) == 1


def test_many_writers_lose_nothing_and_count_right(index: Index, tmp_path: Path) -> None:
    others = [opened(tmp_path) for _ in range(3)]

    def write(number: int) -> None:
        made = said(number, number, f"Speaker {number % 3}", content=f"a common word {number}")
        others[number % 3].write(IndexBatch(puts=[put(made, unit(1, number, 0, 0))]))

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(write, range(1, 41)))

    assert index.search.extent().memories == index.search.count(ANY, NOON) == 40
    assert [term.holders for (term,) in index.search.terms(["common"])] == [40]
    assert len(index.search.extent().speakers["speaker"]) == 3
    for each in others:
        each.close()


WRITING = """
import sys
from madeleine_falkordb import FalkorIndex
from madeleine.index.port import IndexBatch
from madeleine.testing.making import DIMENSION, memory, put, unit
index = FalkorIndex.open(sys.argv[1], "tiny", DIMENSION)
for number in range(1, 10_000):
    index.write(IndexBatch(puts=[put(memory(number, f"kettle {number}"), unit(1, number, 0, 0))]))
    print(number, flush=True)
"""


@pytest.mark.soak
def test_a_writer_that_is_killed_leaves_whole_memories_and_lets_others_write(
    index: Index, tmp_path: Path
) -> None:
    url = falkordb.server().graph(tmp_path)
    command = [sys.executable, "-c", WRITING, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(12)]
        writer.kill()
        told += [int(line) for line in writer.stdout.read().split()]

    keep(index, memory(20_000, "a kettle too"))

    there = index.search.count(ANY, NOON)
    assert there in (told[-1] + 1, told[-1] + 2)
    assert index.search.extent().memories == there
    assert [term.holders for (term,) in index.search.terms(["kettle"])] == [there]
    assert len(index.search.search_vector(EAST, ANY, NOON, there + 9)) == there - 1


def test_a_write_worked_out_from_what_has_changed_meanwhile_is_worked_out_again(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the writer's turn had expired while it was slow."""
    other, engine = opened(tmp_path), type(index)
    once: list[int] = []
    apply: Callable[..., None] = engine._apply  # type: ignore[attr-defined]

    def slowly(self: Index, batch: IndexBatch, writing: Any) -> None:
        apply(self, batch, writing)
        if not once:
            once.append(1)
            changed = writing.statement.__class__().query(writing.head.version)
            assert writing.access.run(*changed)

    monkeypatch.setattr(engine, "_apply", slowly)
    keep(other, memory(1, "a kettle"))

    assert index.search.count(ANY, NOON) == index.search.extent().memories == 1
    assert [term.holders for (term,) in index.search.terms(["kettle"])] == [1]
    other.close()


# -- searching -------------------------------------------------------------------------------


def test_a_filter_is_obeyed_inside_the_search(tmp_path: Path, apart: Any) -> None:
    """The nearest three hundred are of another space; after a cut nothing would be left."""
    index = opened(tmp_path, exact_up_to=20, apart=apart)
    source = np.random.default_rng(3)
    near = [unit(1, *source.normal(scale=0.1, size=3)) for _ in range(300)]
    far = [unit(0.2, *source.normal(size=3)) for _ in range(60)]
    both = [("near", each) for each in near] + [("far", each) for each in far]
    puts = [put(memory(number, space=name), each) for number, (name, each) in enumerate(both, 1)]
    index.write(IndexBatch(puts=puts))

    found = index.search.search_vector(EAST, Filter(spaces=("far",)), NOON, 10)

    halves = np.array(far, np.float16).astype(np.float32)
    order = np.argsort(-(halves @ EAST), kind="stable")[:10]
    assert ids(found) == [memory_id(301 + place) for place in order.tolist()]
    pool = index.search.pool(
        CandidateQuery(scan=EAST, near=EAST, draw=30), Filter(spaces=("far",)), NOON
    )
    assert set(ids(found)) <= set(index.search.ids(pool.nodes.tolist()).values())
    index.close()


@pytest.mark.soak
def test_vectors_that_are_replaced_all_the_time_are_still_found(tmp_path: Path, apart: Any) -> None:
    """Each replacement leaves a dead entry near the question in FalkorDB's own index."""
    index = opened(tmp_path, exact_up_to=5, apart=apart)
    for turn in range(30):
        vectors = [unit(1, 0.001 * turn, 0.01 * number, 0) for number in range(25)]
        puts = [put(memory(number, f"{turn}"), each) for number, each in enumerate(vectors)]
        index.write(IndexBatch(puts=puts))

    found = index.search.search_vector(EAST, ANY, NOON, 10)

    assert ids(found) == [memory_id(number) for number in range(10)]
    assert len(index.search.search_vector(EAST, ANY, NOON, 99)) == 25
    index.close()


@pytest.mark.few(7)
@pytest.mark.parametrize("words", ASKED)
def test_words_are_scored_as_the_embedded_index_scores_them(
    index: Index, tmp_path: Path, words: list[str]
) -> None:
    embedded = SqliteIndex.open(tmp_path / "index.db")
    for each in (index, embedded):
        title = ("kettle", None, "on modes", "猫", None, None)
        keep(each, *(memory(n, t, title=title[n], tags=("old",)) for n, t in enumerate(TEXTS)))

    found = [each.search.search_text(words, ANY, NOON, 10) for each in (index, embedded)]

    assert ids(found[0]) == ids(found[1])
    assert [hit.score for hit in found[0]] == pytest.approx([hit.score for hit in found[1]], 1e-5)
    embedded.close()


def test_all_come_though_the_server_cuts_long_answers_off(index: Index) -> None:
    keep(index, *(memory(number, "tea") for number in range(1, 3 * falkordb.FEW_ROWS)))

    assert (
        len(index.search.fingerprints())
        == len(index.search.standings())
        == 3 * falkordb.FEW_ROWS - 1
    )
    assert len(index.search.matching(["tea"]).nodes) == 3 * falkordb.FEW_ROWS - 1


def test_names_with_spaces_around_them_are_names_of_their_own(index: Index) -> None:
    """FalkorDB's indexes read past such spaces."""
    keep(index, memory(1, "one", space="home"), memory(2, "two", space=" home"))

    assert ids(index.search.listing(Filter(spaces=(" home",)), NOON, 9)) == [memory_id(2)]
    assert ids(index.search.listing(Filter(spaces=("home",)), NOON, 9)) == [memory_id(1)]


# -- vectors in Qdrant -----------------------------------------------------------------------


def test_vectors_that_no_memory_names_are_found_by_nobody(tmp_path: Path) -> None:
    """As a process leaves them that is killed between Qdrant and the graph."""
    vectors = falkordb.qdrant()
    index: Any = opened(tmp_path, exact_up_to=1, apart=vectors)
    index.write(IndexBatch(puts=[put(memory(number), NORTH) for number in range(1, 5)]))
    (collection,) = vectors.collections(index._state.vectors._name_prefix)
    vectors.put(collection, {10**6 + number: EAST.astype(np.float16) for number in range(200)})

    found = index.search.search_vector(EAST, ANY, NOON, 3)

    assert ids(found) == [memory_id(number) for number in range(1, 4)]
    index.close()


def test_what_is_gone_from_the_graph_goes_from_qdrant(tmp_path: Path) -> None:
    vectors = falkordb.qdrant()
    index: Any = opened(tmp_path, apart=vectors)
    index.write(IndexBatch(puts=[put(memory(number), EAST) for number in (1, 2)]))
    (collection,) = vectors.collections(index._state.vectors._name_prefix)

    index.write(IndexBatch(drops=[memory_id(1)], puts=[put(memory(2, "anew"), NORTH)]))
    assert len(vectors.nearest(collection, EAST, 9)) == 1

    index.replace_with(index.fresh())
    assert collection not in vectors.collections(index._state.vectors._name_prefix)
    index.close()


def test_vectors_that_move_to_qdrant_are_read_anew(index: Index, tmp_path: Path) -> None:
    index.write(IndexBatch(puts=[put(memory(1), EAST)]))

    moved = opened(tmp_path, apart=falkordb.qdrant())

    assert moved.search.unembedded_ids(9) == [memory_id(1)]
    assert moved.search.search_vector(EAST, ANY, NOON, 9) == []
    moved.close()


def test_a_collection_of_another_width_is_refused() -> None:
    vectors = falkordb.qdrant()
    vectors.make("wide", 8)

    with pytest.raises(DatabaseUnfit, match="4 numbers"):
        vectors.make("wide", 4)

    vectors.remove("wide")


# -- when something is not as it should be ---------------------------------------------------


def test_a_server_that_is_down_is_said_so_and_found_again(
    tmp_path: Path, another: Callable[..., falkordb.Server]
) -> None:
    own = another()
    index = own.open(tmp_path, "tiny", DIMENSION)
    keep(index, memory(1))
    own.stop()

    begun = time.monotonic()
    for ask in (lambda: index.search.count(ANY, NOON), lambda: keep(index, memory(2))):
        with pytest.raises(DatabaseDown):
            ask()
    assert time.monotonic() - begun < 15

    own.start()  # it keeps nothing on the disk
    with pytest.raises(DatabaseUnfit, match="emptied") as caught:
        keep(index, memory(2))
    assert "rebuild" in (caught.value.hint or "")
    index.close()


def test_a_server_that_keeps_what_it_has_is_found_as_it_was(
    tmp_path: Path, another: Callable[..., falkordb.Server]
) -> None:
    own = another("--appendonly", "yes")
    index = own.open(tmp_path, "tiny", DIMENSION, exact_up_to=1)
    puts = [put(memory(number, f"kettle {number}"), unit(1, number, 0, 0)) for number in range(9)]
    index.write(IndexBatch(puts=puts))
    index.write(IndexBatch(puts=puts[:2], drops=[memory_id(8)]))

    own.stop()
    own.start()

    assert index.search.count(ANY, NOON) == index.search.extent().memories == 8
    assert ids(index.search.search_vector(EAST, ANY, NOON, 3)) == [memory_id(n) for n in range(3)]
    keep(index, memory(8, "a kettle"))
    assert len(index.search.search_text(["kettle"], ANY, NOON, 99)) == 9
    index.close()


def test_a_wrong_password_is_said_so_and_never_told(
    tmp_path: Path, another: Callable[..., falkordb.Server]
) -> None:
    own = another("--requirepass", "looking-glass")
    open_at: Any = type(opened(tmp_path)).open  # type: ignore[attr-defined]

    open_at(f"falkordb://:looking-glass@127.0.0.1:{own.port}/tea").close()
    for url in ("falkordb://:wonderland@127.0.0.1:{}/tea", "falkordb://127.0.0.1:{}/tea"):
        with pytest.raises(DatabaseDown) as caught:
            open_at(url.format(own.port))
        assert "password" in (caught.value.hint or "")
        assert "wonderland" not in str(caught.value)


def test_a_redis_without_falkordb_is_said_so(
    tmp_path: Path, another: Callable[..., falkordb.Server]
) -> None:
    own = another(module=False)

    with pytest.raises(DatabaseUnfit, match="without FalkorDB") as caught:
        own.open(tmp_path, "tiny", DIMENSION)

    assert "falkordb" in (caught.value.hint or "")


def test_a_qdrant_that_is_down_is_said_so(tmp_path: Path) -> None:
    vectors = type(falkordb.qdrant()).open("qdrant://wonderland@127.0.0.1:1")

    with pytest.raises(DatabaseDown) as caught:
        opened(tmp_path, apart=vectors)

    assert "qdrant://127.0.0.1:1" in caught.value.message
    assert "wonderland" not in caught.value.message


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        ('graph = "redis://here"', r"store\.graph"),
        ('graph = "falkordb://127.0.0.1:1"', r"store\.graph"),
        ('vectors = "qdrant://here:1"', r"store\.vectors"),
        ('graph = "falkordb://127.0.0.1:1/x"\nvectors = "http://here"', r"store\.vectors"),
    ],
)
def test_an_address_of_something_else_is_refused(tmp_path: Path, lines: str, named: str) -> None:
    falkordb.server()
    (tmp_path / "config.toml").write_text(f"[store]\n{lines}\n", encoding="utf-8")

    with pytest.raises(BadSetting, match=named):
        Madeleine.open(tmp_path)


@pytest.mark.parametrize("address", ["u:wonder/land@h:1", "u:wonder#land@h:1", "h:99999", "[::1"])
@pytest.mark.parametrize("named", ["graph", "vectors"])
def test_an_address_that_cannot_be_read_is_refused_and_not_told(
    tmp_path: Path, named: str, address: str
) -> None:
    falkordb.server()
    graph = f"falkordb://{address if named == 'graph' else '127.0.0.1:1'}/x"
    vectors = f'\nvectors = "qdrant://{address}"' if named == "vectors" else ""
    (tmp_path / "config.toml").write_text(
        f'[store]\ngraph = "{graph}"{vectors}\n', encoding="utf-8"
    )

    with pytest.raises(BadSetting, match=rf"store\.{named}") as caught:
        Madeleine.open(tmp_path)

    told = caught.value.message + caught.value.hint
    assert "wonder" not in told
    assert "land" not in told
    assert "%2F" in caught.value.hint


def test_a_home_keeps_its_index_where_the_settings_say(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    url = falkordb.server().graph(tmp_path)
    (home / "config.toml").write_text(
        f'graph = "{url}"\n[embedder]\nkind = "fake"\n', encoding="utf-8"
    )

    with Madeleine.open(home) as first:
        first.remember("Anna keeps the kettle in the attic")
    with Madeleine.open(home) as second:
        found = second.recall("kettle")

    assert [hit.memory.content for hit in found] == ["Anna keeps the kettle in the attic"]
    assert not (home / "index.db").exists()


def test_whoever_names_no_graph_loads_nothing_of_it() -> None:
    code = """import sys, madeleine.bootstrap
sys.exit(bool({'falkordb', 'redis', 'qdrant_client', 'madeleine_falkordb'} & set(sys.modules)))"""

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- the documented queries about consolidation ----------------------------------------------


def asked(url: str, query: str) -> list[list[Any]]:
    """Ask a graph as its owner would, with FalkorDB's own client."""
    client: Any = importlib.import_module("falkordb").FalkorDB
    server, _, graph = url.removeprefix("falkordb://").partition("/")
    host, _, port = server.partition(":")
    rows: list[list[Any]] = (
        client(host, int(port)).select_graph(unquote(graph)).query(query).result_set
    )
    return rows


CONTROL = """MATCH (c:ConsolidationControl {id: 'singleton'})
             RETURN c.last_decay, c.last_creative, c.history"""
SUMMARIES = """MATCH (p:MetaPattern)-[:SUMMARIZES]->(m:Memory)
               RETURN p.label, p.cluster_size, p.dominant_type, m.id ORDER BY m.id"""


def summary(number: int, *members: int, **fields: Any) -> Memory:
    about = MetaPattern("fact", len(members), 2.0, "members", "text")
    drawn = tuple(Connection(memory_id(each), Edge.SUMMARIZES, 1.0) for each in members)
    given = {"source": META_SOURCE, "origin": Origin(uri=about.uri), "connections": drawn}
    return memory(number, "a summary", **{**given, **fields})


def test_a_summary_is_a_meta_pattern_that_summarizes_its_members(
    index: Index, tmp_path: Path
) -> None:
    url = falkordb.server().graph(tmp_path)

    def members() -> list[str]:
        rows = asked(url, SUMMARIES)
        assert all(row[:3] == ["MetaPattern", 3, "fact"] for row in rows)
        return [row[3] for row in rows]

    keep(index, memory(1), memory(2), summary(9, 1, 2, 3))
    assert members() == [memory_id(1), memory_id(2)]
    keep(index, memory(3))
    assert members() == [memory_id(each) for each in (1, 2, 3)]
    keep(index, memory(2, "told anew"), summary(9, 1, 2, 3))
    assert members() == [memory_id(each) for each in (1, 2, 3)]
    index.write(IndexBatch(drops=[memory_id(1)]))
    assert members() == [memory_id(2), memory_id(3)]
    keep(index, summary(9, 1, 2, 3, source="person"))
    assert members() == []
    assert asked(url, "MATCH (p:MetaPattern) RETURN p.id") == []


def test_the_control_node_has_the_runs_of_the_tasks_in_any_order(
    index: Index, tmp_path: Path
) -> None:
    url = falkordb.server().graph(tmp_path)
    assert asked(url, CONTROL) == [[None, None, "[]"]]

    def run(number: int, job: str, day: int) -> Event:
        began = f"2026-11-{day:02d}T00:00:00Z"
        report = {"began": began, "seconds": 0.5, "counts": {"processed": 7}}
        body = {"run": f"r{number}", "job": job, "report": report}
        return Event(f"e{number}", NOON, EventKind.RUN, "here", body)

    index.write(IndexBatch(events=[run(1, "decay", 9), run(2, "auto_linker", 10)]))
    index.write(IndexBatch(events=[run(3, "creative", 8), run(4, "decay", 7), run(1, "decay", 9)]))

    ((decay, creative, history),) = asked(url, CONTROL)
    assert (decay, creative) == ("2026-11-09T00:00:00Z", "2026-11-08T00:00:00Z")
    told = json.loads(history)
    assert [(each["task"], each["ran_at"][8:10]) for each in told] == [
        ("decay", "09"),
        ("creative", "08"),
        ("decay", "07"),
    ]
    assert told[0]["memories_processed"] == 7


def test_the_documented_queries_answer_for_a_home_and_after_a_rebuild(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    url = falkordb.server().graph(tmp_path)
    (home / "config.toml").write_text(
        f'graph = "{url}"\n[embedder]\nkind = "fake"\n', encoding="utf-8"
    )

    with Madeleine.open(home, in_process=True) as m:
        m.remember("Anna keeps the kettle in the attic")
        m.consolidate("decay")
        before = asked(url, CONTROL)
        m.rebuild()
        after = asked(url, CONTROL)

    assert before == after
    assert before[0][0] is not None
    assert json.loads(before[0][2])[0]["task"] == "decay"
