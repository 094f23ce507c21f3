"""The aliases of spaces as `config.toml` has them now: an alias holds without a new start.

It is the one setting that is read again while a home is open, since it says where what is said
right after it belongs. The file is read when it has changed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from madeleine.errors import MadeleineError
from madeleine.settings import list_settings
from madeleine.settings.config_file import config_path, read_config_table

ALIASES = "space.aliases"


@dataclass(slots=True)
class SpaceAliasReader:
    """Gives the setting `space.aliases`; a file that cannot be read changes nothing."""

    home: Path
    known: str
    """As it was when the home was opened."""
    _mark: tuple[int, int] | None = None

    def __call__(self) -> str:
        path = config_path(self.home)
        try:
            found = path.stat()
        except OSError:
            return self.known
        mark = (found.st_mtime_ns, found.st_size)
        if mark != self._mark:
            self._mark = mark
            self.known = self._read(path)
        return self.known

    def _read(self, path: Path) -> str:
        try:
            settings = list_settings(read_config_table(path), os.environ)
        except MadeleineError:
            return self.known
        return str(next(each.value for each in settings if each.name == ALIASES))
