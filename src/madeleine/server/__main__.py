"""`python -m madeleine.server`: the process that `launch` starts.

It says in one line on stdout that it is ready, or why it is not, and is silent from then on.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from madeleine.api.wire import error_to_json
from madeleine.errors import MadeleineError
from madeleine.server.daemon import Address, serve


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m madeleine.server", allow_abbrev=False)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    given = parser.parse_args(arguments)
    try:
        serve(given.home, given.host, given.port, ready=_ready)
    except MadeleineError as error:
        _say({"error": error_to_json(error)})
        return error.exit_code
    return 0


def _ready(address: Address) -> None:
    _say({"ready": address.to_json()})


def _say(message: dict[str, object]) -> None:
    """Tell whoever started us, then let go of the pipe: they need not stay."""
    try:
        os.write(1, json.dumps(message).encode("ascii") + b"\n")
    except BrokenPipeError:
        return  # they left already
    finally:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
