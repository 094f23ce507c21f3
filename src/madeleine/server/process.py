"""The process of a daemon, from its arguments to its exit code.

It says in one line on stdout that it is ready, or why it is not, and is silent from then on. Why
it is not stands in logs/daemon.log as well: a hook that starts us has nobody to tell.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
from pathlib import Path

from madeleine.api.error_codec import error_to_json
from madeleine.errors import HomeBusy, MadeleineError
from madeleine.server.daemon import DaemonAddress, serve
from madeleine.server.launch import LOG_FILE, open_log
from madeleine.server.logs import log_to_file

log = logging.getLogger("madeleine.daemon")


def run_process(arguments: list[str] | None = None) -> int:
    """Serve until told to end; return the exit code."""
    spare_what_stays()
    gc.enable()
    parser = argparse.ArgumentParser(prog="python -m madeleine.server", allow_abbrev=False)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--or-any-port", action="store_true", help="if that one is taken")
    given = parser.parse_args(arguments)
    try:
        serve(given.home, given.host, given.port, _report_ready, given.or_any_port)
    except MadeleineError as error:
        _log_error(given.home, error)
        _tell_starter({"error": error_to_json(error)})
        return error.exit_code
    return 0


def _report_ready(address: DaemonAddress) -> None:
    spare_what_stays()
    _tell_starter({"ready": address.to_json()})


def spare_what_stays() -> None:
    """Never look for garbage among what is there by now. Modules, tables and the index stay, and
    looking through all of them takes 50 ms in which nobody is answered."""
    gc.freeze()


def _log_error(home: Path, error: MadeleineError) -> None:
    """Log why there is no daemon. That another one is there already is nothing wrong."""
    try:
        os.close(open_log(home))
        log_to_file(home / "logs" / LOG_FILE)
    except (OSError, MadeleineError):
        return  # the home takes no files, which is what the error says
    level = logging.INFO if isinstance(error, HomeBusy) else logging.ERROR
    log.log(level, "%s (%s)", error.message, error.hint)


def _tell_starter(message: dict[str, object]) -> None:
    """Tell whoever started us, then let go of the pipe: they need not stay."""
    try:
        os.write(1, json.dumps(message).encode("ascii") + b"\n")
    except BrokenPipeError:
        return  # they left already
    finally:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
