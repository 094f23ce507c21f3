"""JSON lines with everything that a memory is: `madeleine import madeleine FILE` restores it.

    {"format":"madeleine-export","memories":412,"version":1}
    {"connections":[…],"content":"…","created":"…","id":"…","path":"…","usage":{…},…}
    {"end":true,"format":"madeleine-export","memories":412}

A memory's line has the fields of its file, how it was used, where its file is and, if the file says
more than its fields do, its text. The last line tells a whole export from one that was cut.
"""

from __future__ import annotations

import json
from pathlib import Path

from madeleine.ingest.exporting.writing import Items, new_file
from madeleine.ingest.importing.madeleine import EXPORT, VERSION
from madeleine.model.codec import Json


def write(path: Path, items: Items, total: int) -> int:
    """Write the memories; return how many there were."""
    count = 0
    with new_file(path) as file:
        file.write(_encode_line({"format": EXPORT, "version": VERSION, "memories": total}))
        for item in items:
            file.write(_encode_line(item))
            count += 1
        file.write(_encode_line({"format": EXPORT, "end": True, "memories": count}))
    return count


def _encode_line(values: Json) -> bytes:
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"{text}\n".encode("utf-8", "surrogatepass")
