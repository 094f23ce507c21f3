"""What the index in PostgreSQL promises beyond the port: several processes on one database,
several tenants in it, the same scores as the embedded one, and plain words when it is down."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from madeleine import Madeleine
from madeleine.errors import BadSetting, DatabaseDown
from madeleine.index.port import Index, IndexBatch
from madeleine.index.search import CandidateQuery, WordMatches
from madeleine.index.sqlite import SqliteIndex
from madeleine.model.query import Filter
from madeleine.testing.making import DIMENSION, NOON, ids, keep, memory, memory_id, put, said, unit
from tests import postgres

ANY = Filter()


def opened(folder: Path, exact_up_to: int = 1_000) -> Index:
    return postgres.open_index(folder, "tiny", DIMENSION, exact_up_to=exact_up_to)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = opened(tmp_path)
    yield made
    made.close()


def test_what_one_process_writes_another_finds_at_once(index: Index, tmp_path: Path) -> None:
    other = opened(tmp_path)

    index.write(IndexBatch(puts=[put(memory(1, "a kettle"), unit(1, 0, 0, 0))]))

    assert ids(other.search.search_text(["kettle"], ANY, NOON, 5)) == [memory_id(1)]
    assert ids(other.search.search_vector(unit(1, 0, 0, 0), ANY, NOON, 5)) == [memory_id(1)]
    other.close()


def test_a_rebuild_by_one_process_is_seen_by_all(index: Index, tmp_path: Path) -> None:
    other = opened(tmp_path)
    keep(index, memory(1, "a kettle"))
    fresh = index.fresh()
    keep(fresh, memory(2, "a teapot"))
    assert other.search.extent().memories == 1

    index.replace_with(fresh)
    keep(other, memory(3, "a cup"))

    assert {each.id for each in other.search.listing(ANY, NOON, 9)} == {memory_id(2), memory_id(3)}
    assert index.search.extent().memories == 2
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
    other.close()


def test_a_steady_reader_sees_nothing_of_a_rebuild(index: Index, tmp_path: Path) -> None:
    other = opened(tmp_path)
    keep(index, memory(1, "a kettle"))
    fresh = index.fresh()
    keep(fresh, memory(2, "a teapot"))

    with other.steady():
        before = ids(other.search.search_text(["kettle"], ANY, NOON, 5))
        index.replace_with(fresh)
        index.fresh().close()  # removes the rows of the old one
        after = ids(other.search.search_text(["kettle"], ANY, NOON, 5))

    assert before == after == [memory_id(1)]
    assert other.search.search_text(["kettle"], ANY, NOON, 5) == []
    other.close()


def test_tenants_do_not_see_each_other(index: Index, tmp_path: Path) -> None:
    neighbour = opened(tmp_path / "next door")
    for each, word in ((index, "kettle"), (neighbour, "teapot")):
        one = said(1, 1, "Anna", content=f"a {word} of mine", tags=("kitchen",))
        each.write(IndexBatch(puts=[put(one, unit(1, 0, 0, 0))]))

    for each, word, other in ((index, "kettle", "teapot"), (neighbour, "teapot", "kettle")):
        assert len(each.search.search_text([word], ANY, NOON, 9)) == 1
        assert each.search.search_text([other], ANY, NOON, 9) == []
        assert len(each.search.search_vector(unit(1, 0, 0, 0), ANY, NOON, 9)) == 1
        assert [term.holders for (term,) in each.search.terms([word, other])] == [1, 0]
        assert len(each.search.pool(CandidateQuery(words=["mine"], tag="kitchen"), ANY, NOON)) == 1
        assert each.search.counts().memories == each.search.extent().memories == 1
        assert each.search.tags("", 9) == [("kitchen", 1)]
        assert each.graph.regions(NOON) == {None: 1}

    neighbour.clear()
    assert index.search.count(ANY, NOON) == 1
    neighbour.close()


@pytest.mark.soak
def test_many_writers_lose_nothing_and_count_right(index: Index, tmp_path: Path) -> None:
    others = [opened(tmp_path) for _ in range(3)]

    def write(number: int) -> None:
        made = said(number, number, f"Speaker {number % 3}", content=f"a common word {number}")
        others[number % 3].write(IndexBatch(puts=[put(made, unit(1, number, 0, 0))]))

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(write, range(1, 61)))

    assert index.search.extent().memories == index.search.count(ANY, NOON) == 60
    assert [term.holders for (term,) in index.search.terms(["common"])] == [60]
    assert len(index.search.extent().speakers["speaker"]) == 3
    for each in others:
        each.close()


def test_a_filter_is_obeyed_while_the_graph_is_walked(tmp_path: Path) -> None:
    """The nearest thousand are of another space; after a cut nothing would be left."""
    index = opened(tmp_path, exact_up_to=20)
    source = np.random.default_rng(3)
    near = [unit(1, *source.normal(scale=0.1, size=3)) for _ in range(1_000)]
    far = [unit(0.2, *source.normal(size=3)) for _ in range(100)]
    both = [("near", each) for each in near] + [("far", each) for each in far]
    puts = [put(memory(number, space=name), each) for number, (name, each) in enumerate(both, 1)]
    index.write(IndexBatch(puts=puts))

    found = index.search.search_vector(unit(1, 0, 0, 0), Filter(spaces=("far",)), NOON, 10)

    halves = np.array(far, np.float16).astype(np.float32)
    order = np.argsort(-(halves @ unit(1, 0, 0, 0)), kind="stable")[:10]
    assert ids(found) == [memory_id(1_001 + place) for place in order.tolist()]
    index.close()


TEXTS = (
    "The kettle in the kitchen is older than the kitchen itself",
    "Kettles, kettles and more kettles",
    "She went to the dark-mode meeting and said: dark mode, please",
    "猫が好きです。Pythonの本も好き",
    "Müller drinks café ☕ every day",
    "mode dark",
)


ASKED = (
    *(["kettle"], ["kitchen", "old"], ["dark-mode"], ["dark mode"], ["猫"], ["猫が"], ["好きです"]),
    *(["muller", "cafe"], ["☕"], ["go", "went", "goes"], ["Python", "the", "of"]),
)


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


def test_matches_that_the_filter_refuses_leave_room_for_those_it_lets_in(tmp_path: Path) -> None:
    index = opened(tmp_path, exact_up_to=5)
    keep(index, *(memory(n, "tea " * (n % 7 + 1), superseded_by="x") for n in range(1, 60)))
    keep(index, *(memory(n, "tea and much more than that") for n in range(60, 80)))

    held = index.search.matching(["tea"])
    pool = index.search.pool(CandidateQuery(matches=held, draw=10), ANY, NOON)

    assert isinstance(held, WordMatches)
    assert len(held.nodes) == 79
    assert len(pool) >= 10
    assert set(index.search.ids(pool.nodes.tolist()).values()) <= {
        memory_id(n) for n in range(60, 80)
    }
    index.close()


@pytest.mark.soak
def test_a_server_that_is_down_is_said_so_and_found_again(tmp_path: Path) -> None:
    own = postgres.another()
    index = own.open(tmp_path, "tiny", DIMENSION)
    keep(index, memory(1))
    own.stop()

    with pytest.raises(DatabaseDown):
        index.search.count(ANY, NOON)
    with pytest.raises(DatabaseDown):
        keep(index, memory(2))

    own.start()
    assert index.search.count(ANY, NOON) == 1
    index.close()
    own.remove()


def test_what_lets_one_in_is_never_told(tmp_path: Path) -> None:
    postgres.server()

    with pytest.raises(DatabaseDown) as caught:
        postgres.open_at("postgresql://me:wonderland@127.0.0.1:1/none", tmp_path)

    assert "127.0.0.1:1/none" in caught.value.message
    assert "wonderland" not in caught.value.message


def test_a_home_keeps_its_index_where_the_settings_say(tmp_path: Path) -> None:
    url = postgres.server().url
    home = tmp_path / "home"
    home.mkdir()
    lines = ["[embedder]", 'kind = "fake"', "[store]", f'url = "{url}"', f'tenant = "{tmp_path}"']
    (home / "config.toml").write_text("\n".join(lines), encoding="utf-8")

    with Madeleine.open(home) as first:
        first.remember("Anna keeps the kettle in the attic")
    with Madeleine.open(home) as second:
        found = second.recall("kettle")

    assert [hit.memory.content for hit in found] == ["Anna keeps the kettle in the attic"]
    assert not (home / "index.db").exists()


def test_an_address_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[store]\nurl = "mysql://here"\n', encoding="utf-8")

    with pytest.raises(BadSetting, match=r"store\.url"):
        Madeleine.open(tmp_path)


def test_whoever_names_no_database_loads_nothing_of_it() -> None:
    code = "import sys, madeleine.bootstrap; sys.exit('psycopg' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has PostgreSQL run by somebody else")
def test_a_server_starts_where_only_root_may_go(tmp_path: Path) -> None:
    home = tmp_path / "home"
    programs = postgres.copy_programs(postgres.server().binaries, home)
    home.chmod(0o700)

    started = postgres.Server(programs)

    assert started.binaries != programs
    started.remove()
