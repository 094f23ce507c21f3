"""What only a daemon can do. It does these itself (`server/app.py`); without one they are
refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from madeleine.api.contract.responses import PageLink, Stopping
from madeleine.api.operation import operation
from madeleine.errors import DaemonDown
from madeleine.model.people import Role

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext


@operation(
    "stop",
    "POST",
    "/admin/stop",
    "end the daemon",
    role=Role.ADMIN,
    answer=Stopping,
)
def stop(context: HomeContext, call: OperationCall) -> Stopping:
    raise DaemonDown(str(context.home))


@operation(
    "page_link",
    "POST",
    "/ui/link",
    "a link that signs a browser in to the page, once and within a minute",
    role=Role.READER,
    answer=PageLink,
    admin=True,
)
def make_page_link(context: HomeContext, call: OperationCall) -> PageLink:
    raise DaemonDown(str(context.home))
