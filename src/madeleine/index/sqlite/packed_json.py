"""JSON that is written often and seldom read, packed.

What a whisper leaves in the log names its fields a dozen times: packed with a dictionary of those
names it takes a quarter of the room. A text that was written before is read as it stands.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping

_LEVEL = 6
_RAW = -15  # no header, no checksum: SQLite's pages are as safe as those of any other row
_FIRST_DICTIONARY = b"\x01"
"""The first byte says which dictionary a text was packed with. A dictionary is never edited."""
_DICTIONARY = (
    b'"without_model":null,"silence_parts":null,"kind":"nothing_found","because":{"kind":'
    b'"filtered_out"}},"late":true,"moment":"start","deed","awaited_until":"'
    b'"stage":"search","stage":"gate","stage":"order","intents":["general"],"best":0.'
    b'"link":"member"},{"kind":"kin","asked":"","said":"","link":"class"}, '
    b'{"kind":"shares_name"},{"kind":"newer_of_two","memory":"'
    b'{"kind":"faintly_close"}],"held":"lead"}, '
    b'"candidates":[{"memory":"","title":"The ","score":0.0,"worth":0.0,"words":0.0, '
    b'"meaning":0.0,"affinity":0.0,"reasons_parts":[{"kind":"shares_words","share":0.}, '
    b'{"kind":"close_in_meaning","similarity":0.}]}],"refused":[{"memory":"'
    b'"affinity":0.0,"reasons_parts":[{"kind":"shares_words","share":0.'
    b'},{"kind":"close_in_meaning","similarity":0.'
    b'}],"held":"floor"},{"memory":"","title":"","score":0.'
    b'"passed_over":[],"restated":{},"prompt":"","among":["main",null],"injected":["'
    b'"],"withheld":[],"held_out":false,"took_ms":,"tokens":0,"delivery":"delivered"}'
)


def pack_json(body: Mapping[str, object]) -> bytes:
    """Return a JSON object, packed."""
    packing = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, zdict=_DICTIONARY)
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return _FIRST_DICTIONARY + packing.compress(text) + packing.flush()


def unpack_text(value: str | bytes) -> str:
    """Return the text of what was packed; a text is returned as it stands."""
    if isinstance(value, str):
        return value
    unpacking = zlib.decompressobj(_RAW, zdict=_DICTIONARY)
    return unpacking.decompress(value[len(_FIRST_DICTIONARY) :]).decode()
