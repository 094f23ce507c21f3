"""Ask every route of a daemon what its document allows, and what it does not: `make attack`.

schemathesis makes the requests; it is found on the path, or named by SCHEMATHESIS.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.server.running import running

# What else it looks for are rules between fields, which a document of this kind cannot say.
CHECKS = "not_a_server_error,response_schema_conformance,content_type_conformance"
LEFT_OUT = (
    "/admin/stop",  # ends the daemon
    "/events",  # goes on until the client hangs up
)


def main(examples: int = 50) -> int:
    program = os.environ.get("SCHEMATHESIS") or shutil.which("schemathesis")
    if program is None:
        sys.stderr.write("schemathesis is not here: `pip install schemathesis`\n")
        return 1
    os.environ["MADELEINE_EMBEDDER_KIND"] = "fake"
    with tempfile.TemporaryDirectory() as folder, running(Path(folder, "home")) as daemon:
        address = f"http://127.0.0.1:{daemon.launched.port}"
        command = [program, "run", f"{address}/openapi.json"]
        command += ["--header", f"Authorization: Bearer {daemon.token}", "--checks", CHECKS]
        command += ["--max-examples", str(examples), "--continue-on-failure"]
        for path in LEFT_OUT:
            command += ["--exclude-path", path]
        found = subprocess.run(command, check=False).returncode
        alive = daemon.ok("GET", "/admin/health") is not None
    return found or (0 if alive else 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
