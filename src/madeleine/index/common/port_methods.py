"""Functions that ask over a connection, as methods of a port.

An engine's questions are plain functions whose first argument is what they ask over. A class that
implements a port names them; each call is lent a connection for as long as it takes:

    class SqliteGraph:
        edges = reads(graph.edges)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Access = TypeVar("Access")
Lent = TypeVar("Lent", covariant=True)


class ConnectionLender(Protocol[Lent]):
    """Has connections, or whatever else is asked over."""

    def reading(self) -> AbstractContextManager[Lent]:
        """Lend one; all that is read over it is of one moment."""
        ...


def reads(
    function: Callable[Concatenate[Access, Arguments], Answer],
) -> Callable[Concatenate[ConnectionLender[Access], Arguments], Answer]:
    """Return the function as a method that is lent a connection."""

    @wraps(function)
    def method(
        self: ConnectionLender[Access], /, *given: Arguments.args, **named: Arguments.kwargs
    ) -> Answer:
        with self.reading() as access:
            return function(access, *given, **named)

    return method
