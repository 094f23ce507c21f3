"""What the daemon writes to logs/daemon.log: what it did and what went wrong, never memories."""

from __future__ import annotations

import logging
import logging.handlers
import os
import time
import traceback
from pathlib import Path

MAX_FILE_BYTES = 2_000_000
MAX_OLD_FILES = 3


def log_to_file(path: Path) -> logging.Handler:
    """Send every log line to a private file that is turned over before it grows large."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    path.chmod(0o600)
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=MAX_FILE_BYTES, backupCount=MAX_OLD_FILES, encoding="utf-8"
    )
    form = logging.Formatter("%(asctime)sZ %(levelname)s %(name)s: %(message)s")
    form.converter = time.gmtime
    handler.setFormatter(form)
    handler.addFilter(drop_quoted_errors)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    for chatty in ("watchdog", "uvicorn", "asyncio", "mcp"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    return handler


def drop_quoted_errors(record: logging.LogRecord) -> bool:
    """Keep the words of an error that the MCP library met out of the log."""
    if record.name.startswith("mcp.") and record.exc_info and record.exc_info[1] is not None:
        record.msg, record.args = (
            f"{record.getMessage()}: {render_traceback(record.exc_info[1])}",
            None,
        )
        record.exc_info = record.exc_text = None
    return True


def render_traceback(error: BaseException) -> str:
    """Return the traceback of an error without its message, which may quote a memory."""
    lines = traceback.format_tb(error.__traceback__)
    return "".join([f"{type(error).__name__}\n", *lines]).rstrip()
