"""What the documentation site is besides the pages of `docs/` (`hooks` in mkdocs.yml).

Links that leave `docs/` become the names of their files: on the site there is no repository to
lead into, and a link that leads nowhere is worse than none. Every page is in the navigation by
itself; here is only in which order its parts stand.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+:|#)([^)\s]+)\)")
PARTS = ("Madeleine", "Five minutes", "Guides", "Agents", "Reference")
"""What stands first in the navigation; the rest follows as mkdocs finds it."""


def on_nav(nav: Any, **_: object) -> Any:
    """Put the parts in order."""
    titles = {id(each): each.title or _read_heading(each) for each in nav.items}

    def place(item: Any) -> int:
        title = titles[id(item)]
        return PARTS.index(title) if title in PARTS else len(PARTS)

    nav.items.sort(key=place)
    return nav


def _read_heading(page: Any) -> str:
    """Return the heading of a page that was not read yet."""
    with Path(page.file.abs_src_path).open(encoding="utf-8") as file:
        return file.readline().removeprefix("#").strip()


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Return a page's text with the links that lead out of `docs/` as the names of their files."""
    folder = posixpath.dirname(page.file.src_uri)
    return name_outer_links(markdown, folder)


def name_outer_links(markdown: str, folder: str) -> str:
    """Return a text of a page in `folder` without links to what is not in `docs/`."""

    def name(found: re.Match[str]) -> str:
        said, target = found[1], found[2].partition("#")[0]
        place = posixpath.normpath(posixpath.join(folder, target))
        if not place.startswith("../"):
            return found[0]
        file = place.removeprefix("../")
        return said if said in file else f"{said} (`{file}`)"

    return LINK.sub(name, markdown)
