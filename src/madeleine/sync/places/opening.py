"""From the words of a setting to a place."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from madeleine.errors import InvalidValue
from madeleine.sync.places.folder import FolderPlace
from madeleine.sync.places.git import GitPlace
from madeleine.sync.places.port import MeetingPlace
from madeleine.sync.places.ssh import SshPlace

GIT_PREFIX = "git+"
_SSH = re.compile(r"ssh://(?P<host>(?:[\w.+-]+@)?[\w.:\[\]-]+)/(?P<folder>.+)")
_HINT = "a folder from / or ~ on, git+URL, a URL that ends in .git, or ssh://host/folder"


def open_place(text: str, scratch: Path, timeout: float) -> MeetingPlace:
    """Return the place that a text names. Nothing is looked at yet. `scratch` is a folder of ours
    for a clone."""
    wanted = text.strip()
    if wanted.startswith(GIT_PREFIX) or wanted.endswith(".git"):
        url = wanted.removeprefix(GIT_PREFIX)
        if not url or url.startswith("-"):
            raise _refusal(text)
        mark = hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        return GitPlace(
            str(Path(url).expanduser()) if "~" in url[:1] else url, scratch / mark, timeout
        )
    ssh = _SSH.fullmatch(wanted)
    if ssh is not None and not ssh["host"].startswith("-"):
        # As in git, `ssh://host/~/x` is below the home there; all else begins at the root.
        folder = ssh["folder"]
        below_home = folder.startswith("~/")
        return SshPlace(ssh["host"], folder[2:] if below_home else f"/{folder}", timeout)
    folder_path = Path(wanted).expanduser()
    if "://" in wanted or not folder_path.is_absolute():
        raise _refusal(text)
    return FolderPlace(folder_path)


def _refusal(text: str) -> InvalidValue:
    return InvalidValue("place", f"is {text!r:.120}", hint=_HINT)
