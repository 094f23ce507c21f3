"""The doctor's look at a home: its daemon, its permissions and token, its files, jobs and clock."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from madeleine.agents.findings import (
    FINE_CODE,
    NOTE_CODE,
    DoctorFinding,
    error_finding,
    trouble_finding,
)
from madeleine.api.home_paths import is_private, run_folder
from madeleine.api.remote import find_daemon
from madeleine.api.routes import ROUTE_BY_NAME
from madeleine.errors import Damaged, MadeleineError, Missing, Rejected, Unavailable
from madeleine.language.user_terms import TERMS_TAG, parse_user_terms
from madeleine.model.cause import HookProblem
from madeleine.vault.journal_lines import find_damaged_lines, list_journal_files
from madeleine.version import __version__

Json = Mapping[str, Any]
AskDaemon = Callable[[str, Mapping[str, object]], Json]
"""Carries out an operation of the home, by its name and query."""

ANSWER_TIMEOUT_SECONDS = 5.0  # a daemon that says nothing for that long is stuck
MAX_CLOCK_SKEW_SECONDS = 300.0  # two machines that share a vault may differ by that much
JOURNAL_TAIL_BYTES = 65_536
LOG_TAIL_BYTES = 16_384
LOG_LINE_PATTERN = re.compile(r"\d{4}-\d\d-\d\d \d\d:")
REFUSAL_MARK = " ERROR madeleine.daemon: "  # in the log's last line, if a daemon did not start
JOURNAL_FIX = (
    "the line is passed over and stays as it is; mend or remove it by hand, then madeleine rebuild"
)
LANGUAGES_FIX = "pip install 'madeleine-memory[multilingual]', then start the daemon anew"
MIN_JOB_FAILURES = 2  # once may be chance
MAX_LATE_SHARE = 0.1  # of all prompts, from when on it is no chance any more
MIN_LATE_RUNS = 5
MAX_MISSED_SYNCS = 5  # intervals without one, from when on it is no short absence
TERMS_MEMORIES = 50  # memories with terms of the user's that are looked at


def check_home(home: Path, ask: AskDaemon, now: float) -> Iterator[DoctorFinding]:
    """Look at everything in a home."""
    if not home.is_dir():
        yield trouble_finding(Missing, "home", f"there is no home at {home} yet", "madeleine serve")
        return
    yield from check_run(home)
    daemon = find_daemon(home)
    if daemon is None:
        unusable = list(check_settings(home))
        yield from unusable or [_daemon_down_finding(home)]
        if unusable or is_home_empty(home):
            return  # to ask would be to make it: there is nothing to look at yet
    elif not _does_socket_answer(daemon.where):
        problem = f"the daemon does not answer within {ANSWER_TIMEOUT_SECONDS:g} s"
        yield trouble_finding(Unavailable, "daemon", problem, "madeleine stop; madeleine serve")
        return
    try:
        status = ask("status", {})
        newest = ask("list", {"limit": 1})
        terms = ask("list", {"tags": [TERMS_TAG], "limit": TERMS_MEMORIES})
    except MadeleineError as error:
        yield error_finding("home", error)
        return
    yield from check_status(home, status, now)
    yield from check_clock(home, newest, now)
    yield from check_terms(terms)


def check_terms(terms: Json) -> Iterator[DoctorFinding]:
    """Whether every line of the user's terms says something."""
    for memory in terms["memories"]:
        lines = parse_user_terms(memory["content"]).unreadable
        if lines:
            more = f", and {len(lines) - 1} more like it" if len(lines) > 1 else ""
            problem = f"a line of the terms in {memory['short_id']} says nothing"
            fix = "write `name | other names | classes`, `name: classes` or `- name`"
            yield DoctorFinding("terms", f"{problem}: {lines[0]!r}{more}", fix, NOTE_CODE)


def is_home_empty(home: Path) -> bool:
    """Whether nothing was ever remembered or indexed here."""
    return not any((home / name).exists() for name in ("vault", "journal", "index.db"))


def check_settings(home: Path) -> Iterator[DoctorFinding]:
    """Whether config.toml can be used. If not, no daemon starts and nobody can open the home:
    that is one thing to mend, and it is told once."""
    if not (home / "config.toml").exists():
        return
    from madeleine.bootstrap import load_settings  # heavy: only here

    try:
        load_settings(home)
    except MadeleineError as error:
        yield error_finding("home", error)


# -- the daemon ----------------------------------------------------------------------------


def _daemon_down_finding(home: Path) -> DoctorFinding:
    """Say that no daemon runs. That is no trouble, unless the last one could not: hooks and
    `madeleine mcp` start one."""
    why = _read_why_down(home)
    if why:
        problem = f"no daemon runs on this home; the last one: {why}"
        return trouble_finding(Unavailable, "daemon", problem, "madeleine serve")
    message = "no daemon runs on this home; the next prompt or tool call starts one"
    return DoctorFinding("daemon", message, "nothing; to have it now: madeleine serve", NOTE_CODE)


def _read_why_down(home: Path) -> str:
    """Return why the last daemon did not start, if its log ends with that."""
    try:
        with (home / "logs" / "daemon.log").open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - LOG_TAIL_BYTES))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []  # none ever ran
    last = lines[-1] if lines else ""
    return (
        last.partition(REFUSAL_MARK)[2] if LOG_LINE_PATTERN.match(last) else last
    )  # else a bug's last words


def check_run(home: Path) -> Iterator[DoctorFinding]:
    """Whoever can look into the home can read what lies in it with other modes than ours, and
    whoever can read run/ can read every memory."""
    if home.is_dir() and home.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield trouble_finding(
            Rejected, "permissions", f"others may look into {home}", f"chmod 700 {home}"
        )
    run = run_folder(home)
    if run.exists() and not is_private(run):
        yield trouble_finding(
            Rejected, "permissions", f"others may look into {run}", f"chmod 700 {run}"
        )
    for name in ("token", "hook"):
        path = run / name
        if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            yield trouble_finding(
                Rejected, "permissions", f"others may read {path}", f"chmod 600 {path}"
            )


def _does_socket_answer(where: Path) -> bool:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    return _request_status(connection, os.fspath(where), ROUTE_BY_NAME["health"].path, "") == 200


def check_token(home: Path, daemon: Json) -> Iterator[DoctorFinding]:
    """Whether clients that take the token from its file are let in."""
    path = run_folder(home) / "token"
    again = "madeleine stop; madeleine serve"
    try:
        token = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        problem = f"cannot read {path}: {error.strerror}"
        yield trouble_finding(Rejected, "token", problem, again)
        return
    connection = socket.socket(socket.AF_INET6 if ":" in str(daemon["host"]) else socket.AF_INET)
    address = (str(daemon["host"]), int(daemon["port"]))
    status = _request_status(connection, address, ROUTE_BY_NAME["status"].path, token)
    if status == 401:
        problem = f"the daemon does not take the token in {path}"
        yield trouble_finding(Rejected, "token", problem, again)
    elif status == 0:
        problem = f"nobody answers on {address[0]}:{address[1]}"
        yield trouble_finding(Unavailable, "daemon", problem, again)


def _request_status(connection: socket.socket, address: Any, path: str, token: str) -> int:
    """Return the status of a GET; 0 when nobody answers in time."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    with connection:
        connection.settimeout(ANSWER_TIMEOUT_SECONDS)
        try:
            connection.connect(address)
            connection.sendall(request.encode("utf-8"))
            first = connection.recv(len("HTTP/1.1 200"), socket.MSG_WAITALL)
        except OSError:
            return 0
    code = first[-3:]
    return int(code) if code.isdigit() else 0


# -- what the home says about itself -------------------------------------------------------


def check_status(home: Path, status: Json, now: float = 0.0) -> Iterator[DoctorFinding]:
    daemon = status.get("daemon")
    if daemon is not None:
        yield from _check_version(status)
        yield from check_token(home, daemon)
        yield from _check_hooks(daemon.get("hooks") or {})
    yield from _check_files(home, status)
    yield from _check_jobs(status["sleep"]["jobs"])
    yield from _check_sync(status.get("sync"), now)
    yield from _check_index(status)


def _check_version(status: Json) -> Iterator[DoctorFinding]:
    running = status["version"]
    if running == __version__:
        yield DoctorFinding("daemon", f"the daemon runs, release {running}", code=FINE_CODE)
        yield from _check_port(status["daemon"])
        return
    problem = f"the daemon runs release {running}; installed is {__version__}"
    yield trouble_finding(Unavailable, "daemon", problem, "madeleine stop; madeleine serve")


def _check_port(daemon: Json) -> Iterator[DoctorFinding]:
    wanted, port = daemon.get("wanted_port"), daemon.get("port")
    if wanted != port:
        problem = f"port {wanted} was taken, so the daemon listens on {daemon['host']}:{port}"
        fix = "hooks and `madeleine mcp` do not mind; for another, set `server.port` in config.toml"
        yield DoctorFinding("daemon", problem, fix, NOTE_CODE)


def _check_hooks(hooks: Json) -> Iterator[DoctorFinding]:
    late = int(hooks.get("late", 0)) + int(hooks.get("undelivered", 0))
    prompts = int(hooks.get("prompts", 0))
    if late >= MIN_LATE_RUNS and late > prompts * MAX_LATE_SHARE:
        problem = f"{late:,} of {prompts:,} whispers came too late since the daemon began"
        fix = "raise `whisper.deadline_ms` in config.toml, then madeleine stop; madeleine serve"
        yield trouble_finding(Unavailable, "slow hooks", problem, fix)
    problems = list(hooks.get("problems", ()))
    kinds = hooks.get("problem_kinds") or [""] * len(problems)  # an older daemon does not say
    for problem, kind in zip(problems, kinds, strict=True):
        if kind not in (HookProblem.LATE_WHISPER, HookProblem.UNDELIVERED_WHISPER):
            yield DoctorFinding("hooks", f"hook of {problem}", "madeleine setup", NOTE_CODE)


def _check_files(home: Path, status: Json) -> Iterator[DoctorFinding]:
    for file in status["unreadable"]:
        problem = f"{file['path']}:{file['line']}: {file['problem']}"
        yield trouble_finding(Damaged, "vault", problem, "mend the file, then madeleine reconcile")
    for problem in dict.fromkeys(
        [*status["journal"]["problems"], *_find_damaged_lines(home / "journal")]
    ):
        yield trouble_finding(Damaged, "journal", f"journal/{problem}", JOURNAL_FIX)


def _find_damaged_lines(folder: Path) -> Iterator[str]:
    """Yield what is damaged in the journal: a daemon reads each line once, when it starts, and
    does not see what becomes of it."""
    if folder.is_dir():
        for path in list_journal_files(folder):
            yield from (each.message for each in find_damaged_lines(path))


def _check_jobs(jobs: list[Json]) -> Iterator[DoctorFinding]:
    for job in jobs:
        failures = int(job.get("failures") or 0)
        if failures >= MIN_JOB_FAILURES:
            error = (job.get("last_run") or {}).get("error") or "it does not say why"
            problem = f"the job {job['id']} failed {failures} times in a row: {error}"
            yield trouble_finding(Unavailable, "jobs", problem, f"madeleine sleep {job['id']}")


def _check_sync(sync: Json | None, now: float) -> Iterator[DoctorFinding]:
    """Whether this machine meets the others of the same person."""
    if sync is None or not (sync["place"] or sync["last"]):
        return
    if sync["problem"]:
        problem = f"the last sync did not come about: {sync['problem']}"
        yield trouble_finding(Unavailable, "sync", problem, "madeleine sync")
        return
    late = int(sync["every_minutes"]) * 60 * MAX_MISSED_SYNCS
    if sync["last"] and late and now - _parse_seconds(sync["last"]) > late:
        problem = f"the last sync was at {sync['last']}"
        yield trouble_finding(Unavailable, "sync", problem, "madeleine serve, or madeleine sync")
        return
    told = f"last sync at {sync['last']}" if sync["last"] else "a place is set, and never synced"
    more = f", {sync['changed']:,} files changed since" if sync["changed"] else ""
    yield DoctorFinding("sync", f"{told}{more}", code=FINE_CODE)


def _check_index(status: Json) -> Iterator[DoctorFinding]:
    counts = status["counts"]
    known = int(counts["memories"]) + len(status["unreadable"])
    files = _count_memory_files(Path(status["vault"]), known)
    if files > known:
        problem = f"the index is behind: it knows {known:,} of {files:,} files in the vault"
        yield trouble_finding(Unavailable, "index", problem, "madeleine reconcile")
    if ignored := status["ignored"]:
        told = f"{len(ignored):,} texts in the vault are no memories: {', '.join(ignored[:5])}"
        fix = "name them .md to have them read, or take them in with `madeleine ingest`"
        yield DoctorFinding("vault", told, fix, NOTE_CODE)
    embedder = status["embedder"]
    if embedder["name"] is None:
        why = f"there is no model, so recall knows words only: {embedder['why_not']}"
        yield DoctorFinding("model", why, "see docs/reference/settings.md, [embedder]", NOTE_CODE)
    elif embedder["problem"]:
        why = (
            f"{embedder['name']} does not answer, so recall knows words only: {embedder['problem']}"
        )
        yield DoctorFinding("model", why, "see whether the server at embedder.url runs", NOTE_CODE)
    elif int(counts["unembedded"]):
        waiting = f"{counts['unembedded']:,} memories are not read by the model yet"
        yield DoctorFinding("index", waiting, "madeleine reconcile", NOTE_CODE)
    if unread := (status.get("relations") or {}).get("why_not"):
        told = f"nothing reads two memories together, so the local judge knows signs only: {unread}"
        fix = "pip install madeleine-relations, or judge.relations = none"
        yield DoctorFinding("relations", told, fix, NOTE_CODE)
    if embedder["languages"] and embedder["why_only_english"]:
        told = (
            f"there are memories in {', '.join(embedder['languages'])}, and the model reads English"
            f" only: {embedder['why_only_english']}"
        )
        yield DoctorFinding("languages", told, LANGUAGES_FIX, NOTE_CODE)


def _count_memory_files(vault: Path, known: int) -> int:
    """Return how many memories' files there are: at most that many if it is no more than known.

    What exactly counts as one the vault says; loading it takes longer than all the other checks,
    so it is asked only where a count of everything that could be one is not enough.
    """
    at_most = sum(
        sum(name.lower().endswith((".md", ".markdown")) for name in names)
        for folder, _, names in os.walk(vault)
        if "/trash" not in folder.removeprefix(os.fspath(vault))
    )
    if at_most <= known:
        return at_most
    from madeleine.vault.vault import FolderVault

    return sum(1 for _ in FolderVault(vault).scan())


# -- the clock -----------------------------------------------------------------------------


def check_clock(home: Path, newest: Json, now: float) -> Iterator[DoctorFinding]:
    """Whether something happened in the future: then this clock, or an earlier one, was wrong."""
    fix = "set the clock (timedatectl shows it); what has a wrong date: madeleine list"
    for memory in newest["memories"]:
        made = _parse_seconds(memory["created"])
        if made > now + MAX_CLOCK_SKEW_SECONDS:
            problem = f"memory {memory['short_id']} is from the future, {memory['created']}"
            yield trouble_finding(Rejected, "clock", problem, fix)
    for path in _find_latest_journals(home / "journal"):
        at = _read_last_event_time(path)
        if at and _parse_seconds(at) > now + MAX_CLOCK_SKEW_SECONDS:
            problem = f"{path.name} ends in the future, {at}"
            yield trouble_finding(Rejected, "clock", problem, fix)


def _find_latest_journals(folder: Path) -> list[Path]:
    """Return the newest file of each device; names end in year and month."""
    latest: dict[str, Path] = {}
    for path in list_journal_files(folder) if folder.is_dir() else ():
        latest[path.stem[: -len("-2026-11")]] = path
    return list(latest.values())


def _read_last_event_time(path: Path) -> str | None:
    """Return when the last whole event in a journal file was."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - JOURNAL_TAIL_BYTES))
        lines = stream.read().splitlines()
    for line in reversed(lines):
        try:
            return str(json.loads(line)["at"])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # cut off by where we began, or damaged, which `status` says
    return None


def _parse_seconds(moment: str) -> float:
    try:
        return datetime.fromisoformat(moment).astimezone(UTC).timestamp()
    except ValueError:
        return 0.0
