"""Spaces: which project a folder is, and why; giving a space another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from madeleine.api import answer_texts
from madeleine.api.contract.requests import MoveSpaceBody, SpaceHereQuery
from madeleine.api.contract.responses import MovedSpaceAnswer, SpaceHere
from madeleine.api.operation import operation
from madeleine.api.wording import cause_to_fields, causes_to_fields, render_cause
from madeleine.errors import Rejected
from madeleine.model.draft import read_space
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.model.words import GLOBAL
from madeleine.write.branches import find_working_space
from madeleine.write.find_space import find_space, find_unheard
from madeleine.write.projects import find_branch_space
from madeleine.write.rename_space import merge_spaces, rename_space

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext


@operation(
    "space_here",
    "GET",
    "/agent/space",
    "which space a folder belongs to, and why; and the spaces that have memories",
    role=Role.READER,
    query=SpaceHereQuery,
    answer=SpaceHere,
    server_path="cwd",
)
def show_space_here(context: HomeContext, call: OperationCall) -> SpaceHere:
    reader = RequestReader(call.query)
    folder = reader.text("cwd")
    reader.done()
    found = find_space(context.stores, folder)
    spaces = dict(context.stores.search.counts().by_space)
    asked = find_working_space(context.stores, folder)
    text = f"{found.space or 'global'}: {render_cause(found.because)}"
    if asked != found.space:
        text = f"{text}; with what is known of its branch, {asked}"
    return SpaceHere(
        text=text,
        space=found.space,
        unheard=find_unheard(context.stores, folder, found.space) if folder else (),
        memories=spaces.get(found.space or GLOBAL, 0),
        branch=find_branch_space(folder, found.space) if found.space else None,
        asked=asked,
        spaces={name: count for name, count in spaces.items() if name != GLOBAL},
        **cause_to_fields("because", found.because),
    )


@operation(
    "move_space",
    "POST",
    "/agent/space",
    "rename a space, or merge it into another one; one change, with one undo",
    role=Role.WRITER,
    body=MoveSpaceBody,
    answer=MovedSpaceAnswer,
)
def move_space(context: HomeContext, call: OperationCall) -> MovedSpaceAnswer:
    reader = RequestReader(call.body)
    source = read_space(reader.required_text("source"))
    target = read_space(reader.required_text("target"))
    merging = reader.flag("merge")
    reader.done()
    if source is None or target is None:
        raise Rejected("what is global is in no space", hint="name two spaces")
    act = merge_spaces if merging else rename_space
    done = act(context.stores, source, target, call.by)
    text = f"{answer_texts.render_count(done.memories, 'memory')} of {source} in {target}"
    return MovedSpaceAnswer(
        text=f"{text}; `madeleine undo {done.change[:8]}` takes it back",
        memories=done.memories,
        change=done.change,
        **causes_to_fields("notes", done.notes),
    )
