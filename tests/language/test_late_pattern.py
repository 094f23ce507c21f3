"""Patterns that are compiled at their first use: all can be, and none is before."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator

import madeleine.ingest
import madeleine.language
import madeleine.whisper
from madeleine.language.late_pattern import LatePattern, compile_late

ROOMS = (madeleine.language, madeleine.ingest, madeleine.whisper)


def late_patterns(value: object) -> Iterator[LatePattern]:
    """Yield the late patterns in a value, also in the rows of a table."""
    if isinstance(value, LatePattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from late_patterns(each)
    elif isinstance(value, dict):
        yield from late_patterns(list(value.values()))


def test_a_late_pattern_does_what_the_compiled_one_does() -> None:
    late, compiled = compile_late(r"(\w)\d", re.IGNORECASE), re.compile(r"(\w)\d", re.IGNORECASE)
    text = "A1 b2 c"

    assert late.findall(text) == compiled.findall(text)
    assert late.sub("-", text) == compiled.sub("-", text)
    assert late.split(text) == compiled.split(text)
    assert bool(late.fullmatch("z9")) is bool(compiled.fullmatch("z9")) is True
    assert [each.span() for each in late.finditer(text)] == [(0, 2), (3, 5)]
    assert (late.pattern, late.groups) == (compiled.pattern, compiled.groups)


def test_every_late_pattern_compiles() -> None:
    found = [
        late
        for room in ROOMS
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
        for value in vars(importlib.import_module(module.name)).values()
        for late in late_patterns(value)
    ]

    for each in found:
        re.compile(each.pattern, each.flags)
    assert len(found) > 200


def test_no_late_pattern_is_compiled_when_a_home_is_opened() -> None:
    program = """
import gc
import madeleine.api.local
from madeleine.language.late_pattern import LatePattern
late = [each for each in gc.get_objects() if type(each) is LatePattern]
print(sum("search" in vars(each) for each in late))
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, encoding="utf-8"
    )

    assert int(said.stdout) == 0
