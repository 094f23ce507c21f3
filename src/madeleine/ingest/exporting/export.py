"""One export from end to end: pages come from the home, a writer takes them as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from madeleine.errors import Rejected, UnknownWord
from madeleine.ingest.exporting import jsonl, markdown_zip, obsidian
from madeleine.ingest.exporting.formats import FORMATS
from madeleine.model.codec import Json

PageReader = Callable[[Json], Any]
Progress = Callable[[int, int | None], None]


class MemoryExport:
    """The memories that leave, page by page."""

    def __init__(
        self,
        page: PageReader,
        chosen: Json,
        trash: bool = False,
        progress: Progress = lambda done, total: None,
    ) -> None:
        """`page` answers the operation `export`; `chosen` is the filter."""
        self._ask = page
        self._chosen = chosen
        self._trash = trash
        self._progress = progress

    def write(self, form: str, path: Path) -> int:
        """Write them all to a path that is free; return how many there were."""
        if form not in FORMATS:
            raise UnknownWord("format", form, list(FORMATS))
        if form == "obsidian":
            if self._trash:
                raise Rejected("the trash does not go with obsidian", hint="use jsonl or zip")
            return obsidian.write(
                path, obsidian.NoteNames(self._read_memories()), self._read_memories()
            )
        total = int(self._read_page(limit=1)["total"])
        if form == "zip":
            return markdown_zip.write(path, self._read_memories(files=True), total)
        return jsonl.write(path, self._read_memories(), total)

    def _read_memories(self, files: bool = False) -> Iterator[Json]:
        """Give every memory, in the order of their ids; the forgotten ones last."""
        done, after = 0, ""
        while after is not None:
            page = self._read_page(after=after, files=files)
            yield from page["items"]
            done, after = done + len(page["items"]), page["next"]
            self._progress(done, max(int(page["total"]), done))
        if self._trash:
            yield from self._read_page(trash=True, files=files)["items"]

    def _read_page(self, **query: object) -> Any:
        return self._ask({**self._chosen, **query})
