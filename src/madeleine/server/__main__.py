"""`python -m madeleine.server`: the process that `launch` starts."""

from __future__ import annotations

import gc
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run a daemon. No garbage is looked for while its modules are imported: they stay, and
    looking through them again and again took a tenth of the time."""
    gc.disable()
    from madeleine.server.process import run_process  # only now: 700 modules come with it

    return run_process(arguments)


if __name__ == "__main__":
    sys.exit(main())
