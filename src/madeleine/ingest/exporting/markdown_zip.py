"""A zip of the memories' own files, byte for byte, in their folders.

The same files give the same zip: they stand in the order of their ids, and the time of each entry
is that of the memory, not of the export.
"""

from __future__ import annotations

import zipfile
from datetime import datetime
from pathlib import Path

from madeleine.ingest.exporting.writing import Items, new_file
from madeleine.model.codec import Json
from madeleine.model.times import parse_time

EARLIEST = (1980, 1, 1, 0, 0, 0)  # what a zip can say
LATEST = (2107, 12, 31, 23, 59, 58)
PRIVATE = 0o600 << 16


def write(path: Path, items: Items, total: int) -> int:
    """Write the files; return how many there were."""
    count = 0
    with new_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        for item in items:
            archive.writestr(_zip_entry(item), str(item["file"]), zipfile.ZIP_DEFLATED, 6)
            count += 1
    return count


def _zip_entry(item: Json) -> zipfile.ZipInfo:
    folder = "trash/" if item.get("trashed") else ""
    entry = zipfile.ZipInfo(f"{folder}{item['path']}", _zip_time(item["updated"]))
    entry.external_attr = PRIVATE
    entry.create_system = 3  # the same on every machine
    return entry


def _zip_time(text: object) -> tuple[int, int, int, int, int, int]:
    moment: datetime = parse_time("updated", text)
    said = moment.timetuple()[:6]
    return min(max((said[0], said[1], said[2], said[3], said[4], said[5]), EARLIEST), LATEST)
