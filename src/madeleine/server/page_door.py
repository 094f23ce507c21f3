"""The page at `/ui/`: its files, and the way in.

The files are built from `web/` into the folder `page` beside this module and hold nothing
secret, so they need no token; what they ask for does. Any path under `/ui/` that is no file is a
view of the page and answered with its frame. The policy below lets a browser run the page's own
files and nothing else, whatever a memory says. What programs ask for under `/ui/data/` is no view:
what the table of routes does not know there is refused as anywhere else. A few of its routes are
also known by the name of their view: who does not ask for HTML there gets the data.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from starlette.datastructures import Headers, QueryParams
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from madeleine.errors import NoSuchRoute, WrongMethod
from madeleine.server.page_sessions import SESSION_SECONDS, PageSession, PageSessions

PAGE_ROOT = "/ui/"
ENTER_PATH = "/ui/enter"
DATA_PREFIX = "/ui/data/"  # routes of the table that only the page needs
LINK_PATH = "/ui/link"
DATA_PATH_BY_VIEW = {
    "/ui/search": "/ui/data/search",
    "/ui/graph": "/ui/data/graph",
    "/ui/timeline": "/ui/data/time",
}
ORMAH_PREFIX = f"{DATA_PREFIX}ormah/"  # what Ormah's own page asked for
ORMAH_PATH_BY_VIEW = {
    "/ui/search": f"{ORMAH_PREFIX}search",
    "/ui/insights": f"{ORMAH_PREFIX}insights",
}
NODE_PREFIX, NEAR_PREFIX = "/ui/graph/node/", "/ui/data/graph/near/"
PAGE_FOLDER = Path(__file__).with_name("page")
VIEWS_FILE = "views.json"  # which files each view was built into
VIEW_SOURCES_PREFIX = "src/views/"
FRAME_SOURCE = "src/start.ts"  # loaded as soon as the language is there
FOLDER_BY_VIEW = {"": "home", "m": "memory"}  # views whose folder is not called like their path
MIN_GZIP_BYTES = 1_000  # bytes; packing less saves nothing
CONTENT_TYPE_BY_SUFFIX = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types svelte-trusted-html",
    ]
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
CACHE_FOREVER = "public, max-age=31536000, immutable"  # a file whose name says its content
NO_PAGE_HTML = b"<!doctype html><title>Madeleine</title><p>The page is not built: run make page."
OLD_LINK_HTML = (
    b"<!doctype html><html lang=en><meta name=viewport content=width=device-width>"
    b"<title>Madeleine</title><h1>This link was used, or is older than a minute</h1>"
    b"<p>Run <code>madeleine ui</code> for a new one."
    b"<p>If this browser is signed in already: <a href=/ui/>to the page</a>."
)


def is_page_path(path: str) -> bool:
    """Whether a path belongs to the page itself, which anybody on this machine may load."""
    if path == LINK_PATH or path.startswith(DATA_PREFIX):
        return False
    return path == PAGE_ROOT.rstrip("/") or path.startswith(PAGE_ROOT)


def resolve_path(scope: Scope) -> str:
    """Return the path that a request means: a browser that opens a view asks for HTML, a program
    that asks for the same path means the data behind it."""
    path: str = scope["path"]
    if scope["method"] != "GET" or "text/html" in Headers(scope=scope).get("accept", ""):
        return path
    asked = QueryParams(scope["query_string"])
    if path in ORMAH_PATH_BY_VIEW and (path not in DATA_PATH_BY_VIEW or "q" in asked):
        return ORMAH_PATH_BY_VIEW[path]
    return (
        NEAR_PREFIX + path.removeprefix(NODE_PREFIX)
        if path.startswith(NODE_PREFIX)
        else DATA_PATH_BY_VIEW.get(path, path)
    )


@dataclass(slots=True)
class _PageFile:
    """One built file, as it is sent."""

    content: bytes
    kind: str
    lasting: bool
    packed: bytes = field(init=False, default=b"")
    tag: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self.tag = f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'

    def body(self, packs: bool) -> bytes:
        if not packs or len(self.content) < MIN_GZIP_BYTES:
            return self.content
        self.packed = self.packed or gzip.compress(self.content, 9, mtime=0)
        return self.packed

    def answer(self, asked: Headers, soon: str = "") -> Response:
        """Return the file; `soon` names what a browser will want next."""
        packs = "gzip" in asked.get("accept-encoding", "") and len(self.content) >= MIN_GZIP_BYTES
        headers = {
            **SECURITY_HEADERS,
            "Cache-Control": CACHE_FOREVER if self.lasting else "no-cache",
            "ETag": self.tag,
            "Vary": "Accept, Accept-Encoding",
            **({"Content-Encoding": "gzip"} if packs else {}),
            **({"Link": soon} if soon else {}),
        }
        if asked.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        return Response(self.body(packs), 200, headers, self.kind)


class PageDoor:
    """Serves the page. Files are read once; packing one takes its first request some time."""

    def __init__(
        self,
        sessions: PageSessions,
        is_outside: Callable[[Scope], bool],
        folder: Path = PAGE_FOLDER,
    ) -> None:
        """`is_outside` says whether a request came through a proxy with TLS."""
        self._sessions = sessions
        self._is_outside = is_outside
        self._files = _read_page_files(folder)
        self._soon = _read_preload_headers(folder)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not is_page_path(scope["path"]):
            raise NoSuchRoute(scope["method"], scope["path"])
        if scope["method"] not in ("GET", "HEAD"):
            raise WrongMethod(scope["method"], scope["path"], ["GET"])
        await self._answer(scope)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        path = scope["path"]
        if path == PAGE_ROOT.rstrip("/"):
            return RedirectResponse(PAGE_ROOT, 308)
        if path == ENTER_PATH:
            return self._enter_by_code(scope)
        return self._find_file(scope, Headers(scope=scope))

    def _find_file(self, scope: Scope, asked: Headers) -> Response:
        """Return the file asked for, or the frame of the page for one of its views."""
        path = scope["path"].removeprefix(PAGE_ROOT)
        found = self._files.get(path)
        if found is not None:
            return found.answer(asked)
        if path.startswith("assets/"):
            raise NoSuchRoute(scope["method"], scope["path"])
        view = path.partition("/")[0]
        return self._files["index.html"].answer(
            asked, self._soon.get(FOLDER_BY_VIEW.get(view, view), "")
        )

    def _enter_by_code(self, scope: Scope) -> Response:
        session = self._sessions.enter(QueryParams(scope["query_string"]).get("code", ""))
        if session is None:
            return Response(
                OLD_LINK_HTML, 403, _no_store_headers(), CONTENT_TYPE_BY_SUFFIX[".html"]
            )
        return self._welcome(session, self._is_outside(scope))

    def _welcome(self, session: PageSession, is_outside: bool) -> Response:
        """Send on to the page: one half in a cookie, the other behind the `#`."""
        answer = RedirectResponse(f"{PAGE_ROOT}#{session.key}", 303, _no_store_headers())
        answer.set_cookie(
            self._sessions.cookie_name,
            session.cookie,
            max_age=SESSION_SECONDS,
            path="/",
            secure=is_outside,
            httponly=True,
            samesite="strict",
        )
        return answer


def _no_store_headers() -> Mapping[str, str]:
    return {**SECURITY_HEADERS, "Cache-Control": "no-store"}


def _read_preload_headers(folder: Path) -> dict[str, str]:
    """Return for each view the files that it is made of, as a header: so they are on their way
    before the frame knows that it needs them."""
    known = folder / VIEWS_FILE
    built = json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}
    frame = [built[FRAME_SOURCE]["file"]] if FRAME_SOURCE in built else []
    names = {name: each for name, each in built.items() if name.startswith(VIEW_SOURCES_PREFIX)}
    return {
        name.removeprefix(VIEW_SOURCES_PREFIX).partition("/")[0]: ", ".join(
            f"<{PAGE_ROOT}{file}>; rel=modulepreload"
            for file in [
                *frame,
                each["file"],
                *(built[part]["file"] for part in each.get("imports", ())),
            ]
        )
        for name, each in names.items()
    }


def _read_page_files(folder: Path) -> dict[str, _PageFile]:
    files = {"index.html": _PageFile(NO_PAGE_HTML, CONTENT_TYPE_BY_SUFFIX[".html"], lasting=False)}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in CONTENT_TYPE_BY_SUFFIX:
            name = path.relative_to(folder).as_posix()
            files[name] = _PageFile(
                path.read_bytes(), CONTENT_TYPE_BY_SUFFIX[path.suffix], name.startswith("assets/")
            )
    return files
