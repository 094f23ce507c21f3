"""Read one file, given on the standard input, in a process of its own.

It ends with 0 if reading came to an end, whether the file makes sense or not. Anything else, a
signal above all, says that the file is not to be read by a process that is needed. `read_marks`
starts it for a file that may have ended one.
"""

from __future__ import annotations

import resource
import sys

from madeleine.errors import FileUnreadable
from madeleine.model.fingerprint import Fingerprint
from madeleine.vault.front_matter import parse_document
from madeleine.vault.markdown import read_memory
from madeleine.vault.yaml_fallback import InvalidYaml, load_block

_MEMORY_LIMIT_BYTES = 2 * 1024**3


def main() -> None:
    _limit_resource(resource.RLIMIT_CORE, 0)
    _limit_resource(resource.RLIMIT_AS, _MEMORY_LIMIT_BYTES)
    data = sys.stdin.buffer.read()
    try:
        read_memory("trial.md", data, Fingerprint(0, 0))
        document = parse_document(data)
    except FileUnreadable:
        return
    for block in document.blocks:
        if block.key is not None:
            try:
                load_block(block.key, block.text)
            except InvalidYaml:
                continue


def _limit_resource(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


if __name__ == "__main__":
    main()
