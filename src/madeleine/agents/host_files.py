"""Files of hosts as text, and back: byte order mark, line ends and links kept as they are."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from madeleine.agents import blocks, jsonc, toml_text
from madeleine.errors import SettingsLocked, SettingsUnreadable, Unavailable

_BYTE_ORDER_MARK = "\ufeff"
_MAX_SETTINGS_BYTES = 64_000_000  # more is no settings file


class NotASettingsFile(Unavailable):
    """What stands in a settings file's place is not a file: a folder, a pipe, a link to itself."""

    kind = "no_settings"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is no settings file",
            hint="move it away, or name only the other agents; nothing was changed",
            path=path,
        )


@dataclass(frozen=True, slots=True)
class HostFile:
    """A file as it is: `path` as the host names it, `target` where its links lead."""

    path: Path
    target: Path
    data: bytes | None

    @property
    def text(self) -> str:
        """The text without its byte order mark; empty where there is no file."""
        try:
            return (self.data or b"").decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
        except UnicodeDecodeError as error:
            line = (self.data or b"").count(b"\n", 0, error.start) + 1
            raise SettingsUnreadable(self.path, line, "this is not UTF-8") from error

    def encoded(self, text: str) -> bytes:
        """Return a new text as bytes, with the mark if the file has one."""
        marked = (self.data or b"").startswith(_BYTE_ORDER_MARK.encode())
        return f"{_BYTE_ORDER_MARK if marked else ''}{text}".encode()


def read_host_file(path: Path) -> HostFile:
    """Read a file, if there is one."""
    target = Path(os.path.realpath(path))
    try:
        looks = target.stat()
        if not stat.S_ISREG(looks.st_mode) or looks.st_size > _MAX_SETTINGS_BYTES:
            raise NotASettingsFile(path)
        return HostFile(path, target, target.read_bytes())
    except FileNotFoundError:
        return HostFile(path, target, None)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotASettingsFile(path) from error
        raise SettingsLocked(path, error.strerror or str(error)) from error


def check_writable(found: HostFile) -> None:
    """Refuse what its owner made read-only, and where the system would refuse."""
    try:
        mode = found.target.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IWUSR
    if not mode & stat.S_IWUSR:
        raise SettingsLocked(found.path, "it is read-only")
    folder = next(each for each in found.target.parents if each.exists())
    if not folder.is_dir():
        raise SettingsLocked(found.path, f"{folder} is no folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SettingsLocked(found.path, f"{folder} does not take files from you")


def is_blank(path: Path, text: str) -> bool:
    """Whether a file says nothing: no more than what was made to hold our pieces."""
    if path.suffix in (".json", ".jsonc"):
        return jsonc.read_json(text).value in ({}, {"version": 1})
    return not text.strip()


def is_still_empty(path: Path, before: str, text: str) -> bool:
    """Whether a file that held comments at most, or nothing, holds no more than those now."""
    return _is_empty_settings(path, before) and _remaining_words(path, text) == _remaining_words(
        path, before
    )


def _is_empty_settings(path: Path, text: str) -> bool:
    if path.suffix in (".json", ".jsonc"):
        root = jsonc.read_json(text)
        return root.start == root.end
    return path.suffix == ".toml" and not toml_text.read_toml(text)


def _remaining_words(path: Path, text: str) -> list[str]:
    """Return the words of a file that says nothing, without what was made to hold our pieces."""
    if path.suffix in (".json", ".jsonc") and is_blank(path, text):
        root = jsonc.read_json(text)
        text = text[: root.start] + text[root.end :]
    return text.split()


@contextmanager
def translate_parse_errors(found: HostFile) -> Iterator[None]:
    """Name the file and the line when its text makes no sense."""
    try:
        yield
    except (jsonc.InvalidJson, toml_text.InvalidToml, blocks.BrokenBlock) as error:
        raise SettingsUnreadable(found.path, error.line, error.problem) from error
