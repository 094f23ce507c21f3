"""What home tells beside the night: who the person is to their agents, and their projects.

Both are made of short lists that the index keeps in order, and of counts that are kept, so that
a large memory opens as quickly as a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from madeleine.api.contract.page_responses import (
    AboutMemory,
    AboutPage,
    ProjectCard,
    ProjectPage,
)
from madeleine.api.contract.requests import PageProjectsQuery
from madeleine.api.operation import operation
from madeleine.api.page.brief import build_brief, cut_extract
from madeleine.index.search import IndexCounts
from madeleine.language.self_groups import SelfGroup, group_about_self
from madeleine.model.digest import memory_version
from madeleine.model.memory import Memory
from madeleine.model.people import Role
from madeleine.model.query import Filter
from madeleine.model.request_reader import RequestReader
from madeleine.model.words import ABOUT_SELF, GLOBAL, SELF_SOURCE, MemoryType
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

MAX_ABOUT = 120  # memories about the person that are read, newest first
MAX_PEOPLE = 24
DEFAULT_PROJECTS = 12
MAX_PROJECTS = 100
WEEK = timedelta(days=7)


def count_everything(context: HomeContext) -> IndexCounts:
    """Return how much there is of everything, as it was counted last."""
    stores = context.stores
    return context.kept_answers.get(stores, "counts", stores.search.counts)


# -- about the person ----------------------------------------------------------------------


@operation(
    "page_about",
    "GET",
    "/ui/data/about",
    "who the person is to their agents: identity, preferences, people, places, goals",
    role=Role.READER,
    answer=AboutPage,
)
def show_about(context: HomeContext, call: OperationCall) -> AboutPage:
    """Return what is known about the person, under headings."""
    RequestReader(call.query).done()
    stores, now = context.stores, context.stores.clock.now()
    wanted = Filter(tags=(ABOUT_SELF,))
    found = [*stores.search.listing(wanted, now, MAX_ABOUT), *_list_people(stores, now)]
    groups: dict[SelfGroup, list[AboutMemory]] = {each: [] for each in SelfGroup}
    for memory in {each.id: each for each in found if each.source != SELF_SOURCE}.values():
        groups[group_about_self(memory)].append(_build_about_memory(memory, now))
    return AboutPage(
        self_id=stores.graph.self_id(),
        **{group.value: those for group, those in groups.items()},
        total=stores.search.count(wanted, now),
    )


def _list_people(stores: Stores, now: datetime) -> Sequence[Memory]:
    """Return people who belong to no project; those of a project stand on its page."""
    wanted = Filter(types=(MemoryType.PERSON,), spaces=(None,))
    return stores.search.listing(wanted, now, MAX_PEOPLE)


def _build_about_memory(memory: Memory, now: datetime) -> AboutMemory:
    brief = vars(build_brief(memory, now))
    return AboutMemory(**brief, content=memory.content, version=memory_version(memory))


# -- projects ------------------------------------------------------------------------------


@operation(
    "page_projects",
    "GET",
    "/ui/data/projects",
    "the projects at a glance, the largest first",
    role=Role.READER,
    query=PageProjectsQuery,
    answer=ProjectPage,
)
def list_projects(context: HomeContext, call: OperationCall) -> ProjectPage:
    """Return a card for each project."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_PROJECTS, 1, MAX_PROJECTS)
    reader.done()
    stores, now = context.stores, context.stores.clock.now()
    known = count_everything(context).by_space
    spaces = sorted((-many, name) for name, many in known.items() if name != GLOBAL)
    return ProjectPage(
        projects=[_build_card(stores, name, -many, now) for many, name in spaces[:limit]],
        total=len(spaces),
    )


def _build_card(stores: Stores, space: str, memories: int, now: datetime) -> ProjectCard:
    search = stores.search
    newest = search.listing(Filter(spaces=(space,)), now, 1)
    about = search.listing(Filter(types=(MemoryType.PROJECT,), spaces=(space,)), now, 1)
    return ProjectCard(
        space=space,
        memories=memories,
        week=search.count(Filter(spaces=(space,), created_after=now - WEEK), now),
        goals=search.count(Filter(types=(MemoryType.GOAL,), spaces=(space,)), now),
        about=cut_extract(about[0].content) if about else None,
        newest=build_brief(newest[0], now) if newest else None,
    )
