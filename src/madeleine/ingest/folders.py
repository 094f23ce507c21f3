"""Folders of notes that are followed: a new or changed file is taken in, unasked.

Only texts are (`.md`, `.txt` and the like), nothing hidden, no link, and never anything in our own
home or vault: memories must not feed on themselves. Nothing is written into a folder. What cannot
be taken in is told in `status`. A deleted file is noticed while the folder is watched; whether its
memories stay is a setting (`documents.retire_deleted_document`). A whole folder that is gone, as a
drive that is not plugged in, retires nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from madeleine.errors import Damaged, Rejected, TooLarge, Unavailable
from madeleine.ingest.context import IngestContext
from madeleine.ingest.documents import SourceDocument, ingest_document, retire_deleted_document
from madeleine.vault.folder_watch import watch_folders
from madeleine.write.find_space import find_space

SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".txt", ".org", ".rst"})
LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv"})
LEAST_QUIET_SECONDS = 0.05
LEAST_BATCH_SECONDS = 1.6  # how long changes that never cease may be gathered

FileState = tuple[int, int]


class FolderWatcher:
    """The folders that one daemon follows."""

    def __init__(
        self, intake: IngestContext, roots: Sequence[Path], private: Sequence[Path]
    ) -> None:
        """`private` are our own folders, which are never taken in."""
        self._intake = intake
        self._roots = [each.resolve() for each in roots]
        self._private = [each.resolve() for each in private]
        self._looks: dict[Path, FileState] = {}
        self._taking = threading.Lock()

    def scan(self, go_on: Callable[[], bool] = lambda: True) -> int:
        """Take in what is new or changed in all folders; return how many files were."""
        taken = 0
        for root in self._roots:
            self._intake.tell(str(root), None if root.is_dir() else "is no folder")
            for path in self._walk_files(root):
                if not go_on():
                    return taken
                taken += self.look_at(path)
        return taken

    def watch(self, stop: threading.Event, poll: bool = False) -> None:
        """Follow the folders until `stop` is set. Blocks."""
        there = [each for each in self._roots if each.is_dir()]
        if not there:
            stop.wait()
            return
        quiet = max(self._intake.config.folder_debounce_seconds, LEAST_QUIET_SECONDS)
        for batch in watch_folders(there, stop, quiet, max(quiet * 5, LEAST_BATCH_SECONDS), poll):
            self._read_changed({Path(each.path) for each in batch}, lambda: not stop.is_set())

    def _read_changed(self, places: set[Path], go_on: Callable[[], bool]) -> None:
        """Take in what appeared first: a file that was renamed is known again by its words."""
        for place in sorted(places):
            inside = self._walk_files(place) if self._is_followed(place) else [place]
            for path in inside:
                if go_on() and self._is_note(path):
                    self.look_at(path)
        for place in sorted(places):
            if go_on() and place.suffix.lower() in SUFFIXES and not place.exists():
                self._drop_file(place)

    def _is_followed(self, place: Path) -> bool:
        return place.is_dir() and any(self._leads_to(root, place) for root in self._roots)

    def look_at(self, path: Path) -> bool:
        """Take in one file if it looks other than last time; say whether it was."""
        with self._taking:
            look = _read_file_state(path)
            if look is None or self._looks.get(path) == look:
                return False
            try:
                problem = self._take(path)
            except Unavailable as error:  # the disk, not the file: it is tried again
                self._intake.tell(str(path), error.message)
                return False
            self._looks[path] = look
            self._intake.tell(str(path), problem)
            return problem is None

    def _take(self, path: Path) -> str | None:
        """Take in a file; return what is wrong with it until it changes."""
        try:
            written = read_file(self._intake, path)
            if not written.text.strip():
                return None  # it is about to be written, or says nothing yet
            done = ingest_document(self._intake, written)
        except (Rejected, Damaged) as error:
            return error.message
        except OSError as error:
            return f"cannot be read: {error.strerror}"
        except UnicodeDecodeError as error:
            return f"is not UTF-8 at byte {error.start}"
        return f"{done.held_back} sections were left out" if done.held_back else None

    def _drop_file(self, path: Path) -> None:
        self._looks.pop(path, None)
        self._intake.tell(str(path), None)
        if any(root.is_dir() and root in path.parents for root in self._roots):
            retire_deleted_document(self._intake, path.as_uri())

    def _walk_files(self, top: Path) -> Iterator[Path]:
        for folder, below, names in os.walk(top):
            below[:] = sorted(each for each in below if self._may_hold_notes(Path(folder, each)))
            yield from (each for name in sorted(names) if self._is_note(each := Path(folder, name)))

    def _may_hold_notes(self, folder: Path) -> bool:
        hidden = folder.name.startswith(".") or folder.name in LEFT_OUT
        return not hidden and not folder.is_symlink() and not self._is_ours(folder)

    def _is_note(self, path: Path) -> bool:
        """Whether this is a text that is followed: by the same rule whether it was found or the
        system told of it, so every folder on the way to it counts."""
        if path.suffix.lower() not in SUFFIXES or path.name.startswith("."):
            return False
        if path.is_symlink() or not path.is_file() or self._is_ours(path):
            return False
        return any(self._leads_to(root, path.parent) for root in self._roots)

    def _leads_to(self, root: Path, folder: Path) -> bool:
        """Whether every folder between one that is followed and this one may hold notes."""
        if root != folder and root not in folder.parents:
            return False
        return all(
            self._may_hold_notes(each) for each in (folder, *folder.parents) if root in each.parents
        )

    def _is_ours(self, path: Path) -> bool:
        real = Path(os.path.realpath(path))
        return any(each == real or each in real.parents for each in self._private)


def read_file(intake: IngestContext, path: Path) -> SourceDocument:
    """Return a file as it is taken in. Raises OSError and UnicodeDecodeError."""
    found = path.stat()
    if found.st_size > intake.config.content_bytes:
        raise TooLarge("it", found.st_size, intake.config.content_bytes, "ingest.content_bytes")
    modified = datetime.fromtimestamp(found.st_mtime, UTC)
    text = path.read_bytes().decode("utf-8-sig")
    space = find_space(intake.stores, str(path.parent)).space
    return SourceDocument(path.name, text, modified, path.as_uri(), space)


def _read_file_state(path: Path) -> FileState | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
