"""`python -m madeleine.server`: the process that `launch` starts.

It says in one line on stdout that it is ready, or why it is not, and is silent from then on. Why
it is not stands in logs/daemon.log as well: a hook that starts us has nobody to tell.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from pathlib import Path

from madeleine.api.wire import error_to_json
from madeleine.errors import HomeBusy, MadeleineError
from madeleine.server.daemon import Address, serve
from madeleine.server.launch import LOG, open_log
from madeleine.server.logs import log_to

log = logging.getLogger("madeleine.daemon")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m madeleine.server", allow_abbrev=False)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--or-any-port", action="store_true", help="if that one is taken")
    given = parser.parse_args(arguments)
    try:
        serve(given.home, given.host, given.port, _ready, given.or_any_port)
    except MadeleineError as error:
        _write_down(given.home, error)
        _say({"error": error_to_json(error)})
        return error.exit_code
    return 0


def _ready(address: Address) -> None:
    _say({"ready": address.to_json()})


def _write_down(home: Path, error: MadeleineError) -> None:
    """Log why there is no daemon. That another one is there already is nothing wrong."""
    try:
        os.close(open_log(home))
        log_to(home / "logs" / LOG)
    except (OSError, MadeleineError):
        return  # the home takes no files, which is what the error says
    level = logging.INFO if isinstance(error, HomeBusy) else logging.ERROR
    log.log(level, "%s (%s)", error.message, error.hint)


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
