"""An operation: one declaration, from which everything that is known about it is made.

`@operation(...)` stands above the function that does it, and makes of both one value. HTTP serves
it at its method and path and checks the role; what a request may hold and what is answered are
shapes of `api/contract`, of which /openapi.json, docs/reference/routes.md, the tools' schemas and
the types of the page are made; and `shared` says what it does for a caller who shares spaces.
`make docs` writes the little that a client needs into `api/routes.py`.

There is no registry: a declaration is a value of its module, and `api/operations.py` collects
these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from madeleine.api.contract.shape import RequestShape, ShapeField, shape_fields
from madeleine.api.endpoint import Endpoint

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext
    from madeleine.model.people import Role

Answer = TypeVar("Answer")

ContextFunction = Callable[["HomeContext", "OperationCall"], Answer]
"""Does an operation in one context: reads the request, calls the verb, returns a shape."""
SharedBehaviour = Callable[["Operation[Any]", "CallerReach", "OperationCall"], Answer]
"""Does an operation with all that the caller reaches: their own memory and shared spaces. Those
that several operations have are made in `api/shared_behaviour.py`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Endpoint, Generic[Answer]):
    """What can be asked for, by name, at every door."""

    answer: type[Answer]
    """The shape that it answers with."""
    perform: ContextFunction[Answer]
    body: type[RequestShape] | None = None
    query: type[RequestShape] | None = None
    shared: SharedBehaviour[Answer] | None = None
    """What it does for a caller who shares spaces. Without one it stays in their own memory."""
    for_every_caller: bool = False
    """Whether `shared` does it also for a caller who shares nothing."""
    about_people: bool = False
    """Whether it is about people, tokens and shared spaces: who reaches what may be different
    afterwards."""
    server_path: str | None = None
    """The field that names a file or folder of the server's machine, if there is one."""
    quick: bool = False
    """Whether an agent or a person waits for it: what runs by itself meanwhile stands still."""
    unbounded: bool = False
    """Whether it may take longer than a client otherwise waits for an answer."""
    only_reads: bool = False
    """Whether it is sent by POST and yet safe to be tried again."""

    @property
    def is_read_only(self) -> bool:
        return self.method == "GET" or self.only_reads

    @property
    def body_fields(self) -> tuple[ShapeField, ...]:
        return _declared_fields(self.body)

    @property
    def query_fields(self) -> tuple[ShapeField, ...]:
        return _declared_fields(self.query)

    @property
    def fields(self) -> tuple[ShapeField, ...]:
        """All that a request may hold."""
        return (*self.query_fields, *self.body_fields)


def _declared_fields(shape: Any) -> tuple[ShapeField, ...]:
    return () if shape is None else shape_fields(shape)


def operation(
    name: str,
    method: str,
    path: str,
    summary: str,
    *,
    role: Role,
    answer: type[Answer],
    body: type[RequestShape] | None = None,
    query: type[RequestShape] | None = None,
    shared: SharedBehaviour[Answer] | None = None,
    for_every_caller: bool = False,
    about_people: bool = False,
    server_path: str | None = None,
    open: bool = False,
    admin: bool = False,
    quick: bool = False,
    unbounded: bool = False,
    only_reads: bool = False,
) -> Callable[[ContextFunction[Answer]], Operation[Answer]]:
    """Declare the function below as an operation. `Endpoint` and `Operation` say what each
    argument means."""

    def declare(perform: ContextFunction[Answer]) -> Operation[Answer]:
        return Operation(
            name,
            method,
            path,
            summary,
            role,
            open,
            admin,
            answer=answer,
            perform=perform,
            body=body,
            query=query,
            shared=shared,
            for_every_caller=for_every_caller,
            about_people=about_people,
            server_path=server_path,
            quick=quick,
            unbounded=unbounded,
            only_reads=only_reads,
        )

    return declare
