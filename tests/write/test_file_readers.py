"""Reading many files with two processes: the same as with one, whatever becomes of the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from madeleine.index.common.analysis import analyse_memory, make_stemmer
from madeleine.index.port import MemoryPut
from madeleine.model.stored_memory import StoredMemory
from madeleine.vault.read_marks import ReadMarks
from madeleine.vault.vault import FolderVault
from madeleine.write import file_readers
from madeleine.write.file_readers import FileReader, has_other_core, read_batches
from madeleine.write.reconcile import ReconcileResult, reconcile
from madeleine.write.stores import Stores
from madeleine.write.upkeep import rebuild
from tests.fakes import close, keep, make_stores

READY_SECONDS = 60.0
start_reader = FileReader.start
BROKEN = "---\ntype: nobody knows\n---\nThe ferry leaves at nine.\n"
TEXTS = (
    "The ferry leaves at nine, says Ana.",
    "Der Zahnarzt hat am Donnerstag um halb neun einen Termin für mich.",
    "会議は木曜日です。",
    "Never touch legacy/ without asking Tom.\n\n" + "A long story. " * 200,
)


@pytest.fixture
def vault(tmp_path: Path) -> FolderVault:
    found = FolderVault(tmp_path / "vault")
    for number, text in enumerate(TEXTS * 5):
        (found.root / f"note-{number}.md").write_text(f"{text}\n\nNumber {number}.\n", "utf-8")
    return found


@pytest.fixture
def reader(vault: FolderVault) -> Iterator[FileReader]:
    started = start_ready(vault)
    yield started
    started.close()


def start_ready(vault: FolderVault) -> FileReader:
    """Start a reader, and wait until it reads."""
    started = start_reader(vault)
    assert started is not None
    until = time.monotonic() + READY_SECONDS
    while not started.wants_more:
        assert time.monotonic() < until
        time.sleep(0.01)
    return started


def paths_in(vault: FolderVault) -> list[str]:
    return sorted(each.path for each in vault.scan())


def take(reader: FileReader) -> list[MemoryPut]:
    taken = reader.take(wait=True)
    assert taken is not None
    return taken[1]


def test_a_reader_says_of_each_file_what_we_would_say_ourselves(
    vault: FolderVault, reader: FileReader
) -> None:
    paths, stemmer = paths_in(vault), make_stemmer()

    reader.ask(paths, leave=())
    found = take(reader)

    assert [each.stored for each in found] == list(vault.read_all(paths))
    assert [each.analysis for each in found] == [
        analyse_memory(stemmer, each.stored.memory) for each in found
    ]


def test_a_reader_leaves_what_cannot_be_read_and_what_it_is_told_to(
    vault: FolderVault, reader: FileReader
) -> None:
    (vault.root / "broken.md").write_text(BROKEN, "utf-8")
    (vault.root / "link.md").symlink_to(vault.root / "note-1.md")

    reader.ask(["note-0.md", "broken.md", "link.md", "gone.md", "note-1.md"], leave={"note-1.md"})

    assert [each.stored.path for each in take(reader)] == ["note-0.md"]


def test_files_that_may_have_ended_a_process_are_not_given_to_a_reader(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "set-aside.json").write_text(
        '{"suspects": {"a.md": "1-2"}, "aside": {"b.md": "1-2"}}', "utf-8"
    )
    marks = ReadMarks(run)

    assert FolderVault(tmp_path / "vault", marks).suspected_files() == {"a.md", "b.md"}
    marks.close()


def test_what_a_reader_owes_when_it_is_killed_is_read_here(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[FileReader] = []

    def start_and_kill(cls: type[FileReader], vault: FolderVault) -> FileReader:
        started.append(start_ready(vault))
        os.kill(started[0].pid, signal.SIGKILL)
        return started[0]

    monkeypatch.setattr(FileReader, "start", classmethod(start_and_kill))

    assert read_all(vault, monkeypatch) == paths_in(vault)
    assert started


def test_without_another_process_everything_is_read_here(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    assert FileReader.start(vault) is None
    assert read_all(vault, monkeypatch) == paths_in(vault)


def test_a_program_that_is_no_reader_is_not_listened_to(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/ls")

    assert read_all(vault, monkeypatch) == paths_in(vault)


def read_all(vault: FolderVault, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the paths of what is read, in batches of three."""
    monkeypatch.setattr(file_readers, "FEWEST_FILES", 1)
    monkeypatch.setattr(file_readers, "has_other_core", lambda: True)
    paths = paths_in(vault)
    batches: Iterator[Sequence[str]] = (paths[at : at + 3] for at in range(0, len(paths), 3))
    with closing(read_batches(vault, batches, len(paths))) as read:
        found = [each for batch in read for each in batch.files]
    return sorted(each.stored.path for each in found if isinstance(each, MemoryPut))


def test_a_reader_ends_when_nobody_asks_any_more(vault: FolderVault) -> None:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "madeleine.write.reading_process", vault.root],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()

    with process.stdout:
        assert process.wait(READY_SECONDS) == 0


def test_few_files_are_read_without_another_process(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileReader, "start", None)  # whoever calls it fails

    with closing(read_batches(vault, iter([paths_in(vault)]), len(TEXTS))) as read:
        assert len([each for batch in read for each in batch.files]) == 5 * len(TEXTS)
    assert isinstance(has_other_core(), bool)


def test_an_index_made_with_a_reader_is_the_one_made_without(
    tmp_path: Path, vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    (vault.root / "broken.md").write_text(BROKEN, "utf-8")
    stores = make_stores(tmp_path)
    keep(stores, "the cat sleeps on the sofa")
    reconcile(stores)
    alone = rebuild_and_dump(stores, tmp_path)

    monkeypatch.setattr(file_readers, "FEWEST_FILES", 1)
    monkeypatch.setattr(file_readers, "has_other_core", lambda: True)
    monkeypatch.setattr(FileReader, "start", classmethod(lambda cls, vault: start_ready(vault)))
    read_here: set[str] = set()
    read = FolderVault.read

    def note(vault: FolderVault, path: str) -> StoredMemory:
        read_here.add(path)
        return read(vault, path)

    monkeypatch.setattr(FolderVault, "read", note)
    assert rebuild_and_dump(stores, tmp_path) == alone
    assert read_here == {"broken.md"}
    close(stores)


KILLED = """
import os, signal, sys
from pathlib import Path
from madeleine.write import file_readers
from madeleine.write.upkeep import rebuild
from tests.fakes import make_stores
from tests.write.test_file_readers import start_ready

def start(cls, vault):
    reader = start_ready(vault)
    print(reader.pid, flush=True)
    return reader

file_readers.FEWEST_FILES, file_readers.has_other_core = 1, lambda: True
file_readers.FileReader.start = classmethod(start)
rebuild(make_stores(Path(sys.argv[1])), lambda done, total: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_a_kill_in_the_middle_leaves_the_old_index_and_no_reader(
    tmp_path: Path, vault: FolderVault
) -> None:
    stores = make_stores(tmp_path)
    reconcile(stores)
    close(stores)

    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path], capture_output=True, check=False, timeout=120
    )

    assert done.returncode == -signal.SIGKILL
    assert wait_until_gone(int(done.stdout))
    stores = make_stores(tmp_path)
    assert stores.search.counts().memories == len(paths_in(vault))
    assert reconcile(stores).written == 0
    close(stores)


def wait_until_gone(pid: int) -> bool:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def rebuild_and_dump(stores: Stores, home: Path) -> tuple[ReconcileResult, list[object]]:
    """Rebuild the index; return what was reported, and what it holds, without numbers of rows."""
    report = rebuild(stores)
    assert report.unreadable
    assert report.written == 21
    db = apsw.Connection(str(home / "index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    rows = db.execute(
        """SELECT n.id, n.path, n.embedded, t.title, t.content, t.tags, t.grams, t.said,
                  p.number % 64, p.traits, p.capitals, p.words, p.stems, p.tokens
           FROM nodes n JOIN texts t ON t.node = n.node JOIN passages p ON p.number / 64 = n.node
           ORDER BY n.id, p.number"""
    )
    keys = db.execute(
        "SELECT n.id, k.key FROM nodes n JOIN node_triggers k ON k.node = n.node ORDER BY 1, 2"
    )
    return report, [*rows, *keys]
