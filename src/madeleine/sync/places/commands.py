"""Running `git` and `ssh`: bounded in time, without a terminal, their last words as the error."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from madeleine.sync.places.port import PlaceDown

SHOWN_CHARS = 300  # of what a program says
# Neither program may ask anybody: the daemon has no terminal.
QUIET = ("env", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "LC_ALL=C")


class CommandFailed(PlaceDown):
    """A program ended with an error."""

    kind = "command_failed"

    def __init__(self, place: str, program: str, said: str) -> None:
        super().__init__(place, f"`{program}` says: {said[:SHOWN_CHARS]}")
        self.said = said


def run_program(
    place: str,
    command: Sequence[str],
    timeout: float,
    folder: Path | None = None,
    given: bytes | None = None,
) -> bytes:
    """Return what a program prints; `PlaceDown` if it is not there, takes too long, or fails."""
    name = command[0]
    try:
        done = subprocess.run(
            [*QUIET, *command],
            cwd=folder,
            input=given if given is not None else b"",
            capture_output=True,
            timeout=timeout,
            check=False,
            start_new_session=True,  # with no terminal of ours to ask on
        )
    except subprocess.TimeoutExpired as error:
        problem = f"`{name}` did not end within {timeout:g} s"
        hint = "see that it answers, or raise `sync.timeout_seconds`"
        raise PlaceDown(place, problem, hint) from error
    except OSError as error:
        raise PlaceDown(place, f"cannot run `{name}`: {error.strerror}") from error
    if done.returncode == 127 and not done.stdout:
        raise PlaceDown(place, f"there is no `{name}` here", f"install {name}, then sync again")
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
        raise CommandFailed(place, name, " ".join(said.split()))
    return done.stdout
