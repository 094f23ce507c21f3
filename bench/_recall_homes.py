"""Homes to ask: filled through the public door, kept for the next run, asked in a copy.

A home is made once and never asked itself. Every recall counts as a use, so each asking has a
working copy of its own: journal and index copied, the vault shared, because reading never writes
to it (I3). Homes that are kept are used again as long as neither what they hold nor the code
that wrote them has changed. What a model made of a text outlives that: all homes of one folder
share one embeddings.db.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from _recall_sets import Draft, Store

import madeleine
from madeleine import Madeleine
from madeleine.cli.progress import ProgressBar
from madeleine.minds.cache import EmbeddingCache

AT_ONCE = 256  # drafts in one call: the bar moves every second or two
EMBEDDINGS = "embeddings.db"
FILLER = "filler.db"  # in a home: the vectors of one whose filler got copies of some
MARK = "bench.json"  # in a home that is whole: what it was made from, and what was noticed
# What decides how a home looks:
DERIVED = (
    *("bootstrap", "vault", "database", "index", "minds", "write", "language", "rules", "model"),
)
NOT_COPIED = (
    *(EMBEDDINGS, f"{EMBEDDINGS}-wal", f"{EMBEDDINGS}-shm", FILLER, "vault", "run", "logs", MARK),
)

Notes = dict[str, float]
"""What was measured while a home was made, kept beside it."""

Build = Callable[[Path], Notes]


class Homes:
    """Homes in one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder.resolve()
        self._code = _digest_of_code()
        EmbeddingCache.open(self.folder / EMBEDDINGS).close()  # an old one is begun anew here, once

    def made(self, name: str, content: str, build: Build) -> tuple[Path, Notes]:
        """Return a home of that content, made anew unless it is there already."""
        home, mark = self.folder / name, f"{self._code}-{content}"
        notes = _notes(home, mark)
        if notes is None:
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            self.share_embeddings(home)
            notes = build(home)
            text = json.dumps({"made_from": mark, "notes": notes})
            (home / MARK).write_text(text, encoding="utf-8")
        return home, notes

    def share_embeddings(self, home: Path, like: Path | None = None) -> None:
        """Make a home keep vectors where all do, or where another home does that was filled with
        copies of what the model makes: its index reads tokens there."""
        own = like / FILLER if like is not None else None
        (home / EMBEDDINGS).unlink(missing_ok=True)
        (home / EMBEDDINGS).symlink_to(own if own and own.exists() else self.folder / EMBEDDINGS)

    @contextmanager
    def copy(self, home: Path, called: str = "asked", settings: str = "") -> Iterator[Path]:
        """Lend a working copy of a home, whose vault must not be written to."""
        work = self.folder / f"{home.name}.{called}"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(home, work, ignore=shutil.ignore_patterns(*NOT_COPIED))
        vault = json.dumps(os.fspath(home / "vault"))
        lines = f"[vault]\npath = {vault}\n{settings}"
        (work / "config.toml").write_text(lines, encoding="utf-8")
        self.share_embeddings(work, home)
        try:
            yield work
        finally:
            shutil.rmtree(work)

    def lend_filler(self, home: Path, work: Path) -> None:
        """Give a copy of a home vectors of its own, so that nobody has to read its filler."""
        if (home / FILLER).exists():
            (work / EMBEDDINGS).unlink()
            shutil.copyfile(home / FILLER, work / EMBEDDINGS)

    @contextmanager
    def of_store(self, store: Store) -> Iterator[Madeleine]:
        """Lend a home that holds what a store holds."""
        content = digest([store.drafts, store.retired])
        home, _ = self.made(store.name, content, lambda home: fill(home, store))
        with self.copy(home) as work, Madeleine.open(work, in_process=True) as opened:
            yield opened


def fill(home: Path, store: Store) -> Notes:
    """Remember what a store holds, and retire what is no longer true."""
    with Madeleine.open(home, in_process=True) as opened:
        remember_all(opened, store.drafts, f"remembering {store.name}")
        for old, new in store.retired:
            opened.retire(old, superseded_by=new)
    return {}


def remember_all(opened: Madeleine, drafts: Sequence[Draft], what: str) -> None:
    """Remember drafts, each of which must be taken."""
    with bar(what) as advance:
        for start in range(0, len(drafts), AT_ONCE):
            for outcome in opened.remember_many(drafts[start : start + AT_ONCE]):
                if outcome.error is not None:
                    raise outcome.error
            advance(min(start + AT_ONCE, len(drafts)), len(drafts))


def bar(what: str) -> ProgressBar:
    """Return a progress bar, which is silent unless somebody watches."""
    return ProgressBar(sys.stderr if sys.stderr.isatty() else None, what)


def digest(value: object) -> str:
    """Return a short name for a value: the same for the same value."""
    text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _notes(home: Path, mark: str) -> Notes | None:
    """Return what is noted beside a home, if it is whole and made from what is wanted."""
    path = home / MARK
    if not path.exists():
        return None
    found: Mapping[str, object] = json.loads(path.read_text(encoding="utf-8"))
    notes = found["notes"]
    return notes if found["made_from"] == mark and isinstance(notes, dict) else None


def _digest_of_code() -> str:
    """Return a name for the code and the settings that decide what a home looks like."""
    root, sources = Path(madeleine.__file__).parent, hashlib.sha256()
    places = [root / each for each in DERIVED]
    files = [each for place in places for each in (place, *sorted(place.rglob("*.py")))]
    for path in files:
        if path.is_file():
            sources.update(path.read_bytes())
    settings = {name: value for name, value in os.environ.items() if _decides(name)}
    return digest([sources.hexdigest(), settings])


def _decides(variable: str) -> bool:
    return variable.startswith("MADELEINE_") and not variable.startswith("MADELEINE_RECALL_")
