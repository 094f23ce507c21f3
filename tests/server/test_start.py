"""What a start of the daemon does without."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

START = """
import gc, json, sys
from madeleine.server import __main__
looks = []
gc.callbacks.append(lambda phase, info: looks.append(len(sys.modules)))
code = __main__.main(["--home", sys.argv[1]])
said = {"code": code, "looks": looks, "modules": len(sys.modules), "enabled": gc.isenabled(),
        "spared": gc.get_freeze_count()}
print(json.dumps(said), file=sys.stderr)
"""


def test_no_garbage_is_looked_for_while_modules_are_imported(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file where the home should be", "utf-8")

    done = subprocess.run(
        [sys.executable, "-P", "-c", START, home], capture_output=True, check=True, timeout=60
    )

    said = json.loads(done.stderr.splitlines()[-1])
    assert said["code"] != 0
    assert said["enabled"]
    assert said["modules"] > 500
    assert all(modules > 500 for modules in said["looks"])
    assert said["spared"] > 50_000


LATE = ("onnxruntime", "tokenizers", "apscheduler", "snowballstemmer", "mcp", "pydantic", "yaml",
        "httpx", "psycopg", "watchdog")  # fmt: skip


def test_a_start_imports_what_a_first_answer_needs_and_little_more() -> None:
    code = "import json, sys, madeleine.server.process; print(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, check=True, timeout=60
    )

    modules = json.loads(done.stdout)
    assert not set(LATE) & {each.partition(".")[0] for each in modules}
    assert len(modules) <= 875
