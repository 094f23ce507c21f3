"""A daemon that lets Ormah's clients in, and those clients where they can be installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ormah.clients import Ormah
from tests.ormah.installing import install
from tests.server.running import Daemon, running

TRUSTING = "[server]\ntrust_loopback = true\n[whisper]\ndeadline_ms = 15000\n"


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon as a person has it who goes on using Ormah's clients. All tests of a module share
    it, so their texts must differ."""
    home = tmp_path_factory.mktemp("trusting")
    (home / "config.toml").write_text(TRUSTING, encoding="utf-8")
    with running(home) as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project's folder, whose name is the space that its clients send."""
    made = tmp_path / "atlas"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon as it is by default: it asks everybody on TCP for the token."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        with running(tmp_path_factory.mktemp("home")) as started:
            yield started


@pytest.fixture(scope="session")
def venv(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Ormah is installed."""
    cache = pytestconfig.cache
    return install(Path(cache.mkdir("ormah")) if cache else tmp_path_factory.mktemp("ormah"))


@pytest.fixture
def ormah(venv: Path, trusting: Daemon, tmp_path: Path, folder: Path) -> Ormah:
    """Ormah's clients, told to ask our daemon."""
    home = tmp_path / "user"
    home.mkdir()
    return Ormah(venv, home, trusting.launched.port, folder)
