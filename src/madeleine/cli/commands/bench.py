"""Run a benchmark; without a name, list those there are.

Benchmarks are programs in the folder `bench` of a checkout and are not installed. What stands
after `--` goes to the benchmark: `madeleine bench store -- --help`.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

import madeleine
from madeleine.cli.door import CommandDoor
from madeleine.cli.output import CommandOutput
from madeleine.errors import Missing, UnknownWord


class NoBenchmarksFound(Missing):
    """Benchmarks were asked for outside of a checkout."""

    kind = "no_benchmarks"

    def __init__(self) -> None:
        super().__init__(
            "there are no benchmarks here; they live in the folder `bench` of a checkout",
            hint="clone the project, `make start`, then `madeleine bench` in it",
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="which one; none lists them")
    parser.add_argument("words", metavar="-- …", nargs="*", help="for the benchmark itself")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    programs = find_benchmarks()
    if arguments.name is None:
        names = sorted(programs)
        say.reply({"benchmarks": names}, lambda: names)
        return 0
    if arguments.name not in programs:
        raise UnknownWord("benchmark", arguments.name, sorted(programs))
    words = ["--json"] if say.as_json else []
    return int(_load_program(programs[arguments.name]).main([*arguments.words, *words]) or 0)


def find_benchmarks() -> dict[str, Path]:
    """Return the benchmark programs by name."""
    for folder in benchmark_folders():
        found = {path.stem: path for path in folder.glob("*.py") if _is_program(path)}
        if found:
            return found
    raise NoBenchmarksFound


def benchmark_folders() -> list[Path]:
    """Return where benchmarks may be: in the checkout we run from, or in the one we stand in."""
    package = Path(madeleine.__file__).resolve().parent
    return [package.parents[1] / "bench", Path.cwd() / "bench"]


def _is_program(path: Path) -> bool:
    """A file with a `main(argv)`; the others are parts of one, or run by themselves."""
    return not path.name.startswith("_") and "\ndef main(argv" in path.read_text(encoding="utf-8")


def _load_program(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"madeleine_bench_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise NoBenchmarksFound
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
