"""What agents may write: what the settings keep out, and what waits for a person's yes.

An agent is whoever a memory's source names so (`agent:…`): a client of MCP, a request over HTTP
that does not come from a person's command or page, and the hooks, which keep what is said in
sessions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from madeleine.errors import Excluded
from madeleine.model.draft import Draft
from madeleine.model.revision import Revision
from madeleine.model.spaces import split_space
from madeleine.model.words import GLOBAL
from madeleine.write.config import AGENTS, ExclusionConfig
from madeleine.write.stores import VerbConfig

AGENT_PREFIX = "agent:"
FOLDERS, SPACES, WORDS = "exclude.folders", "exclude.spaces", "exclude.words"


def is_agent(by: str) -> bool:
    """Whether somebody who writes is an agent."""
    return by.startswith(AGENT_PREFIX)


def waits_for_approval(config: VerbConfig, by: str) -> bool:
    """Whether what somebody remembers waits until a person says yes."""
    return config.write.approval == AGENTS and is_agent(by)


def refuse_excluded_draft(config: VerbConfig, draft: Draft, by: str) -> None:
    """Refuse what an agent would remember of a space, or with a word, that is kept out."""
    if is_agent(by):
        texts = (draft.title or "", draft.content, *draft.tags)
        found = find_excluded(config.exclude, space=draft.space, texts=texts)
        if found is not None:
            raise found


def refuse_excluded_revision(config: VerbConfig, revision: Revision, by: str) -> None:
    """Refuse what an agent would have a memory say with a word, or in a space, that is kept out."""
    if not is_agent(by):
        return
    given = revision.values
    texts = [str(given[name]) for name in ("title", "content") if given.get(name)]
    chosen = config.exclude if "space" in given else replace(config.exclude, spaces="")
    space = given.get("space")
    found = find_excluded(chosen, space=None if space is None else str(space), texts=texts)
    if found is not None:
        raise found


def refuse_excluded_folder(config: VerbConfig, folder: str | None) -> None:
    """Refuse what an agent would remember from a folder that is kept out."""
    found = find_excluded(config.exclude, folder=folder)
    if found is not None:
        raise found


def is_kept_out(config: VerbConfig, folder: str | None, space: str | None, text: str) -> bool:
    """Whether nothing is to be kept of where a text was typed, or of its words."""
    return find_excluded(config.exclude, folder=folder, space=space, texts=(text,)) is not None


def find_excluded(
    config: ExclusionConfig,
    *,
    folder: str | None = None,
    space: str | None = None,
    texts: Iterable[str] = (),
) -> Excluded | None:
    """Return why something is kept out of the memory, if it is; it is not raised yet."""
    if folder and config.folders and (root := _find_root(config.folders, folder)) is not None:
        return Excluded(FOLDERS, root)
    if config.spaces:
        name = GLOBAL if space is None else split_space(space)[0]
        if name in read_list(config.spaces):
            return Excluded(SPACES, name)
    if config.words:
        for word in read_list(config.words):
            if any(_holds_word(text, word) for text in texts):
                return Excluded(WORDS, word)
    return None


def read_list(text: str) -> Iterator[str]:
    """Give the entries of a setting that are separated by commas."""
    return (each.strip() for each in text.split(",") if each.strip())


def _find_root(folders: str, folder: str) -> str | None:
    """Return the folder of the setting that a folder lies in, or is."""
    real = Path(os.path.realpath(folder))
    for each in filter(None, (given.strip() for given in folders.split(os.pathsep))):
        if real.is_relative_to(os.path.realpath(Path(each).expanduser())):
            return each
    return None


def _holds_word(text: str, word: str) -> bool:
    """Whether a text has a word or phrase by itself, in upper or lower case. Scripts without
    spaces have it wherever it stands."""
    before = r"(?<!\w)" if _is_spelled(word[0]) else ""
    after = r"(?!\w)" if _is_spelled(word[-1]) else ""
    return re.search(f"{before}{re.escape(word)}{after}", text, re.IGNORECASE) is not None


def _is_spelled(letter: str) -> bool:
    """Whether a letter is of a script that writes spaces between words, as far as it matters here:
    all before the scripts of East Asia."""
    return letter.isalnum() and letter < "\u2e80"
