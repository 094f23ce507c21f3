"""Receipts: what setup changed, and how it was before.

They stand in `agents/receipt.json` of the home, with a copy of each file as it was in
`agents/backups/`. With them `unsetup` gives back every byte of a file that nobody else changed
since. Without them, or when somebody did, our entries are taken out one by one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from madeleine.agents.environment import AGENTS_FOLDER
from madeleine.errors import Damaged
from madeleine.vault.files import write_file

RECEIPT_FILE = "receipt.json"
BACKUPS_FOLDER = "backups"


class DamagedReceipt(Damaged):
    """The receipt of setup does not parse."""

    kind = "receipt_torn"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} does not parse",
            hint="move it away: entries are then taken out one by one, and no backup is used",
            path=path,
        )


@dataclass(frozen=True, slots=True)
class SetupReceipt:
    """What setup did to one file."""

    agent: str
    path: str
    created: bool
    wrote: str
    """The digest of what we left there."""
    backup: str | None = None
    """The name of the copy of what was there."""
    exact: bool = True
    """Whether that copy is all there is besides our entries."""
    pieces: list[str] = field(default_factory=list)
    """What of it setup wrote; an entry that a person had there is not among them."""


@dataclass(slots=True)
class SetupReceipts:
    """All receipts of a home, by the path of the file."""

    folder: Path
    files: dict[str, SetupReceipt] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    """Folders that were not there before, outermost first."""

    def of(self, path: Path) -> SetupReceipt | None:
        return self.files.get(str(path))

    def backup_of(self, receipt: SetupReceipt | None) -> bytes | None:
        """Return the file as it was, if a copy was kept."""
        if receipt is None or receipt.backup is None:
            return None
        try:
            return (self.folder / BACKUPS_FOLDER / receipt.backup).read_bytes()
        except FileNotFoundError:
            return None

    def new_backup(self, agent: str, path: Path, taken: Iterable[str]) -> Path:
        """Return where to keep a copy: under a name that says what it is and is free."""
        used = set(taken)
        stem = f"{agent}-{path.name.lstrip('.')}"
        number = 1
        name = stem
        while name in used or (self.folder / BACKUPS_FOLDER / name).exists():
            number += 1
            name = f"{stem}.{number}"
        return self.folder / BACKUPS_FOLDER / name

    def is_untouched(self, receipt: SetupReceipt | None, data: bytes | None) -> bool:
        """Whether a file still is what we left."""
        return receipt is not None and data is not None and sha256_hex(data) == receipt.wrote

    def copied(self) -> SetupReceipts:
        return replace(self, files=dict(self.files), made=list(self.made))

    def save(self) -> None:
        """Write the receipts down; with none left there is no file."""
        path = self.folder / RECEIPT_FILE
        if not self.files:
            path.unlink(missing_ok=True)
            return
        document = {"files": [asdict(each) for each in self.files.values()], "made": self.made}
        write_file(path, json.dumps(document, indent=2).encode() + b"\n")


def load_receipts(folder: Path) -> SetupReceipts:
    """Return the receipts of a home; none where setup never ran."""
    path = folder / RECEIPT_FILE
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
        files = {each["path"]: SetupReceipt(**each) for each in found["files"]}
        return SetupReceipts(folder, files, list(found["made"]))
    except FileNotFoundError:
        return SetupReceipts(folder)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedReceipt(path) from error


def is_wired_by(home: str, path: Path) -> bool:
    """Whether the setup of another home wrote into a file, as its own receipts say."""
    try:
        return load_receipts(Path(home) / AGENTS_FOLDER).of(path) is not None
    except (OSError, DamagedReceipt):
        return False  # whoever looks after that home is told


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
