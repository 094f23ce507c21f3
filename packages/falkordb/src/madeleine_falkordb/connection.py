"""The way to one graph: questions, whose turn it is to write, and FalkorDB's errors in our words.

FalkorDB keeps one query whole: all of it is there afterwards, or nothing, and nobody sees it half
done. It knows nothing that holds several queries together. So a write is *one* query, made after
what it depends on was read, and it takes effect only if the graph is still of the version that
was read (`statement.py`). Writers take turns by a lock beside the graph, so that this hardly
ever fails; the lock may expire under a slow writer without harm, since the version decides.

Whoever reads with several queries tells so beside the graph (`steady`), and a writer waits for
their end before its query. It closes a gate meanwhile, so that new readers cannot keep it waiting:
they wait instead, for as long as one query takes. Both are forgotten after some seconds, should
a process be killed in between.

All keys begin with the graph's name in braces, so that a cluster keeps them in one place.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote

from falkordb import FalkorDB
from redis import exceptions
from redis.backoff import NoBackoff
from redis.retry import Retry

from madeleine.errors import BadSetting, DatabaseDown, DatabaseUnfit, MadeleineError, Rejected
from madeleine.model.server_address import split_address
from madeleine_falkordb.encoding import parse_cell, render_parameters

TLS_BY_SCHEME = {"falkordb": False, "falkor": False, "falkordbs": True, "falkors": True}
"""Names of the protocol, and whether they mean TLS."""
DEFAULT_PORT = 6379
CONNECT_TIMEOUT_SECONDS = 5
ANSWER_TIMEOUT_SECONDS = 30  # far above what any of ours takes: a server that hangs is told
WRITE_LOCK_SECONDS = 10  # a writer's turn; one that was killed costs the next as much
WRITE_LOCK_TIMEOUT_SECONDS = 30  # how long a writer waits for its turn
READER_LEASE_SECONDS = 5.0  # after so long without a question a steady reader counts as gone
GATE_SECONDS = 5.0  # after so long a closed gate counts as forgotten
POLL_SECONDS = 0.002  # between two looks at whether a gate has opened

# The server's own clock counts, and what is asked and done in a script happens at once.
_NOW_LUA = "local time = redis.call('time') local now = time[1] + time[2] / 1000000"
ENTER_SCRIPT = f"""{_NOW_LUA}
    if ARGV[3] == '' and redis.call('exists', KEYS[2]) == 1 then return 0 end
    redis.call('zadd', KEYS[1], now + ARGV[2], ARGV[1])
    return 1
"""
CLOSE_GATE_SCRIPT = f"""{_NOW_LUA}
    redis.call('set', KEYS[2], 'closed', 'PX', ARGV[2])
    redis.call('zremrangebyscore', KEYS[1], '-inf', now)
    local own = redis.call('zscore', KEYS[1], ARGV[1]) and 1 or 0
    return redis.call('zcard', KEYS[1]) - own
"""
RELEASE_SCRIPT = """
    if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1], KEYS[2]) end
"""  # a turn that has expired is another's now

GraphRow = Any
"""A list of values, in the order of the columns that were asked for."""
GraphQuestion = tuple[str, str, Mapping[str, object]]
"""What is looked for, the columns, and the parameters."""


@dataclass(frozen=True, slots=True)
class FalkorAddress:
    """Where a graph is, and credentials."""

    host: str
    port: int
    graph: str
    secure: bool
    user: str | None
    password: str | None

    @classmethod
    def of(cls, url: str) -> FalkorAddress:
        parts = split_address("store.graph", url)
        name = unquote(parts.path.strip("/"))
        if parts.scheme not in TLS_BY_SCHEME or not parts.hostname or not name:
            raise BadSetting("store.graph", "is not falkordb://host:port/name")
        if "{" in name or "}" in name or parse_qs(parts.query):
            raise BadSetting("store.graph", f"names a graph `{name}` with signs that are taken")
        user, password = (
            None if each is None else unquote(each) for each in _read_credentials(parts)
        )
        port = parts.port or DEFAULT_PORT
        return cls(parts.hostname, port, name, TLS_BY_SCHEME[parts.scheme], user or None, password)

    @property
    def place(self) -> str:
        """Return where it is, without credentials."""
        return f"falkordb://{self.host}:{self.port}/{self.graph}"


def _read_credentials(parts: Any) -> tuple[str | None, str | None]:
    return parts.username, parts.password


@contextmanager
def translate_errors(place: str) -> Iterator[None]:
    """Say in our words what FalkorDB or the network complains about."""
    try:
        yield
    except MadeleineError:
        raise
    except (exceptions.AuthenticationError, exceptions.AuthorizationError) as error:
        hint = "look at user and password in `store.graph`"
        raise DatabaseDown(place, "does not let us in", hint) from error
    except (exceptions.ConnectionError, exceptions.TimeoutError) as error:
        raise DatabaseDown(place, _first_line(error)) from error
    except (exceptions.OutOfMemoryError, exceptions.ReadOnlyError) as error:
        raise DatabaseDown(
            place, _first_line(error), "give it room, or name the primary"
        ) from error
    except exceptions.ResponseError as error:
        raise _translate_refusal(place, _first_line(error)) from error
    except UnicodeEncodeError as error:
        raise Rejected(f"a text cannot be kept: {error}", hint="send it as UTF-8") from error


def _translate_refusal(place: str, said: str) -> MadeleineError:
    if said.startswith(("NOAUTH", "WRONGPASS", "NOPERM")):
        return DatabaseDown(place, said, "look at user and password in `store.graph`")
    if "unknown command" in said.lower():
        hint = "load the module falkordb.so, or run the image falkordb/falkordb"
        return DatabaseUnfit(place, "is a Redis without FalkorDB", hint)
    if "empty key" in said:
        return DatabaseUnfit(place, "was emptied", "`madeleine rebuild` fills it again")
    if "timed out" in said.lower():
        return DatabaseDown(place, said)
    return DatabaseUnfit(place, f"refuses: {said}")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class FalkorServer:
    """The open connections to one server, for any number of threads."""

    def __init__(self, address: FalkorAddress) -> None:
        self.address = address
        with translate_errors(address.place):
            made = FalkorDB(
                host=address.host,
                port=address.port,
                username=address.user,
                password=address.password,
                ssl=address.secure,
                socket_connect_timeout=CONNECT_TIMEOUT_SECONDS,
                socket_timeout=ANSWER_TIMEOUT_SECONDS,
                socket_keepalive=True,
                health_check_interval=CONNECT_TIMEOUT_SECONDS,
                retry=Retry(NoBackoff(), 1),  # every write of ours may be sent twice without harm
            )
        self.redis: Any = made.connection  # redis-py has types, but not for all that we call

    def close(self) -> None:
        self.redis.close()


class GraphAccess:
    """One graph by its name: questions and answers."""

    def __init__(self, server: FalkorServer, name: str) -> None:
        self.server = server
        self.name = name
        self.place = server.address.place

    def rows(self, question: str, columns: str, **parameters: object) -> list[GraphRow]:
        """Return the columns of whatever the question finds. They come as one row: a server may
        be set to cut off answers of many."""
        found = self._ask("GRAPH.RO_QUERY", f"{question} RETURN collect([{columns}])", parameters)
        return [] if not found else parse_cell(found[0][0])

    def several(self, *questions: GraphQuestion) -> list[list[GraphRow]]:
        """Return the rows of several questions, in one way there and back."""
        with (
            translate_errors(self.place),
            self.server.redis.pipeline(transaction=False) as pipeline,
        ):
            for question, columns, parameters in questions:
                text = f"{render_parameters(parameters)}{question} RETURN collect([{columns}])"
                pipeline.execute_command("GRAPH.RO_QUERY", self.name, text, "--compact")
            answers = pipeline.execute()
        return [parse_cell(answer[1][0][0]) if answer[1] else [] for answer in answers]

    def column(self, question: str, column: str, **parameters: object) -> list[Any]:
        """Return one column, without its nulls."""
        found = self._ask("GRAPH.RO_QUERY", f"{question} RETURN collect({column})", parameters)
        return [] if not found else parse_cell(found[0][0])

    def value(self, question: str, column: str, **parameters: object) -> Any:
        """Return one value that a question always has, such as a count."""
        found = self._ask("GRAPH.RO_QUERY", f"{question} RETURN {column}", parameters)
        return parse_cell(found[0][0]) if found else None

    def run(self, query: str, parameters: Mapping[str, object]) -> bool:
        """Run a query that writes; return whether it found what it begins with. A graph that was
        not there yet is made."""
        return bool(self._ask("GRAPH.QUERY", query, parameters))

    def make(self, statement: str) -> None:
        """Make or drop an index; one that is there already, or gone, is none of our worry."""
        try:
            self.server.redis.execute_command("GRAPH.QUERY", self.name, statement)
        except exceptions.ResponseError as error:
            if not any(each in str(error) for each in ("already indexed", "no such index")):
                raise _translate_refusal(self.place, _first_line(error)) from error

    def remove(self) -> None:
        """Remove the graph, if it is there. Deleting its key may be left to a thread of Redis,
        and FalkorDB does not survive that."""
        try:
            self.server.redis.execute_command("GRAPH.DELETE", self.name)
        except exceptions.ResponseError as error:
            if "empty key" not in str(error):
                raise _translate_refusal(self.place, _first_line(error)) from error

    def _ask(self, command: str, query: str, parameters: Mapping[str, object]) -> Sequence[Any]:
        with translate_errors(self.place):
            text = render_parameters(parameters) + query
            answer = self.server.redis.execute_command(command, self.name, text, "--compact")
        return answer[1] if len(answer) > 1 else ()


class GraphReadWriteLock:
    """Who may write, and who reads with several queries, among all processes on one graph."""

    def __init__(self, server: FalkorServer, name: str) -> None:
        self._redis = server.redis
        self._place = server.address.place
        self._writer, self._gate, self._readers = (
            f"{{{name}}}:{each}" for each in ("writer", "gate", "readers")
        )
        self._enter, self._close, self._leave = (
            self._redis.register_script(each)
            for each in (ENTER_SCRIPT, CLOSE_GATE_SCRIPT, RELEASE_SCRIPT)
        )
        self._here = threading.RLock()
        self._thread = threading.local()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Wait until no other writes, in this process or another."""
        with self._here, translate_errors(self._place):
            own = uuid.uuid4().hex
            self._acquire_write_lock(own)
            try:
                yield
            finally:
                self._leave(keys=[self._writer, self._gate], args=[own])

    def _acquire_write_lock(self, own: str) -> None:
        until = time.monotonic() + WRITE_LOCK_TIMEOUT_SECONDS
        while not self._redis.set(self._writer, own, nx=True, px=WRITE_LOCK_SECONDS * 1_000):
            if time.monotonic() > until:
                raise DatabaseDown(self._place, "somebody else has been writing for long")
            time.sleep(POLL_SECONDS)

    def close_gate(self) -> None:
        """Wait until nobody else reads steadily, and let nobody begin until the turn is over."""
        keys, own = [self._readers, self._gate], self._token or ""
        while self._close(keys=keys, args=[own, int(GATE_SECONDS * 1_000)]):
            time.sleep(POLL_SECONDS)

    @property
    def _token(self) -> str | None:
        return getattr(self._thread, "token", None)

    @property
    def is_steady(self) -> bool:
        """Whether this thread reads one state for longer than one call."""
        return self._token is not None

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Let no writer change the graph between this thread's questions."""
        if self._token is not None:
            self._renew_if_due(self._token)
            yield
            return
        token = uuid.uuid4().hex
        with translate_errors(self._place):
            self._enter_when_open(token)
        self._thread.token = token
        try:
            yield
        finally:
            self._thread.token = None
            with translate_errors(self._place):
                self._redis.zrem(self._readers, token)

    def _enter_when_open(self, token: str) -> None:
        """Stand among the readers as soon as the gate is open; one that stays closed for long
        was forgotten."""
        until = time.monotonic() + GATE_SECONDS
        while not self._register_reader(token, anyway=time.monotonic() > until):
            time.sleep(POLL_SECONDS)

    def _renew_if_due(self, token: str) -> None:
        """Say from time to time that somebody still reads."""
        if time.monotonic() - self._thread.since > READER_LEASE_SECONDS / 4:
            with translate_errors(self._place):
                self._register_reader(token, anyway=True)

    def _register_reader(self, token: str, anyway: bool) -> bool:
        self._thread.since = time.monotonic()
        keys, own = (
            [self._readers, self._gate],
            [token, READER_LEASE_SECONDS, "anyway" if anyway else ""],
        )
        return bool(self._enter(keys=keys, args=own))
