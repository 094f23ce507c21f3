"""A plain field is one attribute and one row: everything else follows from them.

The proof adds a field to a copy of Madeleine and uses it there. What a new field has to say at the
doors besides, and in the documents, is in docs/contributing/add-a-field.md.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ATTRIBUTE = "    idempotency_key: str | None = None\n"
ROW = '    MemoryField("connections", FieldKind.CONNECTIONS'


def add_to(path: Path, before: str, line: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    path.write_text(text.replace(before, line + before), encoding="utf-8")


@pytest.fixture
def changed_source(tmp_path: Path) -> Path:
    source = tmp_path / "src"
    left_out = shutil.ignore_patterns("page", "__pycache__")
    shutil.copytree(ROOT / "src" / "madeleine", source / "madeleine", ignore=left_out)
    model = source / "madeleine" / "model"
    add_to(model / "memory.py", ATTRIBUTE, "    author: str | None = None\n")
    row = '    MemoryField("author", FieldKind.TEXT, chars=100),\n'
    add_to(model / "fields.py", ROW, row)
    return source


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    "engine",
    [
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.soak),
        pytest.param("falkordb", marks=pytest.mark.soak),
    ],
)
def test_a_row_and_an_attribute_carry_a_new_field_everywhere(
    engine: str, changed_source: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.contracts.added_field", str(tmp_path), engine],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(changed_source)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 0, done.stderr
